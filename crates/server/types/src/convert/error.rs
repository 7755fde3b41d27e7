//! Why a value did not become one of another type.

use std::fmt;

use crate::{DataType, Family};

/// Why a conversion is refused, or what is wrong with the value: [`fmt::Display`] is SQL Server's own text.
///
/// The caller is at fault in every one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConversionError {
    /// What went wrong.
    pub fault: ConversionFault,
    /// The value's type.
    pub from: DataType,
    /// The type that it should become.
    pub to: DataType,
    /// The value or the style, where the text contains it.
    pub detail: String,
}

/// What can go wrong when a value becomes one of another type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ConversionFault {
    /// 206: no conversion at all, and none was requested.
    Clash,
    /// 257: only CAST and CONVERT convert these.
    NotImplicit,
    /// 529: not even CAST and CONVERT convert these.
    Never,
    /// 210: these bytes are no datetime or smalldatetime.
    BinaryDateTime,
    /// 220: a whole number is out of range of tinyint, smallint or smallmoney.
    IntegerRange,
    /// 232: a float or real is out of range, or its text is too long.
    FloatRange,
    /// 234: text too short for an amount.
    MoneyText,
    /// 235, or 293 for smallmoney: text that is no amount.
    MoneySyntax,
    /// 237: an amount out of range of int or smallmoney.
    MoneyRange,
    /// 241, or 295 for smalldatetime: text that is no date or time.
    DateSyntax,
    /// 242: a date out of range.
    DateRange,
    /// 244: digits out of range of tinyint or smallint.
    NarrowDigits,
    /// 245: text that is no whole number.
    Syntax,
    /// 248: digits out of range of int.
    IntDigits,
    /// 281: no such style for text of this type.
    Style,
    /// 8114: text or bytes that are no value of this type, or a style that shows nothing of it.
    Unreadable,
    /// 8115: a number out of range.
    Overflow,
    /// 8115 as SQL Server words it where it does not name the value's type.
    ExpressionOverflow,
    /// 8152: a date or time does not fit the bytes.
    Truncated,
    /// 8169: text that is no uniqueidentifier.
    GuidSyntax,
    /// 8170: text too short for a uniqueidentifier.
    GuidText,
    /// 9807: text of a date or time is not in the form that the style requires.
    OtherStyle,
    /// 9809: a style that this pair of types does not have.
    NoStyle,
    /// 40510: what SQL Server does and this does not, which is the detail.
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

    /// SQL Server's number of the message.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity, which messages call the level: always 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        16
    }

    /// The state, which shows SQL Server's developers where the message came from.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().1
    }

    /// Whether TRY_CAST and TRY_CONVERT make NULL of it: the value is at fault, not its type or the style.
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
            | ConversionFault::OtherStyle => true,
        }
    }

    /// Number and state.
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

    /// The text: `%f` and `%t` stand for the types' names, `%F` and `%T` for those that messages about values have,
    /// `%d` for the detail.
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

/// A value's type as messages about values name it: padded types as the unpadded ones, decimal as numeric.
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
