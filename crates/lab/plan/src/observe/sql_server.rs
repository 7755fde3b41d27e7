//! SQL Server, by successive snapshots of `sys.dm_io_virtual_file_stats`.
//!
//! | column, for each file | becomes |
//! |---|---|
//! | `num_of_reads` of data files | [`Operation::ReadRandom`] |
//! | `num_of_bytes_read` of data files, the pages after the first of a read | [`Operation::ReadSequential`] |
//! | `num_of_bytes_written` of data files | [`Operation::Write`], in pages of 8 KiB |
//! | `num_of_writes`, `num_of_bytes_written` of log files | [`Operation::LogRecord`] |
//! | `num_of_bytes_read` of log files | a note: log backups and replicas read the log |
//! | `size_on_disk_bytes` of data files | the size of the database |
//! | `sample_ms` | the length of the interval |
//!
//! | column of [`QUERY_FILES`] alone | source | becomes |
//! |---|---|---|
//! | `type_desc` | `sys.master_files` | whether a file is data or log |
//! | `batch_requests` | `Batch Requests/sec` | requests |
//! | `write_transactions` | `Write Transactions/sec` | [`Operation::Commit`] |
//! | `logins` | `Logins/sec` | [`Operation::Handshake`] |
//! | `process_cpu_ms`, `cpu_count` | `sys.dm_os_sys_info` | CPU time, cores |
//! | `server_name`, `computer_name`, `sqlserver_start_time` | `SERVERPROPERTY`, `sys.dm_os_sys_info` | must not change |
//! | `snapshot_utc`, `utc_offset_minutes` | the clock | the time that performance counters must have |
//!
//! The columns of the second table are optional, and so are performance counters of Windows ([`performance`]) and
//! snapshots of `sys.dm_exec_connections` ([`connections`]). Both have to be of the same server and time.
//! FILESTREAM is not encrypted by TDE, and not counted.
//!
//! Sources: the pages of these views below
//! <https://learn.microsoft.com/en-us/sql/relational-databases/system-dynamic-management-views/system-dynamic-management-views>,
//! for example
//! <https://learn.microsoft.com/en-us/sql/relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql>.
//! The queries follow that documentation and were not run on SQL Server.
//!
//! Databases are the user databases, whose identifiers are above 4, or those that the caller selects; and tempdb, which
//! TDE encrypts as soon as any database is. Without `type_desc`, the log is the file with identifier 2, as
//! CREATE DATABASE makes it; a database with several log files needs `type_desc` or [`Selection::log_files`], which
//! must not contradict each other.
//! `sample_ms` counts from the start of the computer. It is an `int` in older versions: from 2^31 it goes on
//! at -2^31, or from 2^32 at 0, and a lower value is taken for that if no counter decreased.

pub mod connections;
mod moment;
pub mod performance;
mod snapshot_origin;

use std::collections::BTreeMap;

use self::connections::Connections;
use self::performance::Performance;
use self::snapshot_origin::{COMPUTER, OFFSET, SERVER, SnapshotOrigin, UTC};
use super::delimited::{self, Row};
use super::snapshot::{
    LoadBuilder, MIB, SnapshotText, Supplement, check_count, check_same, increase, intervals, reset,
};
use crate::observation::{Engine, ObservedInterval};
use crate::operation::{Amount, KIB, Operation};
use crate::{Observation, PlanError};

