//! The state of a session that expressions read.

use std::sync::Arc;

use selenite_types::{DateFirst, DateFormat, Decimal, Moment};

use super::SessionContext;

/// A session's options and counters at the beginning of the current statement.
#[derive(Clone, Debug)]
pub struct Session {
    /// `@@SPID`.
    pub spid: i16,
    /// `@@ROWCOUNT`: of the previous statement.
    pub row_count: i64,
    /// `@@ERROR`: of the previous statement.
    pub error: i32,
    /// `@@TRANCOUNT`.
    pub transaction_count: i32,
    /// XACT_STATE: 1 in a transaction, -1 in one that can only be rolled back, else 0.
    pub transaction_state: i16,
    /// CURRENT_TRANSACTION_ID.
    pub transaction_id: i64,
    /// `@@IDENTITY`: the last identity value of the session.
    pub identity: Option<Decimal>,
    /// SCOPE_IDENTITY: the last identity value of the current batch or procedure.
    pub scope_identity: Option<Decimal>,
    /// `@@FETCH_STATUS`.
    pub fetch_status: i32,
    /// `@@CURSOR_ROWS`.
    pub cursor_rows: i32,
    /// The names of cursors, and the cursors that have none now: CURSOR_STATUS.
    pub cursors: Arc<Vec<CursorFacts>>,
    /// `@@NESTLEVEL`: the number of running procedures.
    pub nest_level: i32,
    /// `@@PROCID`: of the running procedure; 0 in a batch.
    pub procedure_id: i32,
    /// The running triggers, outermost first.
    pub triggers: Vec<Arc<TriggerFacts>>,
    /// `@@OPTIONS`: a bit for each option that is ON.
    pub options: i32,
    /// `@@LOCK_TIMEOUT`: milliseconds, or -1 for no limit.
    pub lock_timeout_ms: i32,
    /// `@@TEXTSIZE` in bytes.
    pub text_size: i32,
    /// `@@LANGUAGE`.
    pub language: Arc<str>,
    /// `@@LANGID`.
    pub language_id: i16,
    /// `@@DATEFIRST`.
    pub date_first: DateFirst,
    /// DATEFORMAT.
    pub date_format: DateFormat,
    /// CONCAT_NULL_YIELDS_NULL: whether a string concatenated with NULL is NULL.
    pub concat_null_yields_null: bool,
    /// SESSION_CONTEXT.
    pub context: Arc<SessionContext>,
    /// CONTEXT_INFO: at most 128 bytes; `None` if it was never set.
    pub context_info: Option<Arc<[u8]>>,
}

/// A name of a cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CursorFacts {
    /// What names it.
    pub scope: CursorScope,
    /// The name; that of a variable has its `@`.
    pub name: String,
    /// 1 if it is open, 0 if it is open and has no row, -1 if it is closed, -2 if the variable has none.
    pub status: i16,
    /// The cursor, if there is one.
    pub cursor: Option<CursorDetails>,
}

/// A cursor, as sp_describe_cursor shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CursorDetails {
    /// Its number in its session.
    pub id: i32,
    /// The name that it was declared with; empty for that of a variable.
    pub name: String,
    /// Whether a name of the session is its.
    pub is_global: bool,
    /// Whether a client has opened it by a procedure.
    pub is_of_client: bool,
    /// 1 static, 2 keyset, 3 dynamic.
    pub model: i16,
    /// Whether no row may be changed through it.
    pub is_read_only: bool,
    /// Whether it fetches in all directions.
    pub scrolls: bool,
    /// Whether it is open.
    pub is_open: bool,
    /// `@@CURSOR_ROWS` of it.
    pub row_count: i32,
    /// How many columns it has; 0 if it is not open.
    pub column_count: i16,
    /// The rows of its last fetch.
    pub buffer_size: i32,
    /// What it has done.
    pub activity: CursorActivity,
}

/// What a cursor has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CursorActivity {
    /// When it was declared.
    pub declared: Moment,
    /// `@@FETCH_STATUS` of its last fetch; -9 before the first.
    pub fetch_status: i16,
    /// The number of rows of its last operation.
    pub row_count: i64,
    /// 0 none, 1 OPEN, 2 FETCH, 3 INSERT, 4 UPDATE, 5 DELETE, 6 CLOSE.
    pub last_operation: i16,
}

/// What names a cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorScope {
    /// A name of the batch or procedure.
    Local,
    /// A name of the session.
    Global,
    /// A variable.
    Variable,
    /// A name of the batch or procedure that called the present one.
    CallersName,
    /// A variable of the caller.
    CallersVariable,
    /// None that can be written now: one of an outer caller, or a client's number.
    Other,
}

/// A running trigger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TriggerFacts {
    /// Its number: TRIGGER_NESTLEVEL.
    pub object_id: i32,
    /// Whether it runs in place of a change.
    pub is_instead_of: bool,
    /// The columns of its table, each with whether the statement has assigned it: UPDATE (column), COLUMNS_UPDATED.
    pub columns: Vec<(String, bool)>,
}

impl Default for Session {
    /// A new session, with the options that drivers set at login.
    fn default() -> Self {
        Self {
            spid: 0,
            row_count: 0,
            error: 0,
            transaction_count: 0,
            transaction_state: 0,
            transaction_id: 0,
            identity: None,
            scope_identity: None,
            fetch_status: 0,
            cursor_rows: 0,
            cursors: Arc::default(),
            nest_level: 0,
            procedure_id: 0,
            triggers: Vec::new(),
            options: LOGIN_OPTIONS,
            lock_timeout_ms: -1,
            text_size: 4096,
            language: Arc::from("us_english"),
            language_id: 0,
            date_first: DateFirst::default(),
            date_format: DateFormat::default(),
            concat_null_yields_null: true,
            context: Arc::default(),
            context_info: None,
        }
    }
}

/// ANSI_WARNINGS 8, ANSI_PADDING 16, ANSI_NULLS 32, QUOTED_IDENTIFIER 256, ANSI_NULL_DFLT_ON 1024,
/// CONCAT_NULL_YIELDS_NULL 4096.
const LOGIN_OPTIONS: i32 = 8 + 16 + 32 + 256 + 1024 + 4096;
