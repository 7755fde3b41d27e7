//! What tables are made of: CREATE TABLE and related ones to SQLite's, and back.
//!
//! - `kept-as-text`: a definition is kept as the T-SQL text that makes it, with every constraint
//!   named: SQLite's own schema can't hold identities, defaults, checks and computed columns.
//!   [`TableDefinition`] prints that text, and is parsed from it again.
//! - `sqlite-enforces-what-it-can`: SQLite holds declared types, NOT NULL, collations, keys and
//!   foreign keys, so that a database keeps its rules in any SQLite.
//! - `index-names-contain-the-table`: an index of SQLite's has a name that is unique among all
//!   tables: `table.index`. A unique key whose columns may be NULL has a second one,
//!   `table.index$null`, since two NULLs are one value to a unique key of T-SQL's and two to
//!   SQLite's.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Expr, ObjectName};
use selenite_types::DataType;

use crate::catalog::{Check, Column, ForeignKey, IdentityRule, Key, KeyKind, SqliteName, Table};
use crate::{Ends, SqlError, same_name};

mod alter;
mod column;
mod constraint;
mod create;
mod error;
mod index;
mod sqlite;
mod subquery;
mod text;

pub use alter::{Alteration, Copied, Rebuild, Step};
pub use index::{IndexDefinition, check_filter};
pub use sqlite::{index_name, null_index_name, quoted};
pub use subquery::is_scalar;

/// A table, as it is defined.
#[derive(Clone, PartialEq, Debug)]
pub struct TableDefinition {
    /// Its name, as it was written; `#t` for a temporary one.
    pub name: String,
    /// Its columns in order; at least one is not computed.
    pub columns: Vec<ColumnDefinition>,
    /// Its primary key and unique constraints; a primary key comes first.
    pub keys: Vec<KeyDefinition>,
    /// Its checks.
    pub checks: Vec<CheckDefinition>,
    /// What it refers to.
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes that were written in the table's definition: created after it, and kept as others are.
    pub indexes: Vec<IndexDefinition>,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// Its type; of a computed column its expression's, which is decided when it is bound: then this is `None`.
    pub data_type: Option<DataType>,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Whether its text is compared by its code points.
    pub is_binary: bool,
    /// How it is numbered.
    pub identity: Option<IdentityRule>,
    /// Its default: the constraint's name and the value.
    pub default: Option<(String, Arc<Expr>)>,
    /// What it is computed from, and whether it is PERSISTED.
    pub computed: Option<(Arc<Expr>, bool)>,
}

/// A primary key or unique constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyDefinition {
    /// The constraint's name.
    pub name: String,
    /// PRIMARY KEY or UNIQUE.
    pub kind: KeyKind,
    /// Whether it is the order of the table: shown in sys.indexes.
    pub is_clustered: bool,
    /// Its columns, and whether each descends.
    pub columns: Vec<(String, bool)>,
    /// Whether SQLite's table has it; else an index has it, since it was added later.
    pub is_in_table: bool,
}

/// A check.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckDefinition {
    /// The constraint's name.
    pub name: String,
    /// What must not be false.
    pub condition: Arc<Condition>,
    /// The column that it was written at.
    pub column: Option<String>,
    /// Whether it is enforced: NOCHECK CONSTRAINT ends that.
    pub is_enabled: bool,
}

impl TableDefinition {
    /// The column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnDefinition> {
        self.columns.iter().find(|column| same_name(&column.name, name))
    }

    /// The column that SQLite keeps as its rowid: a primary key of one ascending column of whole numbers.
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

    /// The table as queries see it. `column_type` returns the type of a computed column; `unique` are the unique
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
        let of_key = |name: &str, kind, (names, is_filtered): (&[(String, bool)], bool)| {
            let found: Option<Vec<usize>> = names.iter().map(|(name, _)| position(name)).collect();
            found.map(|columns| Key {
                name: name.to_owned(),
                kind,
                columns,
                is_filtered,
            })
        };
        let constraints = self
            .keys
            .iter()
            .filter_map(|key| of_key(&key.name, key.kind, (&key.columns, false)));
        let indexes = unique.iter().filter(|index| index.is_unique);
        let indexes =
            indexes.filter_map(|index| of_key(&index.name, KeyKind::Index, (&index.columns, index.filter.is_some())));
        let checks = self.checks.iter().filter(|check| check.is_enabled).map(|check| Check {
            name: check.name.clone(),
            condition: check.condition.clone(),
            column: check.column.as_deref().and_then(position),
        });
        Ok(Table {
            database: place.database.clone(),
            schema: SCHEMA.to_owned(),
            name: self.name.clone(),
            sqlite: place.sqlite.clone(),
            object_id: place.object_id,
            keys: constraints.chain(indexes).collect(),
            checks: checks.collect(),
            foreign_keys: self.foreign_keys.clone(),
            referenced_by: Vec::new(),
            references: Arc::default(),
            columns,
        })
    }
}

/// Where a table is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableLocation {
    /// The database's name, as messages show it.
    pub database: String,
    /// What the table is called in SQLite.
    pub sqlite: SqliteName,
    /// Its number in sys.objects.
    pub object_id: i32,
}

/// Looks at the schema in an object's name: there is one.
pub(crate) fn check_schema(name: &ObjectName) -> Result<(), SqlError> {
    match &name.schema {
        Some(schema) if !same_name(&schema.text, SCHEMA) => Err(SqlError::unknown_schema(&schema.text)),
        Some(_) | None => Ok(()),
    }
}

impl SqlError {
    /// 2760: no such schema.
    #[must_use]
    pub fn unknown_schema(name: &str) -> Self {
        let text = format!(
            "The specified schema name \"{name}\" either does not exist or you do not have permission to use it."
        );
        Self::new(2760, Ends::Batch, text)
    }
}

/// The schema of everything that users create.
pub const SCHEMA: &str = "dbo";

#[cfg(test)]
mod tests;
