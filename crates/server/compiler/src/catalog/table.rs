//! A table as the binder uses it.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Expr, TableType};
use selenite_types::DataType;

use super::Fires;
use crate::{Collation, same_name};

/// A table. Each has a SQLite rowid, whatever its keys are.
#[derive(Clone, Debug)]
pub struct Table {
    /// The database's name, as messages show it.
    pub database: String,
    /// The schema's name: `dbo`.
    pub schema: String,
    /// The table's name, as it was defined.
    pub name: String,
    /// Its name in SQLite.
    pub sqlite: SqliteName,
    /// `object_id` in sys.objects.
    pub object_id: i32,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The column that is SQLite's rowid.
    pub row_id_column: Option<usize>,
    /// Primary key, unique constraints and unique indexes.
    pub keys: Vec<Key>,
    /// The enforced CHECK constraints.
    pub checks: Vec<Check>,
    /// The enforced foreign keys. SQLite enforces them; errors take the names from here.
    pub foreign_keys: Vec<ForeignKey>,
    /// Foreign keys that refer to this table, also disabled ones, with their tables.
    pub referenced_by: Vec<(String, ForeignKey)>,
    /// Its triggers.
    pub fires: Fires,
    /// All enforced foreign keys of the database: a change may cascade along several of them.
    pub references: Arc<[Reference]>,
    /// The type of a table variable or table-valued parameter, if it is one of a user.
    pub table_type: Option<Arc<TableType>>,
    /// Whether it is a table-valued parameter, which nothing changes.
    pub is_read_only: bool,
}

/// A foreign key, and its table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The schema and name of the referencing table.
    pub table: (String, String),
    /// The key.
    pub key: ForeignKey,
}

/// A name in SQLite.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SqliteName {
    /// The attached schema: `main`, `temp`, or another database's.
    pub schema: String,
    /// The table or virtual table.
    pub name: String,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, which is also its name in SQLite.
    pub name: String,
    /// The type, which decides its storage form.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
    /// IDENTITY.
    pub identity: Option<IdentityRule>,
    /// DEFAULT.
    pub default: Option<ColumnDefault>,
    /// The expression of a computed column, which SQLite's table does not have.
    pub computed: Option<Computed>,
}

/// IDENTITY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdentityRule {
    /// The first value.
    pub seed: i128,
    /// The increment.
    pub increment: i128,
}

/// DEFAULT.
#[derive(Clone, Debug)]
pub struct ColumnDefault {
    /// The constraint's name.
    pub name: String,
    /// The value's syntax tree.
    pub value: Arc<Expr>,
}

/// `AS expression`.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The expression's syntax tree, over columns of the same table.
    pub value: Arc<Expr>,
    /// `PERSISTED`: shown in sys.computed_columns; the column is computed on each read all the same.
    pub persisted: bool,
}

/// A primary key, a unique constraint or a unique index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The name of the constraint or index.
    pub name: String,
    /// Primary key, unique constraint or unique index.
    pub kind: KeyKind,
    /// Indexes of its columns in [`Table::columns`], in the key's order.
    pub columns: Vec<usize>,
    /// Whether it is a filtered index: CREATE UNIQUE INDEX .. WHERE.
    pub is_filtered: bool,
    /// The columns of its filter.
    pub filter_columns: Vec<usize>,
    /// `IGNORE_DUP_KEY`: INSERT leaves out rows that have a key of another row.
    pub ignores_duplicates: bool,
}

/// The kind of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
    /// CREATE UNIQUE INDEX.
    Index,
}

/// CHECK.
#[derive(Clone, Debug)]
pub struct Check {
    /// The constraint's name.
    pub name: String,
    /// The condition, which must not be false.
    pub condition: Arc<Condition>,
    /// The column of a column constraint: an index in [`Table::columns`].
    pub column: Option<usize>,
}

/// FOREIGN KEY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: String,
    /// The names of the referencing columns.
    pub columns: Vec<String>,
    /// The schema and name of the referenced table.
    pub referenced_table: (String, String),
    /// The names of the referenced columns.
    pub referenced_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferencedAction,
    /// ON UPDATE.
    pub on_update: ReferencedAction,
    /// Whether it is enforced: NOCHECK CONSTRAINT disables it.
    pub is_enabled: bool,
    /// Whether all rows are known to satisfy it: not after NOCHECK.
    pub is_trusted: bool,
}

/// A referential action on the referencing row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReferencedAction {
    /// The change is refused.
    #[default]
    NoAction,
    /// The referencing row is deleted or updated too.
    Cascade,
    /// The referencing columns become NULL.
    SetNull,
    /// The referencing columns become their defaults.
    SetDefault,
}

impl Table {
    /// The index of the column with this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// The index of the identity column.
    #[must_use]
    pub fn identity(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.identity.is_some())
    }

    /// The index of the rowversion column.
    #[must_use]
    pub fn row_version(&self) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.position(|column| column.computed.is_none() && column.data_type == DataType::RowVersion)
    }

    /// The name of SQLite's rowid; `None` if columns have all three of its names.
    #[must_use]
    pub fn row_id(&self) -> Option<&'static str> {
        ["rowid", "_rowid_", "oid"]
            .into_iter()
            .find(|name| self.column(name).is_none())
    }

    /// The name in messages 515 and 2628: database, schema and table; the name alone of a table variable.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.is_variable() {
            return self.name.clone();
        }
        format!("{}.{}.{}", self.database, self.schema, self.name)
    }

    /// Whether it is a table variable.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        self.name.starts_with('@') && self.is_temporary()
    }

    /// Whether it is `inserted` or `deleted` of a trigger.
    #[must_use]
    pub fn is_logical(&self) -> bool {
        !self.is_variable() && self.is_temporary() && self.sqlite.name.starts_with('@')
    }

    /// Whether it is dropped with its session.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.sqlite.schema == "temp"
    }

    /// The name in messages 547, 2601 and 2627: schema and table.
    #[must_use]
    pub fn schema_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}
