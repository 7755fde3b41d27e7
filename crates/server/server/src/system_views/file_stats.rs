//! What the server reads from the files of its databases, and writes to them.
//!
//! - `counts-are-of-the-file-system`: a read or write counts where the VFS calls the file system. Pages from the page
//!   pool and frames that are gathered for one write are no calls.

use std::path::Path;

use selenite::{DatabaseFileCounts, FileCounts};
use selenite_compiler::SqlError;
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Width};

use super::files::{DATA_FILE, LOG_FILE, log_of, path, size_of};
use super::requests::elapsed;
use super::{BIG, Cell, ColumnSpec, FunctionSpec, INT, Row, SMALL, SYS, ViewContext, row};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[FunctionSpec {
    schema: SYS,
    name: "dm_io_virtual_file_stats",
    columns: STATS,
    arguments: &[INT, INT],
    required: 2,
    rows: file_stats,
}];

const STATS: &[ColumnSpec] = &[
    ("database_id", SMALL, false),
    ("file_id", SMALL, false),
    ("sample_ms", BIG, false),
    ("num_of_reads", BIG, false),
    ("num_of_bytes_read", BIG, false),
    ("io_stall_read_ms", BIG, false),
    ("io_stall_queued_read_ms", BIG, false),
    ("num_of_writes", BIG, false),
    ("num_of_bytes_written", BIG, false),
    ("io_stall_write_ms", BIG, false),
    ("io_stall_queued_write_ms", BIG, false),
    ("io_stall", BIG, false),
    ("size_on_disk_bytes", BIG, false),
    ("file_handle", DataType::VarBinary(Width::Limited(8)), true),
];

/// The files of `sys.master_files`: of one database or of all, one of them or both.
fn file_stats(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    // NULL asks for all of them.
    let wanted =
        |at: usize, id: i32| !matches!(arguments.get(at), Some(StoredRef::Integer(wanted)) if *wanted != i64::from(id));
    let started = context.objects.instance.started();
    let sample = u64::try_from(elapsed(Some(started)).as_millis()).unwrap_or(u64::MAX);
    let mut rows = Vec::new();
    for record in &context.objects.directory.databases {
        let (true, Some(data)) = (wanted(0, record.id), path(context, record)) else {
            continue;
        };
        // A database that no session has used yet has no counts.
        let DatabaseFileCounts { database, wal, .. } = selenite::file_counts(&data).unwrap_or_default();
        let files = [(DATA_FILE, database, data.clone()), (LOG_FILE, wal, log_of(&data))];
        let files = files.iter().filter(|(id, ..)| wanted(1, *id));
        rows.extend(files.map(|(id, counts, path)| file_row((record.id, *id), sample, counts, path)));
    }
    Ok(rows)
}

/// What is written is complete when it is on the disk: a sync is part of the stall. There is no governor of resources
/// that could queue a call.
fn file_row((database_id, file_id): (i32, i32), sample: u64, counts: &FileCounts, path: &Path) -> Row {
    let big = |count: u64| Cell::count(count, i64::MAX);
    let (read_ms, write_ms) = (
        counts.read_ns / NS_PER_MS,
        counts.write_ns.saturating_add(counts.sync_ns) / NS_PER_MS,
    );
    row![
        database_id,
        file_id,
        big(sample),
        big(counts.reads),
        big(counts.bytes_read),
        big(read_ms),
        0,
        big(counts.writes),
        big(counts.bytes_written),
        big(write_ms),
        0,
        big(read_ms.saturating_add(write_ms)),
        big(size_of(path)),
        Cell::Null,
    ]
}

const NS_PER_MS: u64 = 1_000_000;
