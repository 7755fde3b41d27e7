//! What the server waits for, and what schedules it.

use selenite_plan::PlanError;

use super::{BIG, BIT, Cell, ColumnSpec, INT, Row, SMALL, SYS, Sight, ViewSpec, bytes, row, text};
use crate::Status;

pub(super) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_os_wait_stats",
        is_of_server: true,
        columns: (WAIT, &[]),
        rows: waits,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_schedulers",
        is_of_server: true,
        columns: (SCHEDULER, &[]),
        rows: schedulers,
    },
];

const WAIT: &[ColumnSpec] = &[
    ("wait_type", text(60), false),
    ("waiting_tasks_count", BIG, false),
    ("wait_time_ms", BIG, false),
    ("max_wait_time_ms", BIG, false),
    ("signal_wait_time_ms", BIG, false),
];

/// The waits that the server counts.
fn waits(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let counts = sight.objects.instance.encrypt_waits().counts();
    let millis = |time: std::time::Duration| Cell::count(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), i64::MAX);
    Ok(vec![row![
        "PREEMPTIVE_OS_ENCRYPTMESSAGE",
        Cell::count(counts.count, i64::MAX),
        millis(counts.total),
        millis(counts.max),
        0,
    ]])
}

const SCHEDULER: &[ColumnSpec] = &[
    ("scheduler_address", bytes(8), false),
    ("parent_node_id", INT, false),
    ("scheduler_id", INT, false),
    ("cpu_id", SMALL, false),
    ("status", text(60), false),
    ("is_online", BIT, false),
    ("is_idle", BIT, false),
    ("preemptive_switches_count", INT, false),
    ("context_switches_count", INT, false),
    ("idle_switches_count", INT, false),
    ("current_tasks_count", INT, false),
    ("runnable_tasks_count", INT, false),
    ("current_workers_count", INT, false),
    ("active_workers_count", INT, false),
    ("work_queue_count", BIG, false),
];

/// One, which is the system's: its switches are those that the system tells of all sessions' threads, since the start.
fn schedulers(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let registry = sight.objects.instance.registry();
    let sessions = registry.sessions();
    let running = sessions.iter().filter(|session| session.status() == Status::Running).count();
    let small = |count: usize| Cell::count(u64::try_from(count).unwrap_or(u64::MAX), i64::from(i32::MAX));
    let switches = Cell::count(registry.context_switches(), i64::from(i32::MAX));
    Ok(vec![row![
        vec![0_u8; 8],
        0,
        0,
        0,
        "VISIBLE ONLINE",
        true,
        running == 0,
        0,
        switches,
        0,
        small(running),
        0,
        small(sessions.len()),
        small(running),
        0,
    ]])
}
