//! Errors of conversions.

use std::fmt;

use crate::{DataType, Family};

/// Why a conversion failed; [`fmt::Display`] writes SQL Server's text.
///
/// The caller is at fault in every case.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConversionError {
    /// The kind of error.
    pub fault: ConversionFault,
    /// The value's type.
    pub from: DataType,
    /// The target type.
    pub to: DataType,
    /// The value or style that the message contains, otherwise empty.
    pub detail: String,
}

/// The kind of a conversion error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ConversionFault {
    /// 206: the types never convert, in an implicit conversion.
    Clash,
    /// 257: the conversion requires CAST or CONVERT.
    NotImplicit,
    /// 529: the types never convert, in CAST or CONVERT.
    Never,
    /// 210: the bytes are not a datetime or smalldatetime.
    BinaryDateTime,
    /// 220: an integer is out of the range of tinyint, smallint or smallmoney.
    IntegerRange,
    /// 232: a float or real is out of range, or its text is too long.
    FloatRange,
    /// 234: the target text type is too short for an amount.
    MoneyText,
    /// 235, or 293 for smallmoney: the text is not an amount.
    MoneySyntax,
    /// 237: an amount is out of the range of int or smallmoney.
    MoneyRange,
    /// 241, or 295 for smalldatetime: the text is not a date or time.
    DateSyntax,
    /// 242: a date is out of range.
    DateRange,
    /// 244: the text's number is out of the range of tinyint or smallint.
    NarrowDigits,
    /// 245: the text is not an integer.
    Syntax,
    /// 248: the text's number is out of the range of int.
    IntDigits,
    /// 281: the style does not exist for text of this type.
    Style,
    /// 8114: the text or bytes are not a value of this type, or the style shows no part of the value.
    Unreadable,
    /// 8115: a number is out of range.
    Overflow,
    /// 8115 with SQL Server's wording that does not name the value's type.
    ExpressionOverflow,
    /// 8152: the binary type is too short for a date or time.
    Truncated,
    /// 8169: the text is not a uniqueidentifier.
    GuidSyntax,
    /// 8170: the target text type is too short for a uniqueidentifier.
    GuidText,
    /// 9807: the text of a date or time does not have the form of the style.
    OtherStyle,
    /// 9809: the style does not exist for this pair of types.
    NoStyle,
    /// An error of the text of xml, with its number, which the detail is.
    Xml(u16),
    /// 6354: the target type is too short for xml.
    XmlText,
    /// 40510: a conversion of SQL Server that is not supported; the detail names it.
    Unsupported,
}

impl ConversionError {
    /// An error without a detail.
    pub(crate) fn new(fault: ConversionFault, from: &DataType, to: &DataType) -> Self {
        Self::with(fault, from, to, String::new())
    }

    /// An error whose text contains `detail`.
    pub(crate) fn with(fault: ConversionFault, from: &DataType, to: &DataType, detail: impl Into<String>) -> Self {
        Self {
            fault,
            from: *from,
            to: *to,
            detail: detail.into(),
        }
    }

