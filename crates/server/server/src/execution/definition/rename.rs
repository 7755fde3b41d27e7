//! sp_rename: another name for a table, a column, an index, a constraint, a view, a procedure, a function or a trigger.
//!
//! - `texts-stay`: what refers to an object by its name in a text (a view, a procedure) is not changed, as in SQL
//!   Server. A column that a check, a computed column or a filter names is refused.
//! - `keys-follow`: indexes, keys and foreign keys have columns and tables under their new names.

use std::sync::Arc;

use selenite_compiler::definition::{
    IndexDefinition, TableDefinition, bracketed, file_name, index_name, null_index_name, quoted,
};
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_tsql::ast::{Name, ObjectName, Position, TypeReference};

use super::{DefinitionContext, Written};
use crate::catalog::catalog_rows::{CatalogRow, ObjectKind, check_name};
use crate::catalog::extended_properties::{self, HolderKind, PropertyHolder};
use crate::catalog::grants;
use crate::catalog::schema::SchemaTable;
use crate::catalog::schema::user_type::is_system;

/// What sp_rename is asked for.
pub(crate) struct Renaming<'a> {
    /// `@objname` as it was written.
    pub written: &'a str,
    /// Its parts.
    pub parts: Vec<String>,
    /// `@newname`.
    pub new: &'a str,
    /// `@objtype`.
    pub kind: Option<&'a str>,
}

