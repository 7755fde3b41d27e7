//! Applies operators to values.

use std::sync::Arc;

use super::{Integer, OperationError, Operator, UnaryOperator, moments};
use crate::{DataType, Decimal, Value, Width, decimal};

impl Operator {
    /// Applies the operator to two values that are already converted to the operand types of [`Operator::signature`];
    /// `result` is its result type.
    ///
    /// NULL with any value is NULL. Errors: 8115 if the result overflows, 8134 for a division by zero.
    #[inline]
    pub fn apply(self, left: &Value, right: &Value, result: &DataType) -> Result<Value, OperationError> {
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => self.of_integers(*a, *b).map(Value::Int),
            (Value::BigInt(a), Value::BigInt(b)) => self.of_integers(*a, *b).map(Value::BigInt),
            _ => self.apply_others(left, right, result),
        }
    }

    /// Applies the operator to two integers of one type.
    #[inline]
    pub fn of_integers<T>(self, left: T, right: T) -> Result<T, OperationError>
    where
        T: Integer + std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T> + std::ops::BitXor<Output = T>,
    {
        match self {
            Self::Add => left.plus(right),
            Self::Subtract => left.minus(right),
            Self::Multiply => left.times(right),
            Self::Divide => left.over(right),
            Self::Modulo => left.modulo(right),
            Self::BitAnd => Ok(left & right),
            Self::BitOr => Ok(left | right),
            Self::BitXor => Ok(left ^ right),
        }
    }

    fn apply_others(self, left: &Value, right: &Value, result: &DataType) -> Result<Value, OperationError> {
        match (left, right) {
            (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
            (Value::TinyInt(a), Value::TinyInt(b)) => self.of_integers(*a, *b).map(Value::TinyInt),
            (Value::SmallInt(a), Value::SmallInt(b)) => self.of_integers(*a, *b).map(Value::SmallInt),
            (Value::Bit(a), Value::Bit(b)) => match self {
                Self::BitAnd => Ok(Value::Bit(a & b)),
                Self::BitOr => Ok(Value::Bit(a | b)),
                Self::BitXor => Ok(Value::Bit(a ^ b)),
                Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Modulo => Err(self.not_promoted()),
            },
            (Value::Decimal(a), Value::Decimal(b)) => self.of_decimal_values(*a, *b, result),
            (Value::Money(a), Value::Money(b)) => self.of_money(*a, *b, result),
            (Value::Float(a), Value::Float(b)) => self.of_floats(*a, *b, result),
            (Value::Real(a), Value::Real(b)) => self.of_floats(f64::from(*a), f64::from(*b), result),
            (Value::Text(a), Value::Text(b)) if self == Self::Add => Ok(Value::Text(joined_text(a, b, result))),
            (Value::Binary(a), Value::Binary(b)) if self == Self::Add => Ok(Value::Binary(joined_bytes(a, b, result))),
            (Value::DateTime(a), Value::DateTime(b)) => match self {
                Self::Add => moments::add(*a, *b, result).map(Value::DateTime),
                Self::Subtract => moments::subtract(*a, *b, result).map(Value::DateTime),
                Self::Multiply | Self::Divide | Self::Modulo | Self::BitAnd | Self::BitOr | Self::BitXor => {
                    Err(self.not_promoted())
                }
            },
            _ => Err(self.not_promoted()),
        }
    }

    fn of_decimal_values(self, left: Decimal, right: Decimal, result: &DataType) -> Result<Value, OperationError> {
        let Some((precision, scale)) = result.decimal_digits() else {
            return Err(self.not_promoted());
        };
        if matches!(self, Self::Divide | Self::Modulo) && right.unscaled == 0 {
            return Err(OperationError::DivideByZero);
        }
        let computed = match self {
            Self::Add => decimal::add(left, right, scale),
            Self::Subtract => decimal::subtract(left, right, scale),
            Self::Multiply => decimal::multiply(left, right, scale),
            Self::Divide => decimal::divide(left, right, scale),
            Self::Modulo => decimal::remainder(left, right, scale),
            Self::BitAnd | Self::BitOr | Self::BitXor => return Err(self.not_promoted()),
        };
        let fitting = computed.filter(|number| number.fits(precision));
        fitting
            .map(Value::Decimal)
            .ok_or(OperationError::Overflow { to: *result })
    }

    /// Units of 1/10,000: a product is rounded, a quotient is truncated.
    fn of_money(self, left: i64, right: i64, result: &DataType) -> Result<Value, OperationError> {
        if matches!(self, Self::Divide | Self::Modulo) && right == 0 {
            return Err(OperationError::DivideByZero);
        }
        let (a, b) = (i128::from(left), i128::from(right));
        let computed = match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => {
                let product = a * b;
                (product + product.signum() * (MONEY_UNIT / 2)) / MONEY_UNIT
            }
            Self::Divide => a * MONEY_UNIT / b,
            Self::Modulo => a % b,
            Self::BitAnd | Self::BitOr | Self::BitXor => return Err(self.not_promoted()),
        };
        let fits_small = *result != DataType::SmallMoney || i32::try_from(computed).is_ok();
        match i64::try_from(computed) {
            Ok(money) if fits_small => Ok(Value::Money(money)),
            Ok(_) | Err(_) => Err(OperationError::Overflow { to: *result }),
        }
    }

    /// Computed in 64 bits, and rounded to 32 bits for a result of type real.
    fn of_floats(self, left: f64, right: f64, result: &DataType) -> Result<Value, OperationError> {
        if self == Self::Divide && right == 0.0 {
            return Err(OperationError::DivideByZero);
        }
        let computed = match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Modulo | Self::BitAnd | Self::BitOr | Self::BitXor => return Err(self.not_promoted()),
        };
        let value = if *result == DataType::Real {
            let rounded = to_real(computed);
            rounded.is_finite().then_some(Value::Real(rounded))
        } else {
            computed.is_finite().then_some(Value::Float(computed))
        };
        value.ok_or(OperationError::Overflow { to: *result })
    }

    fn not_promoted(self) -> OperationError {
        OperationError::NotPromoted { operator: self.name() }
    }
}

