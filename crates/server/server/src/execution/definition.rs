//! CREATE, ALTER and DROP of what is in a database, carried out.
//!
//! - `one-transaction-for-all`: the caller has begun SQLite's transaction, and rolls it back if
//!   this fails: definition, SQLite's schema and catalog change together.
//! - `no-side-effects-on-rows`: SQLite must not change other rows by itself: foreign keys are not
//!   followed while a table is recreated.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_runtime::machine::Failure;
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{AlterTableAction, ObjectName, SchemaStatement, Statement, StatementKind};

use crate::catalog::catalog_rows::{self, CatalogRow, ObjectKind, check_name, new_temporary_id};
use crate::catalog::extended_properties;
use crate::catalog::schema::{Schema, SchemaTable, is_temporary};
use crate::database::database_connection::DatabaseConnection;
use crate::master::TEMPDB;
use crate::names::session_catalog::SessionCatalog;
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;

mod alter;
mod duplicate;
mod function;
mod index;
mod inner;
mod module;
pub(crate) mod property;
mod rebuild;
mod refusal;
pub(crate) mod rename;
mod schema;
mod schema_bound;
mod sequence;
mod statistics;
mod synonym;
mod table;
mod temporary_procedure;
pub(crate) mod trigger;
mod user_type;

/// The context of a definition.
pub struct DefinitionContext<'a> {
    /// The connection, in a transaction that writes.
    pub database: &'a DatabaseConnection,
    /// The present catalog.
    pub catalog: &'a SessionCatalog,
    /// The text that the statement's positions refer to.
    pub source: &'a str,
    /// The session, as the statement finds it.
    pub state: &'a SessionState,
    /// The names as the statement sees them.
    pub objects: &'a SessionObjects,
}

impl<'a> DefinitionContext<'a> {
    /// The context of a statement on rows, such as SELECT INTO.
    pub fn of_rows(database: &'a DatabaseConnection, objects: &'a SessionObjects, state: &'a SessionState) -> Self {
        Self {
            database,
            catalog: &objects.catalog,
            source: "",
            state,
            objects,
        }
    }
}

