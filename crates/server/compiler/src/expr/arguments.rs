//! Arguments of a scalar function's code.

use std::sync::Arc;

use selenite_types::{DataType, DatePart, STEPS_BETWEEN_POLLS, Value, Width};

use crate::{Collation, Environment, Expr, SqlError};

/// The values of a call, with their context.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    /// The values in order; omitted arguments have none.
    pub values: &'a [Value],
    /// The argument expressions.
    pub exprs: &'a [Expr],
    /// The date part of the call.
    pub part: Option<DatePart>,
    /// The type of the result.
    pub data_type: DataType,
    /// The collation of text.
    pub collation: Collation,
    /// The environment.
    pub environment: &'a dyn Environment,
}

impl<'a> Arguments<'a> {
    /// A value; NULL if it was omitted.
    pub fn value(&self, at: usize) -> &'a Value {
        self.values.get(at).unwrap_or(&Value::Null)
    }

    /// The type of an argument.
    pub fn data_type(&self, at: usize) -> DataType {
        self.exprs.get(at).map_or(DataType::Int, |expr| expr.data_type)
    }

    /// A text argument.
    pub fn text(&self, at: usize) -> Result<&'a str, SqlError> {
        let value = self.value(at);
        if let Value::Text(text) = value {
            Ok(text)
        } else {
            Err(misfit(value, "text"))
        }
    }

    /// An argument of type int or smaller.
    pub fn int(&self, at: usize) -> Result<i32, SqlError> {
        let value = self.value(at);
        let number = if let Value::Bit(bit) = value {
            Some(i64::from(*bit))
        } else {
            value.as_whole()
        };
        number
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| misfit(value, "int"))
    }

    /// An argument of type bigint or smaller.
    pub fn bigint(&self, at: usize) -> Result<i64, SqlError> {
        let value = self.value(at);
        value.as_whole().ok_or_else(|| misfit(value, "bigint"))
    }

    /// A float argument.
    pub fn float(&self, at: usize) -> Result<f64, SqlError> {
        let value = self.value(at);
        float_in(value).ok_or_else(|| misfit(value, "float"))
    }

    /// The date part of the call.
    pub fn part(&self) -> Result<DatePart, SqlError> {
        self.part
            .ok_or_else(|| SqlError::internal("a function of dates without a part"))
    }

    /// Requests memory for a text of `size` bytes.
    ///
    /// Errors: 7119 for a text that is too long; 701.
    pub fn reserve(&self, size: usize) -> Result<(), SqlError> {
        within(size)?;
        if size > HEAVY_SIZE {
            self.environment.reserve(size.saturating_mul(COPIES))?;
        }
        Ok(())
    }

    /// The poll counter of a loop over characters.
    pub fn polls(&self) -> Polls<'a> {
        Polls::of(self.environment)
    }

    /// A text of the result's type, truncated to its length.
    pub fn text_result(&self, text: &str) -> Value {
        Value::Text(Arc::from(self.cut(text)))
    }

    /// An integer in the result's type.
    ///
    /// Errors: 8115 if it does not fit.
    pub fn whole_result(&self, number: i64) -> Result<Value, SqlError> {
        let overflow = || SqlError::overflow(self.data_type.overflow_name());
        if self.data_type == DataType::BigInt {
            return Ok(Value::BigInt(number));
        }
        i32::try_from(number).map(Value::Int).map_err(|_| overflow())
    }

    /// A length or position in the result's type: a text whose length exceeds int does not fit into memory.
    pub fn length_result(&self, length: usize) -> Result<Value, SqlError> {
        self.whole_result(i64::try_from(length).unwrap_or(i64::MAX))
    }

    fn cut<'b>(&self, text: &'b str) -> &'b str {
        match self.data_type.width() {
            Some(Width::Limited(width)) => self.data_type.text_prefix(text, usize::from(width)),
            Some(Width::Max) | None => text,
        }
    }
}

/// Polls every 65,536 steps of a loop.
pub(crate) struct Polls<'a> {
    environment: &'a dyn Environment,
    left: usize,
}

impl<'a> Polls<'a> {
    /// A counter without steps.
    pub fn of(environment: &'a dyn Environment) -> Self {
        Self {
            environment,
            left: STEPS_BETWEEN_POLLS,
        }
    }

    /// Runs what tells of its steps, and asks whether to go on.
    ///
    /// Errors: the error of cancellation.
    pub fn during<R>(&mut self, body: impl FnOnce(&mut dyn FnMut(usize) -> bool) -> R) -> Result<R, SqlError> {
        let mut stopped = Ok(());
        let done = body(&mut |steps| {
            stopped = self.steps(steps);
            stopped.is_ok()
        });
        stopped.map(|()| done)
    }

    /// Counts one step.
    ///
    /// Errors: the error of cancellation.
    #[inline]
    pub fn step(&mut self) -> Result<(), SqlError> {
        self.steps(1)
    }

    /// Counts so many steps.
    ///
    /// Errors: the error of cancellation.
    #[inline]
    pub fn steps(&mut self, count: usize) -> Result<(), SqlError> {
        match self.left.checked_sub(count) {
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

/// The number in a value of type real or float.
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

/// Checks the size of a text.
///
/// Errors: 7119.
pub(crate) fn within(size: usize) -> Result<(), SqlError> {
    if size > TEXT_SIZE_MAX {
        return Err(SqlError::text_too_large(TEXT_SIZE_MAX));
    }
    Ok(())
}

/// 128 MiB: a longer text is refused as one beyond 2 GiB is in SQL Server, for sessions share the server's memory.
const TEXT_SIZE_MAX: usize = 128 << 20;

/// 64 KiB: smaller amounts are not worth the cost of a request.
pub(crate) const HEAVY_SIZE: usize = 64 << 10;

/// A text is composed, and then copied into shared memory.
pub(crate) const COPIES: usize = 2;
