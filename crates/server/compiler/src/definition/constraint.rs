//! Names of constraints, columns of keys, and foreign keys.

use selenite_tsql::ast::{self, IndexColumn, ReferentialAction};

use selenite_types::DataType;

use super::{ColumnDefinition, TableDefinition};
use crate::catalog::{ForeignKey, ReferencedAction};
use crate::{SqlError, same_name};

/// Generates names of constraints, as SQL Server does: `PK__orders__3213E83F0A1B2C3D`.
pub(super) struct Naming {
    /// Distinguishes names of one table from those of another.
    pub salt: u64,
}

impl Naming {
    /// The name of a default, check or foreign key.
    pub fn of(&self, kind: &str, table: &str, column: Option<&str>, number: usize) -> String {
        let hash = self.hash(&[kind, table, column.unwrap_or_default(), &number.to_string()]);
        let middle = column.map_or_else(String::new, |column| format!("__{}", cut(column, 5)));
        format!("{kind}__{}{middle}__{:08X}", cut(table, 9), hash >> 32)
    }

    /// The name of a key.
    pub fn of_key(&self, kind: &str, table: &str, number: usize) -> String {
        let hash = self.hash(&[kind, table, &number.to_string()]);
        format!("{kind}__{}__{hash:016X}", cut(table, 8))
    }

    /// FNV-1a: the names only have to differ.
    fn hash(&self, parts: &[&str]) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ self.salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash
    }
}

fn cut(name: &str, count: usize) -> String {
    name.chars().take(count).collect()
}

impl TableDefinition {
    /// The columns of a key, or the column of a column constraint; and whether each is descending.
    pub(super) fn key_columns(&self, columns: &[IndexColumn], own: Option<&str>) -> Vec<(String, bool)> {
        match (columns, own) {
            ([], Some(own)) => vec![(own.to_owned(), false)],
            (columns, _) => columns
                .iter()
                .map(|column| (self.own_name(&column.name.text), column.descending))
                .collect(),
        }
    }

    /// The name of a column as it was defined: SQLite distinguishes what T-SQL does not. Of none, as it is written.
    pub(super) fn own_name(&self, written: &str) -> String {
        self.column(written)
            .map_or_else(|| written.to_owned(), |column| column.name.clone())
    }

    pub(super) fn read_foreign_key(
        &self,
        key: &ast::ForeignKey,
        (given, column): (Option<String>, Option<&str>),
        naming: &Naming,
    ) -> Result<ForeignKey, SqlError> {
        if key.table.database.is_some() || key.table.server.is_some() {
            let text = "Cross-database foreign key references are not supported. Foreign key";
            // 1763: a foreign key to another database.
            return Err(SqlError::new(
                1763,
                crate::Ends::Batch,
                format!("{text} '{}'.", key.table.name.text),
            ));
        }
        let columns: Vec<String> = match (key.columns.as_slice(), column) {
            ([], Some(own)) => vec![own.to_owned()],
            (columns, _) => columns.iter().map(|name| self.own_name(&name.text)).collect(),
        };
        let name = given.unwrap_or_else(|| {
            naming.of(
                "FK",
                &self.name,
                columns.first().map(String::as_str),
                self.foreign_keys.len(),
            )
        });
        for column in &columns {
            if !self.columns.iter().any(|known| same_name(&known.name, column)) {
                return Err(SqlError::foreign_column(&name, column, &self.name));
            }
        }
        if columns
            .iter()
            .any(|name| self.column(name).is_some_and(ColumnDefinition::has_offset))
        {
            // SQLite would compare the whole text, and not the instant.
            return Err(SqlError::unsupported("A foreign key of datetimeoffset"));
        }
        let is_variant = |column: &ColumnDefinition| column.data_type == Some(DataType::SqlVariant);
        if columns.iter().any(|name| self.column(name).is_some_and(is_variant)) {
            return Err(SqlError::unsupported("A foreign key of sql_variant"));
        }
        let referenced_columns: Vec<String> = key.referenced.iter().map(|name| name.text.clone()).collect();
        if !referenced_columns.is_empty() && referenced_columns.len() != columns.len() {
            return Err(SqlError::foreign_column_count(&self.name));
        }
        // SQLite's table has none of T-SQL's defaults.
        let set_default = Some(ReferentialAction::SetDefault);
        if key.on_delete == set_default || key.on_update == set_default {
            return Err(SqlError::unsupported("SET DEFAULT of a foreign key"));
        }
        let schema = key.table.schema.as_ref().map(|schema| schema.text.clone());
        Ok(ForeignKey {
            name,
            columns,
            // Where no schema is written, `resolve_foreign_keys` finds it.
            referenced_table: (schema.unwrap_or_default(), key.table.name.text.clone()),
            referenced_columns,
            on_delete: action(key.on_delete),
            on_update: action(key.on_update),
            is_enabled: true,
            is_trusted: true,
        })
    }

