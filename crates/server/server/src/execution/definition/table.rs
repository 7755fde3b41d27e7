//! CREATE TABLE, SELECT INTO's table, and DROP of whatever has a name.

use std::mem::discriminant;
use std::sync::Arc;

use selenite_compiler::catalog::{SqliteName, Table};
use selenite_compiler::definition::{ColumnDefinition, SCHEMA, TableDefinition, TableLocation, bracketed, quoted};
use selenite_compiler::statement::{Binding, Into, IntoColumn};
use selenite_compiler::{SqlError, Variables, same_name, written_object};
use selenite_runtime::statement::Run;
use selenite_tsql::ast::{self, CreateTable, DropKind, ObjectName};

use super::{DefinitionContext, refusal};
use crate::catalog::catalog_rows::{check_name, salt};
use crate::catalog::schema::{SchemaTable, computed_type, is_temporary, parsed};

impl DefinitionContext<'_> {
    pub(crate) fn create_table(&self, create: &CreateTable) -> Result<(), SqlError> {
        let mut definition = TableDefinition::read(create, SCHEMA, salt())?;
        definition.schema = self.check_free(&create.name)?;
        if definition.name.starts_with('#') {
            // As SQL Server does (1766): foreign keys of temporary tables are not enforced.
            definition.foreign_keys.clear();
            super::user_type::refuse_aliases(&definition)?;
        }
        definition.check_persisted(None)?;
        self.check_column_types(&definition, None)?;
        self.check_new_names(&definition, None)?;
        self.resolve(&mut definition)?;
        self.check_rules(&definition)?;
        self.make(&definition)
    }

    /// Binds the checks, defaults and computed columns of a table that is to be created or altered.
    ///
    /// # Errors
    /// 128 and 207 for names that do not exist; whatever else is wrong with an expression.
    pub(crate) fn check_rules(&self, definition: &TableDefinition) -> Result<(), SqlError> {
        let has_rules = definition
            .columns
            .iter()
            .any(|column| column.computed.is_some() || column.default.is_some());
        if !has_rules && definition.checks.is_empty() {
            return Ok(());
        }
        let place = TableLocation {
            database: self.database_name(&definition.name).to_owned(),
            sqlite: SqliteName {
                schema: self.place(&definition.name).to_owned(),
                name: definition.file_name(),
            },
            object_id: 0,
        };
        let table = definition.table(&place, &[], |value| computed_type(value, definition, &place))?;
        let variables = Variables::default();
        let binding = Binding {
            catalog: &self.few(vec![Arc::new(table)]),
            variables: &variables,
        };
        let insert = parsed(&format!("INSERT {} DEFAULT VALUES", bracketed(&definition.name)))?;
        match insert.statements.first() {
            Some(insert) => binding.statement(insert).map(drop),
            None => Err(SqlError::internal("an inner statement")),
        }
    }

    /// Carries out SELECT INTO, and returns how many rows there are.
    ///
    /// # Errors
    /// 2714; the errors of CREATE TABLE; the errors of the query.
    pub fn fill_into(&self, into: &Into, run: &mut Run<'_>) -> Result<u64, SqlError> {
        let table = self.make_into(&into.name, &into.columns)?;
        run.fill(into, &table.sqlite)
    }

    /// Creates the table of SELECT INTO, empty, and returns it as statements see it.
    fn make_into(&self, name: &ObjectName, columns: &[IntoColumn]) -> Result<Arc<Table>, SqlError> {
        let schema = self.check_free(name)?;
        let own = name.name.text.as_str();
        let columns = columns.iter().map(|column| ColumnDefinition {
            name: column.name.clone(),
            data_type: Some(column.data_type),
            user_type: None,
            nullable: column.nullable && column.identity.is_none(),
            collation: column.collation.named,
            identity: column.identity,
            default: None,
            computed: None,
        });
        let definition = TableDefinition {
            schema,
            name: own.to_owned(),
            columns: columns.collect(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        };
        self.make(&definition)?;
        self.settle(is_temporary(own))?;
        let made = self.reloaded(own)?;
        let table = made.table(&definition.schema, own).map(|table| table.table.clone());
        table.ok_or_else(|| SqlError::internal("the table of SELECT INTO"))
    }

    /// Creates a table and its indexes, in SQLite and in the catalog.
    fn make(&self, definition: &TableDefinition) -> Result<(), SqlError> {
        for column in &definition.columns {
            check_name(&column.name)?;
        }
        let schema = self.place(&definition.name);
        let object_id = self.new_id(schema)?;
        self.forget_numbers(object_id);
        for sql in definition.sqlite(schema) {
            self.execute(&sql)?;
        }
        self.keep_definition(schema, definition, object_id)?;
        for index in &definition.indexes {
            self.make_index(index, definition, object_id)?;
        }
        Ok(())
    }

    /// 2714: names of constraints are unique in their schema; those of `old` are the table's own.
    pub(crate) fn check_new_names(&self, new: &TableDefinition, old: Option<&TableDefinition>) -> Result<(), SqlError> {
        if is_temporary(&new.name) {
            return Ok(());
        }
        for name in new.constraint_names() {
            let is_own = old.is_some_and(|old| old.constraint_names().any(|known| same_name(known, name)));
            if !is_own && (self.catalog.schema.has_object(&new.schema, name) || same_name(name, &new.name)) {
                return Err(SqlError::name_taken(name));
            }
        }
        Ok(())
    }

    /// Resolves what foreign keys refer to, and checks whether that is allowed.
    pub(crate) fn resolve(&self, definition: &mut TableDefinition) -> Result<(), SqlError> {
        definition.resolve_foreign_keys(&[&self.catalog.default_schema, SCHEMA], |schema, name| {
            self.catalog.schema.table(schema, name).map(|table| with_indexes(table))
        })?;
        for key in &definition.foreign_keys {
            let (schema, name) = &key.referenced_table;
            let is_itself = same_name(name, &definition.name) && same_name(schema, &definition.schema);
            let other = match is_itself {
                true => Some(&*definition),
                false => self.catalog.schema.table(schema, name).map(|table| &table.definition),
            };
            for (own, referenced) in key.columns.iter().zip(&key.referenced_columns) {
                let own_type = definition.column(own).and_then(|column| column.data_type);
                let other_column = other.and_then(|other| other.column(referenced));
                let other_type = other_column.and_then(|column| column.data_type);
                let (Some(own_type), Some(other_type)) = (own_type, other_type) else {
                    return Err(SqlError::unsupported("A foreign key of a computed column"));
                };
                let is_same_type = discriminant(&own_type) == discriminant(&other_type);
                let own_collation = definition.column(own).map(|column| column.collation);
                if !is_same_type || own_collation != other_column.map(|column| column.collation) {
                    let referenced = format!("{}.{referenced}", key.referenced_table.1);
                    let own = format!("{}.{own}", definition.name);
                    let refuse = match is_same_type {
                        true => refusal::foreign_collation,
                        false => refusal::foreign_type,
                    };
                    return Err(refuse(&referenced, &own, &key.name));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn drop(&self, drop: &ast::Drop) -> Result<Option<()>, SqlError> {
        let mut dropped: Vec<(String, String)> = Vec::new();
        for name in &drop.names {
            let own = name.name.text.as_str();
            let schema = self.catalog.schema_of(name);
            match drop.kind {
                DropKind::Table => self.drop_table(name, drop.if_exists, &dropped)?,
                DropKind::View => self.drop_module(name, drop.if_exists, ("view", "VIEW"), &dropped)?,
                DropKind::Procedure => self.drop_module(name, drop.if_exists, ("procedure", "PROCEDURE"), &dropped)?,
                DropKind::Function => self.drop_module(name, drop.if_exists, ("function", "FUNCTION"), &dropped)?,
                DropKind::Trigger => self.drop_trigger(name, drop.if_exists)?,
                DropKind::Type => self.drop_type(name, drop.if_exists)?,
                DropKind::Sequence => self.drop_sequence(name, drop.if_exists)?,
                DropKind::Statistics => self.drop_statistics(name)?,
                DropKind::Synonym => self.drop_synonym(name, drop.if_exists)?,
                DropKind::Schema => self.drop_schema(own, drop.if_exists)?,
                DropKind::Database
                | DropKind::Login
                | DropKind::User
                | DropKind::Role
                | DropKind::ServerRole
                | DropKind::Certificate
                | DropKind::CryptographicProvider
                | DropKind::Credential
                | DropKind::AsymmetricKey
                | DropKind::SymmetricKey => {
                    return Ok(None);
                }
            }
            dropped.push((schema.unwrap_or_default(), own.to_owned()));
        }
        Ok(Some(()))
    }

    fn drop_table(&self, name: &ObjectName, if_exists: bool, dropped: &[(String, String)]) -> Result<(), SqlError> {
        let own = &written_object(name);
        let is_dropped = |schema: &str, name: &str| {
            let is_it = |known: &(String, String)| same_name(&known.0, schema) && same_name(&known.1, name);
            dropped.iter().any(is_it)
        };
        let is_left = |table: &Arc<SchemaTable>| !is_dropped(&table.definition.schema, &table.definition.name);
        let Some(table) = self.table(name)?.filter(is_left) else {
            let (is_view, is_procedure) = self.other_kinds(name);
            let is_function = self.catalog.function_of(name).is_some();
            return match (is_view, is_procedure) {
                (false, false) if is_function => Err(refusal::wrong_kind("TABLE", own, "function")),
                (true, _) => Err(refusal::wrong_kind("TABLE", own, "view")),
                (_, true) => Err(refusal::wrong_kind("TABLE", own, "procedure")),
                _ if if_exists => Ok(()),
                _ => Err(refusal::not_there("table", own)),
            };
        };
        let own_place = (table.definition.schema.as_str(), table.definition.name.as_str());
        let is_own = |(schema, name): &(String, String)| same_name(schema, own_place.0) && same_name(name, own_place.1);
        let refers = |other: &SchemaTable| {
            let place = (other.definition.schema.clone(), other.definition.name.clone());
            let mut keys = other.definition.foreign_keys.iter();
            !is_own(&place) && !is_dropped(&place.0, &place.1) && keys.any(|key| is_own(&key.referenced_table))
        };
        if !is_temporary(own_place.1) && self.catalog.schema.tables().any(|other| refers(other)) {
            return Err(refusal::referenced(own));
        }
        if !is_temporary(own_place.1) {
            self.check_not_bound("DROP TABLE", (own_place, own), dropped)?;
        }
        let schema = self.place(&name.name.text);
        self.execute(&format!("DROP TABLE {schema}.{}", quoted(&table.table.sqlite.name)))?;
        self.forget(schema, table.table.object_id)
    }

    /// Whether a view or a procedure has this name.
    pub(crate) fn other_kinds(&self, name: &ObjectName) -> (bool, bool) {
        (
            self.catalog.view(name).is_some(),
            self.catalog.procedure(name).is_some(),
        )
    }
}

/// A table's definition with all its indexes: those that foreign keys may refer to.
fn with_indexes(table: &SchemaTable) -> TableDefinition {
    let mut definition = table.definition.clone();
    definition.indexes = table.indexes.iter().map(|(_, index)| index.clone()).collect();
    definition
}
