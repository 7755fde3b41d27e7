//! Cursors: a query whose rows are fetched one by one.
//!
//! - `no-statement-stays-open`: neither a statement of SQLite's nor a read transaction is open between two requests:
//!   a cursor keeps its rows, or the keys of its rows, or only where it is, and each fetch is a statement of its own.
//! - `rows-in-a-nameless-file`: what does not fit in a little memory is in a nameless file of the VFS,
//!   which is encrypted and goes with the cursor.
//! - `named-by-count`: a cursor lives as long as a name or a variable is its.
//! - `changed-as-fetched`: a row is changed through a cursor only if it is the row that was fetched, unchanged.

use std::sync::Arc;

use selenite_compiler::catalog::Table;
use selenite_compiler::program::{CursorRule, CursorSensitivity, Program, StatementId};
use selenite_compiler::statement::{CursorRead, NoTable};
use selenite_compiler::{CursorActivity, CursorDetails, SqlError};
use selenite_tds::Column;
use selenite_tsql::ast::{CursorName, StatementKind};
use selenite_types::{Moment, Value};

use crate::catalog::running_module::RunningModule;

mod cursor_names;
mod cursor_rows;
mod movement;
mod row_store;
mod row_version;

pub(crate) use cursor_names::{CursorNames, Holder};
pub(crate) use cursor_rows::{CursorRows, KeptColumns};
pub(crate) use movement::{Movement, moved};
pub(crate) use row_version::row_version;

/// The number of a cursor in its session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct CursorId(pub u32);

/// A cursor, open or closed.
pub(crate) struct Cursor {
    /// Its name; empty for that of a variable.
    pub name: String,
    pub rule: CursorRule,
    pub kind: CursorKind,
    /// The columns of its table that its query returns unchanged, one for each column of the query.
    pub origins: Vec<Option<usize>>,
    /// The program that declared it, with the query.
    pub program: Arc<Program>,
    pub query: StatementId,
    /// The procedure or trigger of that, as it was (`module-of-its-frame`).
    pub module: RunningModule,
    /// The variables when it was declared: the query sees those.
    pub slots: Vec<Value>,
    /// The database that was in use.
    pub database_id: i32,
    pub open: Option<OpenCursor>,
    /// Whether it is closed when its last row has been fetched.
    pub auto_closes: bool,
    /// What it has done.
    pub activity: CursorActivity,
    /// How many names and variables are its.
    holder_count: usize,
}

/// How a cursor finds its rows.
#[derive(Clone, Debug)]
pub(crate) enum CursorKind {
    /// It keeps them.
    Static(Option<NoTable>),
    /// It keeps their keys.
    Keyset(Arc<Table>),
    /// By their rowids, in this direction.
    Dynamic(Arc<Table>, CursorRead),
}

/// An open cursor, and where it is.
pub(crate) struct OpenCursor {
    /// Its columns.
    pub columns: Vec<Column>,
    pub place: CursorPlace,
    /// The rows of the last fetch.
    pub buffer: Vec<BufferRow>,
}

/// Where a cursor is.
pub(crate) enum CursorPlace {
    /// Among the rows, or keys, that it keeps.
    Kept {
        rows: Box<CursorRows>,
        /// That of the first row of the buffer; 0 before all rows.
        position: i64,
    },
    /// Before the first row.
    Before,
    /// Between two rowids: those of the first and the last row of the buffer.
    On(i64, i64),
    /// Behind the last row.
    After,
}

/// A row that was fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BufferRow {
    /// One that is kept.
    Kept,
    /// One that is no longer there.
    Missing,
    /// One of a table: its rowid, and what it was.
    Stored { row_id: i64, version: u64 },
}

impl CursorKind {
    /// The table whose rows are the cursor's.
    pub fn table(&self) -> Option<&Arc<Table>> {
        match self {
            Self::Static(_) => None,
            Self::Keyset(table) | Self::Dynamic(table, _) => Some(table),
        }
    }

    pub fn sensitivity(&self) -> CursorSensitivity {
        match self {
            Self::Static(_) => CursorSensitivity::Static,
            Self::Keyset(_) => CursorSensitivity::Keyset,
            Self::Dynamic(..) => CursorSensitivity::Dynamic,
        }
    }
}

