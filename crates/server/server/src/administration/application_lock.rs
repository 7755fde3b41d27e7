//! sp_getapplock and sp_releaseapplock.

use std::time::Duration;

use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Call, CallArgument, Callee, Failure};
use selenite_types::Value;

use crate::administration::Administration;
use crate::catalog::principals::Principals;
use crate::database::application_locks::{LockMode, LockName, LockOwner, NotLocked};
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    /// Runs one of these procedures; `None` if it is another.
    pub(crate) fn call_lock(
        &mut self,
        call: &Call<'_>,
        principals: &Principals,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Callee>, Failure> {
        let schema = call.procedure.schema.as_ref();
        let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        let name = &call.procedure.name;
        let status = if is_system && name.is("sp_getapplock") {
            self.take_lock(call, principals, execution)?
        } else if is_system && name.is("sp_releaseapplock") {
            self.release_lock(call, principals)?
        } else {
            return Ok(None);
        };
        Ok(Some(Callee::Done {
            status,
            outputs: call
                .arguments
                .iter()
                .filter(|argument| argument.is_output)
                .map(|argument| argument.value.as_ref().map_or(Value::Null, |(value, _)| value.clone()))
                .collect(),
        }))
    }

    fn take_lock(
        &mut self,
        call: &Call<'_>,
        principals: &Principals,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<i32, Failure> {
        const PROCEDURE: &str = "sp_getapplock";
        let owner = self.owner(call, 2, PROCEDURE)?;
        let name = self.lock_name(call, 4, (principals, PROCEDURE))?;
        let mode = text(call, "@LockMode", 1).and_then(LockMode::of_word);
        // 1225: a mode that there is not.
        let mode = mode.ok_or_else(|| invalid(1225, "mode", PROCEDURE))?;
        let timeout = match value(call, "@LockTimeout", 3) {
            None | Some(Value::Null) => execution.state.session.lock_timeout_ms,
            Some(Value::Int(milliseconds)) if *milliseconds >= -1 => *milliseconds,
            Some(Value::BigInt(milliseconds)) => i32::try_from(*milliseconds)
                .ok()
                .filter(|milliseconds| *milliseconds >= -1)
                .ok_or_else(|| invalid(1227, "time-out", PROCEDURE))?,
            Some(Value::SmallInt(milliseconds)) if *milliseconds >= -1 => i32::from(*milliseconds),
            Some(Value::TinyInt(milliseconds)) => i32::from(*milliseconds),
            // A parameter of type int takes a text, too.
            Some(Value::Text(text)) => (text.trim().parse().ok())
                .filter(|milliseconds| *milliseconds >= -1)
                .ok_or_else(|| invalid(1227, "time-out", PROCEDURE))?,
            // 1227: a time-out that is none.
            Some(_) => return Err(invalid(1227, "time-out", PROCEDURE).into()),
        };
        let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
        let holder = (self.session.entry.spid(), owner);
        let taken =
            self.registry
                .application_locks
                .take(&name, (holder, mode), (&self.registry.waits, timeout), || {
                    execution.reply.poll()
                });
        match taken {
            Ok(waited) => Ok(i32::from(waited)),
            Err(NotLocked::TimedOut) => Ok(TIMED_OUT),
            Err(NotLocked::Deadlock) => Ok(DEADLOCK),
            Err(NotLocked::Stopped(stop)) => Err(Failure::Stop(stop)),
        }
    }

    fn release_lock(&mut self, call: &Call<'_>, principals: &Principals) -> Result<i32, SqlError> {
        const PROCEDURE: &str = "sp_releaseapplock";
        let owner = self.owner(call, 1, PROCEDURE)?;
        let name = self.lock_name(call, 2, (principals, PROCEDURE))?;
        let holder = (self.session.entry.spid(), owner);
        if self.registry.application_locks.release(&name, holder) {
            return Ok(0);
        }
        let principal = text(call, "@DbPrincipal", 2).unwrap_or(PUBLIC);
        let text = format!(
            "Cannot release the application lock (Database Principal: '{principal}', Resource: '{}') because it is not \
             currently held.",
            name.resource
        );
        // 1223: a lock that its owner does not hold.
        Err(error(1223, text))
    }

    fn owner(&self, call: &Call<'_>, place: usize, procedure: &str) -> Result<LockOwner, SqlError> {
        let owner = text(call, "@LockOwner", place).unwrap_or("Transaction");
        let found = LockOwner::of_word(owner);
        // 1226: an owner that there is not.
        let found = found.ok_or_else(|| invalid(1226, "owner", procedure))?;
        if found == LockOwner::Transaction && !self.transactions.is_in_transaction() {
            let text = "The statement or function must be executed in the context of a user transaction.";
            // 3918: a transaction's lock outside a transaction.
            return Err(error(3918, text.to_owned()));
        }
        Ok(found)
    }

    fn lock_name(
        &self,
        call: &Call<'_>,
        place: usize,
        (principals, procedure): (&Principals, &str),
    ) -> Result<LockName, SqlError> {
        let resource = text(call, "@Resource", 0).filter(|resource| !resource.is_empty());
        // 1224: a lock without a name.
        let resource = resource.ok_or_else(|| invalid(1224, "resource", procedure))?;
        let principal = principals.any_id_of(text(call, "@DbPrincipal", place).unwrap_or(PUBLIC));
        Ok(LockName {
            database_id: self.transactions.current,
            // 1230: a principal that there is not.
            principal: principal.ok_or_else(|| {
                error(
                    1230,
                    format!("An invalid database principal was passed to {procedure}."),
                )
            })?,
            resource: resource.chars().take(RESOURCE_MAX).collect(),
        })
    }
}

fn value<'a>(call: &'a Call<'_>, name: &str, place: usize) -> Option<&'a Value> {
    let by_name = |argument: &&CallArgument| argument.name.as_ref().is_some_and(|known| same_name(known, name));
    let by_place = || call.arguments.get(place).filter(|argument| argument.name.is_none());
    let found = call.arguments.iter().find(by_name).or_else(by_place);
    found
        .and_then(|argument| argument.value.as_ref())
        .map(|(value, _)| value)
}

fn text<'a>(call: &'a Call<'_>, name: &str, place: usize) -> Option<&'a str> {
    match value(call, name, place) {
        Some(Value::Text(text)) => Some(text),
        Some(_) | None => None,
    }
}

fn invalid(number: i32, what: &str, procedure: &str) -> SqlError {
    error(
        number,
        format!("An invalid application lock {what} was passed to {procedure}."),
    )
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// What the procedure returns for a lock that was not granted in time.
const TIMED_OUT: i32 = -1;
/// What it returns to the victim of a deadlock.
const DEADLOCK: i32 = -3;
const PUBLIC: &str = "public";
/// @Resource is nvarchar(255).
const RESOURCE_MAX: usize = 255;