/// What `sqlcmd -W -s"," -i FILE` runs, once for each snapshot. Needs VIEW SERVER STATE and VIEW ANY DEFINITION.
pub const QUERY_FILES: &str = "\
SET NOCOUNT ON;
SELECT stats.database_id, stats.file_id, files.type_desc, stats.sample_ms,
       stats.num_of_reads, stats.num_of_bytes_read, stats.num_of_writes, stats.num_of_bytes_written,
       stats.size_on_disk_bytes,
       COUNT(*) OVER () AS file_count,
       CONVERT(varchar(128), SERVERPROPERTY('ServerName')) AS server_name,
       CONVERT(varchar(30), info.sqlserver_start_time, 126) AS sqlserver_start_time,
       info.cpu_count,
       info.process_kernel_time_ms + info.process_user_time_ms AS process_cpu_ms,
       (SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters
         WHERE object_name LIKE '%:SQL Statistics%' AND counter_name = 'Batch Requests/sec') AS batch_requests,
       (SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters
         WHERE object_name LIKE '%:Databases%' AND counter_name = 'Write Transactions/sec'
           AND instance_name = '_Total') AS write_transactions,
       (SELECT SUM(cntr_value) FROM sys.dm_os_performance_counters
         WHERE object_name LIKE '%:General Statistics%' AND counter_name = 'Logins/sec') AS logins,
       CONVERT(varchar(128), SERVERPROPERTY('ComputerNamePhysicalNetBIOS')) AS computer_name,
       CONVERT(varchar(23), SYSUTCDATETIME(), 126) AS snapshot_utc,
       DATEPART(tzoffset, SYSDATETIMEOFFSET()) AS utc_offset_minutes
  FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS stats
  JOIN sys.master_files AS files
    ON files.database_id = stats.database_id AND files.file_id = stats.file_id
 CROSS JOIN sys.dm_os_sys_info AS info
 ORDER BY stats.database_id, stats.file_id;
";

/// The view alone, as other tools save it.
pub const QUERY_FILES_PLAIN: &str = "\
SET NOCOUNT ON;
SELECT * FROM sys.dm_io_virtual_file_stats(NULL, NULL) ORDER BY database_id, file_id;
";

/// What `sqlcmd -W -s"," -i FILE` runs for each snapshot of the connections. Needs VIEW SERVER STATE.
pub const QUERY_CONNECTIONS: &str = "\
SET NOCOUNT ON;
SELECT info.ms_ticks AS sample_ms, COUNT(*) OVER () AS connection_count,
       connections.connection_id, connections.net_transport, connections.encrypt_option,
       connections.num_reads, connections.num_writes, connections.net_packet_size,
       CONVERT(varchar(128), SERVERPROPERTY('ServerName')) AS server_name,
       CONVERT(varchar(30), info.sqlserver_start_time, 126) AS sqlserver_start_time
  FROM sys.dm_exec_connections AS connections
 CROSS JOIN sys.dm_os_sys_info AS info;
";

/// The command that writes performance counters: each quarter of a minute for an hour. A named instance has counters
/// `\MSSQL$NAME:...`.
pub const PERFORMANCE_COMMAND: &str = r#"typeperf -f CSV -si 15 -sc 240 -o performance.csv ^
  "\SQLServer:SQL Statistics\Batch Requests/sec" ^
  "\SQLServer:Databases(_Total)\Write Transactions/sec" ^
  "\SQLServer:Databases(_Total)\Log Bytes Flushed/sec" ^
  "\SQLServer:Buffer Manager\Checkpoint pages/sec" ^
  "\Process(sqlservr)\% Processor Time" ^
  "\Processor(_Total)\% Processor Time"
"#;

/// The texts of an observation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    /// Outputs of [`QUERY_FILES`] or [`QUERY_FILES_PLAIN`]: one snapshot or several in each.
    pub files: &'a [SnapshotText<'a>],
    /// Performance counters over the same time, as typeperf and relog write them.
    pub performance: Option<SnapshotText<'a>>,
    /// Outputs of [`QUERY_CONNECTIONS`] over the same time.
    pub connections: &'a [SnapshotText<'a>],
}

/// The selection of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Identifiers of databases; all user databases if empty.
    pub databases: Vec<u64>,
    /// Log files, as identifiers of database and file. Databases that are not named here keep the default.
    pub log_files: Vec<(u64, u64)>,
}

