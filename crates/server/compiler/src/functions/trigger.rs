//! What a trigger asks about the statement that fired it.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use super::{Arguments, Function, Rule, Typing};
use crate::{Ends, SqlError, TriggerFacts, same_name};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "columns_updated",
        &[],
        Typing::Is(DataType::VarBinary(Width::Limited(128))),
        columns_updated,
    )
    .taking_nulls()
    .of_statement(),
    Function::new(
        "trigger_nestlevel",
        &[Rule::Int, Rule::National, Rule::National],
        Typing::Is(DataType::Int),
        nest_level,
    )
    .optional(3)
    .taking_nulls()
    .of_statement(),
];

/// UPDATE (column): no name of a batch's is the function's.
pub(super) static UPDATED: Function =
    Function::new("update (column)", &[Rule::National], Typing::Is(DataType::Bit), updated).of_statement();

fn running<'a>(call: &Arguments<'a>) -> Option<&'a Arc<TriggerFacts>> {
    call.environment.session().triggers.last()
}

fn updated(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(trigger) = running(call) else {
        // 140: UPDATE (column) outside a trigger.
        let text = "Can only use IF UPDATE within a CREATE TRIGGER statement.";
        return Err(SqlError::new(140, Ends::Batch, text).with_severity(15));
    };
    let name = call.text(0)?;
    let found = trigger.columns.iter().find(|(column, _)| same_name(column, name));
    let (_, is_assigned) = found.ok_or_else(|| SqlError::unknown_column(name))?;
    Ok(Value::Bit(*is_assigned))
}

/// A bit for each column, the lowest of the first byte for the first.
fn columns_updated(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(trigger) = running(call) else {
        return Err(SqlError::unsupported("COLUMNS_UPDATED outside a trigger"));
    };
    let byte = |columns: &[(String, bool)]| {
        let bits = columns.iter().enumerate().filter(|(_, (_, is_assigned))| *is_assigned);
        bits.fold(0_u8, |byte, (at, _)| byte | 1 << at)
    };
    let bytes: Vec<u8> = trigger.columns.chunks(8).map(byte).collect();
    Ok(Value::Binary(Arc::from(bytes)))
}

fn nest_level(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let triggers = &call.environment.session().triggers;
    let wanted = call.value(0).as_whole().filter(|id| *id != 0);
    let word = |at: usize| call.text(at).ok().map(|text| text.trim().to_ascii_uppercase());
    let instead_of = word(1).map(|word| word == "IOT");
    if word(2).is_some_and(|word| word != "DML") {
        return Ok(Value::Int(0));
    }
    let is_meant = |trigger: &&Arc<TriggerFacts>| {
        wanted.is_none_or(|id| id == i64::from(trigger.object_id))
            && instead_of.is_none_or(|it| it == trigger.is_instead_of)
    };
    let count = triggers.iter().filter(is_meant).count();
    Ok(Value::Int(i32::try_from(count).unwrap_or(i32::MAX)))
}
