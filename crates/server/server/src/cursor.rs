//! Cursors: a query whose rows are fetched one by one.
//!
//! - `open-reads-all`: OPEN runs the query to its end and keeps its rows: no statement of SQLite's and
//!   no read transaction is left open between two requests. So every cursor is a static one.
//! - `rows-in-a-nameless-file`: what does not fit in a little memory is in a nameless file of the VFS,
//!   which is encrypted and goes with the cursor.
//! - `named-by-count`: a cursor lives as long as a name or a variable is its.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::{CursorRule, Program, StatementId};
use selenite_types::Value;

mod cursor_names;
mod cursor_rows;
mod movement;
mod row_store;

pub(crate) use cursor_names::{CursorNames, Holder};
pub(crate) use cursor_rows::CursorRows;
pub(crate) use movement::{Movement, moved};

/// The number of a cursor in its session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CursorId(u32);

/// A cursor, open or closed.
pub(crate) struct Cursor {
    /// Its name; empty for that of a variable.
    pub name: String,
    pub rule: CursorRule,
    /// The program that declared it, with the query.
    pub program: Arc<Program>,
    pub query: StatementId,
    /// The variables when it was declared: the query sees those.
    pub slots: Vec<Value>,
    /// The database that was in use.
    pub database_id: i32,
    pub open: Option<OpenCursor>,
    /// How many names and variables are its.
    holder_count: usize,
}

/// The rows of an open cursor, and where it is.
pub(crate) struct OpenCursor {
    pub rows: CursorRows,
    /// 0 before the first row, 1 on it.
    pub position: i64,
}

impl Cursor {
    /// A cursor that is not open.
    pub fn new(
        name: &str,
        rule: CursorRule,
        (program, query): (&Arc<Program>, StatementId),
        slots: &[Value],
        database_id: i32,
    ) -> Self {
        Self {
            name: name.to_owned(),
            rule,
            program: Arc::clone(program),
            query,
            slots: slots.to_vec(),
            database_id,
            open: None,
            holder_count: 0,
        }
    }

    /// Its rows.
    ///
    /// # Errors
    /// 16917.
    pub fn opened(&mut self) -> Result<&mut OpenCursor, SqlError> {
        self.open.as_mut().ok_or_else(SqlError::cursor_is_closed)
    }

    /// As CURSOR_STATUS shows it.
    fn status(&self) -> i16 {
        match &self.open {
            None => -1,
            Some(open) if open.rows.count() == 0 => 0,
            Some(_) => 1,
        }
    }
}
