//! Result types of functions.

use selenite_types::{DataType, Encoding, Family, Width};

use crate::{Collation, Expr, ExprKind, SqlError};

/// The rule for a function's result type.
#[derive(Clone, Copy)]
pub(crate) enum Typing {
    /// A fixed type.
    Is(DataType),
    /// A function of the converted arguments.
    By(fn(&[Expr]) -> DataType),
}

impl Typing {
    /// The type for these arguments.
    pub fn of(self, arguments: &[Expr]) -> DataType {
        match self {
            Self::Is(data_type) => data_type,
            Self::By(rule) => rule(arguments),
        }
    }
}

/// The number of characters of a type's values as text, where no length was specified.
pub(crate) fn text_width(data_type: &DataType) -> Width {
    let width = match *data_type {
        DataType::Bit => 1,
        DataType::TinyInt => 3,
        DataType::SmallInt => 6,
        DataType::Int => 12,
        DataType::BigInt => 24,
        DataType::Decimal { .. } | DataType::Numeric { .. } => 41,
        DataType::SmallMoney | DataType::Money => 30,
        DataType::Real | DataType::Float => 53,
        DataType::Date => 10,
        DataType::Time(_) => 16,
        DataType::SmallDateTime | DataType::DateTime => 30,
        DataType::DateTime2(_) => 27,
        DataType::DateTimeOffset(_) => 34,
        DataType::UniqueIdentifier => 36,
        DataType::SqlVariant => WIDTH_MAX,
        DataType::Xml => return Width::Max,
        DataType::RowVersion => 8,
        DataType::Char(width) | DataType::Utf8Char(width) | DataType::NChar(width) | DataType::Binary(width) => width,
        DataType::VarChar(width)
        | DataType::Utf8VarChar(width)
        | DataType::NVarChar(width)
        | DataType::VarBinary(width) => {
            return width;
        }
    };
    Width::Limited(width)
}

/// The encoding of a text that is composed of these values.
pub(crate) fn encoding_of(values: &[Expr]) -> Encoding {
    let encodings = values.iter().map(|value| value.data_type.encoding());
    encodings.max().unwrap_or(Encoding::CodePage)
}

/// The width of a value as text in an encoding.
pub(crate) fn width_in(encoding: Encoding, value: &Expr) -> Width {
    let width = text_width(&value.data_type);
    match value.data_type.family() == Family::Text {
        true => encoding.width_of(width, value.data_type.encoding()),
        false => width,
    }
}

/// The widest type of an argument's kind of text: `max` if the argument is `max`, else 8000 or 4000.
pub(crate) fn widest(argument: Option<&Expr>) -> DataType {
    let of = argument.map_or(DataType::VarChar(Width::Limited(1)), |expr| expr.data_type);
    of.encoding().varying(if of.is_max() {
        Width::Max
    } else {
        Width::Limited(WIDTH_MAX)
    })
}

/// The first argument's type as one of varying length: text or bytes.
pub(crate) fn same_varying(arguments: &[Expr]) -> DataType {
    arguments.first().map_or(DataType::VarChar(Width::Limited(1)), |first| {
        with_width(first, text_width(&first.data_type))
    })
}

/// The type of text or bytes of `argument`'s kind with another width.
pub(crate) fn with_width(argument: &Expr, width: Width) -> DataType {
    if argument.data_type.family() == Family::Binary {
        return DataType::VarBinary(match width {
            Width::Limited(width) => Width::Limited(width.clamp(1, WIDTH_MAX)),
            Width::Max => Width::Max,
        });
    }
    argument.data_type.encoding().varying(width)
}

/// The sum of two widths.
pub(crate) fn sum_of_widths(left: Width, right: Width) -> Width {
    match (left, right) {
        (Width::Limited(left), Width::Limited(right)) => Width::Limited(left.saturating_add(right)),
        (Width::Max, _) | (_, Width::Max) => Width::Max,
    }
}

/// The value of an argument that is a constant integer.
pub(crate) fn constant_whole(argument: Option<&Expr>) -> Option<i64> {
    let ExprKind::Literal(value) = &argument?.kind else {
        return None;
    };
    value.as_whole()
}

/// int, or bigint beside a `max` argument: the type of lengths and positions.
pub(crate) fn position_type(arguments: &[Expr]) -> DataType {
    let is_max = arguments.iter().any(|argument| argument.data_type.is_max());
    if is_max { DataType::BigInt } else { DataType::Int }
}

/// The type of mathematical functions for the first argument's type: integers below int become int.
pub(crate) fn number_type(arguments: &[Expr]) -> DataType {
    let Some(first) = arguments.first() else {
        return DataType::Float;
    };
    match first.data_type {
        DataType::TinyInt | DataType::SmallInt | DataType::Int => DataType::Int,
        DataType::SmallMoney | DataType::Money => DataType::Money,
        DataType::BigInt | DataType::Decimal { .. } | DataType::Numeric { .. } => first.data_type,
        DataType::Bit
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
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)
        | DataType::UniqueIdentifier
        | DataType::SqlVariant
        | DataType::Xml => DataType::Float,
    }
}

pub(crate) const WIDTH_MAX: u16 = 8000;
pub(crate) const NATIONAL_WIDTH_MAX: u16 = 4000;

/// A decimal's type with other precision and scale; any other type unchanged.
pub(crate) fn with_digits(data_type: DataType, change: impl Fn(u8, u8) -> (u8, u8)) -> DataType {
    let Some((precision, scale)) = data_type.decimal_digits() else {
        return data_type;
    };
    let (precision, scale) = change(precision, scale);
    if matches!(data_type, DataType::Numeric { .. }) {
        DataType::Numeric { precision, scale }
    } else {
        DataType::Decimal { precision, scale }
    }
}

/// The combined collation of several texts.
///
/// Errors: as [`Collation::combine`]; 40510 where text in UTF-8 would be of another collation.
pub(crate) fn collation_of<'a>(
    values: impl IntoIterator<Item = &'a Expr>,
    operation: &str,
) -> Result<Collation, SqlError> {
    let mut combined = Collation::default();
    let mut encoding = Encoding::CodePage;
    for value in values {
        if value.data_type.family() == Family::Text {
            combined = combined.combine(value.collation, operation)?;
            encoding = encoding.max(value.data_type.encoding());
        }
    }
    combined.check_encoding(encoding)?;
    Ok(combined)
}
