//! Translates a definition to SQLite's statements.

use selenite_types::storage::declared_name;
use selenite_types::{DataType, Family};

use super::{ColumnDefinition, KeyDefinition, TableDefinition, file_name};
use crate::catalog::{ForeignKey, KeyKind, ReferencedAction};
use crate::same_name;
use crate::writer::Form;

impl TableDefinition {
    /// The statements that create the table, and the indexes of its keys, as `schema`.`name`: the schema is `main` or
    /// `temp`.
    #[must_use]
    pub fn sqlite(&self, schema: &str) -> Vec<String> {
        let mut made = vec![self.sqlite_table(schema, &self.file_name())];
        made.extend(self.sqlite_keys());
        made
    }

    /// CREATE TABLE with another name.
    #[must_use]
    pub fn sqlite_table(&self, schema: &str, name: &str) -> String {
        let row_id = self.row_id_column();
        let columns = self.columns.iter().filter(|column| column.computed.is_none());
        let mut parts: Vec<String> = columns.map(|column| column.sqlite(row_id)).collect();
        let keys = self.keys.iter().filter(|key| key.is_in_table);
        parts.extend(keys.map(KeyDefinition::sqlite));
        let enforced = self.foreign_keys.iter().filter(|key| key.is_enabled);
        parts.extend(enforced.map(foreign_key));
        format!("CREATE TABLE {schema}.{} ({})", quoted(name), parts.join(", "))
    }

    /// The indexes of unique constraints, and of a primary key that was added later.
    #[must_use]
    pub fn sqlite_keys(&self) -> Vec<String> {
        self.keys
            .iter()
            .filter(|key| !key.is_in_table)
            .flat_map(|key| self.sqlite_key(key))
            .collect()
    }

    pub(super) fn sqlite_key(&self, key: &KeyDefinition) -> Vec<String> {
        let table = self.file_name();
        let (index, on) = (quoted(&index_name(&table, &key.name)), quoted(&table));
        let columns = self.index_columns(&key.columns);
        let mut made = vec![format!("CREATE UNIQUE INDEX {index} ON {on} ({columns})")];
        made.extend(self.null_index(&key.name, &key.columns, None));
        made
    }

    /// The columns of an index, in its order.
    pub(super) fn index_columns(&self, columns: &[(String, bool)]) -> String {
        let columns = columns.iter().map(|(name, descending)| {
            let order = if *descending { " DESC" } else { "" };
            let key = self
                .column(name)
                .map_or_else(|| quoted(name), ColumnDefinition::index_key);
            format!("{key}{order}")
        });
        columns.collect::<Vec<_>>().join(", ")
    }
}

impl ColumnDefinition {
    /// The column in CREATE TABLE or ADD COLUMN; `row_id` is the column that is SQLite's rowid.
    pub(super) fn sqlite(&self, row_id: Option<&str>) -> String {
        let is_row_id = row_id.is_some_and(|name| same_name(name, &self.name));
        let declared = match &self.data_type {
            // Only this type name makes a column the rowid (sqlite.org/lang_createtable.html#rowid).
            Some(_) if is_row_id => "INTEGER".to_owned(),
            Some(data_type) => declared_name(data_type),
            None => String::new(),
        };
        let collation = collation(self).map_or_else(String::new, |name| format!(" COLLATE {name}"));
        let null = if self.nullable { "" } else { " NOT NULL" };
        format!("{} {declared}{collation}{null}", quoted(&self.name))
    }

    /// The column in an index of SQLite's. For a datetimeoffset this is the instant alone, which decides equality. The
    /// expression is that of comparisons in queries, so that these use the index.
    #[must_use]
    pub fn index_key(&self) -> String {
        let name = quoted(&self.name);
        match &self.data_type {
            Some(data_type) => Form::of(data_type).key(name),
            None => name,
        }
    }

    /// Whether it is a datetimeoffset, which SQLite's CREATE TABLE can't have in a key.
    pub(super) fn has_offset(&self) -> bool {
        matches!(self.data_type, Some(DataType::DateTimeOffset(_)))
    }

    /// Whether its values are blobs.
    pub(super) fn is_bytes(&self) -> bool {
        match self.data_type {
            Some(DataType::Binary(_) | DataType::VarBinary(_) | DataType::RowVersion | DataType::UniqueIdentifier) => {
                true
            }
            Some(DataType::Decimal { precision, .. } | DataType::Numeric { precision, .. }) => precision > 18,
            Some(_) | None => false,
        }
    }
}

impl KeyDefinition {
    fn sqlite(&self) -> String {
        let kind = match self.kind {
            KeyKind::Primary => "PRIMARY KEY",
            KeyKind::Unique | KeyKind::Index => "UNIQUE",
        };
        format!("CONSTRAINT {} {kind} ({})", quoted(&self.name), columns(&self.columns))
    }
}

fn columns(columns: &[(String, bool)]) -> String {
    let columns = columns.iter().map(|(name, descending)| {
        let order = if *descending { " DESC" } else { "" };
        format!("{}{order}", quoted(name))
    });
    columns.collect::<Vec<_>>().join(", ")
}

fn foreign_key(key: &ForeignKey) -> String {
    let names = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let action = |verb: &str, action: ReferencedAction| match action {
        ReferencedAction::NoAction => String::new(),
        ReferencedAction::Cascade => format!(" ON {verb} CASCADE"),
        ReferencedAction::SetNull => format!(" ON {verb} SET NULL"),
        ReferencedAction::SetDefault => format!(" ON {verb} SET DEFAULT"),
    };
    format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({}){}{}",
        quoted(&key.name),
        names(&key.columns),
        quoted(&file_name(&key.referenced_table.0, &key.referenced_table.1)),
        names(&key.referenced_columns),
        action("DELETE", key.on_delete),
        action("UPDATE", key.on_update)
    )
}

/// The collation of a column in SQLite; `None` for a type other than text.
pub(super) fn collation(column: &ColumnDefinition) -> Option<&'static str> {
    let is_text = column
        .data_type
        .is_some_and(|data_type| data_type.family() == Family::Text);
    is_text.then(|| column.collation.order().name())
}

/// The name of an index in SQLite (`index-names-contain-the-table`).
#[must_use]
pub fn index_name(table: &str, index: &str) -> String {
    format!("{table}.{index}")
}

/// The name of the second index of a unique key (`index-names-contain-the-table`).
#[must_use]
pub fn null_index_name(table: &str, index: &str) -> String {
    format!("{table}.{index}$null")
}

/// A quoted identifier in SQLite.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
