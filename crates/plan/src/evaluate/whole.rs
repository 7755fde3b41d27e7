//! Whole numbers, without conversions, allocations or clones.

use selenite_types::{Comparison, Operator, Value};

use super::Frame;
use crate::{PlanError, Whole, WholeCompare, WholeOperand, WholeOperation};

impl WholeOperation {
    /// The result, or NULL.
    ///
    /// Errors: 8115 if it does not fit its type, 8134 for a division by zero.
    #[inline]
    pub(super) fn evaluate(&self, frame: &Frame<'_>) -> Result<Value, PlanError> {
        let (Some(left), Some(right)) = (self.left.load(frame)?, self.right.load(frame)?) else {
            return Ok(Value::Null);
        };
        let result = match self.operator {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right),
            Operator::Modulo => left.checked_rem(right),
            Operator::BitAnd => Some(left & right),
            Operator::BitOr => Some(left | right),
            Operator::BitXor => Some(left ^ right),
        };
        let value = result.and_then(|result| self.result.value(result));
        value.ok_or_else(|| self.failure(right))
    }

    #[cold]
    fn failure(&self, right: i64) -> PlanError {
        let divides = matches!(self.operator, Operator::Divide | Operator::Modulo);
        if divides && right == 0 {
            return PlanError::divide_by_zero();
        }
        PlanError::overflow(self.result.data_type().bare_name())
    }
}

impl WholeCompare {
    /// Whether the comparison holds.
    #[inline]
    pub(super) fn evaluate(&self, frame: &Frame<'_>) -> Result<Option<bool>, PlanError> {
        let (Some(left), Some(right)) = (self.left.load(frame)?, self.right.load(frame)?) else {
            return Ok(None);
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
    /// The number; none for NULL.
    #[inline]
    fn load(&self, frame: &Frame<'_>) -> Result<Option<i64>, PlanError> {
        match self {
            Self::Slot(slot, _) => match frame.slots.get(slot.index()) {
                Some(Value::Int(number)) => Ok(Some(i64::from(*number))),
                Some(other) => whole(other),
                None => Err(super::no_slot()),
            },
            Self::Literal(number, _) => Ok(Some(*number)),
            Self::Input(at, _) => whole(frame.input(*at)?),
            Self::Expr(expr) => whole(&expr.evaluate(frame)?),
        }
    }
}

impl Whole {
    /// The number as a value of this type, if it fits.
    #[inline]
    fn value(self, number: i64) -> Option<Value> {
        match self {
            Self::Int => i32::try_from(number).ok().map(Value::Int),
            Self::BigInt => Some(Value::BigInt(number)),
            Self::SmallInt => i16::try_from(number).ok().map(Value::SmallInt),
            Self::TinyInt => u8::try_from(number).ok().map(Value::TinyInt),
        }
    }
}

/// A value of a type of whole numbers.
fn whole(value: &Value) -> Result<Option<i64>, PlanError> {
    match value {
        Value::Null => Ok(None),
        Value::TinyInt(number) => Ok(Some(i64::from(*number))),
        Value::SmallInt(number) => Ok(Some(i64::from(*number))),
        Value::Int(number) => Ok(Some(i64::from(*number))),
        Value::BigInt(number) => Ok(Some(*number)),
        Value::Bit(_)
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
        | Value::Guid(_) => Err(PlanError::internal(&format!("{value:?} is no whole number"))),
    }
}
