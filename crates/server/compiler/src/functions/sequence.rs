//! NEXT VALUE FOR.

use selenite_types::{DataType, Decimal, Value};

use super::{Arguments, Function, Typing};
use crate::{Expr, ExprKind, FunctionCall, SqlError};

/// NEXT VALUE FOR: no name of a batch's is the function's.
static NEXT_VALUE: Function = Function::new("next value for", &[], Typing::Is(DataType::BigInt), next_value)
    .taking_nulls()
    .of_row();

/// The next value of a sequence; with `ordinal` that of the row with this number in the order of OVER.
pub(crate) fn next_value_of(sequence_id: i32, data_type: DataType, ordinal: Option<Expr>) -> Expr {
    let mut arguments = vec![Expr::literal(Value::Int(sequence_id), DataType::Int)];
    arguments.extend(ordinal);
    let call = FunctionCall {
        function: &NEXT_VALUE,
        part: None,
        arguments,
    };
    Expr::new(ExprKind::Call(Box::new(call)), data_type).with_nullable(false)
}

/// Whether a node is NEXT VALUE FOR.
pub(crate) fn is_next_value(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if *call.function == NEXT_VALUE)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a sequence has no other type")]
fn next_value(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::Int(sequence_id) = *call.value(0) else {
        return Err(SqlError::internal("a sequence's number"));
    };
    let value = call.environment.next_value(sequence_id, call.value(1).as_whole())?;
    let beyond = |_| SqlError::internal("a sequence beyond its type");
    match call.data_type {
        DataType::TinyInt => u8::try_from(value).map(Value::TinyInt).map_err(beyond),
        DataType::SmallInt => i16::try_from(value).map(Value::SmallInt).map_err(beyond),
        DataType::Int => i32::try_from(value).map(Value::Int).map_err(beyond),
        DataType::BigInt => i64::try_from(value).map(Value::BigInt).map_err(beyond),
        _ => Ok(Value::Decimal(Decimal {
            unscaled: value,
            scale: 0,
        })),
    }
}
