//! Declared types.

mod declaration;
mod encoding;
mod error;
mod family;
mod length;
mod name;
mod system_type;

pub use declaration::{Argument, DeclarationContext, Site};
pub(crate) use declaration::{LENGTH_MAX, NATIONAL_LENGTH_MAX, PRECISION_MAX};
pub use encoding::Encoding;
pub use error::DeclarationError;
pub use family::Family;
pub(crate) use length::{concatenated, joined_strings};
pub use system_type::SystemType;

#[cfg(test)]
pub(crate) mod tests;

/// The maximum length of a text or binary type: in UTF-16 units for nchar and nvarchar, in bytes for the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// 1 to 8000; 1 to 4000 for nchar and nvarchar.
    Limited(u16),
    /// `max`: up to 2 GiB, limited by the memory of a statement.
    Max,
}

/// A declared type with its length, precision and scale.
///
/// `numeric` is a synonym of `decimal`, but a separate variant, because clients receive the declared name. Legacy
/// `text`, `ntext` and `image` are varchar, nvarchar and varbinary with [`Width::Max`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// 0 or 1.
    Bit,
    /// 0 to 255.
    TinyInt,
    /// Signed 16 bits.
    SmallInt,
    /// Signed 32 bits.
    Int,
    /// Signed 64 bits.
    BigInt,
    /// Precision 1 to 38, scale 0 to precision.
    Decimal {
        /// The precision: the total number of digits.
        precision: u8,
        /// The scale: the number of fractional digits.
        scale: u8,
    },
    /// Like [`DataType::Decimal`].
    Numeric {
        /// The precision: the total number of digits.
        precision: u8,
        /// The scale: the number of fractional digits.
        scale: u8,
    },
    /// 32 bits, four fractional digits.
    SmallMoney,
    /// 64 bits, four fractional digits.
    Money,
    /// IEEE 754 binary32.
    Real,
    /// IEEE 754 binary64.
    Float,
    /// Code page 1252, padded with blanks.
    Char(u16),
    /// Code page 1252.
    VarChar(Width),
    /// char under a collation of `_UTF8`: UTF-8, padded with blanks.
    Utf8Char(u16),
    /// varchar under a collation of `_UTF8`: UTF-8.
    Utf8VarChar(Width),
    /// UTF-16, padded with blanks.
    NChar(u16),
    /// UTF-16.
    NVarChar(Width),
    /// Padded with zero bytes.
    Binary(u16),
    /// Bytes of variable length.
    VarBinary(Width),
    /// rowversion, which is also called timestamp: 8 bytes, changed by each change of a row.
    RowVersion,
    /// 0001-01-01 to 9999-12-31.
    Date,
    /// A time of day with 0 to 7 fractional second digits.
    Time(u8),
    /// 1900-01-01 to 2079-06-06, with a precision of one minute.
    SmallDateTime,
    /// 1753-01-01 to 9999-12-31, with a precision of 1/300 second.
    DateTime,
    /// Date and time with 0 to 7 fractional second digits.
    DateTime2(u8),
    /// Date and time with 0 to 7 fractional second digits and an offset from UTC in minutes.
    DateTimeOffset(u8),
    /// 16 bytes.
    UniqueIdentifier,
    /// A value of another type, with that type: [`crate::SqlVariant`].
    SqlVariant,
    /// Elements and texts, as text in one form: [`crate::normalized`].
    Xml,
}
