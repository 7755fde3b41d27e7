//! CREATE, ALTER and DROP SEQUENCE.

use selenite_compiler::definition::{SequenceChange, SequencePresent};
use selenite_compiler::{Ends, SqlError, written_object};
use selenite_tsql::ast::{Arguments, Expr, ExprKind, ObjectName, SequenceDefinition};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::ObjectKind;
use crate::catalog::schema::SchemaSequence;

impl DefinitionContext<'_> {
    pub(crate) fn define_sequence(&self, definition: &SequenceDefinition) -> Result<(), SqlError> {
        let name = &definition.name;
        if name.name.text.starts_with('#') {
            // 11714: a sequence with a temporary object's name.
            let text = format!("Invalid sequence name '{}'.", name.name.text);
            return Err(SqlError::new(11714, Ends::Batch, text));
        }
        match definition.alter {
            false => self.create_sequence(definition),
            true => self.alter_sequence(definition),
        }
    }

    fn create_sequence(&self, definition: &SequenceDefinition) -> Result<(), SqlError> {
        let schema = self.check_free(&definition.name)?;
        let change = SequenceChange::read(definition, None)?;
        let object_id = self.new_id("main")?;
        let identities = &self.database.shared.identities;
        identities.forget_sequence(object_id, &self.database.identity_journal);
        self.keep_sequence(&change, object_id, (&schema, &definition.name.name.text))
    }

    fn alter_sequence(&self, definition: &SequenceDefinition) -> Result<(), SqlError> {
        self.catalog.check_place(&definition.name)?;
        let written = written_object(&definition.name);
        let Some(found) = self.catalog.own_sequence(&definition.name) else {
            return Err(match self.catalog.schema_of(&definition.name) {
                Some(_) => SqlError::not_a_sequence(&written),
                None => refusal::invalid_name(&written),
            });
        };
        let sequence = &found.sequence;
        let (identities, connection) = (&self.database.shared.identities, &self.database.connection);
        let counter = identities.counter_of(connection, sequence)?;
        let present = SequencePresent {
            sequence,
            current: counter.last.unwrap_or(sequence.rule.start),
        };
        let change = SequenceChange::read(definition, Some(present))?;
        let moved = match (change.restart, counter.last) {
            (Some(next), _) => (Some(next), None),
            // A sequence continues behind its last value, by its new rule.
            (None, Some(last)) => (change.rule.after(last), Some(last)),
            (None, None) => (counter.next, None),
        };
        identities.move_sequence(connection, sequence.object_id, moved, &self.database.identity_journal)?;
        self.keep_sequence(&change, sequence.object_id, (&sequence.schema, &sequence.name))
    }

    fn keep_sequence(
        &self,
        change: &SequenceChange,
        object_id: i32,
        (schema, name): (&str, &str),
    ) -> Result<(), SqlError> {
        let written = Written {
            object_id,
            kind: ObjectKind::Sequence,
            schema,
            name,
            parent: None,
            definition: change.text(schema, name),
        };
        self.store("main", written)
    }

    pub(crate) fn drop_sequence(&self, name: &ObjectName, if_exists: bool) -> Result<(), SqlError> {
        self.catalog.check_place(name)?;
        let written = written_object(name);
        let Some(found) = self.catalog.own_sequence(name) else {
            return match (self.kind_of(name), if_exists) {
                (Some(kind), _) => Err(refusal::wrong_kind("SEQUENCE", &written, kind)),
                (None, true) => Ok(()),
                (None, false) => Err(refusal::not_there("sequence", &written)),
            };
        };
        if let Some(default) = self.default_of(found) {
            // 3729: DROP of what another object needs.
            let text =
                format!("Cannot DROP SEQUENCE '{written}' because it is being referenced by object '{default}'.");
            return Err(SqlError::new(3729, Ends::Statement, text));
        }
        let identities = &self.database.shared.identities;
        identities.forget_sequence(found.row.object_id, &self.database.identity_journal);
        self.forget("main", found.row.object_id)
    }

    /// The default constraint that takes values of a sequence.
    fn default_of(&self, sequence: &SchemaSequence) -> Option<String> {
        let is_it = |name: &ObjectName| {
            let found = self.catalog.own_sequence(name);
            found.is_some_and(|found| found.row.object_id == sequence.row.object_id)
        };
        let columns = self.catalog.schema.tables().flat_map(|table| &table.definition.columns);
        let mut defaults = columns.filter_map(|column| column.default.as_ref());
        let found = defaults.find(|(_, value)| takes_from(value, &is_it));
        found.map(|(name, _)| name.clone())
    }

    /// The kind of the object of a name, in the words of messages.
    pub(crate) fn kind_of(&self, name: &ObjectName) -> Option<&'static str> {
        let kinds = [
            (self.catalog.table(name).is_some(), "table"),
            (self.catalog.view(name).is_some(), "view"),
            (self.catalog.procedure(name).is_some(), "procedure"),
            (self.catalog.own_sequence(name).is_some(), "sequence"),
            (self.catalog.synonym(name).is_some(), "synonym"),
            (self.catalog.trigger(name).is_some(), "trigger"),
        ];
        kinds.into_iter().find(|(is_it, _)| *is_it).map(|(_, kind)| kind)
    }
}

/// Whether a default takes values of a sequence for which `is_it` is true.
#[expect(clippy::wildcard_enum_match_arm, reason = "all else has no sequence in it")]
fn takes_from(value: &Expr, is_it: &dyn Fn(&ObjectName) -> bool) -> bool {
    match &value.kind {
        ExprKind::NextValue(next) => is_it(&next.sequence),
        ExprKind::Unary { operand, .. } | ExprKind::Collate { operand, .. } => takes_from(operand, is_it),
        ExprKind::Binary { left, right, .. } => takes_from(left, is_it) || takes_from(right, is_it),
        ExprKind::TimeZone { operand, .. } => takes_from(operand, is_it),
        ExprKind::Cast(cast) => takes_from(&cast.operand, is_it),
        ExprKind::Function(call) => match &call.arguments {
            Arguments::List(arguments) | Arguments::Distinct(arguments) => {
                arguments.iter().any(|argument| takes_from(argument, is_it))
            }
            Arguments::Json(arguments) => arguments.list.iter().any(|argument| takes_from(argument, is_it)),
            Arguments::Absent | Arguments::Star => false,
        },
        _ => false,
    }
}
