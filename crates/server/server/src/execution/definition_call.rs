//! Procedures of the system that change definitions: sp_rename, sp_settriggerorder, and those of extended properties.

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Call, Callee, Failure, Message};
use selenite_types::Value;

use super::call_argument::{argument, variant};
use super::definition::property::{PropertyChange, PropertyLevels};
use super::definition::rename::Renaming;
use super::definition::trigger::TriggerOrder;
use super::session_executor::SessionExecutor;
use crate::administration::procedure_argument;
use crate::catalog::permission::no_action;
use crate::catalog::written_name::name_parts;
use crate::execution_context::ExecutionContext;

impl SessionExecutor<'_> {
    /// Runs one of these procedures; `None` if it is another.
    ///
    /// # Errors
    /// The procedure's.
    pub(crate) fn call_definition(
        &mut self,
        call: &Call<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Callee>, Failure> {
        let schema = call.procedure.schema.as_ref();
        let is_system = schema.is_none_or(|schema| schema.is("sys") || schema.is("dbo"));
        if !is_system {
            return Ok(None);
        }
        let name = &call.procedure.name;
        let change = PROPERTY_PROCEDURES.into_iter().find(|(known, _)| name.is(known));
        if let Some((procedure, change)) = change {
            self.change_property(call, (procedure, change), execution)?;
            return Ok(Some(Callee::Done {
                status: 0,
                outputs: Vec::new(),
            }));
        }
        if name.is("sp_settriggerorder") {
            self.order_trigger(call, execution)?;
            return Ok(Some(Callee::Done {
                status: 0,
                outputs: Vec::new(),
            }));
        }
        if !name.is("sp_rename") {
            return Ok(None);
        }
        self.rename(call, execution)?;
        let message = Message {
            number: 15_477,
            severity: 10,
            state: 1,
            line: 0,
            procedure: "sp_rename",
            text: "Caution: Changing any part of an object name could break scripts and stored procedures.",
            to_log: false,
        };
        execution.reply.message(&message)?;
        Ok(Some(Callee::Done {
            status: 0,
            outputs: Vec::new(),
        }))
    }

    /// Refuses who may not define objects in all schemas.
    pub(crate) fn check_defines(&self) -> Result<(), SqlError> {
        match self.permissions.defines() {
            true => Ok(()),
            false => Err(no_action()),
        }
    }

    fn order_trigger(&mut self, call: &Call<'_>, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let written = procedure_argument(call, "@triggername", 0)?;
        let order = procedure_argument(call, "@order", 1)?;
        let event = procedure_argument(call, "@stmttype", 2)?.trim().to_ascii_uppercase();
        let invalid = || {
            let text = "An invalid parameter or option was specified for procedure 'sys.sp_settriggerorder'.";
            SqlError::new(15_600, Ends::Statement, text).with_severity(15)
        };
        if let Ok(Some(space)) = value_of_text(call, "@namespace", 3) {
            let text = format!("sp_settriggerorder of a trigger on the {}", space.to_ascii_lowercase());
            return Err(
                match ["DATABASE", "SERVER"]
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(&space))
                {
                    true => SqlError::unsupported(&text).into(),
                    false => invalid().into(),
                },
            );
        }
        let order = TriggerOrder::of_word(order.trim()).ok_or_else(invalid)?;
        let parts = name_parts(&written).ok_or_else(invalid)?;
        self.check_defines()?;
        self.change_definitions(execution, |work| work.order_trigger(&parts, order, &event))
    }

    fn rename(&mut self, call: &Call<'_>, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let written = procedure_argument(call, "@objname", 0)?;
        let new = procedure_argument(call, "@newname", 1)?;
        let kind = procedure_argument(call, "@objtype", 2)
            .ok()
            .filter(|kind| !kind.is_empty());
        self.check_defines()?;
        if new.is_empty() || new.chars().count() > NAME_MAX || new.starts_with('#') {
            let text = format!(
                "Error: The value for the @newname parameter contains invalid characters or violates a basic restriction \
                 ({new})."
            );
            // 15224: a name that an object can't have.
            return Err(SqlError::new(15_224, Ends::Statement, text).with_severity(11).into());
        }
        let parts = name_parts(&written).ok_or_else(|| {
            let text = format!("Syntax error parsing SQL identifier '{written}'.");
            // 15253: a name that is none.
            SqlError::new(15_253, Ends::Statement, text).with_severity(11)
        })?;
        let asked = Renaming {
            written: &written,
            parts,
            new: &new,
            kind: kind.as_deref(),
        };
        self.change_definitions(execution, |work| work.rename(&asked))
    }
}

impl SessionExecutor<'_> {
    fn change_property(
        &mut self,
        call: &Call<'_>,
        (procedure, change): (&str, PropertyChange),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let name = procedure_argument(call, "@name", 0)?;
        let has_value = change != PropertyChange::Drop;
        let value = match argument(call, "@value", 1).filter(|_| has_value) {
            None => Value::Null,
            Some((value, of)) => variant(value, of, execution.state.session.date_format)?,
        };
        let first = if has_value { 2 } else { 1 };
        let level = |name: &str, place: usize| match value_of_text(call, name, place) {
            Ok(found) => Ok(found),
            Err(()) => {
                let text = format!("An invalid parameter or option was specified for procedure '{procedure}'.");
                Err(SqlError::new(15_600, Ends::Statement, text).with_severity(15))
            }
        };
        let levels: PropertyLevels = [
            (level("@level0type", first)?, level("@level0name", first + 1)?),
            (level("@level1type", first + 2)?, level("@level1name", first + 3)?),
            (level("@level2type", first + 4)?, level("@level2name", first + 5)?),
        ];
        self.check_defines()?;
        self.change_definitions(execution, |work| {
            work.change_property(change, &levels, (procedure, &name, value))
        })
    }
}

fn value<'a>(call: &'a Call<'_>, name: &str, place: usize) -> Option<&'a Value> {
    argument(call, name, place).map(|(value, _)| value)
}

fn value_of_text(call: &Call<'_>, name: &str, place: usize) -> Result<Option<String>, ()> {
    match value(call, name, place) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.trim_end_matches(' ').to_owned())),
        Some(_) => Err(()),
    }
}

const PROPERTY_PROCEDURES: [(&str, PropertyChange); 3] = [
    ("sp_addextendedproperty", PropertyChange::Add),
    ("sp_updateextendedproperty", PropertyChange::Update),
    ("sp_dropextendedproperty", PropertyChange::Drop),
];
/// The longest name.
const NAME_MAX: usize = 128;
