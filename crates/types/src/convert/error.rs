//! Why a value did not become one of another type.

use std::fmt;

use crate::{
    DataType,
    convert::type_name::{TypeName, ValueTypeName},
};

/// Why a conversion is refused, or what is wrong with the value: [`fmt::Display`] is SQL Server's own text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConversionError {
    /// What went wrong.
    pub fault: ConversionFault,
    /// The value's type.
    pub from: DataType,
    /// The type that it should become.
    pub to: DataType,
    /// The value or the style, where the text tells it.
    pub detail: String,
}

/// What can go wrong when a value becomes one of another type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ConversionFault {
    /// 206: no conversion at all, and none was asked for.
    Clash,
    /// 257: only CAST and CONVERT convert these.
    NotImplicit,
    /// 529: not even CAST and CONVERT convert these.
    Never,
    /// 210: these bytes are no datetime or smalldatetime.
    BinaryDateTime,
    /// 220: a whole number is out of range of tinyint or smallint.
    IntegerRange,
    /// 232: a float or real is out of range, or its text is too long.
    FloatRange,
    /// 235, or 293 for smallmoney: text that is no amount.
    MoneySyntax,
    /// 236, or 294 for smallmoney: an amount in text is out of range.
    MoneyRange,
    /// 234, or 292 for smallmoney: text too short for an amount.
    MoneyText,
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
    /// 8114: text or bytes that are no value of this type.
    Unreadable,
    /// 8115: a number out of range.
    Overflow,
    /// 8115 as SQL Server words it where it does not tell the value's type.
    ExpressionOverflow,
    /// 8169: text that is no uniqueidentifier.
    GuidSyntax,
    /// 8170: text too short for a uniqueidentifier.
    GuidText,
    /// 9803: these bytes are no value of a date or time type.
    BinaryDate,
    /// 9807: text of a date or time is not in the form that the style tells.
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

    /// An error whose text tells `detail`.
    pub(crate) fn with(fault: ConversionFault, from: &DataType, to: &DataType, detail: impl Into<String>) -> Self {
        Self {
            fault,
            from: *from,
            to: *to,
            detail: detail.into(),
        }
    }

    /// SQL Server's number of it.
    pub fn number(&self) -> i32 {
        self.row().0
    }

    /// How grave it is: 16, which the user can correct, of every one.
    pub fn severity(&self) -> u8 {
        16
    }

    /// Where in SQL Server it would have come from.
    pub fn state(&self) -> u8 {
        self.row().1
    }

    /// Number, state, and text: `%f` and `%t` stand for the types, `%F` and `%T` too but with decimal named numeric, `%d` for the detail.
    fn row(&self) -> (i32, u8, &'static str) {
        let small_from = self.from == DataType::SmallMoney;
        let small_to = self.to == DataType::SmallMoney;
        let narrowest = self.to == DataType::TinyInt;
        match self.fault {
            ConversionFault::Clash => (206, 2, "Operand type clash: %f is incompatible with %t"),
            ConversionFault::BinaryDateTime => (210, 1, BINARY_DATE_TIME),
            ConversionFault::IntegerRange if narrowest => (220, 2, INTEGER_RANGE),
            ConversionFault::IntegerRange => (220, 1, INTEGER_RANGE),
            ConversionFault::FloatRange => (232, 2, "Arithmetic overflow error for type %T, value = %d."),
            ConversionFault::MoneyText if small_from => (292, 1, MONEY_TEXT),
            ConversionFault::MoneyText => (234, 1, MONEY_TEXT),
            ConversionFault::MoneySyntax if small_to => (293, 0, SMALL_MONEY_SYNTAX),
            ConversionFault::MoneySyntax => (235, 0, MONEY_SYNTAX),
            ConversionFault::MoneyRange if small_to => (294, 0, SMALL_MONEY_RANGE),
            ConversionFault::MoneyRange => (236, 0, MONEY_RANGE),
            ConversionFault::DateSyntax if self.to == DataType::SmallDateTime => (295, 3, SMALL_DATE_TIME_SYNTAX),
            ConversionFault::DateSyntax => (241, 1, DATE_SYNTAX),
            ConversionFault::DateRange => (242, 3, DATE_RANGE),
            ConversionFault::NarrowDigits if narrowest => (244, 1, TINY_DIGITS),
            ConversionFault::NarrowDigits => (244, 2, SMALL_DIGITS),
            ConversionFault::Syntax => (245, 1, SYNTAX),
            ConversionFault::IntDigits => (248, 1, "The conversion of the %f value '%d' overflowed an int column."),
            ConversionFault::NotImplicit => (257, 3, NOT_IMPLICIT),
            ConversionFault::Style => (281, 1, STYLE),
            ConversionFault::Never => (529, 2, "Explicit conversion from data type %f to %t is not allowed."),
            ConversionFault::Unreadable => (8114, 5, "Error converting data type %F to %T."),
            ConversionFault::Overflow => (8115, 8, "Arithmetic overflow error converting %F to data type %T."),
            ConversionFault::ExpressionOverflow => (8115, 2, EXPRESSION_OVERFLOW),
            ConversionFault::GuidSyntax => (8169, 2, GUID_SYNTAX),
            ConversionFault::GuidText => (8170, 2, GUID_TEXT),
            ConversionFault::BinaryDate => (9803, 1, "Invalid data for type \"%t\"."),
            ConversionFault::OtherStyle => (9807, 0, OTHER_STYLE),
            ConversionFault::NoStyle => (9809, 1, NO_STYLE),
            ConversionFault::Unsupported => (40510, 1, "%d is not supported."),
        }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.row().2.split('%');
        f.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let (place, rest) = piece.split_at(1);
            match place {
                "f" => write!(f, "{}", TypeName(&self.from))?,
                "t" => write!(f, "{}", TypeName(&self.to))?,
                "F" => write!(f, "{}", ValueTypeName(&self.from))?,
                "T" => write!(f, "{}", ValueTypeName(&self.to))?,
                _ => f.write_str(&self.detail)?,
            }
            f.write_str(rest)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConversionError {}

const BINARY_DATE_TIME: &str = "Conversion failed when converting datetime from binary/varbinary string.";
const INTEGER_RANGE: &str = "Arithmetic overflow error for data type %t, value = %d.";
const MONEY_TEXT: &str = "There is insufficient result space to convert a %f value to %t.";
const MONEY_SYNTAX: &str = "Cannot convert a char value to money. The char value has incorrect syntax.";
const SMALL_MONEY_SYNTAX: &str = "Cannot convert char value to smallmoney. The char value has incorrect syntax.";
const MONEY_RANGE: &str = "The conversion from char data type to money resulted in a money overflow error.";
const SMALL_MONEY_RANGE: &str =
    "The conversion from char data type to smallmoney data type resulted in a smallmoney overflow error.";
const DATE_SYNTAX: &str = "Conversion failed when converting date and/or time from character string.";
const SMALL_DATE_TIME_SYNTAX: &str = "Conversion failed when converting character string to smalldatetime data type.";
const DATE_RANGE: &str = "The conversion of a %f data type to a %t data type resulted in an out-of-range value.";
const TINY_DIGITS: &str = "The conversion of the %f value '%d' overflowed an INT1 column. Use a larger integer column.";
const SMALL_DIGITS: &str =
    "The conversion of the %f value '%d' overflowed an INT2 column. Use a larger integer column.";
const SYNTAX: &str = "Conversion failed when converting the %f value '%d' to data type %t.";
const NOT_IMPLICIT: &str = "Implicit conversion from data type %f to %t is not allowed. \
                            Use the CONVERT function to run this query.";
const STYLE: &str = "%d is not a valid style number when converting from %f to a character string.";
const EXPRESSION_OVERFLOW: &str = "Arithmetic overflow error converting expression to data type %T.";
const GUID_SYNTAX: &str = "Conversion failed when converting from a character string to uniqueidentifier.";
const GUID_TEXT: &str = "Insufficient result space to convert uniqueidentifier value to char.";
const OTHER_STYLE: &str = "The input character string does not follow style %d, \
                           either change the input character string or use a different style.";
const NO_STYLE: &str = "The style %d is not supported for conversions from %f to %t.";