/// Turns snapshots into an observation.
///
/// # Errors
/// [`PlanError::Input`] for what no server writes, with its place; [`PlanError::Reset`] for counters that decrease.
pub fn observe(texts: &Texts<'_>, selection: &Selection, supplement: &Supplement) -> Result<Observation, PlanError> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for text in texts.files {
        snapshots.extend(snapshots_of(text, selection)?);
    }
    check_count(snapshots.len(), "snapshots of sys.dm_io_virtual_file_stats")?;
    let mut notes =
        vec!["data files by pages of 8 KiB; a read of several pages is sequential after the first".to_owned()];
    let intervals = intervals(
        &snapshots,
        |snapshot| snapshot.place.clone(),
        |before, after| interval(before, after, &mut notes),
    )?;
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(PlanError::input("snapshots", "there are none"));
    };
    last.check_selection(selection)?;
    let seconds = intervals.iter().map(|interval| interval.seconds).sum();
    let origin = SnapshotOrigin::of(first, last, seconds)?;
    notes.extend(first.notes(last, selection)?);
    let cores = last.head.optional_counter("cpu_count")?.map(|count| count as f64);
    let mut observation = Observation {
        engine: Engine::SqlServer,
        notes,
        page_size: 8192,
        cores: supplement.cores.or(cores),
        database_mib: last.database_mib(),
        serialized_share: None,
        intervals,
    };
    if let (Some(given), Some(counted)) = (supplement.cores, cores)
        && given != counted
    {
        let reason = format!("{given}, and cpu_count of the snapshots is {counted}: leave out --cores");
        return Err(PlanError::input("--cores", reason));
    }
    if let Some(text) = &texts.performance {
        Performance::read(text)?.complete(&mut observation, &origin)?;
    }
    if !texts.connections.is_empty() {
        Connections::read(texts.connections, &origin)?.complete(&mut observation);
    }
    if supplement.busy_cores.is_some() && observation.busy_cores().is_some() {
        let reason = "the snapshots, or the performance counters, have the CPU time: leave out --busy-cores";
        return Err(PlanError::input("--busy-cores", reason));
    }
    supplement.complete(observation)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileType {
    Data,
    Log,
}

/// The counters of a file that counts.
struct FileRow {
    kind: FileType,
    row: Row,
}

/// One output of the view.
struct Snapshot {
    place: String,
    sample_ms: i64,
    /// The first row: its columns about the server are those of all rows.
    head: Row,
    row_count: u64,
    keys: std::collections::BTreeSet<(u64, u64)>,
    files: BTreeMap<(u64, u64), FileRow>,
}

fn snapshots_of(text: &SnapshotText<'_>, selection: &Selection) -> Result<Vec<Snapshot>, PlanError> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for row in delimited::rows(text, &[DATABASE, FILE, SAMPLE, READS, BYTES_READ])? {
        let key = (row.counter(DATABASE)?, row.counter(FILE)?);
        let sample_ms = sample_of(&row)?;
        let continues = |snapshot: &Snapshot| {
            !snapshot.keys.contains(&key) && (sample_ms - snapshot.sample_ms).abs() <= SAMPLE_SPREAD_MS
        };
        if !snapshots.last().is_some_and(continues) {
            snapshots.push(Snapshot {
                place: row.place(),
                sample_ms,
                head: row.clone(),
                row_count: 0,
                keys: std::collections::BTreeSet::new(),
                files: BTreeMap::new(),
            });
        }
        if let Some(snapshot) = snapshots.last_mut() {
            snapshot.row_count += 1;
            snapshot.keys.insert(key);
            if let Some(kind) = kind_of(&row, key, selection)? {
                snapshot.files.insert(key, FileRow { kind, row });
            }
        }
    }
    for snapshot in &snapshots {
        let expected = snapshot.head.optional_counter("file_count")?;
        if expected.is_some_and(|expected| expected != snapshot.row_count) {
            let reason = format!(
                "the snapshot that begins here has {} of {} files: it was cut",
                snapshot.row_count,
                expected.unwrap_or(0)
            );
            return Err(PlanError::input(snapshot.place.as_str(), reason));
        }
    }
    if snapshots.is_empty() {
        return Err(PlanError::input(text.name, "it has no snapshot"));
    }
    Ok(snapshots)
}