impl UnaryOperator {
    /// Applies the operator to one value; `result` is the type from [`UnaryOperator::result_type`].
    ///
    /// NULL remains NULL. Error 8115 if the minimum of a type is negated.
    pub fn apply(self, operand: &Value, result: &DataType) -> Result<Value, OperationError> {
        match self {
            Self::Plus => Ok(operand.clone()),
            Self::Minus => negated(operand, result),
            Self::BitNot => match operand {
                Value::Null => Ok(Value::Null),
                Value::Bit(value) => Ok(Value::Bit(!value)),
                Value::TinyInt(value) => Ok(Value::TinyInt(!value)),
                Value::SmallInt(value) => Ok(Value::SmallInt(!value)),
                Value::Int(value) => Ok(Value::Int(!value)),
                Value::BigInt(value) => Ok(Value::BigInt(!value)),
                Value::Decimal(_)
                | Value::Money(_)
                | Value::Real(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::Binary(_)
                | Value::Date(_)
                | Value::Time(_)
                | Value::DateTime(_)
                | Value::DateTimeOffset(_)
                | Value::Guid(_)
                | Value::SqlVariant(_) => Err(OperationError::NotPromoted { operator: self.name() }),
            },
        }
    }
}

fn negated(operand: &Value, result: &DataType) -> Result<Value, OperationError> {
    match operand {
        Value::Null => Ok(Value::Null),
        Value::TinyInt(value) => Ok(Value::SmallInt(-i16::from(*value))),
        Value::SmallInt(value) => 0.minus(*value).map(Value::SmallInt),
        Value::Int(value) => 0.minus(*value).map(Value::Int),
        Value::BigInt(value) => 0.minus(*value).map(Value::BigInt),
        Value::Decimal(number) => match number.unscaled.checked_neg() {
            Some(unscaled) => Ok(Value::Decimal(Decimal {
                unscaled,
                scale: number.scale,
            })),
            None => Err(OperationError::Overflow { to: *result }),
        },
        Value::Money(value) => Operator::Subtract.of_money(0, *value, result),
        Value::Real(value) => Ok(Value::Real(-value)),
        Value::Float(value) => Ok(Value::Float(-value)),
        Value::Bit(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => Err(OperationError::NotPromoted {
            operator: UnaryOperator::Minus.name(),
        }),
    }
}

/// Concatenates two texts, truncated to the result type without an error, as in SQL Server.
fn joined_text(left: &Arc<str>, right: &Arc<str>, result: &DataType) -> Arc<str> {
    let room = match result.width() {
        Some(Width::Limited(length)) => usize::from(length),
        Some(Width::Max) | None => usize::MAX,
    };
    // A text never has more units than bytes.
    if left.len().saturating_add(right.len()) <= room {
        match (left.is_empty(), right.is_empty()) {
            (true, _) => return Arc::clone(right),
            (_, true) => return Arc::clone(left),
            (false, false) => {}
        }
    }
    let length = left.len().saturating_add(right.len());
    let mut short = [0; SHORT_LENGTH];
    if length <= room
        && let Some(places) = short.get_mut(..length)
    {
        // One allocation instead of two: a short result is assembled on the stack.
        let (front, back) = places.split_at_mut(left.len());
        front.copy_from_slice(left.as_bytes());
        back.copy_from_slice(right.as_bytes());
        if let Ok(joined) = std::str::from_utf8(places) {
            return Arc::from(joined);
        }
    }
    let joined = [&**left, &**right].concat();
    Arc::from(result.text_prefix(&joined, room))
}

fn joined_bytes(left: &Arc<[u8]>, right: &Arc<[u8]>, result: &DataType) -> Arc<[u8]> {
    let mut joined = [&**left, &**right].concat();
    if let Some(Width::Limited(length)) = result.width() {
        joined.truncate(usize::from(length));
    }
    joined.into()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to what real tells apart is what is asked for"
)]
fn to_real(value: f64) -> f32 {
    value as f32
}

/// The size of the stack buffer: most concatenated texts are shorter.
const SHORT_LENGTH: usize = 128;

/// The number of money units in 1.
const MONEY_UNIT: i128 = 10_000;

#[cfg(test)]
mod tests;
