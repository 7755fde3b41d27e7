//! A declared type.

mod declaration;
mod error;
mod family;
mod length;
mod name;
mod system_type;

pub use declaration::{Argument, DeclarationContext, Site};
pub(crate) use declaration::{LENGTH_MAX, NATIONAL_LENGTH_MAX, PRECISION_MAX};
pub use error::DeclarationError;
pub use family::Family;
pub(crate) use length::{concatenated, joined_strings};
pub use system_type::SystemType;

#[cfg(test)]
pub(crate) mod tests;

/// How long a text or binary value may be: characters of char and varchar, units of UTF-16 of nchar and nvarchar,
/// bytes of binary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// 1 to 8000, or to 4000 for nchar and nvarchar.
    Limited(u16),
    /// `max`: to 2 GiB, and to what a statement may hold in memory.
    Max,
}

/// A declared type with its length, precision and scale.
///
/// `numeric` is `decimal` by another name, kept apart since clients are told which. Legacy `text`, `ntext` and
/// `image` are varchar, nvarchar and varbinary of [`Width::Max`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// 0 or 1.
    Bit,
    /// 0 to 255.
    TinyInt,
    /// 16 bits with a sign.
    SmallInt,
    /// 32 bits with a sign.
    Int,
    /// 64 bits with a sign.
    BigInt,
    /// Precision 1 to 38, scale 0 to precision.
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// As [`DataType::Decimal`].
    Numeric {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// 32 bits, four digits after the point.
    SmallMoney,
    /// 64 bits, four digits after the point.
    Money,
    /// IEEE 754 of 32 bits.
    Real,
    /// IEEE 754 of 64 bits.
    Float,
    /// Padded with blanks; code page 1252.
    Char(u16),
    /// Code page 1252.
    VarChar(Width),
    /// Padded with blanks; UTF-16.
    NChar(u16),
    /// UTF-16.
    NVarChar(Width),
    /// Padded with zero bytes.
    Binary(u16),
    /// Bytes.
    VarBinary(Width),
    /// 0001-01-01 to 9999-12-31.
    Date,
    /// A time of day with 0 to 7 digits of a second.
    Time(u8),
    /// 1900-01-01 to 2079-06-06, in minutes.
    SmallDateTime,
    /// 1753-01-01 to 9999-12-31, in three-hundredths of a second.
    DateTime,
    /// With 0 to 7 digits of a second.
    DateTime2(u8),
    /// With 0 to 7 digits of a second, and minutes from UTC.
    DateTimeOffset(u8),
    /// 16 bytes.
    UniqueIdentifier,
}