/// `sample_ms`, which is negative where an `int` has wrapped.
fn sample_of(row: &Row) -> Result<i64, PlanError> {
    let text = row.text(SAMPLE)?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let count = delimited::parse_counter(digits, || row.place_of(SAMPLE))?;
    let count = i64::try_from(count).ok().filter(|count| *count <= SAMPLE_MAX);
    let count = count.ok_or_else(|| PlanError::input(row.place_of(SAMPLE), format!("{text} ms are centuries")))?;
    Ok(if digits.len() < text.len() { -count } else { count })
}

/// The type of a file; none if it is not included.
fn kind_of(row: &Row, (database, file): (u64, u64), selection: &Selection) -> Result<Option<FileType>, PlanError> {
    let is_user = database > SYSTEM_DATABASE_MAX && database != RESOURCE_DATABASE;
    let is_selected = match selection.databases.as_slice() {
        [] => is_user,
        databases => databases.contains(&database),
    };
    if !is_selected && database != TEMPDB {
        return Ok(None);
    }
    let has_named = selection.log_files.iter().any(|(one, _)| *one == database);
    let is_named = selection.log_files.contains(&(database, file));
    let Some(described) = row.optional(TYPE) else {
        let is_log = if has_named { is_named } else { file == LOG_FILE };
        return Ok(Some(if is_log { FileType::Log } else { FileType::Data }));
    };
    let kind = match described {
        "ROWS" => Some(FileType::Data),
        "LOG" => Some(FileType::Log),
        // FILESTREAM, FULLTEXT.
        _ => None,
    };
    if has_named && is_named != (kind == Some(FileType::Log)) {
        let place = match is_named {
            true => format!("--log-file {database}:{file}"),
            false => "--log-file".to_owned(),
        };
        let reason = format!(
            "{TYPE} of file {file} of database {database} is {described} ({}): leave out --log-file, which the \
             snapshots do not need",
            row.place()
        );
        return Err(PlanError::input(place, reason));
    }
    Ok(kind)
}

fn interval(before: &Snapshot, after: &Snapshot, notes: &mut Vec<String>) -> Result<ObservedInterval, PlanError> {
    before.check_successor(after)?;
    let mut load = LoadBuilder::default();
    for (key, earlier, later) in pairs(before, after) {
        let difference = |column: &str| {
            let name = format!("{column} of file {} of database {}", key.1, key.0);
            increase(&name, earlier.row.counter(column)?, later.row.counter(column)?)
                .map_err(|error| error.at(&later.row.place()))
        };
        let (reads, bytes_read) = (difference(READS)?, difference(BYTES_READ)?);
        let (writes, bytes_written) = (difference(WRITES)?, difference(BYTES_WRITTEN)?);
        for (count, bytes, what) in [(reads, bytes_read, "read"), (writes, bytes_written, "written")] {
            if (count == 0.0) != (bytes == 0.0) {
                let reason = format!("{bytes} bytes were {what} in {count} operations since the snapshot before");
                return Err(PlanError::input(later.row.place(), reason));
            }
        }
        match later.kind {
            FileType::Data => {
                let pages = bytes_read / PAGE;
                let random = reads.min(pages);
                load.pages(Operation::ReadRandom, random, PAGE);
                load.pages(Operation::ReadSequential, pages - random, PAGE);
                load.pages(Operation::Write, bytes_written / PAGE, PAGE);
            }
            FileType::Log => load.bytes(Operation::LogRecord, writes, bytes_written),
        }
    }
    let optional = |column: &str| -> Result<Option<f64>, PlanError> {
        let values = (
            before.head.optional_counter(column)?,
            after.head.optional_counter(column)?,
        );
        match values {
            (Some(earlier), Some(later)) => increase(column, earlier, later).map(Some),
            (None, _) | (_, None) => Ok(None),
        }
    };
    if let Some(commits) = optional("write_transactions")? {
        load.count(Operation::Commit, commits);
    }
    if let Some(logins) = optional("logins")? {
        load.count(Operation::Handshake, logins);
    }
    Ok(ObservedInterval {
        // After the counters: a restart of the computer is a reset.
        seconds: sample_seconds(before, after, notes)?,
        load: load.finish(),
        requests: optional("batch_requests")?,
        cpu_seconds: optional("process_cpu_ms")?.map(|ms| ms / 1000.0),
    })
}

