//! What runs now, and its text.
//!
//! - `handle-is-derived-from-text`: a text's handle is derived from the text: SQL Server's first
//!   byte for a batch, three zeros, and half of its SHA-256. It is found as long as the text is the
//!   last request of some session.

use std::time::SystemTime;

use selenite_compiler::SqlError;
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Width};

use super::sessions::{handle, handle_of, millis, options_of, shown, shows_text, spid, state_of, with_options};
use super::{
    BIG, BIT, Cell, ColumnSpec, FunctionSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TIME, ViewContext, ViewSpec,
    bytes, row, text,
};
use crate::{SessionEntry, Status, WaitType};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_exec_requests",
        is_of_server: true,
        columns: &[REQUEST],
        rows: requests,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_waiting_tasks",
        is_of_server: true,
        columns: &[WAITING],
        rows: waiting,
    },
];
pub(crate) const FUNCTIONS: &[FunctionSpec] = &[FunctionSpec {
    schema: SYS,
    name: "dm_exec_sql_text",
    columns: TEXT,
    arguments: &[DataType::VarBinary(Width::Limited(64))],
    required: 1,
    rows: sql_text,
}];

const REQUEST: &[ColumnSpec] = with_options!(
    [
        ("session_id", SMALL, false),
        ("request_id", INT, false),
        ("start_time", TIME, true),
        ("status", text(30), false),
        ("command", text(32), true),
        ("sql_handle", bytes(64), true),
        ("database_id", SMALL, true),
        ("user_id", INT, false),
        ("blocking_session_id", SMALL, true),
        ("wait_type", text(60), true),
        ("wait_time", INT, false),
        ("last_wait_type", text(60), true),
        ("wait_resource", text(256), false),
        ("open_transaction_count", INT, true),
        ("transaction_id", BIG, true),
        ("context_info", bytes(128), true),
        ("cpu_time", INT, false),
        ("total_elapsed_time", INT, false),
        ("scheduler_id", INT, true),
        ("reads", BIG, false),
        ("writes", BIG, false),
    ],
    [
        ("row_count", BIG, true),
        ("prev_error", INT, true),
        ("nest_level", INT, true),
    ]
);

/// Counters of a request are those of its beginning, but for its time and its waits, which are those of now.
fn requests(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let sessions = shown(context);
    let running = sessions.iter().filter(|session| session.status() == Status::Running);
    let rows = running.map(|session| {
        let activity = session.activity();
        let state = state_of(context, session);
        let options = state.as_deref().map(|state| &state.session);
        let wait = activity.wait();
        let (reads, writes) = activity.file_accesses();
        let blocker = wait.and_then(|wait| wait.blocked_by).unwrap_or(0);
        let mut row = row![
            spid(session.spid()),
            0,
            Cell::of_time(session.request_start(), offset),
            if wait.is_some() { "suspended" } else { "running" },
            activity.command(),
            handle_of(context, session),
            state.as_deref().map(|state| state.database_id),
            1,
            spid(blocker),
            wait.map(|wait| wait.kind.name()),
            millis(wait.map(|wait| wait.length).unwrap_or_default()),
            activity.last_wait().map(WaitType::name),
            wait_resource(session),
            options.map(|options| options.transaction_count),
            activity
                .transaction()
                .map(|transaction| Cell::count(transaction.id, i64::MAX)),
            options.and_then(|options| options.context_info.as_deref()),
            millis(session.request_cpu()),
            millis(elapsed(session.request_start())),
            0,
            Cell::count(reads, i64::MAX),
            Cell::count(writes, i64::MAX),
        ];
        row.extend(options_of(state.as_deref()));
        row.extend(row![
            options.map(|options| options.row_count),
            options.map(|options| options.error),
            options.map(|options| options.nest_level),
        ]);
        row
    });
    Ok(rows.collect())
}

const WAITING: &[ColumnSpec] = &[
    ("session_id", SMALL, true),
    ("exec_context_id", INT, true),
    ("wait_duration_ms", BIG, true),
    ("wait_type", text(60), true),
    ("blocking_session_id", SMALL, true),
    ("resource_description", text(3072), true),
];

fn waiting(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let sessions = context.objects.instance.registry().sessions();
    let rows = sessions.iter().filter_map(|session| {
        let wait = session.activity().wait()?;
        let length = u64::try_from(wait.length.as_millis()).unwrap_or(u64::MAX);
        Some(row![
            spid(session.spid()),
            0,
            Cell::count(length, i64::MAX),
            wait.kind.name(),
            wait.blocked_by.map(spid),
            Some(wait_resource(session)).filter(|resource| !resource.is_empty()),
        ])
    });
    Ok(rows.collect())
}

const TEXT: &[ColumnSpec] = &[
    ("dbid", SMALL, true),
    ("objectid", INT, true),
    ("number", SMALL, true),
    ("encrypted", BIT, false),
    ("text", LONG_TEXT, true),
];

/// The text of a handle, if it is the last request of a session.
fn sql_text(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let Some(&StoredRef::Blob(wanted)) = arguments.first() else {
        return Ok(Vec::new());
    };
    let sessions = context.objects.instance.registry().sessions();
    let found = sessions.iter().find_map(|session| {
        let request = session.activity().request()?;
        let source = request.source();
        (handle(source) == wanted && shows_text(context, session, source))
            .then(|| row![Cell::Null, Cell::Null, Cell::Null, false, source])
    });
    Ok(found.into_iter().collect())
}

/// The database that a session waits to write to; empty if it waits for none.
pub(crate) fn wait_resource(session: &SessionEntry) -> String {
    let locks = session.activity().locks();
    let waited = locks.iter().find(|lock| !lock.is_granted);
    waited.map_or_else(String::new, |lock| format!("DATABASE: {}", lock.database_id))
}

pub(crate) fn elapsed(since: Option<SystemTime>) -> std::time::Duration {
    since.and_then(|since| since.elapsed().ok()).unwrap_or_default()
}
