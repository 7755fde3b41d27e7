//! Parameters of a call as arguments.

use std::sync::Arc;

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{CallArgument, TableArgument};
use selenite_tds::RpcCall;
use selenite_types::Value;

/// The parameters after the first ones.
pub(super) fn call_arguments(call: &RpcCall, first: usize) -> Vec<CallArgument> {
    let parameters = call.parameters.iter().skip(first);
    parameters
        .map(|parameter| CallArgument {
            name: (!parameter.name.is_empty()).then(|| parameter.name.clone()),
            value: (!parameter.is_default && parameter.table.is_none())
                .then(|| (parameter.value.clone(), parameter.type_info.data_type)),
            is_output: parameter.is_output,
            table: parameter.table.clone().map(TableArgument::Rows),
            cursor: None,
        })
        .collect()
}

/// The text in that place; NULL is an empty one.
///
/// # Errors
/// 201 if it is missing, 214 if it is no text.
pub(super) fn text_of(call: &RpcCall, index: usize, procedure: &str) -> Result<Arc<str>, SqlError> {
    let parameter = call.parameters.get(index);
    if parameter.is_some_and(|parameter| parameter.table.is_some()) {
        return Err(not_national(index));
    }
    match parameter.map(|parameter| &parameter.value) {
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(Value::Null) => Ok(Arc::default()),
        Some(_) => Err(not_national(index)),
        None => Err(SqlError::parameter_missing(procedure, parameter_name(procedure, index))),
    }
}

/// A whole number; `None` for NULL and for everything else.
pub(super) fn int_of(value: &Value) -> Option<i32> {
    match value {
        Value::Int(value) => Some(*value),
        Value::SmallInt(value) => Some(i32::from(*value)),
        Value::TinyInt(value) => Some(i32::from(*value)),
        Value::BigInt(value) => i32::try_from(*value).ok(),
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
        | Value::Guid(_)
        | Value::SqlVariant(_) => None,
    }
}

/// 214: a parameter that has to be text.
pub(super) fn not_national(index: usize) -> SqlError {
    let name = if index == 0 { "@statement" } else { "@params" };
    let text = format!("Procedure expects parameter '{name}' of type 'ntext/nchar/nvarchar'.");
    SqlError::new(214, Ends::Statement, text).with_state(2)
}

fn parameter_name(procedure: &str, index: usize) -> &'static str {
    match (procedure, index) {
        ("sp_executesql", 0) => "@statement",
        ("sp_prepexecrpc", _) => "@rpcname",
        ("sp_prepare" | "sp_prepexec", 1) => "@params",
        (_, _) => "@stmt",
    }
}