impl DefinitionContext<'_> {
    /// Renames it.
    ///
    /// # Errors
    /// 15225, 15248, 15249, 15335, 15336, 40510.
    pub(crate) fn rename(&self, asked: &Renaming<'_>) -> Result<(), SqlError> {
        check_name(asked.new)?;
        let is = |known: &str| asked.kind.is_some_and(|kind| same_name(kind, known));
        if asked.kind.is_none() || is("OBJECT") {
            return self.rename_object(asked);
        }
        if is("COLUMN") {
            let (table, column) = self.part_of_table(asked)?;
            return self.rename_column(&table, column, asked);
        }
        if is("INDEX") {
            let (table, index) = self.part_of_table(asked)?;
            return self.rename_index(&table, index, asked);
        }
        if is("USERDATATYPE") {
            return self.rename_type(asked);
        }
        let kind = asked.kind.unwrap_or_default().to_uppercase();
        if ["DATABASE", "STATISTICS"].contains(&kind.as_str()) {
            return Err(SqlError::unsupported(&format!("sp_rename of a {kind}")));
        }
        // 15249: a kind that there is not.
        Err(error(
            15_249,
            format!("Error: Explicit @objtype '{kind}' is unrecognized."),
        ))
    }

    fn rename_object(&self, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let Some(name) = self.object_name(&asked.parts) else {
            return self.rename_part(asked);
        };
        if name.name.text.starts_with('#') {
            return Err(SqlError::unsupported("sp_rename of a temporary object"));
        }
        if let Some(table) = self.catalog.table(&name).cloned() {
            let schema = table.definition.schema.clone();
            self.check_rename_not_bound(self.bound_to((&schema, &table.definition.name))?, asked)?;
            self.check_new_object(&schema, &table.definition.name, asked)?;
            return self.move_table(&table, (&schema, asked.new));
        }
        let view = self.catalog.view(&name).map(|view| view.row.clone());
        let row = view.or_else(|| self.catalog.procedure(&name).map(|row| (**row).clone()));
        let row = row.or_else(|| self.catalog.synonym(&name).map(|found| found.row.clone()));
        let row = row.or_else(|| self.catalog.trigger(&name).map(|found| (*found.row).clone()));
        if let Some(row) = row {
            self.check_rename_not_bound(self.bound_to((&row.schema, &row.name))?, asked)?;
            return self.rename_module(&row, asked);
        }
        if let Some(function) = self.catalog.function_of(&name).cloned() {
            let row = &function.row;
            self.check_rename_not_bound(self.bound_to((&row.schema, &row.name))?, asked)?;
            self.check_function_unused("RENAME", asked.written, row)
                .map_err(|_| enforced(asked))?;
            return self.rename_module(row, asked);
        }
        if let Some(sequence) = self.catalog.own_sequence(&name).cloned() {
            self.check_no_default(&sequence.row.name, asked)?;
            return self.rename_module(&sequence.row, asked);
        }
        let found = self.catalog.schema.tables().find(|table| {
            let in_schema = match &name.schema {
                Some(schema) => same_name(&table.definition.schema, &schema.text),
                None => same_name(&table.definition.schema, &self.catalog.default_schema),
            };
            in_schema
                && table
                    .definition
                    .constraint_names()
                    .any(|known| same_name(known, &name.name.text))
        });
        match found.cloned() {
            Some(table) => self.rename_constraint(&table, &name.name.text, asked),
            None => self.rename_part(asked),
        }
    }

    /// What is no object is a column or an index, if no kind was named.
    fn rename_part(&self, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let found = match asked.kind {
            None => self.part_of_table(asked).ok(),
            Some(_) => None,
        };
        let (table, part) = found.ok_or_else(|| self.not_found(asked))?;
        let is_part = |name: &str| same_name(name, part);
        let is_column = table.definition.column(part).is_some();
        let is_index = table.indexes.iter().any(|(_, index)| is_part(&index.name))
            || table.definition.keys.iter().any(|key| is_part(&key.name));
        match (is_column, is_index) {
            (true, true) => Err(wrong_kind(asked)),
            (true, false) => self.rename_column(&table, part, asked),
            (false, true) => self.rename_index(&table, part, asked),
            (false, false) => Err(self.not_found(asked)),
        }
    }

    /// A type keeps its number and its text; one in use is refused, for texts name it.
    fn rename_type(&self, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let name = self.object_name(&asked.parts).ok_or_else(|| wrong_kind(asked))?;
        let found = self.catalog.user_type(&name).ok_or_else(|| wrong_kind(asked))?;
        let (row, schema) = (&found.row, &self.catalog.schema);
        let is_other = !same_name(&row.name, asked.new);
        let reference = TypeReference {
            schema: None,
            name: asked.new.to_owned(),
        };
        if is_system(&reference) || is_other && schema.user_type(&row.schema, asked.new).is_some() {
            return Err(taken(asked.new, "USERDATATYPE"));
        }
        let is_used = schema.user_of_type(found).is_some();
        if is_used || is_other && schema.user_of_new_type((&row.schema, asked.new)).is_some() {
            return Err(SqlError::unsupported("sp_rename of a type that is in use"));
        }
        self.store_renamed(row, asked)
    }

    /// 15336: a sequence that a default takes its numbers from.
    fn check_no_default(&self, sequence: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let mut columns = self.catalog.schema.tables().flat_map(|table| &table.definition.columns);
        let is_used = columns.any(|column| {
            let default = column.default.as_ref();
            default.is_some_and(|(_, value)| names_column(&value.to_string(), sequence))
        });
        match is_used {
            true => Err(enforced(asked)),
            false => Ok(()),
        }
    }

    /// Only its name changes.
    fn store_renamed(&self, row: &CatalogRow, asked: &Renaming<'_>) -> Result<(), SqlError> {
        self.store(
            "main",
            Written {
                object_id: row.object_id,
                kind: row.kind,
                schema: &row.schema,
                name: asked.new,
                parent: row.parent,
                definition: row.definition.clone(),
            },
        )
    }

    fn rename_module(&self, row: &CatalogRow, asked: &Renaming<'_>) -> Result<(), SqlError> {
        self.check_new_object(&row.schema, &row.name, asked)?;
        self.store_renamed(row, asked)
    }

    /// What a view is bound to is not renamed.
    fn check_rename_not_bound(&self, view: Option<String>, asked: &Renaming<'_>) -> Result<(), SqlError> {
        match view {
            None => Ok(()),
            Some(_) => {
                let text = format!(
                    "Object '{}' cannot be renamed because the object participates in enforced dependencies.",
                    asked.written
                );
                Err(SqlError::new(15336, Ends::Statement, text))
            }
        }
    }

    fn rename_constraint(&self, table: &SchemaTable, old: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let is_index = |(_, index): &(i32, IndexDefinition)| same_name(&index.name, asked.new);
        self.check_new_object(&table.definition.schema, old, asked)?;
        if table.indexes.iter().any(is_index) {
            return Err(taken(asked.new, "INDEX"));
        }
        let object_id = self.row_of(table)?;
        let mut new = table.definition.clone();
        let keys = new.keys.iter_mut().map(|key| &mut key.name);
        let checks = new.checks.iter_mut().map(|check| &mut check.name);
        let foreign = new.foreign_keys.iter_mut().map(|key| &mut key.name);
        let defaults = new
            .columns
            .iter_mut()
            .filter_map(|column| Some(&mut column.default.as_mut()?.0));
        for name in keys.chain(checks).chain(foreign).chain(defaults) {
            if same_name(name, old) {
                asked.new.clone_into(name);
            }
        }
        for key in table
            .definition
            .keys
            .iter()
            .filter(|key| !key.is_in_table && same_name(&key.name, old))
        {
            self.drop_in_sqlite(&table.definition, &key.name)?;
            let file = new.file_name();
            let names = [index_name(&file, asked.new), null_index_name(&file, asked.new)];
            let is_it = |sql: &&String| {
                names
                    .iter()
                    .any(|name| sql.contains(&format!("INDEX {} ", quoted(name))))
            };
            for sql in new.sqlite_keys().iter().filter(is_it) {
                self.execute(sql)?;
            }
        }
        self.keep_definition("main", &new, object_id)?;
        self.move_property((HolderKind::Index, object_id), old, asked)?;
        self.move_property((HolderKind::Constraint, object_id), old, asked)
    }

    /// Extended properties of a part keep it.
    fn move_property(&self, (kind, id): (HolderKind, i32), part: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let part = part.to_owned();
        let holder = PropertyHolder { kind, id, part };
        extended_properties::move_part(&self.database.connection, &holder, Some(asked.new))
    }

    fn rename_column(&self, table: &SchemaTable, old: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let definition = &table.definition;
        let column = definition.column(old).ok_or_else(|| wrong_kind(asked))?;
        let old = column.name.clone();
        if definition
            .columns
            .iter()
            .any(|other| same_name(&other.name, asked.new) && !same_name(&old, asked.new))
        {
            return Err(taken(asked.new, "COLUMN"));
        }
        check_dependents(table, &old, asked)?;
        let place = (definition.schema.as_str(), definition.name.as_str());
        self.check_rename_not_bound(self.bound_to_column(place, &old)?, asked)?;
        let object_id = self.row_of(table)?;
        let is_computed = column.computed.is_some();
        if !is_computed {
            let (file, from, to) = (quoted(&table.table.sqlite.name), quoted(&old), quoted(asked.new));
            self.execute(&format!("ALTER TABLE main.{file} RENAME COLUMN {from} TO {to}"))?;
        }
        let renamed = |name: &mut String| {
            if same_name(name, &old) {
                asked.new.clone_into(name);
            }
        };
        let mut new = definition.clone();
        new.columns.iter_mut().for_each(|column| renamed(&mut column.name));
        for key in &mut new.keys {
            key.columns.iter_mut().for_each(|(name, _)| renamed(name));
        }
        for key in &mut new.foreign_keys {
            key.columns.iter_mut().for_each(renamed);
        }
        refer_by_column(&mut new, definition, renamed);
        self.move_property((HolderKind::Column, object_id), &old, asked)?;
        grants::rename_column(&self.database.connection, table.table.object_id, &old, asked.new)?;
        self.keep_definition("main", &new, object_id)?;
        self.rename_in_statistics((table, object_id), (&old, asked.new))?;
        for (id, index) in &table.indexes {
            let mut index = index.clone();
            index.columns.iter_mut().for_each(|(name, _)| renamed(name));
            index.include.iter_mut().for_each(renamed);
            self.store_index(*id, &index, object_id)?;
        }
        for other in self.catalog.schema.tables() {
            let mut changed = other.definition.clone();
            let is_itself = changed.file_name() == definition.file_name();
            if !is_itself && refer_by_column(&mut changed, definition, renamed) {
                let object_id = self.row_of(other)?;
                self.keep_definition("main", &changed, object_id)?;
            }
        }
        Ok(())
    }

    fn rename_index(&self, table: &SchemaTable, old: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        let definition = &table.definition;
        let is_taken = |name: &str| same_name(name, asked.new) && !same_name(old, asked.new);
        let mut keys = definition.keys.iter();
        if table.indexes.iter().any(|(_, index)| is_taken(&index.name)) || keys.any(|key| is_taken(&key.name)) {
            return Err(taken(asked.new, "INDEX"));
        }
        let found = table.indexes.iter().find(|(_, index)| same_name(&index.name, old));
        let Some((id, index)) = found else {
            // The index of a constraint has its name.
            return match definition.keys.iter().any(|key| same_name(&key.name, old)) {
                true => self.rename_constraint(table, old, asked),
                false => Err(wrong_kind(asked)),
            };
        };
        let object_id = self.row_of(table)?;
        self.drop_in_sqlite(definition, &index.name)?;
        let new = IndexDefinition {
            name: asked.new.to_owned(),
            ..index.clone()
        };
        for sql in new.sqlite(definition)? {
            self.execute(&sql)?;
        }
        self.store_index(*id, &new, object_id)?;
        self.move_property((HolderKind::Index, object_id), old, asked)
    }

    fn drop_in_sqlite(&self, table: &TableDefinition, index: &str) -> Result<(), SqlError> {
        IndexDefinition::sqlite_drop(&table.file_name(), index)
            .iter()
            .try_for_each(|sql| self.execute(sql))
    }

    pub(super) fn store_index(&self, id: i32, index: &IndexDefinition, table_id: i32) -> Result<(), SqlError> {
        self.store(
            "main",
            Written {
                object_id: id,
                kind: ObjectKind::Index,
                schema: selenite_compiler::definition::SCHEMA,
                name: &index.name,
                parent: Some(table_id),
                definition: index.to_string(),
            },
        )
    }

    /// The table of a name whose last part is a column or an index, and that part.
    fn part_of_table<'a>(&self, asked: &'a Renaming<'_>) -> Result<(Arc<SchemaTable>, &'a str), SqlError> {
        let (part, table) = asked.parts.split_last().ok_or_else(|| wrong_kind(asked))?;
        let name = self.object_name(table).ok_or_else(|| wrong_kind(asked))?;
        if name.name.text.starts_with('#') {
            return Err(SqlError::unsupported("sp_rename of a temporary object"));
        }
        let found = self.catalog.table(&name).cloned();
        found
            .map(|table| (table, part.as_str()))
            .ok_or_else(|| wrong_kind(asked))
    }

    /// The name that these parts are, in the database in use.
    fn object_name(&self, parts: &[String]) -> Option<ObjectName> {
        let name = |text: &String| Name {
            text: text.clone(),
            quoted: true,
            position: Position::default(),
        };
        let (own, before) = parts.split_last()?;
        let (schema, database) = match before {
            [] => (None, None),
            [schema] => (Some(schema), None),
            [database, schema] => (Some(schema), Some(database)),
            _ => return None,
        };
        if database.is_some_and(|database| !same_name(database, &self.catalog.database)) {
            return None;
        }
        Some(ObjectName {
            name: name(own),
            schema: schema.filter(|schema| !schema.is_empty()).map(name),
            database: None,
            server: None,
            position: Position::default(),
        })
    }

    /// 15335: an object of the new name exists.
    fn check_new_object(&self, schema: &str, old: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
        match self.catalog.schema.has_object(schema, asked.new) && !same_name(old, asked.new) {
            true => Err(taken(asked.new, "object")),
            false => Ok(()),
        }
    }

    /// 15225: what is to be renamed is not there.
    fn not_found(&self, asked: &Renaming<'_>) -> SqlError {
        let (name, database) = (asked.written, &self.catalog.database);
        let kind = asked.kind.unwrap_or("(null)");
        let text = format!(
            "No item by the name of '{name}' could be found in the current database '{database}', given that @itemtype was \
             input as '{kind}'."
        );
        error(15_225, text)
    }
}

