//! What a function's code is given.

use std::sync::Arc;

use selenite_types::{DataType, DatePart, STEPS_BETWEEN_POLLS, Value, Width, utf16_prefix};

use crate::{Collation, Environment, Expr, SqlError};

/// The values of a call, and what is known of them.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    /// The values in order; those that were left out are not there.
    pub values: &'a [Value],
    /// The expressions that they are values of.
    pub exprs: &'a [Expr],
    /// The part of a date that the call is about.
    pub part: Option<DatePart>,
    /// The type of the result.
    pub data_type: DataType,
    /// How text is compared.
    pub collation: Collation,
    /// What is outside.
    pub environment: &'a dyn Environment,
}

impl<'a> Arguments<'a> {
    /// A value; NULL if it was left out.
    pub fn value(&self, at: usize) -> &'a Value {
        self.values.get(at).unwrap_or(&Value::Null)
    }

    /// The type of an argument.
    pub fn data_type(&self, at: usize) -> DataType {
        self.exprs.get(at).map_or(DataType::Int, |expr| expr.data_type)
    }

    /// A text.
    pub fn text(&self, at: usize) -> Result<&'a str, SqlError> {
        let value = self.value(at);
        if let Value::Text(text) = value {
            Ok(text)
        } else {
            Err(misfit(value, "text"))
        }
    }

    /// An int or smaller.
    pub fn int(&self, at: usize) -> Result<i32, SqlError> {
        let value = self.value(at);
        let number = if let Value::Bit(bit) = value {
            Some(i64::from(*bit))
        } else {
            whole_in(value)
        };
        number
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| misfit(value, "int"))
    }

    /// A bigint or smaller.
    pub fn bigint(&self, at: usize) -> Result<i64, SqlError> {
        let value = self.value(at);
        whole_in(value).ok_or_else(|| misfit(value, "bigint"))
    }

    /// A float.
    pub fn float(&self, at: usize) -> Result<f64, SqlError> {
        let value = self.value(at);
        float_in(value).ok_or_else(|| misfit(value, "float"))
    }

    /// The part of a date that the call is about.
    pub fn part(&self) -> Result<DatePart, SqlError> {
        self.part
            .ok_or_else(|| SqlError::internal("a function of dates without a part"))
    }

    /// Asks for the memory of a text of so many bytes.
    ///
    /// Errors: 7119 for one that is too long; 701.
    pub fn reserve(&self, size: usize) -> Result<(), SqlError> {
        within(size)?;
        if size > HEAVY_SIZE {
            self.environment.reserve(size.saturating_mul(COPIES))?;
        }
        Ok(())
    }

    /// What a loop over characters polls by.
    pub fn polls(&self) -> Polls<'a> {
        Polls {
            environment: self.environment,
            left: STEPS_BETWEEN_POLLS,
        }
    }

    /// A text of the result's type: cut to its length.
    pub fn text_result(&self, text: &str) -> Value {
        Value::Text(Arc::from(self.cut(text)))
    }

    /// The whole number `number` in the result's type.
    ///
    /// Errors: 8115 if it does not fit.
    pub fn whole_result(&self, number: i64) -> Result<Value, SqlError> {
        let overflow = || SqlError::overflow(self.data_type.overflow_name());
        if self.data_type == DataType::BigInt {
            return Ok(Value::BigInt(number));
        }
        i32::try_from(number).map(Value::Int).map_err(|_| overflow())
    }

    /// A length or position in the result's type: what is too long for an int can't be held in memory either.
    pub fn length_result(&self, length: usize) -> Result<Value, SqlError> {
        self.whole_result(i64::try_from(length).unwrap_or(i64::MAX))
    }

    fn cut<'b>(&self, text: &'b str) -> &'b str {
        match self.data_type.width() {
            Some(Width::Limited(width)) => utf16_prefix(text, usize::from(width)),
            Some(Width::Max) | None => text,
        }
    }
}

/// Polls now and then while a loop runs.
pub(crate) struct Polls<'a> {
    environment: &'a dyn Environment,
    left: usize,
}

impl Polls<'_> {
    /// Counts a turn of the loop.
    ///
    /// Errors: that the statement is to stop.
    #[inline]
    pub fn step(&mut self) -> Result<(), SqlError> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = STEPS_BETWEEN_POLLS;
                self.environment.poll()
            }
        }
    }
}

/// The number of a value of a whole type.
pub(crate) fn whole_in(value: &Value) -> Option<i64> {
    match value {
        Value::TinyInt(number) => Some(i64::from(*number)),
        Value::SmallInt(number) => Some(i64::from(*number)),
        Value::Int(number) => Some(i64::from(*number)),
        Value::BigInt(number) => Some(*number),
        Value::Null
        | Value::Bit(_)
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

/// The number of a real or float.
pub(crate) fn float_in(value: &Value) -> Option<f64> {
    if let Value::Real(number) = value {
        return Some(f64::from(*number));
    }
    if let Value::Float(number) = value {
        Some(*number)
    } else {
        None
    }
}

#[cold]
fn misfit(value: &Value, wanted: &str) -> SqlError {
    SqlError::internal(&format!("{value:?} is no {wanted}"))
}

/// Refuses a text of more bytes than one may have.
///
/// Errors: 7119.
pub(crate) fn within(size: usize) -> Result<(), SqlError> {
    if size > TEXT_SIZE_MAX {
        return Err(SqlError::text_too_large(TEXT_SIZE_MAX));
    }
    Ok(())
}

/// 128 MiB: a longer text is refused as one beyond 2 GiB is in SQL Server, for a session's memory is shared by all.
const TEXT_SIZE_MAX: usize = 128 << 20;

/// 64 KiB: for less memory a request is not worth its cost.
pub(crate) const HEAVY_SIZE: usize = 64 << 10;

/// A text is put together, and then copied to where it is shared.
pub(crate) const COPIES: usize = 2;
