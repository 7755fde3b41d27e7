//! PostgreSQL 13 to 18, by successive snapshots of its statistics views.
//!
//! | version | view and column | becomes |
//! |---|---|---|
//! | 16, 17 | `pg_stat_io.reads`, context `normal` | [`Operation::ReadRandom`] |
//! | 16, 17 | `pg_stat_io.reads`, other contexts | [`Operation::ReadSequential`] |
//! | 18 | `pg_stat_io.reads`, context `normal` | [`Operation::ReadRandom`] |
//! | 18 | `pg_stat_io.read_bytes`, the rest | [`Operation::ReadSequential`] |
//! | 13 to 15 | `pg_stat_database.blks_read` | [`Operation::ReadRandom`] |
//! | 16, 17 | `pg_stat_io.writes`, `extends` | [`Operation::Write`] |
//! | 18 | `pg_stat_io.write_bytes`, `extend_bytes` | [`Operation::Write`] |
//! | 13 to 15 | `pg_stat_bgwriter`: the sum of its `buffers_` but `buffers_alloc` | [`Operation::Write`] |
//! | 14 to 17 | `pg_stat_wal.wal_write` | the count of [`Operation::LogRecord`] |
//! | 14 to 17 | `pg_stat_wal.wal_bytes`, and a block for each write | the bytes of [`Operation::LogRecord`] |
//! | 18 | `pg_stat_io.writes`, `write_bytes`, object `wal`, context `normal` | [`Operation::LogRecord`] |
//! | 13 | `pg_current_wal_lsn()`, and a block for each commit | the bytes of [`Operation::LogRecord`] |
//! | all | `pg_current_snapshot()` | [`Operation::Commit`] |
//! | all | `pg_stat_database.xact_commit`, `xact_rollback` | requests |
//! | from 14 | `pg_stat_database.sessions` | [`Operation::Handshake`] |
//! | all | `pg_stat_database.temp_bytes` | a note |
//! | all | `pg_postmaster_start_time()`, `stats_reset` of each view | must not change |
//!
//! The contexts besides `normal` are `bulkread`, `bulkwrite`, `init` and `vacuum`. A read of 18 may be of several
//! blocks, of which the first is taken as random. Versions before 16 do not know the order of reads.
//! Writes to WAL are of whole blocks, and the last block of a write is written again by the next: the estimate of
//! their bytes differs by 0.3 % from `write_bytes` of PostgreSQL 18. In 13 each commit is taken as one write.
//! Identifiers are given to transactions that write, and to their subtransactions.
//!
//! Source: <https://www.postgresql.org/docs/18/monitoring-stats.html>; the number at its end is that of the version.
//!
//! Reads are misses of shared_buffers. The kernel's page cache serves many of them, and they are decrypted all the
//! same by encryption within the server. The bytes of the network are not counted by PostgreSQL.
//! The estimate of the bytes of WAL was compared with `wal_write_bytes` of PostgreSQL 18: 0.3 % apart.

use super::delimited::{self, Row};
use super::snapshot::{
    LoadBuilder, MIB, SnapshotText, Supplement, check_count, check_same, increase, intervals, reset, seconds_between,
};
use crate::observation::{Engine, ObservedInterval};
use crate::operation::{Load, Operation};
use crate::{Observation, PlanError};

/// What `psql -X --csv -f FILE` runs on PostgreSQL 13, once for each snapshot, as a member of `pg_monitor`.
pub const QUERY_13: &str = "\
SELECT extract(epoch FROM clock_timestamp()) AS snapshot_epoch,
       current_setting('server_version_num') AS server_version_num,
       current_setting('block_size') AS block_size,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       extract(epoch FROM pg_postmaster_start_time()) AS start_epoch,
       writer.*, db.*,
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal_bytes,
       pg_snapshot_xmax(pg_current_snapshot()) AS next_transaction,
       (SELECT sum(pg_database_size(oid)) FROM pg_database) AS database_bytes
  FROM (SELECT buffers_checkpoint + buffers_clean + buffers_backend AS buffers_written,
               extract(epoch FROM stats_reset) AS writer_reset_epoch
          FROM pg_stat_bgwriter) AS writer,
       (SELECT sum(blks_read) AS blks_read,
               sum(xact_commit) AS xact_commit, sum(xact_rollback) AS xact_rollback,
               sum(temp_bytes) AS temp_bytes,
               extract(epoch FROM max(stats_reset)) AS database_reset_epoch
          FROM pg_stat_database) AS db;
";

