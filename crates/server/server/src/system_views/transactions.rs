//! Transactions, and which session may write.

use selenite_compiler::SqlError;

use super::sessions::spid;
use super::{BIG, BIT, Cell, ColumnSpec, INT, Row, SYS, TIME, ViewContext, ViewSpec, row, text};
use crate::database::application_locks::LockOwner;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_tran_locks",
        is_of_server: true,
        columns: &[LOCK],
        rows: locks,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_tran_active_transactions",
        is_of_server: true,
        columns: &[TRANSACTION],
        rows: active,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_tran_session_transactions",
        is_of_server: true,
        columns: &[OF_SESSION],
        rows: of_sessions,
    },
];

const LOCK: &[ColumnSpec] = &[
    ("resource_type", text(60), false),
    ("resource_description", text(256), false),
    ("resource_database_id", INT, false),
    ("request_mode", text(60), false),
    ("request_type", text(60), false),
    ("request_status", text(60), false),
    ("request_session_id", INT, false),
    ("request_owner_type", text(60), false),
];

/// There is one lock in each database, the right to write to it, and those of sp_getapplock.
fn locks(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for session in context.objects.instance.registry().sessions() {
        for lock in session.activity().locks() {
            rows.push(row![
                "DATABASE",
                "",
                lock.database_id,
                "X",
                "LOCK",
                if lock.is_granted { "GRANT" } else { "WAIT" },
                spid(session.spid()),
                "TRANSACTION",
            ]);
        }
    }
    for lock in context.objects.application_locks.seen() {
        let shown: String = lock.name.resource.chars().take(RESOURCE_SHOWN).collect();
        rows.push(row![
            "APPLICATION",
            format!("{}:[{shown}]", lock.name.principal),
            lock.name.database_id,
            lock.mode.letters(),
            "LOCK",
            if lock.is_granted { "GRANT" } else { "WAIT" },
            spid(lock.session),
            match lock.owner {
                LockOwner::Transaction => "TRANSACTION",
                LockOwner::Session => "SESSION",
            },
        ]);
    }
    Ok(rows)
}

/// As much of a lock's name as SQL Server shows.
const RESOURCE_SHOWN: usize = 32;

const TRANSACTION: &[ColumnSpec] = &[
    ("transaction_id", BIG, false),
    ("name", text(32), false),
    ("transaction_begin_time", TIME, false),
    ("transaction_type", INT, false),
    ("transaction_state", INT, false),
];

/// Those that clients began. 1 is one that reads and writes, 2 one that is active.
fn active(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let sessions = context.objects.instance.registry().sessions();
    let rows = sessions.iter().filter_map(|session| {
        let transaction = session.activity().transaction()?;
        Some(row![
            Cell::count(transaction.id, i64::MAX),
            if transaction.name.is_empty() {
                "user_transaction"
            } else {
                transaction.name.as_str()
            },
            Cell::of_time(Some(transaction.begun), offset),
            1,
            2,
        ])
    });
    Ok(rows.collect())
}

const OF_SESSION: &[ColumnSpec] = &[
    ("session_id", INT, false),
    ("transaction_id", BIG, false),
    ("is_user_transaction", BIT, false),
    ("is_local", BIT, false),
    ("open_transaction_count", INT, true),
];

fn of_sessions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let sessions = context.objects.instance.registry().sessions();
    let rows = sessions.iter().filter_map(|session| {
        let transaction = session.activity().transaction()?;
        let state = super::sessions::state_of(context, session);
        Some(row![
            spid(session.spid()),
            Cell::count(transaction.id, i64::MAX),
            true,
            true,
            state.map(|state| state.session.transaction_count),
        ])
    });
    Ok(rows.collect())
}
