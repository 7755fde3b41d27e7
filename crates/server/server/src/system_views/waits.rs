//! What the server waits for, and what schedules it.

use selenite_compiler::SqlError;

use super::sessions::millis;
use super::{BIG, BIT, Cell, ColumnSpec, INT, Row, SYS, ViewContext, ViewSpec, row, text};
use crate::{Status, WaitType};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_os_wait_stats",
        is_of_server: true,
        columns: &[WAIT],
        rows: waits,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_schedulers",
        is_of_server: true,
        columns: &[SCHEDULER],
        rows: schedulers,
    },
];

const WAIT: &[ColumnSpec] = &[
    ("wait_type", text(60), false),
    ("waiting_tasks_count", BIG, false),
    ("wait_time_ms", BIG, false),
    ("max_wait_time_ms", BIG, false),
    ("signal_wait_time_ms", BIG, true),
];

/// The waits that the server measures. How long who was woken waited for a processor the system does not say: NULL.
fn waits(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let stats = context.objects.instance.registry().waits();
    let millis = |time: std::time::Duration| Cell::count(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), i64::MAX);
    let rows = WaitType::ALL.into_iter().map(|kind| {
        let counts = stats.counts(kind);
        row![
            kind.name(),
            Cell::count(counts.count, i64::MAX),
            millis(counts.total),
            millis(counts.max),
            Cell::Null,
        ]
    });
    Ok(rows.collect())
}

const SCHEDULER: &[ColumnSpec] = &[
    ("parent_node_id", INT, false),
    ("scheduler_id", INT, false),
    ("status", text(60), false),
    ("is_online", BIT, false),
    ("is_idle", BIT, false),
    ("context_switches_count", INT, false),
    ("current_tasks_count", INT, false),
    ("runnable_tasks_count", INT, true),
    ("current_workers_count", INT, false),
    ("active_workers_count", INT, false),
    ("total_cpu_usage_ms", BIG, false),
];

/// One, which is the system's: it moves threads between processors as it likes, so nothing can be reported by
/// processor. Its switches and time are those of all sessions' threads, also of those that ended.
fn schedulers(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let registry = context.objects.instance.registry();
    let sessions = registry.sessions();
    let running = sessions.iter().filter(|session| session.status() == Status::Running);
    let (waiting, running): (Vec<_>, Vec<_>) = running.partition(|session| session.activity().wait().is_some());
    let small = |count: usize| Cell::count(u64::try_from(count).unwrap_or(u64::MAX), i64::from(i32::MAX));
    // An int as SQL Server has it: it begins again at 0, so that differences stay true.
    let switches = registry.context_switches() & 0x7FFF_FFFF;
    Ok(vec![row![
        0,
        0,
        "VISIBLE ONLINE",
        true,
        running.is_empty(),
        Cell::count(switches, i64::MAX),
        small(running.len() + waiting.len()),
        Cell::Null,
        small(sessions.len()),
        small(running.len() + waiting.len()),
        millis(registry.cpu()),
    ]])
}
