//! A table, as the binder sees it.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Expr};
use selenite_types::DataType;

use crate::{Collation, same_name};

/// A table: every one has a rowid of SQLite's, whatever its keys are.
#[derive(Clone, Debug)]
pub struct Table {
    /// The database's name, as messages show it.
    pub database: String,
    /// The schema's name: `dbo`.
    pub schema: String,
    /// Its own name, as it was defined.
    pub name: String,
    /// What it is called in SQLite.
    pub sqlite: SqliteName,
    /// Its number in sys.objects.
    pub object_id: i32,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// Its keys, of constraints and of unique indexes.
    pub keys: Vec<Key>,
    /// Its checks that are enforced.
    pub checks: Vec<Check>,
    /// What it refers to. SQLite enforces them; these have the names.
    pub foreign_keys: Vec<ForeignKey>,
    /// What refers to it, with the table that does: for the message of a DELETE or UPDATE that is refused.
    pub referenced_by: Vec<(String, ForeignKey)>,
    /// All foreign keys of its database: a change may be passed on along several of them.
    pub references: Arc<[Reference]>,
}

/// A foreign key, and its table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The schema and name of the table that refers.
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
    /// Its type: what its storage form is.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its text is compared.
    pub collation: Collation,
    /// How it is numbered.
    pub identity: Option<IdentityRule>,
    /// Its default.
    pub default: Option<ColumnDefault>,
    /// What it is computed from: such a column is not in SQLite's table.
    pub computed: Option<Computed>,
}

/// IDENTITY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdentityRule {
    /// The first value.
    pub seed: i128,
    /// The step.
    pub increment: i128,
}

/// DEFAULT.
#[derive(Clone, Debug)]
pub struct ColumnDefault {
    /// The constraint's name.
    pub name: String,
    /// The value as it was written.
    pub value: Arc<Expr>,
}

/// `AS expression`.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The value as it was written, over columns of the same table.
    pub value: Arc<Expr>,
    /// `PERSISTED`: shown in sys.computed_columns; it is computed when it is read all the same.
    pub persisted: bool,
}

/// A primary key, a unique constraint or a unique index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The constraint's or the index's name.
    pub name: String,
    /// Which of the three.
    pub kind: KeyKind,
    /// Indexes of its columns in [`Table::columns`], in the key's order.
    pub columns: Vec<usize>,
    /// Whether it is an index over some rows only: CREATE UNIQUE INDEX .. WHERE.
    pub is_filtered: bool,
}

/// What makes a key unique.
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
    /// What must not be false.
    pub condition: Arc<Condition>,
    /// The column of a check that is a column's own: an index in [`Table::columns`].
    pub column: Option<usize>,
}

/// FOREIGN KEY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: String,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The schema and name of the table that it refers to.
    pub referenced_table: (String, String),
    /// The names of that table's columns.
    pub referenced_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferencedAction,
    /// ON UPDATE.
    pub on_update: ReferencedAction,
}

/// What becomes of a row that refers to one that goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReferencedAction {
    /// The change is refused.
    #[default]
    NoAction,
    /// It goes too.
    Cascade,
    /// Its columns become NULL.
    SetNull,
    /// Its columns become their defaults.
    SetDefault,
}

impl Table {
    /// The index of the column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// The index of the column that is numbered.
    #[must_use]
    pub fn identity(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.identity.is_some())
    }

    /// The name by which SQLite's rowid is reached; `None` if columns have taken all three.
    #[must_use]
    pub fn row_id(&self) -> Option<&'static str> {
        ["rowid", "_rowid_", "oid"]
            .into_iter()
            .find(|name| self.column(name).is_none())
    }

    /// The name as messages 515 and 2628 show it: database, schema and table; of a table variable its own.
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

    /// Whether it goes with its session.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.sqlite.schema == "temp"
    }

    /// The name as messages 547, 2601 and 2627 show it: schema and table.
    #[must_use]
    pub fn schema_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}