/// What `psql -X --csv -f FILE` runs on PostgreSQL 14 and 15, once for each snapshot, as a member of `pg_monitor`.
pub const QUERY_14: &str = "\
SELECT extract(epoch FROM clock_timestamp()) AS snapshot_epoch,
       current_setting('server_version_num') AS server_version_num,
       current_setting('block_size') AS block_size,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       extract(epoch FROM pg_postmaster_start_time()) AS start_epoch,
       writer.*, wal.*, db.*,
       pg_snapshot_xmax(pg_current_snapshot()) AS next_transaction,
       (SELECT sum(pg_database_size(oid)) FROM pg_database) AS database_bytes
  FROM (SELECT buffers_checkpoint + buffers_clean + buffers_backend AS buffers_written,
               extract(epoch FROM stats_reset) AS writer_reset_epoch
          FROM pg_stat_bgwriter) AS writer,
       (SELECT wal_bytes, wal_write, extract(epoch FROM stats_reset) AS wal_reset_epoch
          FROM pg_stat_wal) AS wal,
       (SELECT sum(blks_read) AS blks_read,
               sum(xact_commit) AS xact_commit, sum(xact_rollback) AS xact_rollback,
               sum(sessions) AS sessions, sum(temp_bytes) AS temp_bytes,
               extract(epoch FROM max(stats_reset)) AS database_reset_epoch
          FROM pg_stat_database) AS db;
";

/// What `psql -X --csv -f FILE` runs on PostgreSQL 16 and 17, once for each snapshot, as a member of `pg_monitor`.
pub const QUERY_16: &str = "\
SELECT extract(epoch FROM clock_timestamp()) AS snapshot_epoch,
       current_setting('server_version_num') AS server_version_num,
       current_setting('block_size') AS block_size,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       extract(epoch FROM pg_postmaster_start_time()) AS start_epoch,
       io.*, wal.*, db.*,
       pg_snapshot_xmax(pg_current_snapshot()) AS next_transaction,
       (SELECT sum(pg_database_size(oid)) FROM pg_database) AS database_bytes
  FROM (SELECT coalesce(sum(reads) FILTER (WHERE context = 'normal'), 0) AS reads_random,
               coalesce(sum(reads) FILTER (WHERE context <> 'normal'), 0) AS reads_sequential,
               coalesce(sum(writes), 0) AS writes,
               coalesce(sum(extends), 0) AS extends,
               max(op_bytes) AS op_bytes,
               extract(epoch FROM max(stats_reset)) AS io_reset_epoch
          FROM pg_stat_io) AS io,
       (SELECT wal_bytes, wal_write, extract(epoch FROM stats_reset) AS wal_reset_epoch
          FROM pg_stat_wal) AS wal,
       (SELECT sum(xact_commit) AS xact_commit, sum(xact_rollback) AS xact_rollback,
               sum(sessions) AS sessions, sum(temp_bytes) AS temp_bytes,
               extract(epoch FROM max(stats_reset)) AS database_reset_epoch
          FROM pg_stat_database) AS db;
";

/// What `psql -X --csv -f FILE` runs on PostgreSQL 18, once for each snapshot, as a member of `pg_monitor`.
pub const QUERY_18: &str = "\
SELECT extract(epoch FROM clock_timestamp()) AS snapshot_epoch,
       current_setting('server_version_num') AS server_version_num,
       current_setting('block_size') AS block_size,
       (SELECT system_identifier FROM pg_control_system()) AS system_identifier,
       extract(epoch FROM pg_postmaster_start_time()) AS start_epoch,
       io.*, wal.*, db.*,
       pg_snapshot_xmax(pg_current_snapshot()) AS next_transaction,
       (SELECT sum(pg_database_size(oid)) FROM pg_database) AS database_bytes
  FROM (SELECT coalesce(sum(reads) FILTER (WHERE object <> 'wal' AND context = 'normal'), 0) AS reads_normal,
               coalesce(sum(read_bytes) FILTER (WHERE object <> 'wal' AND context = 'normal'), 0)
                 AS read_bytes_normal,
               coalesce(sum(read_bytes) FILTER (WHERE object <> 'wal' AND context <> 'normal'), 0)
                 AS read_bytes_sequential,
               coalesce(sum(write_bytes) FILTER (WHERE object <> 'wal'), 0) AS write_bytes,
               coalesce(sum(extend_bytes) FILTER (WHERE object <> 'wal'), 0) AS extend_bytes,
               coalesce(sum(writes) FILTER (WHERE object = 'wal' AND context = 'normal'), 0) AS wal_writes,
               coalesce(sum(write_bytes) FILTER (WHERE object = 'wal' AND context = 'normal'), 0)
                 AS wal_write_bytes,
               extract(epoch FROM max(stats_reset)) AS io_reset_epoch
          FROM pg_stat_io) AS io,
       (SELECT wal_bytes, extract(epoch FROM stats_reset) AS wal_reset_epoch
          FROM pg_stat_wal) AS wal,
       (SELECT sum(xact_commit) AS xact_commit, sum(xact_rollback) AS xact_rollback,
               sum(sessions) AS sessions, sum(temp_bytes) AS temp_bytes,
               extract(epoch FROM max(stats_reset)) AS database_reset_epoch
          FROM pg_stat_database) AS db;