/// The files of two snapshots, which have the same ones.
fn pairs<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
) -> impl Iterator<Item = ((u64, u64), &'a FileRow, &'a FileRow)> {
    let later = |(key, earlier): (&(u64, u64), &'a FileRow)| Some((*key, earlier, after.files.get(key)?));
    before.files.iter().filter_map(later)
}

/// Seconds between two snapshots none of whose counters decreased.
fn sample_seconds(before: &Snapshot, after: &Snapshot, notes: &mut Vec<String>) -> Result<f64, PlanError> {
    let refuse = |reason: &str| Err(PlanError::input(after.place.as_str(), reason));
    let difference = after.sample_ms - before.sample_ms;
    let milliseconds = if difference >= 0 {
        difference
    } else {
        let wrapped = difference.rem_euclid(INT_RANGE);
        let is_int = [before.sample_ms, after.sample_ms]
            .iter()
            .all(|sample| (-INT_RANGE / 2..INT_RANGE).contains(sample));
        if !is_int || wrapped >= INT_RANGE / 2 {
            return refuse("its sample_ms is lower than before: snapshots must be in order of time");
        }
        notes.push("sample_ms wrapped from its greatest int to its least between two snapshots".to_owned());
        wrapped
    };
    match u32::try_from(milliseconds) {
        Ok(0) => refuse("it is of the same moment as the snapshot before it"),
        Ok(milliseconds) => Ok(f64::from(milliseconds) / 1000.0),
        Err(_) => refuse("it is more than 49 days later than the snapshot before it"),
    }
}

impl Snapshot {
    /// Refuses a snapshot of another server, and one that was cut.
    fn check_successor(&self, after: &Self) -> Result<(), PlanError> {
        for column in [SERVER, COMPUTER, "cpu_count"] {
            let (one, other) = (self.head.optional(column), after.head.optional(column));
            check_same(&after.place, column, one.unwrap_or(""), other.unwrap_or(""))?;
        }
        if self.head.optional(START) != after.head.optional(START) {
            return Err(reset(START));
        }
        for column in OPTIONAL {
            if self.head.optional(column).is_some() != after.head.optional(column).is_some() {
                let reason = format!("of this snapshot and the one before it, one has no {column}");
                return Err(PlanError::input(after.place.as_str(), reason));
            }
        }
        for (more, fewer) in [(self, after), (after, self)] {
            if let Some((database, file)) = more.files.keys().find(|key| !fewer.files.contains_key(key)) {
                let reason = format!(
                    "the snapshot that begins here has no file {file} of database {database}, which the other has: it \
                     was cut, or files were added or removed"
                );
                return Err(PlanError::input(fewer.place.as_str(), reason));
            }
        }
        Ok(())
    }

    fn check_selection(&self, selection: &Selection) -> Result<(), PlanError> {
        let has = |database: u64| self.files.keys().any(|(one, _)| *one == database);
        let missing = selection.databases.iter().find(|database| !has(**database));
        let reason = match missing {
            Some(database) => format!("the snapshots have no database {database}"),
            None if self.files.keys().all(|(database, _)| *database == TEMPDB) => {
                "the snapshots have no user database".to_owned()
            }
            None => return self.check_log_files(selection),
        };
        Err(PlanError::input("--database-id", reason))
    }

    fn check_log_files(&self, selection: &Selection) -> Result<(), PlanError> {
        match selection.log_files.iter().find(|key| !self.files.contains_key(key)) {
            None => Ok(()),
            Some((database, file)) => Err(PlanError::input(
                format!("--log-file {database}:{file}"),
                "the snapshots have no such file of a database that counts",
            )),
        }
    }

    fn database_mib(&self) -> Option<f64> {
        let sizes = self.files.iter().filter(|((database, _), file)| {
            let is_data = file.kind == FileType::Data;
            is_data && *database != TEMPDB
        });
        let bytes: Option<u64> = sizes
            .map(|(_, file)| file.row.optional_counter("size_on_disk_bytes").ok().flatten())
            .try_fold(0_u64, |sum, size| sum.checked_add(size?));
        bytes.map(|bytes| bytes as f64 / MIB)
    }

    fn notes(&self, last: &Self, selection: &Selection) -> Result<Vec<String>, PlanError> {
        let mut notes = Vec::new();
        let databases: std::collections::BTreeSet<u64> = last.files.keys().map(|(database, _)| *database).collect();
        let names: Vec<String> = databases
            .iter()
            .filter(|id| **id != TEMPDB)
            .map(u64::to_string)
            .collect();
        notes.push(format!("databases {}", names.join(", ")));
        notes.push(if databases.contains(&TEMPDB) {
            "tempdb is included: TDE encrypts it as soon as any database is encrypted".to_owned()
        } else {
            "tempdb is not in the snapshots: TDE encrypts it as soon as any database is encrypted".to_owned()
        });
        if !last.head.has(TYPE) && selection.log_files.is_empty() {
            notes.push("the log of a database is taken to be its file 2".to_owned());
        }
        if !last.head.has("write_transactions") {
            notes.push("commits are not counted: log writes are, and a log write may serve several commits".to_owned());
        }
        let mut log_bytes = 0.0;
        for (_, earlier, later) in pairs(self, last).filter(|(_, _, later)| later.kind == FileType::Log) {
            log_bytes += increase(
                BYTES_READ,
                earlier.row.counter(BYTES_READ)?,
                later.row.counter(BYTES_READ)?,
            )?;
        }
        if log_bytes > 0.0 {
            let mib = log_bytes / MIB;
            notes.push(format!("reads of the log, {mib:.1} MiB, are not counted"));
        }
        Ok(notes)
    }
}

/// Adds a rate to each interval.
fn add_rate(observation: &mut Observation, operation: Operation, count: f64, bytes: f64) {
    for interval in &mut observation.intervals {
        let amount = Amount {
            count: count * interval.seconds,
            kib: bytes * interval.seconds / KIB,
        };
        interval.load.add(operation, amount);
    }
}

fn has_load(observation: &Observation, operation: Operation) -> bool {
    let has = |interval: &ObservedInterval| interval.load.0.contains_key(&operation);
    observation.intervals.iter().any(has)
}

const DATABASE: &str = "database_id";
const FILE: &str = "file_id";
const SAMPLE: &str = "sample_ms";
const READS: &str = "num_of_reads";
const BYTES_READ: &str = "num_of_bytes_read";
const WRITES: &str = "num_of_writes";
const BYTES_WRITTEN: &str = "num_of_bytes_written";
const START: &str = "sqlserver_start_time";
const TYPE: &str = "type_desc";
const OPTIONAL: [&str; 6] = [
    "batch_requests",
    "write_transactions",
    "logins",
    "process_cpu_ms",
    UTC,
    OFFSET,
];
const PAGE: f64 = 8192.0;
const TEMPDB: u64 = 2;
/// master, tempdb, model and msdb.
const SYSTEM_DATABASE_MAX: u64 = 4;
/// The read-only database of system objects.
const RESOURCE_DATABASE: u64 = 32_767;
const LOG_FILE: u64 = 2;
/// Rows of one snapshot differ by less.
const SAMPLE_SPREAD_MS: i64 = 1000;
/// 300 years.
const SAMPLE_MAX: i64 = 10_000_000_000_000;
/// The values of an `int`.
const INT_RANGE: i64 = 1 << 32;
