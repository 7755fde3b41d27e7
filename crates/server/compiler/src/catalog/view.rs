//! A view, and what the server itself shows as rows.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Name, ObjectName, QueryBody, SelectStatement, TableSourceKind};
use selenite_types::DataType;
use selenite_types::storage::StorageClass;

use super::SqliteName;

/// A user-defined view: bound again in each statement that names it.
#[derive(Clone, Debug)]
pub struct View {
    /// The database's name; its own names are looked up there.
    pub database: String,
    /// The schema's name: `dbo`.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// Its columns' names; empty if the query names them.
    pub columns: Vec<Name>,
    /// Its rows.
    pub select: Arc<SelectStatement>,
    /// `WITH CHECK OPTION`: what is written through it must be rows of it.
    pub check_option: bool,
}

impl View {
    /// The one table or view that it is over; none if it is over several, or something else.
    #[must_use]
    pub fn table_name(&self) -> Option<&ObjectName> {
        let QueryBody::Select(select) = &self.select.query.body else {
            return None;
        };
        match select.from.as_slice() {
            [one] => match &one.kind {
                TableSourceKind::Table { name, .. } => Some(name),
                TableSourceKind::Variable { .. }
                | TableSourceKind::Function { .. }
                | TableSourceKind::Derived { .. }
                | TableSourceKind::Values { .. }
                | TableSourceKind::Join(_) => None,
            },
            [] | [_, ..] => None,
        }
    }

    /// The condition that WITH CHECK OPTION checks, and the name that its table has there; `Some(None)` where the
    /// view has no condition, `None` where it is not over one table alone.
    #[must_use]
    pub fn checked_filter(&self) -> Option<Option<(&Condition, &str)>> {
        let QueryBody::Select(select) = &self.select.query.body else {
            return None;
        };
        let [source] = select.from.as_slice() else {
            return None;
        };
        let TableSourceKind::Table { name, alias, .. } = &source.kind else {
            return None;
        };
        let is_plain = self.select.with.is_empty() && select.top.is_none() && self.select.query.offset.is_none();
        let alias = alias
            .as_ref()
            .map_or(name.name.text.as_str(), |alias| alias.text.as_str());
        is_plain.then(|| select.filter.as_ref().map(|filter| (filter, alias)))
    }
}

/// A view that the server has.
#[derive(Clone, Debug)]
pub struct SystemView {
    /// The schema's name: `sys` or `INFORMATION_SCHEMA`.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// Where its rows are.
    pub rows: SystemRows,
    /// Its columns in order.
    pub columns: Vec<SystemColumn>,
}

/// Where SQLite finds the rows of what the server shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SystemRows {
    /// In a table or virtual table, whose columns have the names of the view's; a function's has its arguments as
    /// hidden columns.
    Table(SqliteName),
    /// In the answer of [`crate::compiled::ROWS_FUNCTION`] to this name, followed by a function's arguments: a JSON
    /// array of rows, each an array of stored forms, of which blobs are hexadecimal digits.
    Json(String),
}

/// A function of rows that the server has.
#[derive(Clone, Debug)]
pub struct SystemFunction {
    /// The schema's name: `sys`; empty for those that have none, such as STRING_SPLIT.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// Where its rows are.
    pub rows: SystemRows,
    /// Its columns in order.
    pub columns: Vec<SystemColumn>,
    /// The types of its arguments.
    pub arguments: Vec<DataType>,
    /// How many of the arguments must be given; the rest are NULL.
    pub required: usize,
    /// Whether it is as STRING_SPLIT: its first column is of its first argument's type, and its last is there if its
    /// last argument, a constant, is 1.
    pub is_split: bool,
}

/// A column of what the server shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemColumn {
    /// Its name, which is also its name in SQLite.
    pub name: String,
    /// Its type: what its storage form is.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

impl SystemColumn {
    /// Whether its values are stored as blobs.
    #[must_use]
    pub fn is_blob(&self) -> bool {
        self.data_type.storage_class() == StorageClass::Blob
    }
}