";

/// Turns snapshots into an observation. A text has one snapshot or several, as the queries here make them.
///
/// # Errors
/// [`PlanError::Input`] for what no server writes, with its place; [`PlanError::Reset`] for counters that decrease and
/// statistics that were reset.
pub fn observe(texts: &[SnapshotText<'_>], supplement: &Supplement) -> Result<Observation, PlanError> {
    let mut rows = Vec::new();
    for text in texts {
        let found = delimited::rows(text, &[TIME, BLOCK_SIZE, "system_identifier"])?;
        if found.is_empty() {
            return Err(PlanError::input(text.name, "it has no snapshot"));
        }
        rows.extend(found);
    }
    check_count(rows.len(), "snapshots of PostgreSQL")?;
    let mut wal = WalWrites::default();
    let intervals = intervals(&rows, Row::place, |before, after| interval(before, after, &mut wal))?;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Err(PlanError::input("snapshots", "there are none"));
    };
    let block_size = last.counter(BLOCK_SIZE)?;
    let page_size = u32::try_from(block_size)
        .map_err(|_| PlanError::input(last.place_of(BLOCK_SIZE), format!("{block_size} is no size of a block")))?;
    let database_bytes = last.optional_counter("database_bytes")?;
    let mut notes = notes(first, last)?;
    notes.extend(wal.note());
    supplement.complete(Observation {
        engine: Engine::PostgreSql,
        notes,
        page_size,
        cores: None,
        database_mib: database_bytes.map(|bytes| bytes as f64 / MIB),
        serialized_share: None,
        intervals,
    })
}

/// Which views a snapshot is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Views {
    /// 13: `pg_stat_database`, `pg_stat_bgwriter`.
    Thirteen,
    /// 14 and 15: those, and `pg_stat_wal`.
    Fourteen,
    /// 16 and 17: `pg_stat_io` in blocks, `pg_stat_wal`.
    Sixteen,
    /// 18: `pg_stat_io` in bytes, with WAL.
    Eighteen,
}

impl Views {
    fn of(row: &Row) -> Result<Self, PlanError> {
        if row.has("read_bytes_normal") {
            Ok(Self::Eighteen)
        } else if row.has("reads_random") {
            Ok(Self::Sixteen)
        } else if row.has("blks_read") && row.has("wal_write") {
            Ok(Self::Fourteen)
        } else if row.has("blks_read") {
            Ok(Self::Thirteen)
        } else {
            let reason = "it has none of the columns read_bytes_normal, reads_random and blks_read: it was not made by \
                          a query for PostgreSQL";
            Err(PlanError::input(row.place(), reason))
        }
    }
}

/// WAL that was generated and not yet written by the end of an interval: a log without a write has no size that a
/// calibration knows.
#[derive(Default)]
struct WalWrites {
    pending: f64,
}

impl WalWrites {
    /// The bytes of the interval's writes, of which so many were generated.
    fn written(&mut self, count: f64, generated: f64) -> f64 {
        let bytes = self.pending + generated;
        let (written, pending) = if count == 0.0 { (0.0, bytes) } else { (bytes, 0.0) };
        self.pending = pending;
        written
    }

    fn note(&self) -> Option<String> {
        (self.pending > 0.0).then(|| {
            format!(
                "{:.1} MiB of WAL were generated, and not written by the last snapshot: they are not included",
                self.pending / MIB
            )
        })
    }
}

fn interval(before: &Row, after: &Row, wal: &mut WalWrites) -> Result<ObservedInterval, PlanError> {
    let place = after.place();
    let views = Views::of(after)?;
    if Views::of(before)? != views {
        return Err(PlanError::input(
            place,
            "it was made by another query than the snapshot before it",
        ));
    }
    for property in ["system_identifier", "server_version_num", BLOCK_SIZE] {
        check_same(&place, property, before.text(property)?, after.text(property)?)?;
    }
    let seconds = seconds_between(&place, before.decimal(TIME)?, after.decimal(TIME)?)?;
    after.text(START)?;
    for (column, meaning) in RESETS {
        // stats_reset is NULL until the first reset.
        if before.has(column) != after.has(column) || before.optional(column) != after.optional(column) {
            return Err(reset(meaning));
        }
    }
    let difference = |name: &str| increase(name, before.counter(name)?, after.counter(name)?);
    let requests = difference("xact_commit")? + difference("xact_rollback")?;
    Ok(ObservedInterval {
        seconds,
        load: load(views, after, &difference, wal)?,
        requests: Some(requests),
        cpu_seconds: None,
    })
}

