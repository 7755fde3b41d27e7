//! Integer operations, without conversions, allocations or clones.

use selenite_types::{Comparison, Operator, Value};

use super::Frame;
use crate::{ExprKind, SqlError, Whole, WholeCompare, WholeOperand, WholeOperation};

impl WholeOperation {
    /// The result, or NULL.
    ///
    /// Errors: 8115 if it does not fit its type, 8134 for a division by zero.
    #[inline]
    pub(super) fn evaluate(&self, frame: &Frame<'_>) -> Result<Value, SqlError> {
        match self.number(frame)? {
            Some(number) => Ok(self.result.value(number)),
            None => Ok(Value::Null),
        }
    }

    /// The result, which fits its type; `None` for NULL.
    ///
    /// Errors: 8115 if it does not fit its type, 8134 for a division by zero.
    #[inline]
    pub fn number(&self, frame: &Frame<'_>) -> Result<Option<i64>, SqlError> {
        let (left, right) = match (self.left.load_directly(frame), self.right.load_directly(frame)) {
            (Some(left), Some(right)) => (left, right),
            _ => match (self.left.load(frame)?, self.right.load(frame)?) {
                (Some(left), Some(right)) => (left, right),
                _ => return Ok(None),
            },
        };
        let result = match self.operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right),
            // As with the quotient, the remainder of the lowest number by -1 is an overflow.
            Operator::Modulo if right == -1 && left == self.result.least() => None,
            Operator::Modulo => left.checked_rem(right),
            Operator::BitAnd => Some(left & right),
            Operator::BitOr => Some(left | right),
            Operator::BitXor => Some(left ^ right),
        };
        match result {
            Some(result) if self.result.holds(result) => Ok(Some(result)),
            Some(_) | None => Err(self.failure(right)),
        }
    }

    #[cold]
    fn failure(&self, right: i64) -> SqlError {
        let divides = matches!(self.operator, Operator::Divide | Operator::Modulo);
        if divides && right == 0 {
            return SqlError::divide_by_zero();
        }
        SqlError::overflow(self.result.data_type().bare_name())
    }
}

impl WholeCompare {
    /// Whether the comparison holds.
    #[inline]
    pub(super) fn evaluate(&self, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
        let (left, right) = match (self.left.load_directly(frame), self.right.load_directly(frame)) {
            (Some(left), Some(right)) => (left, right),
            _ => match (self.left.load(frame)?, self.right.load(frame)?) {
                (Some(left), Some(right)) => (left, right),
                _ => return Ok(None),
            },
        };
        Ok(Some(match self.comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }))
    }
}

impl WholeOperand {
    /// The value of a constant or of an int variable, at most two loads. `None` for any other operand, and for NULL.
    #[inline(always)]
    fn load_directly(&self, frame: &Frame<'_>) -> Option<i64> {
        match self {
            Self::Slot(slot, _) => match frame.slots.get(slot.index()) {
                Some(Value::Int(number)) => Some(i64::from(*number)),
                Some(_) | None => None,
            },
            Self::Literal(number, _) => Some(*number),
            Self::Input(..) | Self::Expr(_) => None,
        }
    }

    /// The number; `None` for NULL.
    fn load(&self, frame: &Frame<'_>) -> Result<Option<i64>, SqlError> {
        match self {
            Self::Slot(slot, _) => whole(frame.slots.get(slot.index()).ok_or_else(super::no_slot)?),
            Self::Literal(number, _) => Ok(Some(*number)),
            Self::Input(at, _) => whole(frame.input(*at)?),
            Self::Expr(expr) => {
                if let ExprKind::Whole(operation) = &expr.kind {
                    return operation.number(frame);
                }
                whole(&expr.evaluate(frame)?)
            }
        }
    }
}

impl Whole {
    /// The least number of the type.
    #[inline]
    fn least(self) -> i64 {
        match self {
            Self::TinyInt => 0,
            Self::SmallInt => i64::from(i16::MIN),
            Self::Int => i64::from(i32::MIN),
            Self::BigInt => i64::MIN,
        }
    }

    /// Whether the number is in the range of the type.
    #[inline]
    fn holds(self, number: i64) -> bool {
        match self {
            Self::Int => i32::try_from(number).is_ok(),
            Self::BigInt => true,
            Self::SmallInt => i16::try_from(number).is_ok(),
            Self::TinyInt => u8::try_from(number).is_ok(),
        }
    }

    /// The number as a value of the type; NULL if it is out of range.
    #[inline]
    #[must_use]
    pub fn value(self, number: i64) -> Value {
        match self {
            Self::Int => i32::try_from(number).map_or(Value::Null, Value::Int),
            Self::BigInt => Value::BigInt(number),
            Self::SmallInt => i16::try_from(number).map_or(Value::Null, Value::SmallInt),
            Self::TinyInt => u8::try_from(number).map_or(Value::Null, Value::TinyInt),
        }
    }
}

/// The number in a value of an integer type.
fn whole(value: &Value) -> Result<Option<i64>, SqlError> {
    match value.as_whole() {
        Some(number) => Ok(Some(number)),
        None if *value == Value::Null => Ok(None),
        None => Err(SqlError::internal(&format!("{value:?} is no whole number"))),
    }
}
