//! ALTER TABLE.

use std::sync::Arc;

use selenite_compiler::catalog::{ForeignKey, KeyKind, Table};
use selenite_compiler::definition::{
    Alteration, ColumnDefinition, Step, TableDefinition, bracketed, index_name, null_index_name, quoted,
};
use selenite_compiler::{Collation, SqlError, same_name, written_object};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{AlterColumn, AlterTable, AlterTableAction, Condition};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::{ObjectKind, check_name, salt};
use crate::catalog::extended_properties::{self, HolderKind, PropertyHolder};
use crate::catalog::grants;
use crate::catalog::schema::{SchemaTable, is_temporary};

impl DefinitionContext<'_> {
    pub(crate) fn alter_table(&self, alter: &AlterTable) -> Result<(), SqlError> {
        let own = alter.name.name.text.as_str();
        let Some(table) = self.table(&alter.name)? else {
            return Err(refusal::no_table(&written_object(&alter.name)));
        };
        check_needed(&table, &alter.action)?;
        self.check_columns_not_bound(&table, &alter.action)?;
        if let AlterTableAction::Drop(elements) = &alter.action {
            let mut columns = elements.iter().filter(|element| element.column);
            columns.try_for_each(|element| self.check_no_statistics(&table, &element.name.text))?;
        }
        if let AlterTableAction::AlterColumn(change) = &alter.action
            && let Some(known) = table.definition.column(&change.name.text)
            && changes_collation(known, change)
        {
            self.check_no_statistics(&table, &known.name)?;
        }
        let mut altered = table.definition.alter(&alter.action, salt())?;
        let new = &mut altered.definition;
        new.keys.sort_by_key(|key| key.kind != KeyKind::Primary);
        new.columns.iter().try_for_each(|column| check_name(&column.name))?;
        if own.starts_with('#') {
            new.foreign_keys.clear();
            super::user_type::refuse_aliases(new)?;
        }
        new.check_persisted(Some(&table.definition))?;
        self.check_column_types(new, Some(&table.definition))?;
        self.check_new_names(new, Some(&table.definition))?;
        self.resolve(new)?;
        let keys = new.keys.iter().map(|key| key.name.as_str());
        for name in new.indexes.iter().map(|index| index.name.as_str()).chain(keys) {
            if table.indexes.iter().any(|(_, known)| same_name(&known.name, name)) {
                return Err(SqlError::index_name_taken(name, &table.table.schema_name()));
            }
        }
        self.check_rules(new)?;
        let object_id = self.row_of(&table)?;
        self.run_steps(&table, &altered)?;
        self.keep(&altered.definition, object_id)?;
        self.forget_parts(&table, &altered.definition, object_id)?;
        self.check_rows(&altered)
    }

    /// 5074: a column that a view is bound to.
    fn check_columns_not_bound(&self, table: &SchemaTable, action: &AlterTableAction) -> Result<(), SqlError> {
        let columns: Vec<&str> = match action {
            AlterTableAction::Drop(elements) => {
                let columns = elements.iter().filter(|element| element.column);
                columns.map(|element| element.name.text.as_str()).collect()
            }
            AlterTableAction::AlterColumn(change) => vec![change.name.text.as_str()],
            AlterTableAction::Add { .. }
            | AlterTableAction::Constraints(_)
            | AlterTableAction::Triggers(_)
            | AlterTableAction::Rebuild(_) => Vec::new(),
        };
        let place = (table.definition.schema.as_str(), table.definition.name.as_str());
        if is_temporary(place.1) {
            return Ok(());
        }
        for column in columns {
            if let Some(view) = self.bound_to_column(place, column)? {
                return Err(SqlError::column_needed(&format!("object '{view}'"), column));
            }
        }
        Ok(())
    }

    /// Columns and constraints that are gone have no properties, and columns no permissions.
    fn forget_parts(&self, table: &SchemaTable, new: &TableDefinition, id: i32) -> Result<(), SqlError> {
        if is_temporary(&new.name) {
            return Ok(());
        }
        let old = &table.definition;
        let columns = old.columns.iter().map(|column| column.name.as_str());
        let columns = columns.filter(|name| new.column(name).is_none());
        let constraints = old
            .constraint_names()
            .filter(|name| !new.constraint_names().any(|other| same_name(other, name)));
        for column in columns.clone() {
            grants::forget_column(&self.database.connection, table.table.object_id, column)?;
        }
        let gone = columns.map(|name| (HolderKind::Column, name));
        for (kind, name) in gone.chain(constraints.map(|name| (HolderKind::Constraint, name))) {
            let part = name.to_owned();
            extended_properties::move_part(&self.database.connection, &PropertyHolder { kind, id, part }, None)?;
        }
        Ok(())
    }

    /// Does everything except checking rows and filling them.
    fn run_steps(&self, table: &SchemaTable, altered: &Alteration) -> Result<(), SqlError> {
        let (schema, name) = (self.place(&table.definition.name), quoted(&table.table.sqlite.name));
        for step in &altered.steps {
            match step {
                Step::Sql(sql) => self.run_sql(sql, &altered.definition)?,
                Step::CheckNoNull(column) => {
                    let null = format!("SELECT 1 FROM {schema}.{name} WHERE {} IS NULL", quoted(column));
                    if self.has_row(&null)? {
                        return Err(refusal::null_there(column, &table.table.full_name()));
                    }
                }
                Step::CheckEmpty { column } => {
                    if self.has_row(&format!("SELECT 1 FROM {schema}.{name}"))? {
                        return Err(refusal::column_without_value(column, &table.definition.name));
                    }
                }
                Step::Rebuild(rebuild) => self.rebuild(table, &altered.definition, rebuild)?,
                Step::CheckRows { .. } | Step::Fill(_) => {}
            }
        }
        Ok(())
    }

    /// A statement of SQLite's; indexes that were written in the statement are created with their rows in the
    /// catalog.
    fn run_sql(&self, sql: &str, new: &TableDefinition) -> Result<(), SqlError> {
        let table = new.file_name();
        let is_of = |name: &str| {
            [index_name(&table, name), null_index_name(&table, name)]
                .iter()
                .any(|index| sql.contains(&format!("INDEX {} ", quoted(index))))
        };
        if new.indexes.iter().any(|index| is_of(&index.name)) {
            return Ok(());
        }
        match new.keys.iter().find(|key| is_of(&key.name)) {
            Some(key) => self.make_unique(&[sql.to_owned()], new, (&key.name, &key.columns, None)),
            None => self.execute(sql),
        }
    }

    /// Writes the new definition, and creates the indexes that came with it.
    fn keep(&self, new: &TableDefinition, object_id: i32) -> Result<(), SqlError> {
        let written = Written {
            object_id,
            kind: ObjectKind::Table,
            schema: &new.schema,
            name: &new.name,
            parent: None,
            definition: new.to_string(),
        };
        self.store(self.place(&new.name), written)?;
        new.indexes
            .iter()
            .try_for_each(|index| self.make_index(index, new, object_id))
    }

    /// Fills new columns, and checks the rows against new checks.
    fn check_rows(&self, altered: &Alteration) -> Result<(), SqlError> {
        let has_work = |step: &Step| matches!(step, Step::CheckRows { .. } | Step::Fill(_));
        if !altered.steps.iter().any(has_work) {
            return Ok(());
        }
        let own = altered.definition.name.as_str();
        let schema = self.reloaded(own)?;
        let table = schema
            .table(&altered.definition.schema, own)
            .ok_or_else(|| SqlError::internal("a table that was altered"))?;
        for step in &altered.steps {
            match step {
                Step::Fill(column) => self.fill(&table.table, column)?,
                Step::CheckRows { name, condition } => self.check(&table.table, name, condition)?,
                Step::Sql(_) | Step::CheckNoNull(_) | Step::CheckEmpty { .. } | Step::Rebuild(_) => {}
            }
        }
        Ok(())
    }

    fn fill(&self, table: &Arc<Table>, column: &str) -> Result<(), SqlError> {
        let text = format!("UPDATE {} SET {} = DEFAULT", bracketed(&table.name), bracketed(column));
        // Checks that are not enforced now are not enforced by this statement either.
        let plain = Table {
            checks: Vec::new(),
            ..(**table).clone()
        };
        self.run(&text, self.few(vec![Arc::new(plain)]), None).map(drop)
    }

    fn check(&self, table: &Arc<Table>, name: &str, condition: &Condition) -> Result<(), SqlError> {
        let text = format!(
            "SELECT 1 AS found FROM {} WHERE NOT ({condition})",
            bracketed(&table.name)
        );
        if self.run(&text, self.few(vec![table.clone()]), None)? == 0 {
            return Ok(());
        }
        let check = table.checks.iter().find(|check| same_name(&check.name, name));
        let column = check
            .and_then(|check| table.columns.get(check.column?))
            .map(|column| column.name.as_str());
        Err(refusal::conflict(
            "CHECK",
            name,
            (&table.database, &table.schema_name()),
            column,
        ))
    }

    /// Whether everything that a table refers to exists, after foreign keys were added.
    pub(crate) fn check_foreign_keys(&self, new: &TableDefinition) -> Result<(), SqlError> {
        // SQLite numbers them from the last one.
        let enforced: Vec<&ForeignKey> = new.foreign_keys.iter().rev().filter(|key| key.is_enabled).collect();
        if !enforced.iter().any(|key| key.is_trusted) {
            return Ok(());
        }
        let broken = || -> rusqlite::Result<Option<&ForeignKey>> {
            let sql = format!(
                "PRAGMA {}.foreign_key_check({})",
                self.place(&new.name),
                quoted(&new.file_name())
            );
            let mut statement = self.database.connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let number = usize::try_from(row.get::<_, i64>(3)?).unwrap_or(usize::MAX);
                if let Some(key) = enforced.get(number).filter(|key| key.is_trusted) {
                    return Ok(Some(key));
                }
            }
            Ok(None)
        };
        let Some(key) = broken().map_err(|error| tsql_error(&error))? else {
            return Ok(());
        };
        let (schema, name) = &key.referenced_table;
        let column = match key.referenced_columns.as_slice() {
            [column] => Some(column.as_str()),
            _ => None,
        };
        let place = (self.database_name(&new.name), format!("{schema}.{name}"));
        Err(refusal::conflict("FOREIGN KEY", &key.name, (place.0, &place.1), column))
    }
}

