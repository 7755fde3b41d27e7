//! Who is connected, and how.
//!
//! - `own-options-are-current`: the options of the session that reads the view are the current
//!   ones. Those of other sessions are as at the beginning or end of their last request.
//! - `secrets-stay`: a text of another session that may have a password is shown to administrators alone, and so is its
//!   handle, by which it could be guessed: who has VIEW SERVER STATE could log in as another.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use selenite_compiler::SqlError;
use selenite_tsql::ast::IsolationLevel;
use selenite_types::DateFormat;

use super::request_text::may_have_secret;
use super::{
    BIG, BIT, Cell, ColumnSpec, INT, NAME, Row, SMALL, SYS, TIME, ViewContext, ViewSpec, bytes, narrow, row, text,
};
use crate::master::ServerPermission;
use crate::{SessionEntry, SessionSight, Status};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_exec_sessions",
        is_of_server: true,
        columns: &[SESSION],
        rows: sessions,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_exec_connections",
        is_of_server: true,
        columns: &[CONNECTION],
        rows: connections,
    },
];

/// Columns with those of a session's options between: sessions and requests have them in the same order.
macro_rules! with_options {
    ([$($before:expr),* $(,)?], [$($behind:expr),* $(,)?]) => {
        &[
            $($before,)*
            ("text_size", INT, true),
            ("language", NAME, true),
            ("date_format", text(3), true),
            ("date_first", SMALL, true),
            ("quoted_identifier", BIT, true),
            ("arithabort", BIT, true),
            ("ansi_null_dflt_on", BIT, true),
            ("ansi_warnings", BIT, true),
            ("ansi_padding", BIT, true),
            ("ansi_nulls", BIT, true),
            ("concat_null_yields_null", BIT, true),
            ("transaction_isolation_level", SMALL, true),
            ("lock_timeout", INT, true),
            $($behind,)*
        ]
    };
}
pub(crate) use with_options;

const SESSION: &[ColumnSpec] = with_options!(
    [
        ("session_id", SMALL, false),
        ("login_time", TIME, false),
        ("host_name", NAME, true),
        ("program_name", NAME, true),
        ("host_process_id", INT, true),
        ("client_version", INT, true),
        ("client_interface_name", text(32), true),
        ("security_id", bytes(85), false),
        ("login_name", NAME, false),
        ("nt_domain", NAME, true),
        ("nt_user_name", NAME, true),
        ("status", text(30), false),
        ("context_info", bytes(128), true),
        ("cpu_time", INT, false),
        ("last_request_start_time", TIME, true),
        ("last_request_end_time", TIME, true),
        ("reads", BIG, false),
        ("writes", BIG, false),
        ("is_user_process", BIT, false),
    ],
    [
        ("row_count", BIG, true),
        ("prev_error", INT, true),
        ("original_security_id", bytes(85), false),
        ("original_login_name", NAME, false),
        ("database_id", SMALL, true),
        ("open_transaction_count", INT, true),
    ]
);

fn sessions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let sessions = shown(context);
    let rows = sessions.iter().map(|session| {
        let (facts, activity) = (session.facts(), session.activity());
        let state = state_of(context, session);
        let (reads, writes) = activity.file_accesses();
        let options = state.as_deref().map(|state| &state.session);
        let login = state.as_deref().map(|state| &state.login);
        let mut row = row![
            spid(session.spid()),
            Cell::of_time(Some(facts.connected), offset),
            &facts.host,
            &facts.program,
            whole(facts.client_process),
            whole(facts.client_version),
            &facts.library,
            login.map_or_else(|| facts.sid.to_vec(), |(sid, _)| sid.clone()),
            login.map_or(facts.login.as_str(), |(_, name)| &**name),
            "",
            "",
            word(session.status()),
            options.and_then(|options| options.context_info.as_deref()),
            millis(session.figures().cpu),
            Cell::of_time(session.request_start(), offset),
            Cell::of_time(session.request_end(), offset),
            Cell::count(reads, i64::MAX),
            Cell::count(writes, i64::MAX),
            true,
        ];
        row.extend(options_of(state.as_deref()));
        row.extend(row![
            options.map(|options| options.row_count),
            options.map(|options| options.error),
            facts.sid.to_vec(),
            &facts.login,
            state.as_deref().map(|state| state.database_id),
            options.map(|options| options.transaction_count),
        ]);
        row
    });
    Ok(rows.collect())
}

const CONNECTION: &[ColumnSpec] = &[
    ("session_id", INT, true),
    ("most_recent_session_id", INT, true),
    ("connect_time", TIME, false),
    ("net_transport", text(40), false),
    ("protocol_type", text(40), true),
    ("protocol_version", INT, true),
    ("encrypt_option", text(40), false),
    ("auth_scheme", text(40), false),
    ("num_reads", INT, true),
    ("num_writes", INT, true),
    ("last_read", TIME, true),
    ("last_write", TIME, true),
    ("net_packet_size", INT, true),
    ("client_net_address", narrow(48), true),
    ("client_tcp_port", INT, true),
    ("local_net_address", narrow(48), true),
    ("local_tcp_port", INT, true),
    ("most_recent_sql_handle", bytes(64), true),
    // Ours: bytes on the line, with TLS and its handshake.
    ("bytes_read", BIG, false),
    ("bytes_written", BIG, false),
];

