//! Parameters of SQLite's statements: values that are evaluated once in advance.

use selenite_types::storage::{Stored, to_stored};
use selenite_types::{DataType, Decimal, LikePattern, Value};

use super::form::exact_scale;
use crate::{Expr, Frame, Like, Predicate, Slot, SqlError};

/// A parameter of SQLite's statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The value.
    pub value: ParameterValue,
    /// The type of its storage form.
    pub data_type: DataType,
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum ParameterValue {
    /// A value of the parameter's type.
    Value(Expr),
    /// An integer variable, of any width.
    Whole(Slot),
    /// An exact number times this power of ten: in the scale of another number's form.
    Scaled(Expr, u8),
    /// An exact number times this power of ten, as a decimal with more digits.
    Wide(Expr, u8),
    /// A condition: 0, 1 or NULL.
    Truth(Predicate),
    /// The inclusive lower bound of the matching values.
    LikeStart(Box<Like>),
    /// The exclusive upper bound of the matching values.
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
    /// The offset of LAG and LEAD.
    Shift(Expr),
}

impl Parameter {
    /// The value to bind.
    ///
    /// Errors: any error of the evaluation; 1014 and related ones for counts out of range.
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Stored<'static>, SqlError> {
        match &self.value {
            ParameterValue::Value(expr) => stored(&expr.evaluate(frame)?, &self.data_type),
            ParameterValue::Whole(slot) => Ok(frame
                .slots
                .get(slot.index())
                .and_then(whole)
                .map_or(Stored::Null, Stored::Integer)),
            ParameterValue::Scaled(expr, scale) => Ok(scaled(&expr.evaluate(frame)?, &self.data_type, *scale)),
            ParameterValue::Wide(expr, scale) => Ok(wide(&expr.evaluate(frame)?, &self.data_type, *scale)),
            ParameterValue::Truth(predicate) => Ok(match predicate.evaluate(frame)? {
                Some(truth) => Stored::Integer(i64::from(truth)),
                None => Stored::Null,
            }),
            ParameterValue::LikeStart(like) => like_bound(like, frame, false),
            ParameterValue::LikeEnd(like) => like_bound(like, frame, true),
            ParameterValue::RowCount(expr) => count(expr, frame, 0, SqlError::invalid_row_count),
            ParameterValue::Skip(expr) => count(expr, frame, 0, SqlError::negative_offset),
            ParameterValue::Fetch(expr) => count(expr, frame, 1, SqlError::fetch_of_none),
            ParameterValue::Tiles(expr) => count(expr, frame, 1, SqlError::invalid_tiles),
            ParameterValue::Shift(expr) => count(expr, frame, 0, SqlError::negative_shift),
            ParameterValue::Percent(expr) => {
                if let Value::Float(percent) = expr.evaluate(frame)?
                    && (0.0..=100.0).contains(&percent)
                {
                    return Ok(Stored::Real(percent));
                }
                Err(SqlError::percent_range())
            }
        }
    }
}

/// A value in its type's storage form.
///
/// Errors: 8624 for a value that is not of the type, which binding rules out.
pub fn stored(value: &Value, data_type: &DataType) -> Result<Stored<'static>, SqlError> {
    match to_stored(value, data_type) {
        Ok(stored) => Ok(stored.into_owned()),
        Err(misfit) => Err(SqlError::internal(&misfit.to_string())),
    }
}

fn count(expr: &Expr, frame: &Frame<'_>, least: i64, error: fn() -> SqlError) -> Result<Stored<'static>, SqlError> {
    match whole(&expr.evaluate(frame)?) {
        Some(count) if count >= least => Ok(Stored::Integer(count)),
        Some(_) | None => Err(error()),
    }
}

/// An integer of any width.
fn whole(value: &Value) -> Option<i64> {
    if let Value::Bit(bit) = value {
        return Some(i64::from(*bit));
    }
    value.as_whole()
}

/// An exact number times a power of ten. A result beyond 64 bits is greater in magnitude than every number that it is
/// compared with, and so is the REAL that it becomes.
fn scaled(value: &Value, data_type: &DataType, scale: u8) -> Stored<'static> {
    let Some((unscaled, product)) = multiplied(value, data_type, scale) else {
        return Stored::Null;
    };
    match product.and_then(|product| i64::try_from(product).ok()) {
        Some(integer) => Stored::Integer(integer),
        None if unscaled < 0 => Stored::Real(f64::MIN),
        None => Stored::Real(f64::MAX),
    }
}

/// An exact number times a power of ten, in 16 bytes. A result with more digits than any decimal is greater in
/// magnitude than every other, and so are the bytes that it becomes.
fn wide(value: &Value, data_type: &DataType, scale: u8) -> Stored<'static> {
    let Some((unscaled, product)) = multiplied(value, data_type, scale) else {
        return Stored::Null;
    };
    let decimal = product.map(|unscaled| Value::Decimal(Decimal { unscaled, scale }));
    let declared = DataType::Decimal { precision: 38, scale };
    let stored = decimal.and_then(|decimal| to_stored(&decimal, &declared).ok().map(Stored::into_owned));
    match stored {
        Some(stored) => stored,
        None if unscaled < 0 => Stored::Blob(Vec::new().into()),
        None => Stored::Blob(vec![u8::MAX; 17].into()),
    }
}

/// An exact number's digits, and these scaled up to `scale`, unless that overflows. `None` is NULL.
fn multiplied(value: &Value, data_type: &DataType, scale: u8) -> Option<(i128, Option<i128>)> {
    let (unscaled, own) = if let Value::Decimal(decimal) = value {
        (decimal.unscaled, decimal.scale)
    } else if let Value::Money(money) = value {
        (i128::from(*money), exact_scale(data_type).unwrap_or(0))
    } else {
        (i128::from(whole(value)?), 0)
    };
    let power = 10_i128.checked_pow(u32::from(scale.saturating_sub(own)));
    Some((unscaled, power.and_then(|power| unscaled.checked_mul(power))))
}

/// A bound of the values that match a pattern: all of them begin with its literal prefix.
///
/// Any suffix is greater than characters 0 and less than the last characters of Unicode, which are noncharacters.
fn like_bound(like: &Like, frame: &Frame<'_>, end: bool) -> Result<Stored<'static>, SqlError> {
    let Value::Text(pattern) = like.pattern.evaluate(frame)? else {
        return Ok(Stored::Null);
    };
    let escape = match &like.escape {
        Some(escape) => {
            let Value::Text(escape) = escape.evaluate(frame)? else {
                return Ok(Stored::Null);
            };
            Some(LikePattern::escape_character(&escape)?)
        }
        None => None,
    };
    let prefix = LikePattern::prefix(&pattern, escape);
    let prefix = prefix.trim_end_matches(' ');
    if end && prefix.is_empty() {
        // A BLOB is greater than any TEXT.
        return Ok(Stored::Blob(Vec::new().into()));
    }
    let suffix = if end { LAST_CHARACTERS } else { FIRST_CHARACTERS };
    Ok(Stored::Text(format!("{prefix}{suffix}").into()))
}

const FIRST_CHARACTERS: &str = "\0\0\0\0";
const LAST_CHARACTERS: &str = "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}";
