//! What a statement on tables does for a cursor.
//!
//! - `few-plans`: what reads of cursors were bound to is kept for some of them.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::Table;
use selenite_compiler::statement::{Binding, CursorRead, Statement};
use selenite_tsql::ast::{self, StatementKind};

use crate::catalog::running_module::RunningModule;
use crate::cursor::CursorId;
use crate::execution::name_scope::PlanVersion;

/// The work of a session's statements for its cursors.
#[derive(Default)]
pub(crate) struct CursorWork {
    /// What the statement that runs reads.
    pub reading: Option<CursorReading>,
    /// The module that declared the cursor whose query runs.
    pub module: Option<RunningModule>,
    /// The change of a row that runs.
    pub change: Option<CurrentChange>,
    /// What the client asks for that opens a cursor by sp_cursoropen.
    pub request: Option<ApiRequest>,
    /// What it has got.
    pub opened: Option<ApiOpened>,
    /// The row of a buffer that sp_cursor changes, as [`ROW_OF_CALL`].
    pub row: Option<(CursorId, usize)>,
    /// The one that was used last is the last one.
    plans: Vec<CursorPlan>,
}

/// What sp_cursoropen asks for: its options as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ApiRequest {
    pub scroll: i32,
    pub concurrency: i32,
    /// How many rows AUTO_FETCH reads.
    pub row_count: i32,
}

/// What sp_cursoropen answers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ApiOpened {
    /// The cursor's number; 0 if the statement was run instead.
    pub cursor: i32,
    pub scroll: i32,
    pub concurrency: i32,
    pub row_count: i32,
}

/// A read of a cursor's rows.
pub(crate) struct CursorReading {
    pub cursor: CursorId,
    pub read: CursorRead,
    /// The cursor's table.
    pub table: Arc<Table>,
    /// Whether rows may be changed, so that it matters what they are.
    pub notes_versions: bool,
    /// The versions of the rows that it has read, in their order.
    pub versions: Vec<u64>,
}

/// A read that was bound.
pub(crate) struct CursorPlan {
    cursor: CursorId,
    read: CursorRead,
    of: PlanVersion,
    bound: Arc<Statement>,
    calls_functions: bool,
    /// Bytes of memory.
    size: u64,
}

/// A change of the row that a cursor is on.
pub(crate) struct CurrentChange {
    /// The cursor's table.
    pub table: Arc<Table>,
    pub row_id: i64,
    /// What the row was when it was fetched.
    pub version: u64,
    /// Whether it has been made, and then what the row is.
    pub outcome: Option<Option<u64>>,
}

impl CursorWork {
    /// Whether a statement runs for a cursor.
    pub fn is_any(&self) -> bool {
        self.reading.is_some() || self.change.is_some()
    }

    /// What the read that runs was bound to, if that is still valid, and whether it calls functions of users.
    pub fn find(&mut self, of: PlanVersion) -> Option<(Arc<Statement>, bool)> {
        let reading = self.reading.as_ref()?;
        let is_it = |plan: &CursorPlan| plan.cursor == reading.cursor && plan.read == reading.read && plan.of == of;
        let plan = self.plans.remove(self.plans.iter().position(is_it)?);
        let found = (Arc::clone(&plan.bound), plan.calls_functions);
        self.plans.push(plan);
        Some(found)
    }

    /// Keeps what the read that runs is bound to.
    pub fn keep(&mut self, of: PlanVersion, (bound, calls_functions): (Arc<Statement>, bool), size: u64) {
        let Some(reading) = &self.reading else { return };
        let (cursor, read) = (reading.cursor, reading.read);
        self.plans.retain(|plan| plan.cursor != cursor || plan.read != read);
        if self.plans.len() >= PLAN_COUNT_MAX {
            self.plans.remove(0);
        }
        self.plans.push(CursorPlan {
            cursor,
            read,
            of,
            bound,
            calls_functions,
            size,
        });
    }

    /// Nothing that was bound holds any more.
    pub fn forget_plans(&mut self) {
        self.plans.clear();
    }

    /// Bytes of memory of what is kept.
    pub fn size(&self) -> u64 {
        self.plans.iter().map(|plan| plan.size).sum()
    }
}

impl CursorReading {
    /// Binds the read of a SELECT.
    ///
    /// # Errors
    /// Those of binding.
    pub fn bind(&self, binding: &Binding<'_>, statement: &ast::Statement) -> Result<Statement, SqlError> {
        let StatementKind::Select(select) = &statement.kind else {
            return Err(SqlError::internal("a cursor without a query"));
        };
        let rows = binding.cursor_rows(select, self.read, &self.table)?;
        Ok(Statement::Rows(rows))
    }
}

/// The cursor's name in the text of a change by sp_cursor: that of [`CursorWork::row`].
pub(crate) const ROW_OF_CALL: &str = "selenite_row_of_call";
/// Loops over cursors within each other have few at a time, each with one read or two.
const PLAN_COUNT_MAX: usize = 16;