/// Reads are of the socket, each of whatever had come; writes are packets.
fn connections(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let sessions = context.objects.instance.registry().sessions();
    let rows = sessions.iter().map(|session| {
        let (facts, traffic) = (session.facts(), session.traffic());
        row![
            spid(session.spid()),
            spid(session.spid()),
            Cell::of_time(Some(facts.connected), offset),
            "TCP",
            "TSQL",
            whole(facts.tds_version.0),
            if facts.is_encrypted { "TRUE" } else { "FALSE" },
            "SQL",
            Cell::count(traffic.reads, i64::from(i32::MAX)),
            Cell::count(traffic.packets_written, i64::from(i32::MAX)),
            Cell::of_millis(traffic.read_last, offset),
            Cell::of_millis(traffic.write_last, offset),
            i32::from(facts.packet_size.bytes()),
            facts.peer.ip().to_string(),
            i32::from(facts.peer.port()),
            facts.local.ip().to_string(),
            i32::from(facts.local.port()),
            handle_of(context, session),
            Cell::count(traffic.bytes_read, i64::MAX),
            Cell::count(traffic.bytes_written, i64::MAX),
        ]
    });
    Ok(rows.collect())
}

/// The sessions that a login sees: all, or its own.
pub(crate) fn shown(context: &ViewContext<'_>) -> Vec<Arc<SessionEntry>> {
    let mut sessions = context.objects.instance.registry().sessions();
    if !context
        .objects
        .permissions()
        .server
        .may(ServerPermission::ViewServerState)
    {
        sessions.retain(|session| spid(session.spid()) == i32::from(context.state.session.spid));
    }
    sessions
}

/// A session's options (`own-options-are-current`).
pub(crate) fn state_of(context: &ViewContext<'_>, session: &SessionEntry) -> Option<Arc<SessionSight>> {
    let state = context.state;
    if u16::try_from(state.session.spid).is_ok_and(|own| own == session.spid()) {
        return Some(Arc::new(SessionSight {
            session: state.session.clone(),
            database_id: state.database.id,
            login: (
                context.objects.identity.sid.clone(),
                context.objects.identity.login.clone(),
            ),
            isolation: state.isolation,
        }));
    }
    session.activity().state()
}

/// The values of the columns that `with_options` adds.
pub(crate) fn options_of(state: Option<&SessionSight>) -> Row {
    let Some(state) = state else {
        return vec![Cell::Null; OPTION_COUNT];
    };
    let session = &state.session;
    let is_on = |bit: i32| session.options & bit != 0;
    row![
        session.text_size,
        &*session.language,
        date_format(session.date_format),
        session.date_first.number(),
        is_on(256),
        is_on(64),
        is_on(1024),
        is_on(8),
        is_on(16),
        is_on(32),
        session.concat_null_yields_null,
        isolation_number(state.isolation),
        session.lock_timeout_ms,
    ]
}

fn isolation_number(level: IsolationLevel) -> i32 {
    match level {
        IsolationLevel::ReadUncommitted => 1,
        IsolationLevel::ReadCommitted => 2,
        IsolationLevel::RepeatableRead => 3,
        IsolationLevel::Serializable => 4,
        IsolationLevel::Snapshot => 5,
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Sleeping => "sleeping",
    }
}

pub(crate) fn spid(spid: u16) -> i32 {
    i32::from(spid)
}

/// Milliseconds, as many as an int has.
pub(crate) fn millis(time: Duration) -> Cell {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Cell::count(millis, i64::from(i32::MAX))
}

/// A number that a client sent as 32 bits without a sign, as an int with the same bits.
fn whole(bits: u32) -> i32 {
    i32::from_be_bytes(bits.to_be_bytes())
}

/// As many as `with_options` has.
const OPTION_COUNT: usize = 13;

/// The handle of a session's last request (`handle-is-derived-from-text`), if its text is shown.
pub(crate) fn handle_of(context: &ViewContext<'_>, session: &SessionEntry) -> Option<Vec<u8>> {
    let request = session.activity().request()?;
    let source = request.source();
    shows_text(context, session, source).then(|| handle(source))
}

/// Whether the text of a request is shown (`secrets-stay`).
pub(crate) fn shows_text(context: &ViewContext<'_>, session: &SessionEntry, source: &str) -> bool {
    let is_own = spid(session.spid()) == i32::from(context.state.session.spid);
    is_own || context.objects.permissions().is_administrator || !may_have_secret(source)
}

/// The handle of a text.
pub(crate) fn handle(source: &str) -> Vec<u8> {
    let mut handle = vec![2, 0, 0, 0];
    handle.extend(digest(&SHA256, source.as_bytes()).as_ref().iter().take(16));
    handle
}

/// DATEFORMAT, as it is written.
pub fn date_format(format: DateFormat) -> &'static str {
    match format {
        DateFormat::Mdy => "mdy",
        DateFormat::Dmy => "dmy",
        DateFormat::Ymd => "ymd",
        DateFormat::Ydm => "ydm",
        DateFormat::Myd => "myd",
        DateFormat::Dym => "dym",
    }
}
