//! sys.sysprocesses: sessions as SQL Server 2000 showed them.

use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::requests::wait_resource;
use super::sessions::{handle_of, millis, shown, spid, state_of};
use super::{BIG, Cell, ColumnSpec, INT, Row, SMALL, SYS, TIME, ViewContext, ViewSpec, bytes, row};
use crate::{Status, WaitType};

pub(crate) const VIEWS: &[ViewSpec] = &[ViewSpec {
    schema: SYS,
    name: "sysprocesses",
    is_of_server: true,
    columns: &[PROCESS],
    rows: processes,
}];

const PROCESS: &[ColumnSpec] = &[
    ("spid", SMALL, false),
    ("kpid", SMALL, true),
    ("blocked", SMALL, false),
    ("waittime", BIG, false),
    ("lastwaittype", DataType::NChar(32), true),
    ("waitresource", DataType::NChar(256), false),
    ("dbid", SMALL, true),
    ("uid", SMALL, true),
    ("cpu", INT, false),
    ("physical_io", BIG, false),
    ("memusage", INT, true),
    ("login_time", TIME, false),
    ("last_batch", TIME, true),
    ("ecid", SMALL, false),
    ("open_tran", SMALL, true),
    ("status", DataType::NChar(30), false),
    ("sid", bytes(86), false),
    ("hostname", DataType::NChar(128), false),
    ("program_name", DataType::NChar(128), false),
    ("hostprocess", DataType::NChar(10), false),
    ("cmd", DataType::NChar(26), true),
    ("nt_domain", DataType::NChar(128), false),
    ("nt_username", DataType::NChar(128), false),
    ("net_library", DataType::NChar(12), false),
    ("loginame", DataType::NChar(128), false),
    ("context_info", bytes(128), true),
    ("sql_handle", DataType::Binary(20), true),
    ("request_id", INT, false),
];

/// `physical_io` counts reads and writes of databases' files and logs by the session's thread. What a session's plans
/// and caches take of memory is not known by session, so `memusage` is NULL; `kpid` is NULL where the system's number
/// is no smallint.
fn processes(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let sessions = shown(context);
    let rows = sessions.iter().map(|session| {
        let (facts, activity) = (session.facts(), session.activity());
        let state = state_of(context, session);
        let options = state.as_deref().map(|state| &state.session);
        let wait = activity.wait();
        let (reads, writes) = activity.file_accesses();
        let waited = wait.map(|wait| wait.length).unwrap_or_default();
        let (status, command) = match session.status() {
            Status::Running if wait.is_some() => ("suspended", activity.command()),
            Status::Running => ("running", activity.command()),
            Status::Sleeping => ("sleeping", Some("AWAITING COMMAND")),
        };
        row![
            spid(session.spid()),
            session.thread_id().and_then(|id| i16::try_from(id).ok()),
            spid(wait.and_then(|wait| wait.blocked_by).unwrap_or(0)),
            millis(waited),
            activity.last_wait().map(WaitType::name),
            wait_resource(session),
            state.as_deref().map(|state| state.database_id),
            1,
            millis(session.figures().cpu),
            Cell::count(reads.saturating_add(writes), i64::MAX),
            Cell::Null,
            Cell::of_time(Some(facts.connected), offset),
            Cell::of_time(session.request_start(), offset),
            0,
            options.map(|options| options.transaction_count),
            status,
            facts.sid.to_vec(),
            &facts.host,
            &facts.program,
            facts.client_process.to_string(),
            command,
            "",
            "",
            "TCP/IP",
            &facts.login,
            options.and_then(|options| options.context_info.as_deref()),
            handle_of(context, session),
            0,
        ]
    });
    Ok(rows.collect())
}
