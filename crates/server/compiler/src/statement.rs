//! Bound statements on tables, which the runtime executes.
//!
//! - `bound-once`: a statement is bound once and run often. It contains no values, and no rows.
//! - `rows-are-computed-outside`: rows are computed by the runtime, not in SQLite's change statements: values are
//!   converted, checked and numbered with T-SQL's errors, which name the row; SQLite stores them.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::storage::Stored;

use crate::catalog::{SqliteName, Table};
use crate::change::{Delete, Insert, Merge, Truncate, Update};
use crate::query::advances;
use crate::writer::SqlText;
use crate::{Frame, SqlError};

mod assign;
mod cursor;
mod queries;
mod rows;
pub(crate) mod select;

pub use assign::Assign;
pub use cursor::{CursorForm, CursorRead, NoTable};
pub use rows::{ComputedColumns, Rows};
pub use select::{Into, IntoColumn};

pub use crate::binding::{Binding, InputColumn, ResultColumn, SlotValue};

/// A statement on tables.
#[derive(Clone, Debug)]
pub enum Statement {
    /// SELECT: rows to the client.
    Rows(Rows),
    /// `SELECT @a = ..`: assigns the last row's values to variables.
    Assign(Assign),
    /// `SELECT .. INTO t`: a new table.
    Into(Into),
    /// INSERT.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// MERGE.
    Merge(Box<Merge>),
    /// `TRUNCATE TABLE`.
    Truncate(Truncate),
}

impl Binding<'_> {
    /// Binds a statement on tables: SELECT, INSERT, UPDATE, DELETE, MERGE, TRUNCATE.
    ///
    /// Errors: any error of the statement; 10700 for a change of a table-valued parameter; 8624 for any other statement.
    pub fn statement(&self, statement: &ast::Statement) -> Result<Statement, SqlError> {
        let kind = &statement.kind;
        let bound = if let ast::StatementKind::Select(select) = kind {
            self.select(select)
        } else if let ast::StatementKind::Insert(insert) = kind {
            self.insert(insert).map(Statement::Insert)
        } else if let ast::StatementKind::Update(update) = kind {
            self.update(update).map(Statement::Update)
        } else if let ast::StatementKind::Delete(delete) = kind {
            self.delete(delete).map(Statement::Delete)
        } else if let ast::StatementKind::Merge(merge) = kind {
            self.merge(merge).map(Box::new).map(Statement::Merge)
        } else if let ast::StatementKind::Truncate(name) = kind {
            self.truncate(name).map(Statement::Truncate)
        } else {
            Err(SqlError::internal("not a statement on tables"))
        };
        let bound = bound.and_then(
            |bound| match bound.written().into_iter().find(|table| table.is_read_only) {
                Some(table) => Err(SqlError::read_only_table(&table.name)),
                None => Ok(bound),
            },
        );
        bound.map_err(|error| error.on_line(statement.position.line))
    }
}

impl Statement {
    /// Whether a hint requires that rows that are read be held until the transaction ends.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Rows(rows) => rows.compiled.holds(),
            Self::Assign(assign) => assign.compiled.holds(),
            Self::Into(into) => into.compiled.holds(),
            Self::Insert(insert) => insert.holds(),
            Self::Update(update) => update.compiled.holds(),
            Self::Delete(delete) => delete.compiled.holds(),
            Self::Merge(merge) => merge.holds(),
            Self::Truncate(_) => false,
        }
    }

    /// The columns of its result; empty if it has none.
    #[must_use]
    pub fn columns(&self) -> &[ResultColumn] {
        match self {
            Self::Rows(rows) => &rows.columns,
            Self::Insert(insert) => insert.columns(),
            Self::Update(update) => update.columns(),
            Self::Delete(delete) => delete.columns(),
            Self::Merge(merge) => merge.columns(),
            Self::Assign(_) | Self::Into(_) | Self::Truncate(_) => &[],
        }
    }

    /// Whether it takes values of a sequence: NEXT VALUE FOR.
    #[must_use]
    pub fn advances(&self) -> bool {
        match self {
            Self::Rows(rows) => rows.computed.is_some(),
            Self::Assign(assign) => assign.values.iter().any(|value| advances(&value.value)),
            Self::Insert(insert) => insert.advances,
            Self::Update(update) => update.advances,
            Self::Merge(merge) => merge.advances(),
            Self::Into(_) | Self::Delete(_) | Self::Truncate(_) => false,
        }
    }

    /// Whether it changes rows, or takes values of a sequence.
    #[must_use]
    pub fn changes(&self) -> bool {
        match self {
            Self::Rows(_) | Self::Assign(_) => self.advances(),
            Self::Into(_)
            | Self::Insert(_)
            | Self::Update(_)
            | Self::Delete(_)
            | Self::Merge(_)
            | Self::Truncate(_) => true,
        }
    }

    /// The tables whose rows it changes; not that of SELECT INTO, which does not exist yet.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        match self {
            Self::Rows(_) | Self::Assign(_) | Self::Into(_) => Vec::new(),
            Self::Insert(insert) => insert.written(),
            Self::Update(update) => update.written(),
            Self::Delete(delete) => delete.written(),
            Self::Merge(merge) => merge.written(),
            Self::Truncate(truncate) => vec![&truncate.table],
        }
    }

    /// Whether at most one statement of SQLite's changes anything, so that a failure leaves no changes.
    #[must_use]
    pub fn is_single(&self) -> bool {
        match self {
            Self::Rows(_) | Self::Assign(_) | Self::Truncate(_) => true,
            Self::Into(_) | Self::Merge(_) => false,
            Self::Insert(insert) => insert.is_single(),
            Self::Update(update) => update.is_single(),
            Self::Delete(delete) => delete.is_single(),
        }
    }
}

impl SqlText {
    /// The values of the parameters.
    ///
    /// Errors: any error of their evaluation.
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Vec<Stored<'static>>, SqlError> {
        self.parameters
            .iter()
            .map(|parameter| parameter.evaluate(frame))
            .collect()
    }
}

/// The SQL name of a table, to read its columns by name.
pub(crate) fn table_sql(name: &SqliteName) -> Result<String, SqlError> {
    crate::writer::qualified(name)
}
