//! Conversion rules of a function's arguments.

use selenite_types::{DataType, DateError, Encoding, Family, Width};

use super::typing::{constant_whole, text_width};
use crate::{Expr, SqlError};

/// The accepted types of an argument, and the conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// Any type, unconverted.
    Any,
    /// Any type but xml, unconverted.
    AnyButXml,
    /// Any type but sql_variant and xml, unconverted.
    Plain,
    /// Any type to sql_variant.
    Variant,
    /// Any type, converted to the common type of all arguments with this rule.
    Alike,
    /// Text unconverted; any other type to varchar.
    Text,
    /// Text only, unconverted.
    TextOnly,
    /// nchar and nvarchar only, unconverted.
    NationalOnly,
    /// A uniqueidentifier, or what converts to one implicitly: text and bytes.
    Guid,
    /// Bytes unconverted; what else converts to uniqueidentifier.
    GuidOrBinary,
    /// Text and bytes only, unconverted.
    TextOrBinaryOnly,
    /// Bytes only, unconverted.
    BinaryOnly,
    /// What JSON_MODIFY writes: text, integers, decimals, floats and bits, unconverted.
    JsonValue,
    /// Any type to nvarchar.
    National,
    /// Any type to int.
    Int,
    /// Any type to bigint.
    BigInt,
    /// Any type to float.
    Float,
    /// Numbers unconverted, bits and text to float.
    Number,
    /// Dates and times unconverted, text to datetimeoffset(7), numbers to datetime.
    Moment,
    /// Dates and times unconverted, any other type to datetime.
    DateOperand,
    /// Numbers, dates and times, unconverted.
    Formatted,
    /// Dates with times, unconverted.
    ZonedMoment,
    /// Dates and times unconverted, text to datetime2(7).
    PlainMoment,
    /// Any type to date.
    Date,
    /// datetimeoffset unconverted, any other type to datetime2.
    LocalMoment,
    /// Any type to datetimeoffset.
    Offset,
    /// Integers to int, text unconverted.
    IntOrText,
    /// Integers and bytes only, unconverted.
    Bits,
    /// Integers only, to bigint.
    Whole,
    /// A constant int: the number of fractional digits of the result's seconds.
    Scale,
}

impl Rule {
    /// Converts the argument by this rule; it is number `number`, from 1, of `function`.
    ///
    /// Errors: 8116 for an unsupported type.
    pub fn apply(self, argument: Expr, number: usize, function: &str) -> Result<Expr, SqlError> {
        let is_null = argument.is_null_word();
        let family = argument.data_type.family();
        let name = if is_null {
            "NULL"
        } else {
            argument.data_type.bare_name()
        };
        let refused = || SqlError::argument_type(name, number, function);
        match self {
            Self::Any | Self::Alike => Ok(argument),
            Self::AnyButXml if family != Family::Xml => Ok(argument),
            Self::Variant => argument.converted_to(&DataType::SqlVariant),
            Self::AnyButXml => Err(refused()),
            _ if matches!(family, Family::Variant | Family::Xml) => Err(refused()),
            Self::Plain => Ok(argument),
            Self::TextOnly | Self::TextOrBinaryOnly | Self::BinaryOnly if is_null => Err(refused()),
            Self::Text if family == Family::Text => Ok(argument),
            Self::Text => {
                let width = text_width(&argument.data_type);
                argument.converted_to(&Encoding::CodePage.varying(width))
            }
            Self::TextOnly if family == Family::Text => Ok(argument),
            Self::NationalOnly if argument.data_type.is_national() => Ok(argument),
            Self::NationalOnly if is_null => argument.converted_to(&SYSNAME),
            Self::NationalOnly => Err(refused()),
            Self::TextOrBinaryOnly if matches!(family, Family::Text | Family::Binary) => Ok(argument),
            Self::BinaryOnly if family == Family::Binary => Ok(argument),
            Self::TextOnly | Self::TextOrBinaryOnly | Self::BinaryOnly => Err(refused()),
            Self::Guid | Self::GuidOrBinary => self.guid(argument, refused),
            Self::JsonValue => match family {
                Family::Text | Family::Integer | Family::Decimal | Family::Approximate | Family::Bit => Ok(argument),
                Family::Money
                | Family::Binary
                | Family::OldDate
                | Family::NewDate
                | Family::Time
                | Family::Guid
                | Family::Variant
                | Family::Xml => Err(refused()),
            },
            Self::National if argument.data_type.is_national() => Ok(argument),
            Self::National => {
                let width = text_width(&argument.data_type);
                argument.converted_to(&Encoding::Utf16.varying(width))
            }
            Self::Int | Self::BigInt if !is_numeric(family) && family != Family::Binary && !is_null => Err(refused()),
            Self::Int => argument.converted_to(&DataType::Int),
            Self::BigInt => argument.converted_to(&DataType::BigInt),
            Self::Float | Self::Number if !is_numeric(family) && !is_null => Err(refused()),
            Self::Float => argument.converted_to(&DataType::Float),
            Self::Number => number_of(argument, is_null),
            Self::IntOrText if family == Family::Text => Ok(argument),
            Self::IntOrText if is_numeric(family) => argument.converted_to(&DataType::Int),
            Self::IntOrText => Err(refused()),
            Self::Scale => scale_of(argument, function),
            Self::Bits if family == Family::Integer => Ok(argument),
            Self::Bits if family == Family::Binary && !argument.data_type.is_max() => Ok(argument),
            Self::Whole if matches!(family, Family::Integer | Family::Bit) || is_null => {
                argument.converted_to(&DataType::BigInt)
            }
            Self::Bits | Self::Whole => Err(refused()),
            Self::Formatted | Self::ZonedMoment | Self::PlainMoment => self.written_moment(argument, refused),
            Self::Moment | Self::DateOperand | Self::Date | Self::LocalMoment | Self::Offset => {
                self.moment(argument, refused)
            }
        }
    }