/// 3725 and 5074: an object that another one needs.
fn check_needed(table: &SchemaTable, action: &AlterTableAction) -> Result<(), SqlError> {
    match action {
        AlterTableAction::Drop(elements) => {
            for element in elements {
                let name = element.name.text.as_str();
                if element.column {
                    check_no_index(table, name)?;
                    continue;
                }
                let Some(key) = table.definition.keys.iter().find(|key| same_name(&key.name, name)) else {
                    continue;
                };
                for (other, foreign) in &table.table.referenced_by {
                    let is_it = foreign.referenced_columns.len() == key.columns.len()
                        && key.columns.iter().all(|(name, _)| {
                            foreign
                                .referenced_columns
                                .iter()
                                .any(|referenced| same_name(referenced, name))
                        });
                    if is_it {
                        let other = other.strip_prefix("dbo.").unwrap_or(other);
                        return Err(refusal::key_referenced(&key.name, other, &foreign.name));
                    }
                }
            }
            Ok(())
        }
        AlterTableAction::AlterColumn(column) => {
            let name = column.name.text.as_str();
            let known = table.definition.column(name);
            let is_text = known.and_then(|column| column.data_type).is_some_and(|data_type| {
                use selenite_types::DataType;
                matches!(
                    data_type,
                    DataType::VarChar(_) | DataType::Utf8VarChar(_) | DataType::NVarChar(_) | DataType::VarBinary(_)
                )
            });
            let is_kept = known.is_some_and(|known| !changes_collation(known, column));
            if is_text && is_kept {
                Ok(())
            } else {
                check_no_index(table, name)
            }
        }
        AlterTableAction::Add { .. }
        | AlterTableAction::Constraints(_)
        | AlterTableAction::Triggers(_)
        | AlterTableAction::Rebuild(_) => Ok(()),
    }
}

/// Whether text gets another collation; an unknown one is an error elsewhere.
fn changes_collation(known: &ColumnDefinition, change: &AlterColumn) -> bool {
    let new = change
        .collation
        .as_ref()
        .map_or_else(|| Ok(Collation::default()), |name| Collation::explicit(&name.text));
    new.is_ok_and(|new| new.named != known.collation)
}

fn check_no_index(table: &SchemaTable, column: &str) -> Result<(), SqlError> {
    let found = table.indexes.iter().find(|(_, index)| {
        index.columns.iter().any(|(name, _)| same_name(name, column))
            || index.include.iter().any(|name| same_name(name, column))
            || index.filter_columns().iter().any(|name| same_name(name, column))
    });
    match found {
        Some((_, index)) => Err(refusal::index_needs(&index.name, column)),
        None => Ok(()),
    }
}