fn load(
    views: Views,
    after: &Row,
    difference: &dyn Fn(&str) -> Result<f64, PlanError>,
    wal: &mut WalWrites,
) -> Result<Load, PlanError> {
    let block_bytes = after.counter(BLOCK_SIZE)?;
    if block_bytes == 0 {
        return Err(PlanError::input(after.place_of(BLOCK_SIZE), "it is 0"));
    }
    let block = block_bytes as f64;
    let commits = difference("next_transaction")?;
    let (random, sequential, written) = match views {
        Views::Thirteen | Views::Fourteen => (difference("blks_read")?, 0.0, difference("buffers_written")?),
        Views::Sixteen => {
            if after.counter("op_bytes")? != block_bytes {
                return Err(PlanError::input(
                    after.place_of("op_bytes"),
                    "it is not the size of a block",
                ));
            }
            let written = difference("writes")? + difference("extends")?;
            (difference("reads_random")?, difference("reads_sequential")?, written)
        }
        Views::Eighteen => {
            let blocks = difference("read_bytes_normal")? / block;
            let random = difference("reads_normal")?.min(blocks);
            let sequential = blocks - random + difference("read_bytes_sequential")? / block;
            let written = (difference("write_bytes")? + difference("extend_bytes")?) / block;
            (random, sequential, written)
        }
    };
    let wal_bytes = difference("wal_bytes")?;
    let (log_count, log_bytes) = match views {
        Views::Thirteen => (commits, wal.written(commits, wal_bytes) + commits * block),
        Views::Fourteen | Views::Sixteen => {
            let count = difference("wal_write")?;
            (count, wal.written(count, wal_bytes) + count * block)
        }
        Views::Eighteen => (difference("wal_writes")?, difference("wal_write_bytes")?),
    };
    if (log_count == 0.0) != (log_bytes == 0.0) {
        let reason = format!("{log_bytes} bytes of WAL were written in {log_count} writes since the snapshot before");
        return Err(PlanError::input(after.place(), reason));
    }
    let mut load = LoadBuilder::default();
    load.pages(Operation::ReadSequential, sequential, block);
    load.pages(Operation::ReadRandom, random, block);
    load.pages(Operation::Write, written, block);
    load.count(Operation::Commit, commits);
    load.bytes(Operation::LogRecord, log_count, log_bytes);
    if after.has("sessions") {
        load.count(Operation::Handshake, difference("sessions")?);
    }
    Ok(load.finish())
}

fn notes(first: &Row, last: &Row) -> Result<Vec<String>, PlanError> {
    let mut notes = vec![
        "reads are misses of shared_buffers, not reads of a disk: the kernel's page cache serves some of them"
            .to_owned(),
        "commits are transactions that wrote, with their subtransactions".to_owned(),
        "PostgreSQL does not count bytes of the network: TLS packets are not included".to_owned(),
    ];
    match Views::of(last)? {
        Views::Thirteen => {
            notes.push("all reads are taken as random: before version 16 their order is not known".to_owned());
            notes.push("log writes are estimated as one for each commit, of whole blocks".to_owned());
            notes.push("sessions are not counted before version 14: TLS handshakes are not included".to_owned());
        }
        Views::Fourteen => {
            notes.push("all reads are taken as random: before version 16 their order is not known".to_owned());
            notes.push("bytes of log writes are estimated: a block more for each write than was generated".to_owned());
        }
        Views::Sixteen => {
            notes.push("bytes of log writes are estimated: a block more for each write than was generated".to_owned());
            notes.push("blocks by which files grow count as pages written".to_owned());
        }
        Views::Eighteen => notes.push("blocks by which files grow count as pages written".to_owned()),
    }
    let temporary = increase("temp_bytes", first.counter("temp_bytes")?, last.counter("temp_bytes")?)?;
    if temporary > 0.0 {
        let mib = temporary / MIB;
        notes.push(format!("temporary files, {mib:.1} MiB written, are not counted"));
    }
    Ok(notes)
}

const TIME: &str = "snapshot_epoch";
const BLOCK_SIZE: &str = "block_size";
const START: &str = "start_epoch";
const RESETS: [(&str, &str); 5] = [
    (START, "pg_postmaster_start_time()"),
    ("io_reset_epoch", "pg_stat_io (its stats_reset has changed)"),
    ("wal_reset_epoch", "pg_stat_wal (its stats_reset has changed)"),
    ("writer_reset_epoch", "pg_stat_bgwriter (its stats_reset has changed)"),
    ("database_reset_epoch", "pg_stat_database (a stats_reset has changed)"),
];