    /// SQL Server's message number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity: always 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        16
    }

    /// The state, which identifies the origin of the message in SQL Server.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().1
    }

    /// Whether TRY_CAST and TRY_CONVERT return NULL: the value is at fault, not its type or the style.
    #[must_use]
    pub fn is_of_value(&self) -> bool {
        match self.fault {
            ConversionFault::Clash
            | ConversionFault::NotImplicit
            | ConversionFault::Never
            | ConversionFault::Style
            | ConversionFault::NoStyle
            | ConversionFault::Unsupported => false,
            ConversionFault::BinaryDateTime
            | ConversionFault::IntegerRange
            | ConversionFault::FloatRange
            | ConversionFault::MoneyText
            | ConversionFault::MoneySyntax
            | ConversionFault::MoneyRange
            | ConversionFault::DateSyntax
            | ConversionFault::DateRange
            | ConversionFault::NarrowDigits
            | ConversionFault::Syntax
            | ConversionFault::IntDigits
            | ConversionFault::Unreadable
            | ConversionFault::Overflow
            | ConversionFault::ExpressionOverflow
            | ConversionFault::Truncated
            | ConversionFault::GuidSyntax
            | ConversionFault::GuidText
            | ConversionFault::Xml(_)
            | ConversionFault::XmlText
            | ConversionFault::OtherStyle => true,
        }
    }

    /// The number and state.
    fn code(&self) -> (u16, u8) {
        let small_money = self.to == DataType::SmallMoney;
        let width = if self.to == DataType::TinyInt {
            1
        } else if self.to == DataType::SmallInt {
            2
        } else {
            3
        };
        match self.fault {
            ConversionFault::Clash => (206, 2),
            ConversionFault::BinaryDateTime => (210, 1),
            ConversionFault::IntegerRange => (220, self.integer_range_state()),
            ConversionFault::FloatRange if self.to.width().is_some() => (232, 2),
            ConversionFault::FloatRange if self.from == DataType::Money => (232, 11),
            ConversionFault::FloatRange => (232, width),
            ConversionFault::MoneyText => (234, 2),
            ConversionFault::MoneySyntax if small_money => (293, 0),
            ConversionFault::MoneySyntax => (235, 0),
            ConversionFault::MoneyRange if self.to == DataType::Int => (237, 1),
            ConversionFault::MoneyRange if self.to == DataType::SmallInt => (237, 2),
            ConversionFault::MoneyRange => (237, 3),
            ConversionFault::DateSyntax if self.to == DataType::SmallDateTime => (295, 3),
            ConversionFault::DateSyntax => (241, 1),
            ConversionFault::DateRange => (242, 3),
            ConversionFault::NarrowDigits => (244, width),
            ConversionFault::Syntax => (245, 1),
            ConversionFault::IntDigits => (248, 1),
            ConversionFault::NotImplicit => (257, 3),
            ConversionFault::Style => (281, 1),
            ConversionFault::Never => (529, 1),
            ConversionFault::Unreadable => (8114, 5),
            ConversionFault::Overflow => (8115, self.overflow_state()),
            ConversionFault::ExpressionOverflow => (8115, 2),
            ConversionFault::Truncated => (8152, 17),
            ConversionFault::GuidSyntax => (8169, 2),
            ConversionFault::GuidText => (8170, 2),
            ConversionFault::OtherStyle => (9807, 1),
            ConversionFault::NoStyle => (9809, 1),
            ConversionFault::Xml(number) => (number, 1),
            ConversionFault::XmlText => (6354, 10),
            ConversionFault::Unsupported => (40510, 1),
        }
    }

    fn integer_range_state(&self) -> u8 {
        if self.from == DataType::Money {
            7
        } else if self.from == DataType::SmallMoney {
            5
        } else if self.to == DataType::SmallMoney {
            3
        } else if self.to == DataType::TinyInt {
            2
        } else {
            1
        }
    }

    fn overflow_state(&self) -> u8 {
        match (self.to.family(), self.from.family()) {
            (Family::Money, _) => 4,
            (Family::Decimal, Family::Approximate) => 6,
            (Family::Decimal, _) => 8,
            _ => 5,
        }
    }

    /// The message template: `%f` and `%t` are the types' names, `%F` and `%T` their names in messages about values,
    /// `%d` is the detail.
    fn template(&self) -> &'static str {
        match self.fault {
            ConversionFault::Clash => "Operand type clash: %f is incompatible with %t",
            ConversionFault::BinaryDateTime => BINARY_DATE_TIME,
            ConversionFault::IntegerRange => "Arithmetic overflow error for data type %T, value = %d.",
            ConversionFault::FloatRange => "Arithmetic overflow error for type %T, value = %d.",
            ConversionFault::MoneyText | ConversionFault::MoneyRange => MONEY_SPACE,
            ConversionFault::MoneySyntax if self.to == DataType::SmallMoney => SMALL_MONEY_SYNTAX,
            ConversionFault::MoneySyntax => MONEY_SYNTAX,
            ConversionFault::DateSyntax if self.to == DataType::SmallDateTime => SMALL_DATE_TIME_SYNTAX,
            ConversionFault::DateSyntax => DATE_SYNTAX,
            ConversionFault::DateRange => DATE_RANGE,
            ConversionFault::NarrowDigits if self.to == DataType::TinyInt => TINY_DIGITS,
            ConversionFault::NarrowDigits => SMALL_DIGITS,
            ConversionFault::Syntax => "Conversion failed when converting the %F value '%d' to data type %t.",
            ConversionFault::IntDigits => "The conversion of the %F value '%d' overflowed an int column.",
            ConversionFault::NotImplicit => NOT_IMPLICIT,
            ConversionFault::Style => STYLE,
            ConversionFault::Never => "Explicit conversion from data type %f to %t is not allowed.",
            ConversionFault::Unreadable => "Error converting data type %F to %T.",
            ConversionFault::Overflow => "Arithmetic overflow error converting %F to data type %T.",
            ConversionFault::ExpressionOverflow => EXPRESSION_OVERFLOW,
            ConversionFault::Truncated => "String or binary data would be truncated.",
            ConversionFault::GuidSyntax => GUID_SYNTAX,
            ConversionFault::GuidText => "Insufficient result space to convert uniqueidentifier value to char.",
            ConversionFault::OtherStyle => OTHER_STYLE,
            ConversionFault::NoStyle => "The style %d is not supported for conversions from %f to %t.",
            ConversionFault::Xml(_) => "%d",
            ConversionFault::XmlText => "Target string size is too small to represent the XML instance",
            ConversionFault::Unsupported => "%d is not supported.",
        }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.template().split('%');
        f.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let (place, rest) = piece.split_at_checked(1).unwrap_or_default();
            f.write_str(match place {
                "f" => self.from.bare_name(),
                "t" => self.to.bare_name(),
                "F" => source_name(&self.from),
                "T" => self.to.overflow_name(),
                _ => &self.detail,
            })?;
            f.write_str(rest)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConversionError {}