/// Applies `renamed` to the columns of a table that foreign keys of `definition` refer to; returns whether there are any.
fn refer_by_column(
    definition: &mut TableDefinition,
    referenced: &TableDefinition,
    renamed: impl Fn(&mut String),
) -> bool {
    let own = referenced.file_name();
    let keys = definition.foreign_keys.iter_mut();
    let mut refers = false;
    for key in keys.filter(|key| same_name(&file_name(&key.referenced_table.0, &key.referenced_table.1), &own)) {
        key.referenced_columns.iter_mut().for_each(&renamed);
        refers = true;
    }
    refers
}

/// Refuses a column that a text of its table names.
fn check_dependents(table: &SchemaTable, column: &str, asked: &Renaming<'_>) -> Result<(), SqlError> {
    let definition = &table.definition;
    let names = |text: String| names_column(&text, column);
    let in_check = definition.checks.iter().any(|check| names(check.condition.to_string()));
    let computed = definition.columns.iter().filter_map(|column| column.computed.as_ref());
    let in_computed = computed.into_iter().any(|(value, _)| names(value.to_string()));
    let filters = table.indexes.iter().filter_map(|(_, index)| index.filter.as_ref());
    let in_filter = filters.into_iter().any(|filter| names(filter.to_string()));
    if in_check || in_computed || in_filter {
        return Err(enforced(asked));
    }
    Ok(())
}

