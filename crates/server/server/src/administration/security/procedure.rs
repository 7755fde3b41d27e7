//! sp_addrolemember and related ones.

use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Call, CallArgument, Callee, Failure};
use selenite_types::Value;

use super::error;
use crate::administration::Administration;
use crate::execution_context::ExecutionContext;

/// The procedures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// sp_addrolemember
    Add,
    /// sp_droprolemember
    Drop,
    /// sp_addsrvrolemember
    AddToServer,
    /// sp_dropsrvrolemember
    DropFromServer,
}

impl Administration<'_, '_> {
    /// Runs one of these procedures; none if it is another.
    pub(crate) fn call_security(
        &mut self,
        call: &Call<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Callee>, Failure> {
        let Some(own) = own(call) else { return Ok(None) };
        let (first, second) = match own {
            Own::Add | Own::Drop => ("@rolename", "@membername"),
            Own::AddToServer | Own::DropFromServer => ("@loginame", "@rolename"),
        };
        let (first, second) = (argument(call, first, 0)?, argument(call, second, 1)?);
        match own {
            Own::AddToServer | Own::DropFromServer => {
                let adds = own == Own::AddToServer;
                let procedure = if adds {
                    "sp_addsrvrolemember"
                } else {
                    "sp_dropsrvrolemember"
                };
                self.on_server((procedure, None), |work| {
                    work.change_member((&second, true), &first, adds)
                })?;
            }
            Own::Add | Own::Drop => {
                let adds = own == Own::Add;
                self.in_file((None, execution), |work| work.call_member(&first, &second, adds))?;
            }
        }
        Ok(Some(Callee::Done {
            status: 0,
            outputs: call
                .arguments
                .iter()
                .filter(|argument| argument.is_output)
                .map(|argument| argument.value.as_ref().map_or(Value::Null, |(value, _)| value.clone()))
                .collect(),
        }))
    }
}

fn own(call: &Call<'_>) -> Option<Own> {
    let schema = call.procedure.schema.as_ref();
    let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
    let name = &call.procedure.name;
    let own = [
        ("sp_addrolemember", Own::Add),
        ("sp_droprolemember", Own::Drop),
        ("sp_addsrvrolemember", Own::AddToServer),
        ("sp_dropsrvrolemember", Own::DropFromServer),
    ];
    let found = own.iter().find(|(known, _)| name.is(known))?;
    is_system.then_some(found.1)
}

/// The text of an argument, by its name or place.
pub(crate) fn argument(call: &Call<'_>, name: &str, place: usize) -> Result<String, SqlError> {
    let by_name = |argument: &&CallArgument| argument.name.as_ref().is_some_and(|known| same_name(known, name));
    let by_place = || call.arguments.get(place).filter(|argument| argument.name.is_none());
    let found = call.arguments.iter().find(by_name).or_else(by_place);
    match found.and_then(|argument| argument.value.as_ref()) {
        Some((Value::Text(text), _)) => Ok(text.trim_end_matches(' ').to_owned()),
        Some(_) | None => {
            let procedure = &call.procedure.name.text;
            let text =
                format!("Procedure or function '{procedure}' expects parameter '{name}', which was not supplied.");
            Err(error(201, text).with_state(4))
        }
    }
}

pub(super) fn not_allowed() -> SqlError {
    error(
        15247,
        "User does not have permission to perform this action.".to_owned(),
    )
}
