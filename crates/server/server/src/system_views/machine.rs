//! The machine and the process.

use std::fs;
use std::time::Duration;

use selenite_compiler::SqlError;
use selenite_types::DataType;

use super::requests::elapsed;
use super::{BIG, Cell, ColumnSpec, INT, Row, SYS, TIME, ViewContext, ViewSpec, row, text};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "dm_os_sys_info",
        is_of_server: true,
        columns: &[MACHINE],
        rows: machine,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_host_info",
        is_of_server: true,
        columns: &[HOST],
        rows: |_| Ok(vec![host()]),
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_process_memory",
        is_of_server: true,
        columns: &[MEMORY],
        rows: memory,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_os_performance_counters",
        is_of_server: true,
        columns: &[COUNTER],
        rows: counters,
    },
];

const MACHINE: &[ColumnSpec] = &[
    ("ms_ticks", BIG, true),
    ("cpu_count", INT, true),
    ("physical_memory_kb", BIG, true),
    ("committed_kb", BIG, true),
    ("max_workers_count", INT, false),
    ("scheduler_count", INT, false),
    ("sqlserver_start_time_ms_ticks", BIG, true),
    ("sqlserver_start_time", TIME, false),
];

fn machine(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let instance = &context.objects.instance;
    let uptime = uptime_ms();
    let running = u64::try_from(elapsed(Some(instance.started())).as_millis()).unwrap_or(u64::MAX);
    let processors = std::thread::available_parallelism().ok();
    let big = |count: u64| Cell::count(count, i64::MAX);
    let small = |count: usize| Cell::count(u64::try_from(count).unwrap_or(u64::MAX), i64::from(i32::MAX));
    Ok(vec![row![
        uptime.map(big),
        processors.map(|count| small(count.get())),
        field_kb("/proc/meminfo", "MemTotal").map(big),
        field_kb("/proc/self/status", "VmRSS").map(big),
        small(instance.registry().limits().max),
        1,
        uptime.map(|uptime| big(uptime.saturating_sub(running))),
        Cell::of_time(Some(instance.started()), context.state.now.offset_minutes),
    ]])
}

const HOST: &[ColumnSpec] = &[
    ("host_platform", text(256), false),
    ("host_distribution", text(256), false),
    ("host_release", text(256), false),
    ("host_service_pack_level", text(256), false),
    ("host_sku", INT, true),
    ("os_language_version", INT, false),
];

/// The system, by os-release(5).
fn host() -> Row {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let mut lines = release.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().trim_matches('"').to_owned()
    };
    let platform = match std::env::consts::OS {
        "linux" => "Linux",
        "windows" => "Windows",
        other => other,
    };
    row![platform, field("NAME"), field("VERSION_ID"), "", Cell::Null, 0]
}

const MEMORY: &[ColumnSpec] = &[
    ("physical_memory_in_use_kb", BIG, true),
    ("locked_page_allocations_kb", BIG, true),
    ("virtual_address_space_committed_kb", BIG, true),
];

fn memory(_sight: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let field = |name: &str| field_kb("/proc/self/status", name).map(|size| Cell::count(size, i64::MAX));
    Ok(vec![row![field("VmRSS"), field("VmLck"), field("VmSize")]])
}

const COUNTER: &[ColumnSpec] = &[
    ("object_name", DataType::NChar(128), false),
    ("counter_name", DataType::NChar(128), false),
    ("instance_name", DataType::NChar(128), true),
    ("cntr_value", BIG, false),
    ("cntr_type", INT, false),
];

/// Those that are known; each is a number as it is now (PERF_COUNTER_LARGE_RAWCOUNT).
fn counters(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    const RAW_COUNT: i32 = 65792;
    let sessions = context.objects.instance.registry().sessions();
    let blocked = sessions.iter().filter(|session| {
        let wait = session.activity().wait();
        wait.is_some_and(|wait| wait.blocked_by.is_some())
    });
    let transactions = sessions
        .iter()
        .filter(|session| session.activity().transaction().is_some());
    let general = "SQLServer:General Statistics";
    let rows = [
        (general, "User Connections", sessions.len()),
        (general, "Processes blocked", blocked.count()),
        ("SQLServer:Transactions", "Transactions", transactions.count()),
    ];
    let rows = rows.into_iter().map(|(object, counter, value)| {
        let value = Cell::count(u64::try_from(value).unwrap_or(u64::MAX), i64::MAX);
        row![object, counter, "", value, RAW_COUNT]
    });
    Ok(rows.collect())
}

/// proc(5): seconds since the machine started, with two digits after the point.
fn uptime_ms() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    let uptime = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(uptime.as_millis()).ok()
}

/// proc(5): a line `Name:   12 kB`.
fn field_kb(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_how_much_memory_there_is_and_how_long_it_runs() {
        let (all, used) = (
            field_kb("/proc/meminfo", "MemTotal"),
            field_kb("/proc/self/status", "VmRSS"),
        );
        assert!(all.unwrap() > used.unwrap());
        assert!(uptime_ms().unwrap() > 0);
        assert_eq!(field_kb("/proc/meminfo", "Nothing"), None);
    }
}