/// 15336: a definition names what is to be renamed.
fn enforced(asked: &Renaming<'_>) -> SqlError {
    let text = format!(
        "Object '{}' cannot be renamed because the object participates in enforced dependencies.",
        asked.written
    );
    error(15_336, text)
}

/// Whether a text may name a column or a sequence: a word of a literal counts, too.
fn names_column(text: &str, column: &str) -> bool {
    let (text, column) = (text.to_lowercase(), column.to_lowercase());
    let is_in_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '@' | '#' | '$');
    let is_whole = |(at, found): (usize, &str)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + found.len()..).and_then(|behind| behind.chars().next());
        !before.is_some_and(is_in_word) && !behind.is_some_and(is_in_word)
    };
    text.contains(&bracketed(&column)) || text.match_indices(&column).any(is_whole)
}

/// 15335: the new name is taken.
fn taken(name: &str, kind: &str) -> SqlError {
    let text = format!(
        "Error: The new name '{name}' is already in use as a {kind} name and would cause a duplicate that is not permitted."
    );
    error(15_335, text)
}

/// 15248: there is no such part of a table.
fn wrong_kind(asked: &Renaming<'_>) -> SqlError {
    let kind = asked.kind.unwrap_or("(null)");
    let text = format!("Either the parameter @objname is ambiguous or the claimed @objtype ({kind}) is wrong.");
    error(15_248, text)
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text).with_severity(11)
}
