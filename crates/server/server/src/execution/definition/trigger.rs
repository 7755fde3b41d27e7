//! CREATE, ALTER, DROP, ENABLE and DISABLE TRIGGER.

use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::program::Program;
use selenite_compiler::{Ends, SqlError, same_name, written_object};
use selenite_tsql::ast::{
    self, Create, ObjectName, Statement, TableTriggerSwitch, TriggerEvents, TriggerSwitch, TriggerTiming,
};

use super::module::created;
use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::{self, ObjectKind};
use crate::catalog::schema::{SchemaTable, SchemaTrigger};
use crate::catalog::trigger_state::{TriggerState, event_of};

/// The place of a trigger among those of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TriggerOrder {
    First,
    Last,
    None,
}

impl TriggerOrder {
    /// The order of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        [("First", Self::First), ("Last", Self::Last), ("None", Self::None)]
            .into_iter()
            .find_map(|(known, order)| known.eq_ignore_ascii_case(word).then_some(order))
    }
}

impl DefinitionContext<'_> {
    pub(crate) fn define_trigger(&self, trigger: &ast::Trigger, statement: &Statement) -> Result<(), SqlError> {
        if let Some(option) = trigger.options.first() {
            return Err(SqlError::unsupported(&format!("WITH {} of a trigger", option.text)));
        }
        let own = trigger.name.name.text.as_str();
        if own.starts_with('#') || trigger.table.name.text.starts_with('#') {
            return Err(SqlError::unsupported("A trigger on a temporary table"));
        }
        self.catalog.check_place(&trigger.name)?;
        self.catalog.check_place(&trigger.table)?;
        let table = self.catalog.table(&trigger.table);
        let view = self.catalog.view(&trigger.table).filter(|_| table.is_none());
        let (schema, parent) = match (table, view) {
            (Some(table), _) => (table.definition.schema.as_str(), table.table.object_id),
            (None, Some(view)) if trigger.timing == TriggerTiming::InsteadOf => {
                if view.view.check_option {
                    return Err(SqlError::unsupported("A trigger on a view WITH CHECK OPTION"));
                }
                (view.row.schema.as_str(), view.row.object_id)
            }
            (None, _) => return Err(no_target(&trigger.table)),
        };
        let is_its = |written: &ast::Name| same_name(&written.text, schema);
        if !trigger.name.schema.as_ref().is_none_or(is_its) {
            return Err(other_schema(&written_object(&trigger.name)));
        }
        let known = self.catalog.schema.trigger(schema, own);
        let known = match (trigger.create, known) {
            (Create::Alter | Create::NewOrAlter, Some(known)) => Some(known),
            (Create::New | Create::NewOrAlter, _) => {
                if self.catalog.schema.has_object(schema, own) {
                    return Err(SqlError::name_taken(own));
                }
                catalog_rows::check_name(own)?;
                None
            }
            (Create::Alter, None) => return Err(refusal::invalid_name(&written_object(&trigger.name))),
        };
        if known.is_some_and(|known| known.row.parent != Some(parent)) {
            return Err(SqlError::unsupported("ALTER TRIGGER of a trigger on another table"));
        }
        if let Some(table) = table {
            check_cascades(trigger, table)?;
        }
        self.check_instead_of(trigger, (parent, known))?;
        Program::of_trigger(self.source, trigger, own, 0).map_err(|mut errors| match errors.is_empty() {
            true => SqlError::internal("a trigger"),
            false => errors.remove(0),
        })?;
        let state = TriggerState {
            is_disabled: known.is_some_and(|known| known.state.is_disabled),
            execute_as: self.context_of(trigger.execute_as.as_ref(), schema)?,
            ..TriggerState::default()
        };
        let object_id = match known {
            Some(known) => known.row.object_id,
            None => self.new_id("main")?,
        };
        if let Some(table) = table {
            self.row_of(table)?;
        }
        let written = Written {
            object_id,
            kind: ObjectKind::Trigger,
            schema,
            name: known.map_or(own, |known| known.row.name.as_str()),
            parent: Some(parent),
            definition: created(statement.position.text(self.source).trim_end()),
        };
        self.store("main", written)?;
        // ALTER TRIGGER takes the order away.
        self.set_trigger_state(object_id, state)
    }

    fn set_trigger_state(&self, id: i32, state: TriggerState) -> Result<(), SqlError> {
        let connection = &self.database.connection;
        catalog_rows::set_state(connection, "main", id, state.encode().as_deref())
    }

    /// sp_settriggerorder.
    ///
    /// # Errors
    /// 15600, 15165, 15133, 15125, 15130.
    pub(crate) fn order_trigger(&self, parts: &[String], order: TriggerOrder, event: &str) -> Result<(), SqlError> {
        let error = |number, text: String| Err(SqlError::new(number, Ends::Statement, text));
        let schema = &self.catalog.schema;
        let found = match parts {
            [name] => [self.catalog.default_schema.as_ref(), SCHEMA]
                .into_iter()
                .find_map(|of| schema.trigger(of, name)),
            [of, name] => schema.trigger(of, name),
            [] | [_, ..] => None,
        };
        let written = parts.join(".");
        let Some(trigger) = found else {
            return error(
                15_165,
                format!("Could not find object '{written}' or you do not have permission."),
            );
        };
        if trigger.timing == TriggerTiming::InsteadOf {
            return error(
                15_133,
                format!("INSTEAD OF trigger '{written}' cannot be associated with an order."),
            );
        }
        let is_event = |mut events: TriggerEvents| event_of(&mut events, event).is_some_and(|event| *event);
        if !is_event(trigger.events) {
            return error(15_125, format!("Trigger '{written}' is not a trigger for '{event}'."));
        }
        let is_there = |other: &TriggerState| match order {
            TriggerOrder::First => is_event(other.first),
            TriggerOrder::Last => is_event(other.last),
            TriggerOrder::None => false,
        };
        let id = trigger.row.object_id;
        let parent = trigger.row.parent.unwrap_or_default();
        let mut others = schema.triggers_of(parent).filter(|other| other.row.object_id != id);
        if others.any(|other| is_there(&other.state)) {
            let word = if order == TriggerOrder::First { "First" } else { "Last" };
            return error(
                15_130,
                format!("There already exists a '{word}' trigger for '{event}'."),
            );
        }
        let mut state = trigger.state;
        for (events, is_it) in [
            (&mut state.first, order == TriggerOrder::First),
            (&mut state.last, order == TriggerOrder::Last),
        ] {
            if let Some(place) = event_of(events, event) {
                *place = is_it;
            }
        }
        self.set_trigger_state(trigger.row.object_id, state)
    }

    /// Of INSTEAD OF triggers there is one for each event.
    fn check_instead_of(
        &self,
        trigger: &ast::Trigger,
        (parent, known): (i32, Option<&Arc<SchemaTrigger>>),
    ) -> Result<(), SqlError> {
        if trigger.timing == TriggerTiming::After {
            return Ok(());
        }
        let own = trigger.name.name.text.as_str();
        let written = written_object(&trigger.table);
        let events = trigger.events;
        let mut others = self.catalog.schema.triggers_of(parent).filter(|other| {
            let is_itself = known.is_some_and(|known| known.row.object_id == other.row.object_id);
            let (one, two) = (other.events, events);
            let is_same = one.insert && two.insert || one.update && two.update || one.delete && two.delete;
            !is_itself && is_same && other.timing == TriggerTiming::InsteadOf
        });
        match others.next() {
            None => Ok(()),
            Some(_) => {
                let event = match (events.insert, events.update) {
                    (true, _) => "INSERT",
                    (false, true) => "UPDATE",
                    (false, false) => "DELETE",
                };
                // 2111: a second INSTEAD OF trigger for one event.
                let kind = match self.catalog.table(&trigger.table) {
                    Some(_) => "table",
                    None => "view",
                };
                let text = format!(
                    "Cannot create trigger '{own}' on {kind} '{written}' because an INSTEAD OF {event} trigger already exists on \
                     this object."
                );
                Err(SqlError::new(2111, Ends::Batch, text))
            }
        }
    }

    pub(crate) fn drop_trigger(&self, name: &ObjectName, if_exists: bool) -> Result<(), SqlError> {
        self.catalog.check_place(name)?;
        let written = written_object(name);
        match (self.catalog.trigger(name), self.kind_of(name)) {
            (Some(found), _) => self.forget("main", found.row.object_id),
            (None, Some(kind)) => Err(refusal::wrong_kind("TRIGGER", &written, kind)),
            (None, None) if if_exists => Ok(()),
            (None, None) => Err(refusal::not_there("trigger", &written)),
        }
    }

    /// ENABLE and DISABLE TRIGGER.
    pub(crate) fn switch_triggers(&self, switch: &TriggerSwitch) -> Result<(), SqlError> {
        self.catalog.check_place(&switch.table)?;
        let names: Vec<&str> = switch.names.iter().map(|name| name.name.text.as_str()).collect();
        self.switch(&switch.table, switch.enable, &names)
    }

    /// ALTER TABLE with ENABLE and DISABLE TRIGGER.
    pub(crate) fn switch_table_triggers(
        &self,
        table: &ObjectName,
        switch: &TableTriggerSwitch,
    ) -> Result<(), SqlError> {
        let names: Vec<&str> = switch.names.iter().map(|name| name.text.as_str()).collect();
        self.switch(table, switch.enable, &names)
    }

    fn switch(&self, table: &ObjectName, enable: bool, names: &[&str]) -> Result<(), SqlError> {
        let found = self.catalog.table(table).map(|table| table.table.object_id);
        let Some(parent) = found.or_else(|| self.catalog.view(table).map(|view| view.row.object_id)) else {
            let text = format!(
                "Cannot find the object \"{}\" because it does not exist or you do not have permissions.",
                written_object(table)
            );
            return Err(SqlError::new(1088, Ends::Statement, text).with_state(22));
        };
        let triggers: Vec<&Arc<SchemaTrigger>> = self.catalog.schema.triggers_of(parent).collect();
        let is_named = |name: &str, trigger: &SchemaTrigger| same_name(&trigger.row.name, name);
        for name in names {
            if !triggers.iter().any(|trigger| is_named(name, trigger)) {
                // 4920: ENABLE or DISABLE of an unknown trigger.
                let text = format!(
                    "ALTER TABLE failed because trigger '{name}' on table '{}' does not exist.",
                    written_object(table)
                );
                return Err(SqlError::new(4920, Ends::Statement, text));
            }
        }
        for trigger in triggers {
            if names.is_empty() || names.iter().any(|name| is_named(name, trigger)) {
                let state = TriggerState {
                    is_disabled: !enable,
                    ..trigger.state
                };
                self.set_trigger_state(trigger.row.object_id, state)?;
            }
        }
        Ok(())
    }
}