/// A type's name in messages about values: padded types as the unpadded ones, decimal as numeric.
fn source_name(from: &DataType) -> &'static str {
    match (from.family(), from.is_padded(), from.is_national()) {
        (Family::Text, true, false) => "varchar",
        (Family::Text, true, true) => "nvarchar",
        (Family::Binary, true, _) => "varbinary",
        _ => from.overflow_name(),
    }
}

const BINARY_DATE_TIME: &str = "Conversion failed when converting datetime from binary/varbinary string.";
const MONEY_SPACE: &str = "There is insufficient result space to convert a money value to %t.";
const MONEY_SYNTAX: &str = "Cannot convert a char value to money. The char value has incorrect syntax.";
const SMALL_MONEY_SYNTAX: &str = "Cannot convert a char value to smallmoney. The char value has incorrect syntax.";
const DATE_SYNTAX: &str = "Conversion failed when converting date and/or time from character string.";
const SMALL_DATE_TIME_SYNTAX: &str = "Conversion failed when converting character string to smalldatetime data type.";
const DATE_RANGE: &str = "The conversion of a %F data type to a %t data type resulted in an out-of-range value.";
const TINY_DIGITS: &str = "The conversion of the %F value '%d' overflowed an INT1 column. Use a larger integer column.";
const SMALL_DIGITS: &str =
    "The conversion of the %F value '%d' overflowed an INT2 column. Use a larger integer column.";
const NOT_IMPLICIT: &str = "Implicit conversion from data type %f to %t is not allowed. \
                            Use the CONVERT function to run this query.";
const STYLE: &str = "%d is not a valid style number when converting from %f to a character string.";
const EXPRESSION_OVERFLOW: &str = "Arithmetic overflow error converting expression to data type %T.";
const GUID_SYNTAX: &str = "Conversion failed when converting from a character string to uniqueidentifier.";
const OTHER_STYLE: &str = "The input character string does not follow style %d, \
                           either change the input character string or use a different style.";
