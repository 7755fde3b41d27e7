//! Storage forms whose order in SQLite is that of the values in T-SQL.

use selenite_types::{DataType, Family, Width};

use crate::{Convert, Expr, ExprKind};

/// A class of storage forms: two values of one class compare in SQLite as in T-SQL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// An INTEGER: the value times a power of ten.
    Scaled(u8),
    /// A BLOB of a decimal's digits, with its scale.
    Wide(u8),
    /// A REAL.
    Real,
    /// A TEXT, under a collation.
    Text,
    /// A BLOB of the bytes themselves.
    Bytes,
    /// A TEXT of a date.
    Date,
    /// A TEXT of a time, with this number of fractional digits.
    Time(u8),
    /// A TEXT of a date and time, with this number of fractional digits.
    Moment(u8),
    /// A TEXT of a datetimeoffset, whose first part, the instant, is compared, with this number of fractional digits.
    Offset(u8),
    /// A BLOB of a uniqueidentifier.
    Guid,
    /// A TEXT of a sql_variant, under a collation of its own.
    Variant,
}

impl Form {
    /// The form of a type's values.
    pub fn of(data_type: &DataType) -> Self {
        match *data_type {
            DataType::Bit | DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => {
                Self::Scaled(0)
            }
            DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
                if precision <= NARROW_DIGITS {
                    Self::Scaled(scale)
                } else {
                    Self::Wide(scale)
                }
            }
            DataType::SmallMoney | DataType::Money => Self::Scaled(MONEY_DIGITS),
            DataType::Real | DataType::Float => Self::Real,
            DataType::Char(_)
            | DataType::Utf8Char(_)
            | DataType::VarChar(_)
            | DataType::Utf8VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_)
            | DataType::Xml => Self::Text,
            DataType::Binary(_) | DataType::VarBinary(_) | DataType::RowVersion => Self::Bytes,
            DataType::Date => Self::Date,
            DataType::Time(digits) => Self::Time(digits),
            DataType::SmallDateTime => Self::Moment(0),
            DataType::DateTime => Self::Moment(DATETIME_DIGITS),
            DataType::DateTime2(digits) => Self::Moment(digits),
            DataType::DateTimeOffset(digits) => Self::Offset(digits),
            DataType::UniqueIdentifier => Self::Guid,
            DataType::SqlVariant => Self::Variant,
        }
    }

    /// The SQL of a value's comparison key: `sql` itself, but for a datetimeoffset the instant alone.
    pub fn key(self, sql: String) -> String {
        match self {
            Self::Offset(digits) => {
                let fraction = if digits == 0 { 0 } else { u32::from(digits) + 1 };
                format!("substr({sql}, 1, {})", MOMENT_LENGTH + fraction)
            }
            Self::Scaled(_)
            | Self::Wide(_)
            | Self::Real
            | Self::Text
            | Self::Bytes
            | Self::Date
            | Self::Time(_)
            | Self::Moment(_)
            | Self::Guid
            | Self::Variant => sql,
        }
    }

    /// Whether SQLite compares the values under a collation, which [`super::value::collated`] adds.
    pub fn is_collated(self) -> bool {
        matches!(self, Self::Text | Self::Variant)
    }
}

/// The scale of an exact number: the scale from which a scaled form may be multiplied.
pub(super) fn exact_scale(data_type: &DataType) -> Option<u8> {
    match *data_type {
        DataType::Bit | DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt => Some(0),
        DataType::Decimal { scale, .. } | DataType::Numeric { scale, .. } => Some(scale),
        DataType::SmallMoney | DataType::Money => Some(MONEY_DIGITS),
        DataType::Real
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
        | DataType::Xml => None,
    }
}

/// The operand of conversions that do not affect a comparison.
pub(super) fn comparand(expr: &Expr) -> &Expr {
    match plain_convert(expr) {
        Some(convert) if compares_alike(&convert.operand.data_type, &expr.data_type) => comparand(&convert.operand),
        Some(_) | None => expr,
    }
}

/// The conversion, if the expression is one without a style and without TRY.
pub(super) fn plain_convert(expr: &Expr) -> Option<&Convert> {
    match &expr.kind {
        ExprKind::Convert(convert) if convert.style.is_none() && !convert.is_try => Some(convert),
        ExprKind::Convert(_)
        | ExprKind::Literal(_)
        | ExprKind::Null
        | ExprKind::Variable(_)
        | ExprKind::Column(_)
        | ExprKind::QueryNode(_)
        | ExprKind::Input(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Whole(_)
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Let(_)
        | ExprKind::Local
        | ExprKind::Choose { .. }
        | ExprKind::Call(_)
        | ExprKind::UserCall(_) => None,
    }
}

/// Whether a value of `from` has the same storage form as its conversion to `to`.
pub(crate) fn keeps_form(from: &DataType, to: &DataType) -> bool {
    if from == to {
        return true;
    }
    match (from.family(), to.family()) {
        (Family::Bit | Family::Integer, Family::Integer) => from.precedence() <= to.precedence(),
        (Family::Money, Family::Money) => from.precedence() <= to.precedence(),
        (Family::Approximate, Family::Approximate) => from.precedence() <= to.precedence(),
        (Family::Decimal, Family::Decimal) => {
            Form::of(from) == Form::of(to)
                && from
                    .decimal_digits()
                    .zip(to.decimal_digits())
                    .is_some_and(|(a, b)| a.0 <= b.0)
        }
        (Family::Text, Family::Text) => {
            let padded = from.is_padded() == to.is_padded();
            from.encoding() <= to.encoding() && padded && holds(from, to)
        }
        (Family::Binary, Family::Binary) => !to.is_padded() && holds(from, to),
        _ => false,
    }
}

/// Whether a value of `from` compares as its conversion to `to`, which is numerically equal and not truncated.
fn compares_alike(from: &DataType, to: &DataType) -> bool {
    if keeps_form(from, to) {
        return true;
    }
    if let (Some(from_scale), Some(to_scale)) = (exact_scale(from), exact_scale(to)) {
        return from_scale <= to_scale
            && whole_digits(from) <= whole_digits(to)
            && from.precedence() <= to.precedence();
    }
    let text = from.family() == Family::Text && to.family() == Family::Text;
    text && from.encoding() <= to.encoding() && holds(from, to)
}

/// The digits before the point of an exact number.
fn whole_digits(data_type: &DataType) -> u8 {
    let described = data_type.describe();
    described.precision.saturating_sub(described.scale)
}

/// Whether every value of `from` fits the length of `to`.
fn holds(from: &DataType, to: &DataType) -> bool {
    let width = |from_width| to.encoding().width_of(from_width, from.encoding());
    match (from.width().map(width), to.width()) {
        (_, Some(Width::Max)) => true,
        (Some(Width::Limited(from)), Some(Width::Limited(to))) => from <= to,
        (Some(Width::Max) | None, _) | (_, None) => false,
    }
}

/// Decimals with at most so many digits are INTEGERs.
const NARROW_DIGITS: u8 = 18;

/// The scale of money.
const MONEY_DIGITS: u8 = 4;

/// The fractional digits of datetime's storage form.
const DATETIME_DIGITS: u8 = 3;

/// The length of `YYYY-MM-DD HH:MM:SS`.
const MOMENT_LENGTH: u32 = 19;