impl Cursor {
    /// A cursor that is not open.
    pub fn new(
        name: &str,
        (rule, kind, origins): (CursorRule, CursorKind, Vec<Option<usize>>),
        (program, query, module): (&Arc<Program>, StatementId, RunningModule),
        slots: &[Value],
        (database_id, declared): (i32, Moment),
    ) -> Self {
        Self {
            name: name.to_owned(),
            rule,
            kind,
            origins,
            program: Arc::clone(program),
            query,
            module,
            slots: slots.to_vec(),
            database_id,
            open: None,
            auto_closes: false,
            activity: CursorActivity {
                declared,
                fetch_status: NEVER_FETCHED,
                row_count: 0,
                last_operation: 0,
            },
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

    /// The table whose rows may be changed through it.
    ///
    /// # Errors
    /// 16929; 40510 for a cursor that only this server keeps from it.
    pub fn changeable(&self) -> Result<&Arc<Table>, SqlError> {
        match &self.kind {
            CursorKind::Static(Some(NoTable::Source)) if !self.rule.is_read_only => Err(not_changeable()),
            CursorKind::Keyset(table) | CursorKind::Dynamic(table, _) if !self.rule.is_read_only => Ok(table),
            CursorKind::Static(_) | CursorKind::Keyset(_) | CursorKind::Dynamic(..) => {
                Err(SqlError::cursor_read_only())
            }
        }
    }

    /// It has done something with so many rows.
    pub fn note(&mut self, operation: CursorOperation, row_count: usize) {
        self.activity.last_operation = operation.number();
        self.activity.row_count = i64::try_from(row_count).unwrap_or(i64::MAX);
    }

    /// As sp_describe_cursor shows it.
    fn details(&self, id: CursorId, (is_global, is_of_client): (bool, bool)) -> CursorDetails {
        let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let open = self.open.as_ref();
        CursorDetails {
            id: i32::try_from(id.0).unwrap_or_default(),
            name: self.name.clone(),
            is_global,
            is_of_client,
            model: match self.kind.sensitivity() {
                CursorSensitivity::Static => 1,
                CursorSensitivity::Keyset => 2,
                CursorSensitivity::Dynamic => 3,
            },
            is_read_only: self.rule.is_read_only || self.kind.table().is_none(),
            scrolls: self.rule.scrolls,
            is_open: open.is_some(),
            row_count: open.map_or(0, OpenCursor::row_count),
            column_count: open.map_or(0, |open| i16::try_from(open.columns.len()).unwrap_or(i16::MAX)),
            buffer_size: open.map_or(0, |open| count(open.buffer.len())),
            activity: self.activity,
        }
    }

    /// As CURSOR_STATUS shows it.
    fn status(&self) -> i16 {
        match self.open.as_ref().map(|open| &open.place) {
            None => -1,
            Some(CursorPlace::Kept { rows, .. }) if rows.count() == 0 => 0,
            Some(_) => 1,
        }
    }
}

impl OpenCursor {
    /// `@@CURSOR_ROWS`.
    pub fn row_count(&self) -> i32 {
        match &self.place {
            CursorPlace::Kept { rows, .. } => i32::try_from(rows.count()).unwrap_or(i32::MAX),
            CursorPlace::Before | CursorPlace::On(..) | CursorPlace::After => UNKNOWN_COUNT,
        }
    }

    /// It is on no row from now on: behind all of them, or before them.
    pub fn leave(&mut self, is_behind: bool) {
        self.buffer.clear();
        match &mut self.place {
            CursorPlace::Kept { rows, position } => {
                let behind = i64::try_from(rows.count()).unwrap_or(i64::MAX).saturating_add(1);
                *position = if is_behind { behind } else { 0 };
            }
            place @ (CursorPlace::Before | CursorPlace::On(..) | CursorPlace::After) => {
                *place = if is_behind {
                    CursorPlace::After
                } else {
                    CursorPlace::Before
                };
            }
        }
    }

    fn memory_size(&self) -> u64 {
        match &self.place {
            CursorPlace::Kept { rows, .. } => rows.memory_size(),
            CursorPlace::Before | CursorPlace::On(..) | CursorPlace::After => 0,
        }
    }
}

/// The cursor of WHERE CURRENT OF.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other statement has WHERE CURRENT OF")]
pub(crate) fn current_of(kind: &StatementKind) -> Option<&CursorName> {
    match kind {
        StatementKind::Update(update) => update.current_of.as_ref(),
        StatementKind::Delete(delete) => delete.current_of.as_ref(),
        _ => None,
    }
}

/// Of a cursor that is static in this server alone.
pub(crate) fn not_changeable() -> SqlError {
    SqlError::unsupported("A change through a cursor over anything but one table")
}

/// What was done with a cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CursorOperation {
    Open,
    Fetch,
    Update,
    Delete,
    Close,
}

impl CursorOperation {
    /// SQL Server's number.
    fn number(self) -> i16 {
        match self {
            Self::Open => 1,
            Self::Fetch => 2,
            Self::Update => 4,
            Self::Delete => 5,
            Self::Close => 6,
        }
    }
}

/// The fetch status of a cursor before its first fetch.
const NEVER_FETCHED: i16 = -9;

/// `@@CURSOR_ROWS` of a dynamic cursor.
const UNKNOWN_COUNT: i32 = -1;
