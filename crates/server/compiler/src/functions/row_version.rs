//! The values of rowversion columns, `@@DBTS` and MIN_ACTIVE_ROWVERSION.

use std::sync::Arc;

use selenite_types::{DataType, Value};

use super::{Arguments, Function, Rule, Typing};
use crate::{Expr, ExprKind, FunctionCall, SqlError};

/// The next value: no name of a batch's is the function's.
static NEXT: Function = Function::new("next rowversion", &[Rule::Any], Typing::Is(DataType::RowVersion), next)
    .never_null()
    .of_row();

/// The next value for a rowversion column of a table.
pub(crate) fn next_row_version(is_temporary: bool) -> Expr {
    let call = FunctionCall {
        function: &NEXT,
        part: None,
        arguments: vec![Expr::literal(Value::Bit(is_temporary), DataType::Bit)],
    };
    Expr::new(ExprKind::Call(Box::new(call)), DataType::RowVersion).with_nullable(false)
}

fn next(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let is_temporary = *call.value(0) == Value::Bit(true);
    call.environment.next_row_version(is_temporary).map(bytes)
}

/// `@@DBTS`.
pub(super) fn last(call: &Arguments<'_>) -> Result<Value, SqlError> {
    call.environment.last_row_version().map(bytes)
}

/// MIN_ACTIVE_ROWVERSION.
pub(super) fn min_active(call: &Arguments<'_>) -> Result<Value, SqlError> {
    call.environment.min_active_row_version().map(bytes)
}

fn bytes(version: u64) -> Value {
    Value::Binary(Arc::from(version.to_be_bytes()))
}
