//! Definitions of tables and indexes: parsing, printing, and translation to SQLite's statements.
//!
//! - `kept-as-text`: a definition is stored as the T-SQL text that creates it, with every constraint
//!   named: SQLite's own schema can't hold identities, defaults, checks and computed columns.
//!   [`TableDefinition`] prints that text, and is parsed from it again.
//! - `sqlite-enforces-what-it-can`: SQLite holds declared types, NOT NULL, collations, keys and
//!   foreign keys, so that any SQLite enforces them.
//! - `index-names-contain-the-table`: an index of SQLite's has a name that is unique among all
//!   tables: `table.index`. A unique key with nullable columns has a second index,
//!   `table.index$null`, since NULLs are equal in a unique key of T-SQL's and distinct in
//!   SQLite's.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Expr};
use selenite_types::DataType;

use crate::catalog::{Check, Column, Fires, ForeignKey, IdentityRule, Key, KeyKind, SqliteName, Table};
use crate::{Ends, SqlError, same_name};

mod alter;
mod column;
mod constraint;
mod create;
mod error;
mod filter;
mod index;
mod persisted;
mod sequence;
mod sqlite;
mod subquery;
mod text;
mod words;

pub use alter::{Alteration, ColumnSource, Rebuild, Step, mentions};
pub use column::{OLD_TYPES, SYS};
pub use index::IndexDefinition;
pub use sequence::{SequenceChange, SequencePresent};
pub use sqlite::{index_name, null_index_name, quoted};
pub use subquery::is_scalar;
pub use text::bracketed;

pub use crate::file_name::{SCHEMA, file_name, of_file_name};

/// The definition of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableDefinition {
    /// The schema's name; `dbo` for a temporary table.
    pub schema: String,
    /// The name as it was written; `#t` for a temporary table.
    pub name: String,
    /// The columns in order; at least one is not computed.
    pub columns: Vec<ColumnDefinition>,
    /// The primary key, first, and the unique constraints.
    pub keys: Vec<KeyDefinition>,
    /// The CHECK constraints.
    pub checks: Vec<CheckDefinition>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes in the table's definition: created after the table, and stored as other indexes are.
    pub indexes: Vec<IndexDefinition>,
}

/// The definition of a column.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// The type; `None` for a computed column, whose expression's type is decided by binding.
    pub data_type: Option<DataType>,
    /// The schema and name of its type, if that is an alias type, or text, ntext or image.
    pub user_type: Option<(String, String)>,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: selenite_types::Collation,
    /// IDENTITY.
    pub identity: Option<IdentityRule>,
    /// DEFAULT: the constraint's name and the value.
    pub default: Option<(String, Arc<Expr>)>,
    /// The expression of a computed column, and whether it is PERSISTED.
    pub computed: Option<(Arc<Expr>, bool)>,
}

/// A primary key or unique constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDefinition {
    /// The constraint's name.
    pub name: String,
    /// PRIMARY KEY or UNIQUE.
    pub kind: KeyKind,
    /// CLUSTERED: shown in sys.indexes.
    pub is_clustered: bool,
    /// The columns, and whether each is descending.
    pub columns: Vec<(String, bool)>,
    /// Whether it is in SQLite's CREATE TABLE; else an index enforces it, because it was added later.
    pub is_in_table: bool,
    /// IGNORE_DUP_KEY.
    pub ignores_duplicates: bool,
}

/// The definition of a CHECK constraint.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckDefinition {
    /// The constraint's name.
    pub name: String,
    /// The condition, which must not be false.
    pub condition: Arc<Condition>,
    /// The column of a column constraint.
    pub column: Option<String>,
    /// Whether it is enforced: NOCHECK CONSTRAINT disables it.
    pub is_enabled: bool,
    /// Whether all rows are known to satisfy it: not after NOCHECK.
    pub is_trusted: bool,
}

impl TableDefinition {
    /// The table's name in SQLite.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.schema, &self.name)
    }

    /// The column with this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnDefinition> {
        self.columns.iter().find(|column| same_name(&column.name, name))
    }

    /// The column that is SQLite's rowid: a primary key of one ascending integer column.
    #[must_use]
    pub fn row_id_column(&self) -> Option<&str> {
        let key = self
            .keys
            .iter()
            .find(|key| key.kind == KeyKind::Primary && key.is_in_table)?;
        let [(name, false)] = key.columns.as_slice() else {
            return None;
        };
        let data_type = self.column(name)?.data_type?;
        matches!(
            data_type,
            DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt
        )
        .then_some(name.as_str())
    }

    /// The table as queries use it. `column_type` returns the type of a computed column; `unique` are the unique
    /// indexes.
    ///
    /// # Errors
    /// The error of `column_type`.
    pub fn table(
        &self,
        place: &TableLocation,
        unique: &[IndexDefinition],
        mut column_type: impl FnMut(&Expr) -> Result<DataType, SqlError>,
    ) -> Result<Table, SqlError> {
        let columns = self.columns.iter().map(|column| column.of_table(&mut column_type));
        let columns = columns.collect::<Result<Vec<Column>, SqlError>>()?;
        let position = |name: &str| columns.iter().position(|column| same_name(&column.name, name));
        let positions =
            |names: &[(String, bool)]| -> Option<Vec<usize>> { names.iter().map(|(name, _)| position(name)).collect() };
        let constraints = self.keys.iter().filter_map(|key| {
            Some(Key {
                name: key.name.clone(),
                kind: key.kind,
                columns: positions(&key.columns)?,
                is_filtered: false,
                filter_columns: Vec::new(),
                ignores_duplicates: key.ignores_duplicates,
            })
        });
        let indexes = unique.iter().filter(|index| index.is_unique && !index.is_disabled);
        let indexes = indexes.filter_map(|index| {
            Some(Key {
                name: index.name.clone(),
                kind: KeyKind::Index,
                columns: positions(&index.columns)?,
                is_filtered: index.filter.is_some(),
                filter_columns: index.filter_columns().into_iter().filter_map(position).collect(),
                ignores_duplicates: index.ignores_duplicates,
            })
        });
        let checks = self.checks.iter().filter(|check| check.is_enabled).map(|check| Check {
            name: check.name.clone(),
            condition: check.condition.clone(),
            column: check.column.as_deref().and_then(position),
        });
        Ok(Table {
            database: place.database.clone(),
            schema: self.schema.clone(),
            name: self.name.clone(),
            sqlite: place.sqlite.clone(),
            object_id: place.object_id,
            row_id_column: self.row_id_column().and_then(position),
            keys: constraints.chain(indexes).collect(),
            checks: checks.collect(),
            foreign_keys: self.foreign_keys.iter().filter(|key| key.is_enabled).cloned().collect(),
            referenced_by: Vec::new(),
            fires: Fires::default(),
            references: Arc::default(),
            table_type: None,
            is_read_only: false,
            columns,
        })
    }
}

/// The location of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableLocation {
    /// The database's name, as messages show it.
    pub database: String,
    /// The table's name in SQLite.
    pub sqlite: SqliteName,
    /// `object_id` in sys.objects.
    pub object_id: i32,
}

impl SqlError {
    /// 2760: an unknown schema.
    #[must_use]
    pub fn unknown_schema(name: &str) -> Self {
        let text = format!(
            "The specified schema name \"{name}\" either does not exist or you do not have permission to use it."
        );
        Self::new(2760, Ends::Batch, text)
    }
}

#[cfg(test)]
mod tests;