    /// What converts to uniqueidentifier implicitly.
    fn guid(self, argument: Expr, refused: impl Fn() -> SqlError) -> Result<Expr, SqlError> {
        let family = argument.data_type.family();
        if self == Self::GuidOrBinary && family == Family::Binary {
            return Ok(argument);
        }
        match argument.is_null_word() || matches!(family, Family::Guid | Family::Text | Family::Binary) {
            true => argument.converted_to(&DataType::UniqueIdentifier),
            false => Err(refused()),
        }
    }

    /// The argument of FORMAT, AT TIME ZONE, DATETRUNC and DATE_BUCKET.
    fn written_moment(self, argument: Expr, refused: impl Fn() -> SqlError) -> Result<Expr, SqlError> {
        let family = argument.data_type.family();
        let is_date = matches!(family, Family::OldDate | Family::NewDate | Family::Time);
        let is_number = matches!(
            family,
            Family::Integer | Family::Decimal | Family::Money | Family::Approximate
        );
        if self == Self::PlainMoment && family == Family::Text {
            return argument.converted_to(&DataType::DateTime2(7));
        }
        let is_accepted = match self == Self::ZonedMoment {
            true => has_date_and_time(&argument.data_type),
            false => is_date || is_number && self == Self::Formatted,
        };
        if is_accepted { Ok(argument) } else { Err(refused()) }
    }

    fn moment(self, argument: Expr, refused: impl Fn() -> SqlError) -> Result<Expr, SqlError> {
        let is_null = argument.is_null_word();
        let family = argument.data_type.family();
        let is_date = matches!(family, Family::OldDate | Family::NewDate | Family::Time);
        let is_text = family == Family::Text;
        let is_lenient = matches!(self, Self::Moment | Self::DateOperand);
        let has_offset = matches!(argument.data_type, DataType::DateTimeOffset(_));
        if (is_lenient && is_date) || (self == Self::LocalMoment && has_offset) {
            return Ok(argument);
        }
        if !(is_null || is_date || is_text || is_lenient && is_numeric(family)) {
            return Err(refused());
        }
        let scale = seconds_scale(&argument.data_type);
        let target = if self == Self::Date {
            DataType::Date
        } else if self == Self::LocalMoment {
            DataType::DateTime2(scale)
        } else if self == Self::Offset || (self == Self::Moment && is_text) {
            DataType::DateTimeOffset(scale)
        } else {
            DataType::DateTime
        };
        argument.converted_to(&target)
    }
}

/// The number of fractional digits of a type's seconds; 7 for a type that is not a date or time.
pub(crate) fn seconds_scale(data_type: &DataType) -> u8 {
    match *data_type {
        DataType::Time(scale) | DataType::DateTime2(scale) | DataType::DateTimeOffset(scale) => scale,
        DataType::DateTime => 3,
        DataType::Date | DataType::SmallDateTime => 0,
        DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Numeric { .. }
        | DataType::SmallMoney
        | DataType::Money
        | DataType::Real
        | DataType::Float
        | DataType::Char(_)
        | DataType::Utf8Char(_)
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NChar(_)
        | DataType::NVarChar(_)
        | DataType::Binary(_)
        | DataType::RowVersion
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier
        | DataType::SqlVariant
        | DataType::Xml => 7,
    }
}

/// Whether a type has a date and a time.
fn has_date_and_time(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::SmallDateTime | DataType::DateTime | DataType::DateTime2(_) | DataType::DateTimeOffset(_)
    )
}

/// A constant as int.
fn scale_of(argument: Expr, function: &str) -> Result<Expr, SqlError> {
    let to = match function {
        "timefromparts" => DataType::Time(7),
        "datetime2fromparts" => DataType::DateTime2(7),
        _ => DataType::DateTimeOffset(7),
    };
    let scale = argument.converted_to(&DataType::Int)?;
    match constant_whole(Some(&scale)) {
        Some(0..=7) => Ok(scale),
        Some(_) | None => Err(DateError::Scale { to }.into()),
    }
}

fn number_of(argument: Expr, is_null: bool) -> Result<Expr, SqlError> {
    match argument.data_type.family() {
        _ if is_null => Ok(argument),
        Family::Integer | Family::Decimal | Family::Money | Family::Approximate => Ok(argument),
        Family::Bit
        | Family::Text
        | Family::Binary
        | Family::OldDate
        | Family::NewDate
        | Family::Time
        | Family::Guid
        | Family::Variant
        | Family::Xml => argument.converted_to(&DataType::Float),
    }
}

/// Whether a value of this kind converts to a number implicitly.
fn is_numeric(family: Family) -> bool {
    match family {
        Family::Bit | Family::Integer | Family::Decimal | Family::Money | Family::Approximate | Family::Text => true,
        Family::Binary
        | Family::OldDate
        | Family::NewDate
        | Family::Time
        | Family::Guid
        | Family::Variant
        | Family::Xml => false,
    }
}

/// The type of names of objects and properties: sysname.
pub(crate) const SYSNAME: DataType = DataType::NVarChar(Width::Limited(128));