    /// Resolves the foreign keys of a statement: a reference without columns refers to the primary key, and the columns
    /// of any other must be a key. `find` returns the definition of another table, by schema and name; a reference
    /// without a schema is looked up in `schemas`, in order.
    ///
    /// # Errors
    /// 1767 for an unknown table, 1773 for one without a primary key, 1776 for columns that are not a key.
    pub fn resolve_foreign_keys(
        &mut self,
        schemas: &[&str],
        find: impl Fn(&str, &str) -> Option<TableDefinition>,
    ) -> Result<(), SqlError> {
        let own = self.clone();
        for key in &mut self.foreign_keys {
            let (written, name) = key.referenced_table.clone();
            let is_own = |schema: &str| same_name(&name, &own.name) && same_name(schema, &own.schema);
            let look = |schema: &str| match is_own(schema) {
                true => Some(own.clone()),
                false => find(schema, &name),
            };
            let (table, other) = match written.is_empty() {
                true => (name.clone(), schemas.iter().find_map(|schema| look(schema))),
                false => (format!("{written}.{name}"), look(&written)),
            };
            let Some(other) = other else {
                return Err(SqlError::foreign_table(&key.name, &table));
            };
            if key.referenced_columns.is_empty() {
                let primary = other
                    .keys
                    .iter()
                    .find(|key| key.kind == crate::catalog::KeyKind::Primary);
                let Some(primary) = primary else {
                    return Err(SqlError::foreign_no_key(&key.name, &table));
                };
                key.referenced_columns = primary.columns.iter().map(|(name, _)| name.clone()).collect();
                if key.referenced_columns.len() != key.columns.len() {
                    return Err(SqlError::foreign_column_count(&own.name));
                }
            }
            key.referenced_table = (other.schema.clone(), other.name.clone());
            if !other.has_key(&key.referenced_columns) {
                return Err(SqlError::foreign_no_candidate(&table, &key.name));
            }
            for column in &mut key.referenced_columns {
                *column = other.own_name(column);
            }
        }
        Ok(())
    }

    /// Whether these columns, in any order, are a key.
    fn has_key(&self, columns: &[String]) -> bool {
        let is_same = |key: &[(String, bool)]| {
            key.len() == columns.len()
                && key
                    .iter()
                    .all(|(name, _)| columns.iter().any(|column| same_name(column, name)))
        };
        let unique = self
            .indexes
            .iter()
            .filter(|index| index.is_unique && index.filter.is_none() && !index.is_disabled);
        self.keys.iter().any(|key| is_same(&key.columns)) || unique.into_iter().any(|index| is_same(&index.columns))
    }
}

impl SqlError {
    /// 1767: a foreign key to an unknown table.
    fn foreign_table(key: &str, table: &str) -> Self {
        let text = format!("Foreign key '{key}' references invalid table '{table}'.");
        Self::new(1767, crate::Ends::Batch, text).with_state(0)
    }

    /// 1773: a foreign key without columns to a table without a primary key.
    fn foreign_no_key(key: &str, table: &str) -> Self {
        let text = format!(
            "Foreign key '{key}' has implicit reference to object '{table}' which does not have a primary key defined on it."
        );
        Self::new(1773, crate::Ends::Batch, text).with_state(0)
    }

    /// 1776: a foreign key to columns that are no key.
    fn foreign_no_candidate(table: &str, key: &str) -> Self {
        let text = format!(
            "There are no primary or candidate keys in the referenced table '{table}' that match the referencing column list in \
             the foreign key '{key}'."
        );
        Self::new(1776, crate::Ends::Batch, text).with_state(0)
    }
}

fn action(action: Option<ReferentialAction>) -> ReferencedAction {
    match action {
        None | Some(ReferentialAction::NoAction) => ReferencedAction::NoAction,
        Some(ReferentialAction::Cascade) => ReferencedAction::Cascade,
        Some(ReferentialAction::SetNull) => ReferencedAction::SetNull,
        Some(ReferentialAction::SetDefault) => ReferencedAction::SetDefault,
    }
}
