//! User-defined views, system views and system functions.

use std::sync::Arc;

use selenite_tsql::ast::{Condition, Name, ObjectName, QueryBody, SelectStatement, TableSourceKind};
use selenite_types::DataType;
use selenite_types::storage::StorageClass;

use super::{Fires, SqliteName};
use crate::Collation;

/// A user-defined view: its text is bound in each statement that names it.
#[derive(Clone, Debug)]
pub struct View {
    /// The database's name; names in the view's text are resolved there.
    pub database: String,
    /// The schema's name: `dbo`.
    pub schema: String,
    /// The view's name.
    pub name: String,
    /// `object_id` in sys.objects; 0 while it is created.
    pub object_id: i32,
    /// The column names; empty if the query's columns have them.
    pub columns: Vec<Name>,
    /// The SELECT.
    pub select: Arc<SelectStatement>,
    /// `WITH CHECK OPTION`: rows written through the view must satisfy its condition.
    pub check_option: bool,
    /// Its triggers.
    pub fires: Fires,
}

impl View {
    /// The only table or view in the view's FROM; `None` if there are several, or another source.
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
                | TableSourceKind::BulkFile { .. }
                | TableSourceKind::Derived { .. }
                | TableSourceKind::Values { .. }
                | TableSourceKind::Pivot(_)
                | TableSourceKind::Unpivot(_)
                | TableSourceKind::Join(_) => None,
            },
            [] | [_, ..] => None,
        }
    }

    /// The condition that WITH CHECK OPTION checks, and the alias of its table there; `Some(None)` if the view has no
    /// condition, `None` if it is not over one table alone.
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

/// A system view.
#[derive(Clone, Debug)]
pub struct SystemView {
    /// The schema's name: `sys` or `INFORMATION_SCHEMA`.
    pub schema: String,
    /// The view's name.
    pub name: String,
    /// The source of its rows.
    pub rows: SystemRows,
    /// Its columns in order.
    pub columns: Vec<SystemColumn>,
}

/// The source of the rows of a system view or function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SystemRows {
    /// A table or virtual table, whose columns have the view's column names; a function's table takes the arguments
    /// as hidden columns.
    Table(SqliteName),
    /// The result of [`crate::compiled::ROWS_FUNCTION`] for this name, followed by a function's arguments: a JSON
    /// array of rows, each an array of storage forms; blobs are hexadecimal digits.
    Json(String),
    /// The first argument of the call, such an array.
    Argument,
}

/// A system function that returns rows.
#[derive(Clone, Debug)]
pub struct SystemFunction {
    /// The schema's name: `sys`; empty for functions without one, such as STRING_SPLIT.
    pub schema: String,
    /// The function's name.
    pub name: String,
    /// The source of its rows.
    pub rows: SystemRows,
    /// Its columns in order.
    pub columns: Vec<SystemColumn>,
    /// The types of its arguments.
    pub arguments: Vec<DataType>,
    /// The number of mandatory arguments; the others default to NULL.
    pub required: usize,
    /// Whether it is STRING_SPLIT: the first column has the type of the first argument, and the last column exists
    /// only if the last argument, a constant, is 1.
    pub is_split: bool,
}

/// A column of a system view or function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemColumn {
    /// Its name, which is also its name in SQLite.
    pub name: String,
    /// The type, which decides its storage form.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
}

impl SystemColumn {
    /// Whether its values are stored as blobs.
    #[must_use]
    pub fn is_blob(&self) -> bool {
        self.data_type.storage_class() == StorageClass::Blob
    }
}