impl DefinitionContext<'_> {
    /// Carries a statement out; `None` if it is not one of these.
    ///
    /// # Errors
    /// The errors of the statement.
    pub fn carry_out(&self, statement: &Statement) -> Result<Option<()>, Failure> {
        let done = self
            .carry_out_kind(statement)
            .or_else(|error| self.with_late_types(statement, error))
            .map_err(|error| error.on_line(statement.position.line))?;
        if done.is_some() {
            self.settle(is_of_temporary(statement))?;
        }
        Ok(done)
    }

    /// Carries a statement out again that names a type which the batch itself has created: it was parsed before that.
    fn with_late_types(&self, statement: &Statement, error: SqlError) -> Result<Option<()>, SqlError> {
        let is_late = matches!(
            statement.kind,
            StatementKind::CreateTable(_) | StatementKind::AlterTable(_) | StatementKind::CreateType(_)
        );
        if !is_late || error.number() != UNKNOWN_TYPE || self.source.is_empty() {
            return Err(error);
        }
        let text = statement.position.text(self.source);
        let tree = self.catalog.schema.parsed_in(&self.catalog.default_schema, text)?;
        match tree.statements.into_iter().next() {
            Some(parsed) => {
                let position = statement.position;
                let kind = parsed.kind;
                self.carry_out_kind(&Statement { kind, position })
            }
            None => Err(error),
        }
    }

    /// Carries out a change of the database's definitions that is no statement.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn carry_out_change(&self, change: impl FnOnce(&Self) -> Result<(), SqlError>) -> Result<(), SqlError> {
        change(self)?;
        self.settle(false)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other modules execute statements that are not definitions"
    )]
    fn carry_out_kind(&self, statement: &Statement) -> Result<Option<()>, SqlError> {
        match &statement.kind {
            StatementKind::CreateTable(create) => self.create_table(create)?,
            StatementKind::CreateIndex(create) => self.create_index(create)?,
            StatementKind::AlterIndex(alter) => self.alter_index(alter)?,
            StatementKind::DropIndex { if_exists, indexes } => self.drop_indexes(*if_exists, indexes)?,
            StatementKind::View(view) => self.define_view(view, statement)?,
            StatementKind::Procedure(procedure) => self.define_procedure(procedure, statement)?,
            StatementKind::Trigger(trigger) => self.define_trigger(trigger, statement)?,
            StatementKind::TriggerSwitch(switch) => self.switch_triggers(switch)?,
            StatementKind::AlterTable(alter) => match &alter.action {
                AlterTableAction::Triggers(switch) => self.switch_table_triggers(&alter.name, switch)?,
                _ => self.alter_table(alter)?,
            },
            StatementKind::Sequence(sequence) => self.define_sequence(sequence)?,
            StatementKind::Synonym(create) => self.create_synonym(create)?,
            StatementKind::Function(function) => self.define_function(function, statement)?,
            StatementKind::CreateType(create) => self.define_type(create, statement)?,
            StatementKind::Drop(drop) => return self.drop(drop),
            StatementKind::Schema(SchemaStatement::Create(create)) => self.create_schema(create)?,
            StatementKind::Schema(SchemaStatement::Alter(alter)) => self.transfer(alter)?,
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    /// What was defined is visible from now on, in this session.
    fn settle(&self, is_of_temporary: bool) -> Result<(), SqlError> {
        if !is_of_temporary {
            self.database.note_change();
            // `bound-schema-is-read`: a definition may change the catalog alone. It counts as one of SQLite's.
            let next = self.database.schema_version("main")? + 1;
            self.execute(&format!("PRAGMA main.schema_version = {next}"))?;
        }
        self.database.reload_temporary()
    }

    /// The schema in SQLite of an object's name.
    fn place(&self, name: &str) -> &'static str {
        if is_temporary(name) { TEMP } else { "main" }
    }

    /// The name of an object's database in messages.
    fn database_name(&self, name: &str) -> &str {
        if is_temporary(name) {
            "tempdb"
        } else {
            &self.catalog.database
        }
    }

    /// A table as it is before the statement.
    fn table(&self, name: &ObjectName) -> Result<Option<Arc<SchemaTable>>, SqlError> {
        if !is_temporary(&name.name.text) {
            self.catalog.check_place(name)?;
        }
        Ok(self.catalog.table(name).cloned())
    }

    /// The schema of a new object, as the database names it. Refuses a name that is taken, or reserved.
    fn check_free(&self, name: &ObjectName) -> Result<String, SqlError> {
        let own = name.name.text.as_str();
        let objects = match is_temporary(own) {
            true => &self.catalog.temporary,
            false => {
                self.catalog.check_place(name)?;
                &self.catalog.schema
            }
        };
        let schema = self.catalog.new_schema(name)?;
        if objects.has_object(&schema, own) {
            return Err(SqlError::name_taken(own));
        }
        check_name(own)?;
        Ok(schema)
    }

    /// The objects as they are now, after what the statement has done so far.
    fn reloaded(&self, name: &str) -> Result<Schema, SqlError> {
        Schema::load(&self.database.connection, self.place(name), self.database_name(name))
    }

    /// Runs statements of SQLite's that have no rows.
    fn execute(&self, sql: &str) -> Result<(), SqlError> {
        self.database
            .connection
            .execute_batch(sql)
            .map_err(|error| tsql_error(&error))
    }

    /// Whether a query has a row.
    fn has_row(&self, sql: &str) -> Result<bool, SqlError> {
        let asked = self
            .database
            .connection
            .query_row(&format!("SELECT EXISTS ({sql})"), [], |row| row.get(0));
        asked.map_err(|error| tsql_error(&error))
    }

    /// A number for a new object of `schema`.
    fn new_id(&self, schema: &str) -> Result<i32, SqlError> {
        catalog_rows::ensure(&self.database.connection, schema)?;
        if schema == TEMP || self.database.shared.record.id == TEMPDB {
            // Numbers of all sessions' temporary objects differ: the database's counters of identities are shared, and
            // what a session drops when it ends is what it has made.
            return Ok(new_temporary_id());
        }
        catalog_rows::free_id(&self.database.connection, schema)
    }

    /// Writes an object's row: `made` is when it was created, if it is not new.
    fn store(&self, schema: &str, written: Written<'_>) -> Result<(), SqlError> {
        catalog_rows::ensure(&self.database.connection, schema)?;
        let now = seconds();
        let row = CatalogRow {
            object_id: written.object_id,
            kind: written.kind,
            schema: written.schema.to_owned(),
            name: written.name.to_owned(),
            parent: written.parent,
            state: None,
            definition: written.definition,
            created: now,
            modified: now,
        };
        catalog_rows::store(&self.database.connection, schema, &row)
    }

    /// An object's number begins or ceases to be a table's.
    fn forget_numbers(&self, object_id: i32) {
        let identities = &self.database.shared.identities;
        identities.forget(object_id, &self.database.identity_journal);
    }

    /// Removes an object's row and those of its parts.
    fn forget(&self, schema: &str, object_id: i32) -> Result<(), SqlError> {
        catalog_rows::ensure(&self.database.connection, schema)?;
        catalog_rows::remove(&self.database.connection, schema, object_id)?;
        if schema == "main" {
            extended_properties::forget(&self.database.connection, object_id)?;
        }
        self.forget_numbers(object_id);
        Ok(())
    }
}

/// A row to be written to the catalog.
struct Written<'a> {
    object_id: i32,
    kind: ObjectKind,
    schema: &'a str,
    name: &'a str,
    parent: Option<i32>,
    definition: String,
}

/// Whether a statement defines only the session's own objects: then the database's definitions stay as they are.
#[expect(clippy::wildcard_enum_match_arm, reason = "all else is the database's")]
pub(crate) fn is_of_temporary(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::CreateTable(create) => is_temporary(&create.name.name.text),
        StatementKind::AlterTable(alter) => is_temporary(&alter.name.name.text),
        StatementKind::CreateIndex(create) => is_temporary(&create.table.name.text),
        StatementKind::Procedure(procedure) => is_temporary(&procedure.name.name.text),
        StatementKind::Drop(drop) => drop.names.iter().all(|name| is_temporary(&name.name.text)),
        _ => false,
    }
}

fn seconds() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}

/// SQLite's schema of temporary tables.
const TEMP: &str = "temp";

/// A name that is no type's.
const UNKNOWN_TYPE: i32 = 2715;
