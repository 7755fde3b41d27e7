//! Parameters of SQLite's statements: values that are evaluated once before.

use selenite_types::storage::{Stored, to_stored};
use selenite_types::{DataType, LikePattern, Value};

use super::form::exact_scale;
use crate::{Expr, Frame, Like, PlanError, Predicate, Slot};

/// A parameter of SQLite's statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// What it is.
    pub value: ParameterValue,
    /// The type whose stored form it is given in.
    pub data_type: DataType,
}

/// What a parameter is.
#[derive(Clone, PartialEq, Debug)]
pub enum ParameterValue {
    /// A value of the parameter's type.
    Value(Expr),
    /// A whole number's variable, of any width.
    Whole(Slot),
    /// An exact number times this power of ten: as another number's form has it.
    Scaled(Expr, u8),
    /// A condition: 0, 1 or NULL.
    Truth(Predicate),
    /// What a text that matches is not less than.
    LikeStart(Box<Like>),
    /// What a text that matches is less than.
    LikeEnd(Box<Like>),
    /// The count of TOP.
    RowCount(Expr),
    /// The count of TOP .. PERCENT.
    Percent(Expr),
    /// OFFSET's count.
    Skip(Expr),
    /// FETCH's count.
    Fetch(Expr),
    /// NTILE's count.
    Tiles(Expr),
    /// How far LAG and LEAD look.
    Shift(Expr),
}

impl Parameter {
    /// The value to bind.
    ///
    /// Errors: whatever evaluating it gives; 1014 and its kin for counts out of range.
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Stored<'static>, PlanError> {
        match &self.value {
            ParameterValue::Value(expr) => stored(&expr.evaluate(frame)?, &self.data_type),
            ParameterValue::Whole(slot) => {
                Ok(frame.slots.get(slot.index()).and_then(whole).map_or(Stored::Null, Stored::Integer))
            }
            ParameterValue::Scaled(expr, scale) => {
                Ok(scaled(&expr.evaluate(frame)?, &self.data_type, *scale))
            }
            ParameterValue::Truth(predicate) => Ok(match predicate.evaluate(frame)? {
                Some(truth) => Stored::Integer(i64::from(truth)),
                None => Stored::Null,
            }),
            ParameterValue::LikeStart(like) => like_bound(like, frame, false),
            ParameterValue::LikeEnd(like) => like_bound(like, frame, true),
            ParameterValue::RowCount(expr) => count(expr, frame, 0, PlanError::invalid_row_count),
            ParameterValue::Skip(expr) => count(expr, frame, 0, PlanError::negative_offset),
            ParameterValue::Fetch(expr) => count(expr, frame, 1, PlanError::fetch_of_none),
            ParameterValue::Tiles(expr) => count(expr, frame, 1, PlanError::invalid_tiles),
            ParameterValue::Shift(expr) => count(expr, frame, 0, PlanError::negative_shift),
            ParameterValue::Percent(expr) => match expr.evaluate(frame)? {
                Value::Float(percent) if (0.0..=100.0).contains(&percent) => Ok(Stored::Real(percent)),
                _ => Err(PlanError::percent_range()),
            },
        }
    }
}

/// A value in its type's stored form.
///
/// Errors: 8624 for a value that is none of the type, which binding rules out.
pub(crate) fn stored(value: &Value, data_type: &DataType) -> Result<Stored<'static>, PlanError> {
    match to_stored(value, data_type) {
        Ok(stored) => Ok(stored.into_owned()),
        Err(misfit) => Err(PlanError::internal(&misfit.to_string())),
    }
}

fn count(
    expr: &Expr,
    frame: &Frame<'_>,
    least: i64,
    error: fn() -> PlanError,
) -> Result<Stored<'static>, PlanError> {
    match whole(&expr.evaluate(frame)?) {
        Some(count) if count >= least => Ok(Stored::Integer(count)),
        Some(_) | None => Err(error()),
    }
}

/// A whole number of any width.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bit(value) => Some(i64::from(*value)),
        Value::TinyInt(value) => Some(i64::from(*value)),
        Value::SmallInt(value) => Some(i64::from(*value)),
        Value::Int(value) => Some(i64::from(*value)),
        Value::BigInt(value) => Some(*value),
        Value::Null
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => None,
    }
}

/// An exact number times a power of ten. One beyond 64 bits is beyond every number that it is compared with, and so is the
/// REAL that it becomes.
fn scaled(value: &Value, data_type: &DataType, scale: u8) -> Stored<'static> {
    let (unscaled, own) = match value {
        Value::Decimal(decimal) => (decimal.unscaled, decimal.scale),
        Value::Money(money) => (i128::from(*money), exact_scale(data_type).unwrap_or(0)),
        other => match whole(other) {
            Some(whole) => (i128::from(whole), 0),
            None => return Stored::Null,
        },
    };
    let power = 10_i128.checked_pow(u32::from(scale.saturating_sub(own)));
    let product = power.and_then(|power| unscaled.checked_mul(power));
    match product.and_then(|product| i64::try_from(product).ok()) {
        Some(integer) => Stored::Integer(integer),
        None if unscaled < 0 => Stored::Real(f64::MIN),
        None => Stored::Real(f64::MAX),
    }
}

/// A bound of what a pattern matches: all that begins with its plain characters.
///
/// Whatever stands behind them is more than characters 0 and less than the last characters of Unicode, which stand for no text.
fn like_bound(like: &Like, frame: &Frame<'_>, end: bool) -> Result<Stored<'static>, PlanError> {
    let Value::Text(pattern) = like.pattern.evaluate(frame)? else { return Ok(Stored::Null) };
    let escape = match &like.escape {
        Some(escape) => match escape.evaluate(frame)? {
            Value::Text(escape) => Some(LikePattern::escape_character(&escape)?),
            _ => return Ok(Stored::Null),
        },
        None => None,
    };
    let prefix = LikePattern::prefix(&pattern, escape);
    let prefix = prefix.trim_end_matches(' ');
    if end && prefix.is_empty() {
        // A BLOB is more than any TEXT.
        return Ok(Stored::Blob(Vec::new().into()));
    }
    let behind = if end { LAST_CHARACTERS } else { FIRST_CHARACTERS };
    Ok(Stored::Text(format!("{prefix}{behind}").into()))
}

const FIRST_CHARACTERS: &str = "\0\0\0\0";
const LAST_CHARACTERS: &str = "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}";
