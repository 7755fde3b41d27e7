//! sp_set_session_context.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_runtime::machine::{Call, Callee, Failure};
use selenite_types::{DataType, Value, convert};

use super::call_argument::{argument, variant};
use crate::administration::procedure_argument;
use crate::execution_context::ExecutionContext;

/// Runs the procedure; `None` if it is another.
///
/// # Errors
/// 201 without a key or value; 206 for a value that no sql_variant holds; 15664 to 15666.
pub(super) fn set_session_context(
    call: &Call<'_>,
    execution: &mut ExecutionContext<'_>,
) -> Result<Option<Callee>, Failure> {
    let schema = call.procedure.schema.as_ref();
    let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
    if !is_system || !call.procedure.name.is("sp_set_session_context") {
        return Ok(None);
    }
    let session = &mut execution.state.session;
    let format = session.date_format;
    let key = procedure_argument(call, "@key", 0)?;
    let Some((value, of)) = argument(call, "@value", 1) else {
        let procedure = "sp_set_session_context";
        return Err(SqlError::parameter_missing(procedure, "@value").into());
    };
    let value = variant(value, of, format)?;
    let is_read_only = match argument(call, "@read_only", 2) {
        None => false,
        Some((value, of)) => {
            convert(value, of, &DataType::Bit, None, format).map_err(SqlError::from)? == Value::Bit(true)
        }
    };
    Arc::make_mut(&mut session.context).set(&key, value, is_read_only)?;
    Ok(Some(Callee::Done {
        status: 0,
        outputs: Vec::new(),
    }))
}