/// INSTEAD OF triggers are none where rows are changed by cascades.
fn check_cascades(trigger: &ast::Trigger, table: &SchemaTable) -> Result<(), SqlError> {
    let events = trigger.events;
    let cascades = table.definition.foreign_keys.iter().any(|key| {
        use selenite_compiler::catalog::ReferencedAction::NoAction;
        events.delete && key.on_delete != NoAction || events.update && key.on_update != NoAction
    });
    if trigger.timing == TriggerTiming::After || !cascades {
        return Ok(());
    }
    // 2113: an INSTEAD OF trigger on a table to which changes cascade.
    let text = format!(
        "Cannot create INSTEAD OF DELETE or INSTEAD OF UPDATE TRIGGER '{}' on table '{}'. This is because the table has a \
         FOREIGN KEY with cascading DELETE or UPDATE.",
        trigger.name.name.text,
        written_object(&trigger.table)
    );
    Err(SqlError::new(2113, Ends::Batch, text))
}

/// 8197: a trigger on what does not exist, or can't have one.
fn no_target(table: &ObjectName) -> SqlError {
    let text = format!(
        "The object '{}' does not exist or is invalid for this operation.",
        written_object(table)
    );
    SqlError::new(8197, Ends::Batch, text).with_state(4)
}

/// 2103: a trigger in another schema than its table.
fn other_schema(trigger: &str) -> SqlError {
    let text = format!(
        "Cannot alter trigger '{trigger}' because its schema is different from the schema of the target table or view."
    );
    SqlError::new(2103, Ends::Batch, text)
}
