//! Evaluates bound expressions.
//!
//! - `whole-numbers-are-cheap`: integers need no allocation and no reference count.
//! - `errors-not-panics`: every failure is a T-SQL error; nothing panics.
//! - `large-values-are-interruptible`: between two operations on large values cancellation is
//!   polled; an operation that is not linear in their size polls by itself, too.

use std::sync::Arc;

use selenite_types::{DataType, Operator, Value, convert_while};

use crate::expr::{Arguments, COPIES, HEAVY_SIZE, Polls, within};
use crate::{Convert, Environment, Expr, ExprKind, FunctionCall, Let, Predicate, SqlError, UserCall};

mod condition;
mod whole;

/// The context of an evaluation.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The variables' values, by [`crate::Slot`].
    pub slots: &'a [Value],
    /// The values of [`crate::ExprKind::Input`]s; empty outside [`crate::Operations`].
    pub row: &'a [Value],
    /// The value of the innermost [`crate::Let`].
    pub local: Option<&'a Value>,
    /// The environment.
    pub environment: &'a dyn Environment,
}

impl<'a> Frame<'a> {
    /// The frame of the body of a [`crate::Let`] with this value.
    fn within<'b>(&self, local: &'b Value) -> Frame<'b>
    where
        'a: 'b,
    {
        Frame {
            local: Some(local),
            ..*self
        }
    }

    /// An input's value.
    fn input(&self, at: u32) -> Result<&'a Value, SqlError> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.row.get(at).ok_or_else(|| SqlError::internal("no such input"))
    }
}

impl Expr {
    /// The expression's value: NULL, or of its type.
    ///
    /// Errors: any error of the values. 8624 if it contains a column or another query node, which only
    /// [`crate::Operations`] can evaluate.
    #[inline]
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Value, SqlError> {
        if let ExprKind::Whole(operation) = &self.kind {
            return operation.evaluate(frame);
        }
        self.evaluate_others(frame)
    }

    fn evaluate_others(&self, frame: &Frame<'_>) -> Result<Value, SqlError> {
        match &self.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::Variable(slot) => frame.slots.get(slot.index()).cloned().ok_or_else(no_slot),
            ExprKind::Input(at) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                frame
                    .row
                    .get(at)
                    .cloned()
                    .ok_or_else(|| SqlError::internal("no such input"))
            }
            ExprKind::Column(_) | ExprKind::QueryNode(_) => Err(SqlError::internal("a column without a row")),
            ExprKind::Whole(operation) => operation.evaluate(frame),
            ExprKind::Convert(convert) => converted(convert, &self.data_type, frame),
            ExprKind::Unary { operator, operand } => Ok(operator.apply(&operand.evaluate(frame)?, &self.data_type)?),
            ExprKind::Binary { operator, left, right } => {
                let (left, right) = (left.evaluate(frame)?, right.evaluate(frame)?);
                computed(*operator, left, right, &self.data_type, frame)
            }
            ExprKind::Case { branches, otherwise } => case(branches, otherwise.as_deref(), frame),
            ExprKind::Coalesce(values) => {
                for value in values {
                    let value = value.evaluate(frame)?;
                    if value != Value::Null {
                        return Ok(value);
                    }
                }
                Ok(Value::Null)
            }
            ExprKind::Choose { index, values } => {
                let index = index
                    .evaluate(frame)?
                    .as_whole()
                    .and_then(|index| usize::try_from(index).ok());
                let index = index.and_then(|index| index.checked_sub(1));
                let chosen = index.and_then(|index| values.get(index));
                chosen.map_or(Ok(Value::Null), |chosen| chosen.evaluate(frame))
            }
            ExprKind::Call(call) => called(call, self, frame),
            ExprKind::UserCall(call) => user_called(call, frame),
            ExprKind::Let(bound) => over_local(bound, frame),
            ExprKind::Local => frame.local.cloned().ok_or_else(|| SqlError::internal("no local value")),
        }
    }
}

fn case(branches: &[(Predicate, Expr)], otherwise: Option<&Expr>, frame: &Frame<'_>) -> Result<Value, SqlError> {
    for (condition, result) in branches {
        if condition.evaluate(frame)? == Some(true) {
            return result.evaluate(frame);
        }
    }
    otherwise.map_or(Ok(Value::Null), |otherwise| otherwise.evaluate(frame))
}

