//! The cursors of sessions: sys.dm_exec_cursors, and what sp_cursor_list and sp_describe_cursor select from.

use selenite_compiler::{CursorDetails, CursorScope, SqlError};
use selenite_types::DataType;
use selenite_types::storage::StoredRef;

use super::sessions::{shown, spid, state_of};
use super::{BIT, Cell, ColumnSpec, FunctionSpec, INT, NAME, Row, SMALL, SYS, TIME, ViewContext, row, text};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[
    FunctionSpec {
        schema: SYS,
        name: "dm_exec_cursors",
        columns: CURSOR,
        arguments: &[INT],
        required: 1,
        rows: cursors,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_cursors",
        columns: LISTED,
        arguments: &[],
        required: 0,
        rows: callers,
    },
];

const CURSOR: &[ColumnSpec] = &[
    ("session_id", INT, false),
    ("cursor_id", INT, false),
    ("name", text(256), true),
    ("properties", text(256), true),
    ("creation_time", TIME, false),
    ("is_open", BIT, false),
    ("is_async_population", BIT, false),
    ("fetch_status", INT, false),
    ("fetch_buffer_size", INT, false),
];

/// Of one session, or of all that the caller may see.
fn cursors(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let wanted = match arguments.first() {
        Some(StoredRef::Integer(number)) => *number,
        Some(StoredRef::Null | StoredRef::Real(_) | StoredRef::Text(_) | StoredRef::Blob(_)) | None => {
            return Ok(Vec::new());
        }
    };
    let mut rows = Vec::new();
    for session in shown(context) {
        let number = i64::from(session.spid());
        if wanted != 0 && wanted != number {
            continue;
        }
        let facts = state_of(context, &session).map(|state| state.session.cursors.clone());
        let facts = facts.unwrap_or_default();
        let mut details: Vec<&CursorDetails> = facts.iter().filter_map(|fact| fact.cursor.as_ref()).collect();
        details.sort_by_key(|cursor| cursor.id);
        details.dedup_by_key(|cursor| cursor.id);
        for cursor in details {
            rows.push(row![
                spid(session.spid()),
                cursor.id,
                &cursor.name,
                properties(cursor),
                declared(cursor, context),
                cursor.is_open,
                false,
                i32::from(cursor.activity.fetch_status),
                if cursor.is_of_client { cursor.buffer_size } else { 1 },
            ]);
        }
    }
    Ok(rows)
}

fn declared(cursor: &CursorDetails, context: &ViewContext<'_>) -> Cell {
    let millis = cursor.activity.declared.unix_ns / 1_000_000;
    Cell::of_millis(millis, context.state.now.offset_minutes)
}

fn properties(cursor: &CursorDetails) -> String {
    let interface = if cursor.is_of_client { "API" } else { "TSQL" };
    let kind = match cursor.model {
        1 => "Snapshot",
        2 => "Keyset",
        _ => "Dynamic",
    };
    let concurrency = if cursor.is_read_only { "Read Only" } else { "Optimistic" };
    let scope = if cursor.is_global || cursor.is_of_client {
        "Global"
    } else {
        "Local"
    };
    format!("{interface} | {kind} | {concurrency} | {scope} (0)")
}

const COUNT: DataType = DataType::Decimal {
    precision: 10,
    scale: 0,
};
const LISTED: &[ColumnSpec] = &[
    ("reference_name", NAME, false),
    ("cursor_name", NAME, false),
    ("cursor_scope", SMALL, false),
    ("status", SMALL, false),
    ("model", SMALL, false),
    ("concurrency", SMALL, false),
    ("scrollable", SMALL, false),
    ("open_status", SMALL, false),
    ("cursor_rows", COUNT, false),
    ("fetch_status", SMALL, false),
    ("column_count", SMALL, false),
    ("row_count", COUNT, false),
    ("last_operation", SMALL, false),
    ("cursor_handle", INT, false),
    ("is_variable", BIT, false),
];

/// Those that the caller of a procedure can name.
fn callers(context: &ViewContext<'_>, _: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for fact in context.state.session.cursors.iter() {
        let (scope, is_variable) = match fact.scope {
            CursorScope::Global => (GLOBAL, false),
            CursorScope::CallersName => (LOCAL, false),
            CursorScope::CallersVariable => (LOCAL, true),
            CursorScope::Local | CursorScope::Variable | CursorScope::Other => continue,
        };
        let Some(cursor) = &fact.cursor else { continue };
        let cursor_name = if cursor.name.is_empty() {
            &fact.name
        } else {
            &cursor.name
        };
        rows.push(row![
            &fact.name,
            cursor_name,
            scope,
            i32::from(fact.status),
            i32::from(cursor.model),
            if cursor.is_read_only { 1 } else { 3 },
            i32::from(cursor.scrolls),
            i32::from(cursor.is_open),
            i64::from(cursor.row_count),
            i32::from(cursor.activity.fetch_status),
            i32::from(cursor.column_count),
            cursor.activity.row_count,
            i32::from(cursor.activity.last_operation),
            cursor.id,
            is_variable,
        ]);
    }
    Ok(rows)
}

const LOCAL: i32 = 1;
const GLOBAL: i32 = 2;
