//! The state of a session that expressions read.

use std::sync::Arc;

use selenite_types::{DateFirst, DateFormat, Decimal};

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
    /// The cursors that can be named now: CURSOR_STATUS.
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
            context_info: None,
        }
    }
}

/// ANSI_WARNINGS 8, ANSI_PADDING 16, ANSI_NULLS 32, QUOTED_IDENTIFIER 256, ANSI_NULL_DFLT_ON 1024,
/// CONCAT_NULL_YIELDS_NULL 4096.
const LOGIN_OPTIONS: i32 = 8 + 16 + 32 + 256 + 1024 + 4096;