fn over_local(bound: &Let, frame: &Frame<'_>) -> Result<Value, SqlError> {
    let value = bound.value.evaluate(frame)?;
    bound.body.evaluate(&frame.within(&value))
}

fn converted(conversion: &Convert, to: &DataType, frame: &Frame<'_>) -> Result<Value, SqlError> {
    let value = conversion.operand.evaluate(frame)?;
    let style = match &conversion.style {
        None => None,
        Some(style) => {
            // A NULL style makes the result NULL.
            let Value::Int(style) = style.evaluate(frame)? else {
                return Ok(Value::Null);
            };
            Some(style)
        }
    };
    let size = size_of(&value);
    if size > HEAVY_SIZE {
        frame.environment.poll()?;
        // Bytes become two digits each as text, which is then copied into the value.
        frame.environment.reserve(size.saturating_mul(2 * COPIES))?;
    }
    let format = frame.environment.session().date_format;
    let from = &conversion.operand.data_type;
    let mut polls = Polls::of(frame.environment);
    match polls.during(|poll| convert_while(&value, from, to, style, format, poll))? {
        Ok(value) => Ok(value),
        Err(_) if conversion.is_try => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

fn computed(
    operator: Operator,
    left: Value,
    right: Value,
    data_type: &DataType,
    frame: &Frame<'_>,
) -> Result<Value, SqlError> {
    if operator == Operator::Add && data_type.width().is_some() {
        return joined(left, right, data_type, frame);
    }
    Ok(operator.apply(&left, &right, data_type)?)
}

/// Two strings concatenated: NULL if either is, unless the session treats NULL as an empty string.
fn joined(left: Value, right: Value, data_type: &DataType, frame: &Frame<'_>) -> Result<Value, SqlError> {
    let sum = size_of(&left).saturating_add(size_of(&right));
    if sum > HEAVY_SIZE {
        within(sum)?;
        frame.environment.poll()?;
        frame.environment.reserve(sum.saturating_mul(COPIES))?;
    }
    let is_null = left == Value::Null || right == Value::Null;
    if is_null && !frame.environment.session().concat_null_yields_null {
        let filled = |value: Value| {
            if value == Value::Null {
                Value::Text(Arc::from(""))
            } else {
                value
            }
        };
        let is_text = data_type.family() == selenite_types::Family::Text;
        if is_text {
            return Ok(Operator::Add.apply(&filled(left), &filled(right), data_type)?);
        }
    }
    Ok(Operator::Add.apply(&left, &right, data_type)?)
}

/// The size of a text or binary value in bytes; 0 for any other.
#[must_use]
pub fn size_of(value: &Value) -> usize {
    if let Value::Text(text) = value {
        return text.len();
    }
    if let Value::Binary(bytes) = value {
        bytes.len()
    } else {
        0
    }
}

fn called(call: &FunctionCall, expr: &Expr, frame: &Frame<'_>) -> Result<Value, SqlError> {
    let mut few = [Value::Null, Value::Null, Value::Null, Value::Null];
    let mut many = Vec::new();
    let values = match few.get_mut(..call.arguments.len()) {
        Some(few) => {
            for (value, argument) in few.iter_mut().zip(&call.arguments) {
                *value = argument.evaluate(frame)?;
            }
            &*few
        }
        None => {
            for argument in &call.arguments {
                many.push(argument.evaluate(frame)?);
            }
            many.as_slice()
        }
    };
    let size = values.iter().map(size_of).fold(0, usize::saturating_add);
    if size > HEAVY_SIZE {
        frame.environment.poll()?;
        frame.environment.reserve(size.saturating_mul(COPIES))?;
    }
    call.function.run(&Arguments {
        values,
        exprs: &call.arguments,
        part: call.part,
        data_type: expr.data_type,
        collation: expr.collation,
        environment: frame.environment,
    })
}

fn user_called(call: &UserCall, frame: &Frame<'_>) -> Result<Value, SqlError> {
    let mut values = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        values.push(argument.evaluate(frame)?);
    }
    if call.function.is_strict && values.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    frame.environment.user_function(&call.function, values)
}

#[cold]
fn no_slot() -> SqlError {
    SqlError::internal("no such variable")
}

#[cfg(test)]
mod tests;
