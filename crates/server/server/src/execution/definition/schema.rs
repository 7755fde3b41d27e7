//! CREATE, ALTER and DROP SCHEMA.
//!
//! - `name-in-the-file-follows`: an object that is transferred gets the name in SQLite that its new
//!   schema gives it, and so do its indexes. SQLite renames what foreign keys refer to.

use std::sync::Arc;

use selenite_compiler::definition::{IndexDefinition, SCHEMA, TableDefinition, file_name, quoted};
use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{AlterSchema, CreateSchema, Statement, StatementKind};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::{CatalogRow, ObjectKind, check_name};
use crate::catalog::extended_properties;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants;
use crate::catalog::permission_kind::Class;
use crate::catalog::principals::{DBO, GUEST};
use crate::catalog::schema::{Schema, SchemaTable};
use crate::catalog::schema_names::{self, SchemaRecord, no_schema};
use crate::names::session_catalog::SessionCatalog;

impl DefinitionContext<'_> {
    pub(crate) fn create_schema(&self, create: &CreateSchema) -> Result<(), SqlError> {
        let owner = create.authorization.as_ref().map(|owner| owner.text.as_str());
        let Some(name) = create.name.as_ref().map(|name| name.text.as_str()).or(owner) else {
            return Err(SqlError::internal("a schema without a name"));
        };
        if self.catalog.schema.names().named(name).is_some() {
            return Err(SqlError::name_taken(name));
        }
        check_name(name)?;
        let owner = match owner {
            Some(owner) => self.principal(owner)?,
            None => self.objects.permissions().new_owner(),
        };
        schema_names::add(&self.database.connection, name, owner)?;
        self.create_elements(name, &create.elements)
    }

    /// The id of a user or role.
    fn principal(&self, name: &str) -> Result<i32, SqlError> {
        let fixed = [(SCHEMA, DBO), (schema_names::GUEST, GUEST)];
        let fixed = fixed.into_iter().find(|(known, _)| same_name(known, name));
        let role = || FixedRole::of_name(name).map(FixedRole::id);
        let user = || self.catalog.schema.principals().id_of(name);
        let found = fixed.map(|(_, id)| id).or_else(role).or_else(user);
        found.ok_or_else(|| refusal::not_found("principal", name))
    }

    /// Tables come before the views over them, and those that foreign keys refer to before the others.
    fn create_elements(&self, schema: &str, elements: &[Statement]) -> Result<(), SqlError> {
        let is_table = |element: &&Statement| matches!(element.kind, StatementKind::CreateTable(_));
        let (mut waiting, others): (Vec<&Statement>, Vec<&Statement>) = elements.iter().partition(is_table);
        while !waiting.is_empty() {
            let mut left = Vec::new();
            let count = waiting.len();
            let mut why = None;
            for table in waiting {
                match self.create_element(schema, table) {
                    Ok(()) => {}
                    Err(error) if error.number() == UNKNOWN_REFERENCE => {
                        why = Some(error);
                        left.push(table);
                    }
                    Err(error) => return Err(error),
                }
            }
            if let (true, Some(why)) = (left.len() == count, why) {
                return Err(why);
            }
            waiting = left;
        }
        others
            .into_iter()
            .try_for_each(|view| self.create_element(schema, view))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the parser lets no other statement be an element"
    )]
    fn create_element(&self, schema: &str, element: &Statement) -> Result<(), SqlError> {
        let present = Schema::load(&self.database.connection, "main", &self.catalog.database)?;
        let catalog = SessionCatalog {
            schema: Arc::new(present),
            default_schema: Arc::from(schema),
            ..self.catalog.clone()
        };
        let inner = DefinitionContext {
            database: self.database,
            catalog: &catalog,
            source: self.source,
            state: self.state,
            objects: self.objects,
        };
        let name = match &element.kind {
            StatementKind::CreateTable(create) => &create.name,
            StatementKind::View(view) => &view.name,
            StatementKind::Unsupported(unsupported) => return Err(SqlError::unsupported(&unsupported.what)),
            _ => return Err(SqlError::internal("an element of a schema")),
        };
        let is_its = name
            .schema
            .as_ref()
            .is_none_or(|written| same_name(&written.text, schema));
        if !is_its || name.database.is_some() || name.name.text.starts_with('#') {
            return Err(SqlError::unsupported("CREATE SCHEMA with an object of another schema"));
        }
        let done = inner.carry_out_kind(element);
        done.map(drop).map_err(|error| error.on_line(element.position.line))
    }

    pub(crate) fn drop_schema(&self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        let Some(schema) = self.catalog.schema.names().named(name) else {
            return match if_exists {
                true => Ok(()),
                false => Err(no_schema("drop", name)),
            };
        };
        if schema.id < FIRST_ID {
            return Err(refusal::schema_stays(name));
        }
        if schema.is_fixed() {
            return Err(SqlError::unsupported("DROP SCHEMA of a schema that every database has"));
        }
        let mut types = self.catalog.schema.user_types().into_iter();
        let type_in = types.find(|one| same_name(&one.row.schema, &schema.name));
        let object = self.catalog.schema.object_in(&schema.name);
        if let Some(object) = object.or_else(|| type_in.map(|one| one.row.name.clone())) {
            return Err(refusal::schema_has_objects(name, &object));
        }
        extended_properties::forget(&self.database.connection, schema.id)?;
        schema_names::remove(&self.database.connection, schema.id)
    }

    /// ALTER SCHEMA TRANSFER.
    pub(crate) fn transfer(&self, alter: &AlterSchema) -> Result<(), SqlError> {
        let names = self.catalog.schema.names();
        let target = names.named(&alter.name.text).filter(|schema| schema.has_objects());
        let target = target.ok_or_else(|| no_schema("alter", &alter.name.text))?;
        let object = &alter.object;
        let class = alter.class.as_deref().unwrap_or("OBJECT");
        if class.eq_ignore_ascii_case("TYPE") {
            return self.transfer_type(object, target);
        }
        if !class.eq_ignore_ascii_case("OBJECT") {
            return Err(refusal::not_found(&class.to_ascii_lowercase(), &object.name.text));
        }
        if object.name.text.starts_with('#') {
            return Err(SqlError::unsupported("ALTER SCHEMA TRANSFER of a temporary object"));
        }
        self.catalog.check_place(object)?;
        if let Some(schema) = self.catalog.schema_of(object)
            && self.bound_to((&schema, &object.name.text))?.is_some()
        {
            return Err(SqlError::unsupported(
                "ALTER SCHEMA TRANSFER of what a view is bound to",
            ));
        }
        if self.catalog.view(object).is_some_and(|view| view.is_schema_bound) {
            // 15348: ALTER SCHEMA TRANSFER of a view WITH SCHEMABINDING.
            return Err(SqlError::new(
                15348,
                selenite_compiler::Ends::Statement,
                "Cannot transfer a schemabound object.",
            ));
        }
        if let Some(table) = self.catalog.table(object) {
            return self.transfer_table(table, target);
        }
        let view = self.catalog.view(object).map(|view| view.row.clone());
        let row = view.or_else(|| self.catalog.procedure(object).map(|row| (**row).clone()));
        let row = row.or_else(|| self.catalog.own_sequence(object).map(|found| found.row.clone()));
        let row = row.or_else(|| self.catalog.synonym(object).map(|found| found.row.clone()));
        let row = row.or_else(|| self.catalog.function_of(object).map(|function| function.row.clone()));
        match row {
            Some(row) => self.transfer_module(row, target),
            None => Err(refusal::not_found("object", &object.name.text)),
        }
    }

    fn check_free_in(&self, target: &SchemaRecord, name: &str) -> Result<(), SqlError> {
        match self.catalog.schema.has_object(&target.name, name) {
            true => Err(refusal::taken_in_schema(name)),
            false => Ok(()),
        }
    }

    fn transfer_module(&self, row: CatalogRow, target: &SchemaRecord) -> Result<(), SqlError> {
        self.check_free_in(target, &row.name)?;
        self.transfer_text(row, Class::Object, target)
    }

    /// The text stays as it was written, as SQL Server has it; permissions on it do not stay.
    pub(super) fn transfer_text(&self, row: CatalogRow, class: Class, target: &SchemaRecord) -> Result<(), SqlError> {
        self.check_types((&row.schema, &target.name), &row.definition)?;
        grants::forget(&self.database.connection, class, row.object_id)?;
        let written = Written {
            object_id: row.object_id,
            kind: row.kind,
            schema: &target.name,
            name: &row.name,
            parent: None,
            definition: row.definition,
        };
        self.store("main", written)
    }

    fn transfer_table(&self, table: &SchemaTable, target: &SchemaRecord) -> Result<(), SqlError> {
        let old = &table.definition;
        self.check_free_in(target, &old.name)?;
        old.constraint_names()
            .try_for_each(|name| self.check_free_in(target, name))?;
        grants::forget(&self.database.connection, Class::Object, table.table.object_id)?;
        self.move_table(table, (&target.name, &old.name))
    }

    /// Gives a table another schema or another name; what refers to it follows.
    pub(super) fn move_table(
        &self,
        table: &SchemaTable,
        (target_schema, target_name): (&str, &str),
    ) -> Result<(), SqlError> {
        let old = &table.definition;
        let target = (target_schema, target_name);
        let object_id = self.row_of(table)?;
        let mut new = TableDefinition {
            schema: target_schema.to_owned(),
            name: target_name.to_owned(),
            ..old.clone()
        };
        refer(&mut new, old, target);
        let keys = old.keys.iter().filter(|key| !key.is_in_table).map(|key| &key.name);
        let names = table.indexes.iter().map(|(_, index)| &index.name).chain(keys);
        for index in names {
            for sql in IndexDefinition::sqlite_drop(&old.file_name(), index) {
                self.execute(&sql)?;
            }
        }
        let (from, to) = (quoted(&table.table.sqlite.name), quoted(&new.file_name()));
        if same_name(&table.table.sqlite.name, &new.file_name()) {
            // To SQLite a name in other letters is the name of another table that is there.
            let between = quoted(BETWEEN);
            self.execute(&format!("ALTER TABLE main.{from} RENAME TO {between}"))?;
            self.execute(&format!("ALTER TABLE main.{between} RENAME TO {to}"))?;
        } else {
            self.execute(&format!("ALTER TABLE main.{from} RENAME TO {to}"))?;
        }
        for sql in new.sqlite_keys() {
            self.execute(&sql)?;
        }
        self.keep_definition("main", &new, object_id)?;
        for (id, index) in &table.indexes {
            let moved = IndexDefinition {
                schema: target_schema.to_owned(),
                table: target_name.to_owned(),
                ..index.clone()
            };
            for sql in moved.sqlite(&new)? {
                self.execute(&sql)?;
            }
            self.store_index(*id, &moved, object_id)?;
        }
        for trigger in self.catalog.schema.triggers_of(object_id) {
            let written = Written {
                object_id: trigger.row.object_id,
                kind: ObjectKind::Trigger,
                schema: target_schema,
                name: &trigger.row.name,
                parent: Some(object_id),
                definition: trigger.row.definition.clone(),
            };
            self.store("main", written)?;
        }
        self.follow(old, target)
    }

    /// The definitions of other tables that refer to a table, once it has another schema or name.
    fn follow(&self, old: &TableDefinition, target: (&str, &str)) -> Result<(), SqlError> {
        for other in self.catalog.schema.tables() {
            let is_itself = file_name(&other.definition.schema, &other.definition.name) == old.file_name();
            let mut definition = other.definition.clone();
            if !is_itself && refer(&mut definition, old, target) {
                let object_id = self.row_of(other)?;
                self.keep_definition("main", &definition, object_id)?;
            }
        }
        Ok(())
    }

    /// Stores the definition of a table in the catalog of one of SQLite's schemas.
    pub(super) fn keep_definition(
        &self,
        schema: &str,
        definition: &TableDefinition,
        object_id: i32,
    ) -> Result<(), SqlError> {
        let written = Written {
            object_id,
            kind: ObjectKind::Table,
            schema: &definition.schema,
            name: &definition.name,
            parent: None,
            definition: definition.to_string(),
        };
        self.store(schema, written)
    }
}

/// Makes the foreign keys of a definition that refer to a table refer to it by its new schema and name; returns whether there
/// are any.
fn refer(definition: &mut TableDefinition, old: &TableDefinition, target: (&str, &str)) -> bool {
    let mut refers = false;
    for key in &mut definition.foreign_keys {
        let (schema, name) = &mut key.referenced_table;
        if same_name(schema, &old.schema) && same_name(name, &old.name) {
            target.0.clone_into(schema);
            target.1.clone_into(name);
            refers = true;
        }
    }
    refers
}

/// A table while it is renamed.
const BETWEEN: &str = "selenite_between";
/// A foreign key to a table that does not exist.
const UNKNOWN_REFERENCE: i32 = 1767;
/// The ids of `dbo`, `guest`, `INFORMATION_SCHEMA` and `sys` are below.
const FIRST_ID: i32 = 5;
