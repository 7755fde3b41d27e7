//! MariaDB and MySQL, by successive outputs of `SHOW GLOBAL STATUS`.
//!
//! | counter | becomes |
//! |---|---|
//! | `Innodb_buffer_pool_read_ahead` | [`Operation::ReadSequential`] |
//! | `Innodb_pages_read` less `Innodb_buffer_pool_read_ahead` | [`Operation::ReadRandom`] |
//! | `Innodb_pages_written` | [`Operation::Write`] |
//! | `Innodb_os_log_written` | the bytes of [`Operation::LogRecord`] |
//! | `Innodb_log_write_requests` | the count of [`Operation::LogRecord`] in MariaDB from 10.8 |
//! | `Innodb_log_writes` | the count of [`Operation::LogRecord`] elsewhere |
//! | `Innodb_max_trx_id` (MariaDB) | half of it: [`Operation::Commit`] |
//! | `Handler_commit` (elsewhere) | an upper bound of [`Operation::Commit`] |
//! | `Bytes_received`, `Bytes_sent` | the bytes of [`Operation::Packet`] |
//! | `Questions` | requests; twice it is an estimate of the count of [`Operation::Packet`] |
//! | `Connections` | [`Operation::Handshake`] |
//! | `Uptime`, `selenite_snapshot_time` | the length of the interval; the two must agree, as they do without a restart |
//!
//! A page is encrypted once for the doublewrite buffer and for its place in the file. MariaDB encrypts each
//! mini-transaction by itself from 10.8; older versions and MySQL encrypt blocks of the log as they are written.
//! A transaction that writes takes a number at its begin and one at its end. `Handler_commit` includes transactions
//! that only read; `Com_commit` leaves out those without a COMMIT of their own, and is not used.
//!
//! Sources: <https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-status-variables>,
//! <https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables>,
//! <https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html>.
//!
//! Which names exist depends on the version. All snapshots must have the same names: a text that was cut has fewer.
//! Not counted: the binary log, temporary tables on disk, and tables of engines other than InnoDB.

use std::collections::BTreeMap;

use super::delimited::{self, Row};
use super::snapshot::{
    LoadBuilder, MIB, SnapshotText, Supplement, check_count, check_same, increase, intervals, seconds_between,
};
use crate::observation::{Engine, ObservedInterval};
use crate::operation::{KIB, Operation};
use crate::{Observation, PlanError};

/// What `mariadb -B < FILE` runs on MariaDB, once for each snapshot. Needs PROCESS.
pub const QUERY_MARIADB: &str = "\
SELECT 'selenite_snapshot_time' AS Variable_name, UNIX_TIMESTAMP(NOW(6)) AS Value;
SHOW GLOBAL STATUS;
SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('hostname', 'port', 'socket', 'datadir', 'server_id', 'server_uid', 'version', 'innodb_page_size');
SELECT 'selenite_database_bytes' AS Variable_name, SUM(FILE_SIZE) AS Value
  FROM information_schema.INNODB_SYS_TABLESPACES;
";

/// What `mysql -B < FILE` runs on MySQL, once for each snapshot. Needs PROCESS.
pub const QUERY_MYSQL: &str = "\
SELECT 'selenite_snapshot_time' AS Variable_name, UNIX_TIMESTAMP(NOW(6)) AS Value;
SHOW GLOBAL STATUS;
SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('hostname', 'port', 'socket', 'datadir', 'server_id', 'server_uuid', 'version', 'innodb_page_size');
SELECT 'selenite_database_bytes' AS Variable_name, SUM(FILE_SIZE) AS Value
  FROM information_schema.INNODB_TABLESPACES;
";

/// Turns snapshots into an observation. A text has one snapshot or several; each is the output of [`QUERY_MARIADB`]
/// or [`QUERY_MYSQL`], or of `SHOW GLOBAL STATUS` alone, separated by tabs or in a box.
///
/// # Errors
/// [`PlanError::Input`] for what no server writes, with its place; [`PlanError::Reset`] for counters that decrease.
pub fn observe(texts: &[SnapshotText<'_>], supplement: &Supplement) -> Result<Observation, PlanError> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for text in texts {
        snapshots.extend(snapshots_of(text)?);
    }
    check_count(snapshots.len(), "snapshots of SHOW GLOBAL STATUS")?;
    let mut notes = vec![
        "InnoDB's pages and redo log; the binary log, temporary tables on disk and other engines are not counted"
            .to_owned(),
        "pages read by linear read-ahead are sequential, all others random".to_owned(),
    ];
    let intervals = intervals(&snapshots, |snapshot| snapshot.place.clone(), interval)?;
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(PlanError::input("snapshots", "there are none"));
    };
    first.notes(last, &mut notes)?;
    let database_bytes = last.optional(DATABASE_BYTES)?;
    supplement.complete(Observation {
        engine: Engine::MariaDb,
        notes,
        page_size: last.page_size()?,
        cores: None,
        database_mib: database_bytes.map(|bytes| bytes as f64 / MIB),
        serialized_share: None,
        intervals,
    })
}

/// One output of `SHOW GLOBAL STATUS`: rows by name.
struct Snapshot {
    place: String,
    rows: BTreeMap<String, Row>,
}

fn snapshots_of(text: &SnapshotText<'_>) -> Result<Vec<Snapshot>, PlanError> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    for row in delimited::rows(text, &[NAME, VALUE])? {
        let name = row.text(NAME)?.to_owned();
        match snapshots.last_mut() {
            // A name that is repeated begins the next snapshot.
            Some(snapshot) if !snapshot.rows.contains_key(&name) => {
                snapshot.rows.insert(name, row);
            }
            Some(_) | None => snapshots.push(Snapshot {
                place: row.place(),
                rows: BTreeMap::from([(name, row)]),
            }),
        }
    }
    if snapshots.is_empty() {
        return Err(PlanError::input(text.name, "it has no snapshot"));
    }
    Ok(snapshots)
}

impl Snapshot {
    fn counter(&self, name: &str) -> Result<u64, PlanError> {
        match self.rows.get(name) {
            Some(row) => delimited::parse_counter(row.optional(VALUE).unwrap_or(""), || {
                format!("{}, {name}", row.place_of(VALUE))
            }),
            None => Err(PlanError::input(
                self.place.as_str(),
                format!("the snapshot that begins here has no {name}"),
            )),
        }
    }

    fn optional(&self, name: &str) -> Result<Option<u64>, PlanError> {
        let is_there = self.rows.contains_key(name);
        is_there.then(|| self.counter(name)).transpose()
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.rows.get(name)?.optional(VALUE)
    }

    fn page_size(&self) -> Result<u32, PlanError> {
        let name = [PAGE_SIZE_STATUS, PAGE_SIZE_VARIABLE]
            .into_iter()
            .find(|name| self.rows.contains_key(*name))
            .unwrap_or(PAGE_SIZE_STATUS);
        let size = self.counter(name)?;
        let place = self.rows.get(name).map_or_else(|| self.place.clone(), Row::place);
        let is_size = size.is_power_of_two() && (512..=65_536).contains(&size);
        let size_of_page = u32::try_from(size).ok().filter(|_| is_size);
        size_of_page.ok_or_else(|| PlanError::input(format!("{place}, {name}"), format!("{size} is no size of a page")))
    }

    /// Whether each mini-transaction is encrypted by itself: MariaDB from 10.8.
    fn encrypts_mini_transactions(&self) -> bool {
        let Some(version) = self.variable("version") else {
            // MySQL has no such status.
            return self.rows.contains_key(TRANSACTION_ID);
        };
        let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
        let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        version.contains("MariaDB") && number >= MINI_TRANSACTION_SINCE
    }

    fn time(&self) -> Result<Option<f64>, PlanError> {
        let parse = |row: &Row| row.decimal(VALUE);
        self.rows.get(TIME).map(parse).transpose()
    }

    /// Refuses a snapshot of another server, and one that was cut.
    fn check_successor(&self, after: &Self) -> Result<(), PlanError> {
        for (more, fewer) in [(self, after), (after, self)] {
            if let Some(name) = more.rows.keys().find(|name| !fewer.rows.contains_key(*name)) {
                let reason = format!(
                    "the snapshot that begins here has no {name}, which the other has: it was cut, or made by another \
                     query or server"
                );
                return Err(PlanError::input(fewer.place.as_str(), reason));
            }
        }
        for name in NAMES.into_iter().chain(KEPT) {
            let (one, other) = (self.variable(name), after.variable(name));
            check_same(&after.place, name, one.unwrap_or(""), other.unwrap_or(""))?;
        }
        Ok(())
    }

    fn notes(&self, last: &Self, notes: &mut Vec<String>) -> Result<(), PlanError> {
        let difference = |name: &str| -> Result<Option<f64>, PlanError> {
            let (Some(before), Some(after)) = (self.optional(name)?, last.optional(name)?) else {
                return Ok(None);
            };
            increase(name, before, after).map(Some)
        };
        if self.time()?.is_none() {
            notes.push("the intervals are from Uptime, which is in whole seconds: take snapshots minutes apart".into());
        }
        if !NAMES.iter().any(|name| last.variable(name).is_some()) {
            notes.push("the snapshots do not name their server: whether they are of one is not known".into());
        }
        notes.push(if last.encrypts_mini_transactions() {
            "the redo log is encrypted by mini-transaction, as MariaDB does from 10.8".into()
        } else {
            "the redo log is encrypted as it is written, in blocks".into()
        });
        if !last.rows.contains_key(TRANSACTION_ID) {
            notes.push("commits are Handler_commit, which includes transactions that only read: an upper bound".into());
        }
        notes.push("the count of TLS packets is an estimate: two for each question, or 16 KiB in each".into());
        if let (Some(tls), Some(all)) = (difference("Ssl_accepts")?, difference(CONNECTIONS)?) {
            notes.push(format!("{tls} of {all} new connections used TLS already"));
        }
        if let Some(bytes) = difference("Binlog_bytes_written")?.filter(|bytes| *bytes > 0.0) {
            notes.push(format!("the binary log, {:.1} MiB, is not counted", bytes / MIB));
        }
        if let Some(pages) = difference("Innodb_num_pages_encrypted")?.filter(|pages| *pages > 0.0) {
            notes.push(format!(
                "{pages} pages were encrypted: the server is encrypted already, at least in part"
            ));
        }
        Ok(())
    }
}

fn interval(before: &Snapshot, after: &Snapshot) -> Result<ObservedInterval, PlanError> {
    before.check_successor(after)?;
    let difference = |name: &str| {
        let place = after.rows.get(name).map_or_else(|| after.place.clone(), Row::place);
        increase(name, before.counter(name)?, after.counter(name)?).map_err(|error| error.at(&place))
    };
    let clock = match (before.time()?, after.time()?) {
        (Some(earlier), Some(later)) => Some(seconds_between(&after.place, earlier, later)?),
        (None, _) | (_, None) => None,
    };
    // A restart resets all counters, and Uptime with them.
    let uptime = difference("Uptime")?;
    let seconds = clock.map_or_else(|| seconds_between(&after.place, 0.0, uptime), Ok)?;
    if (seconds - uptime).abs() > UPTIME_ERROR {
        let reason = format!(
            "the clock advanced by {seconds:.1} s, and Uptime by {uptime} s: the server was restarted between the two \
             snapshots, or they are of different servers"
        );
        return Err(PlanError::input(after.place.as_str(), reason));
    }
    let page_size = f64::from(after.page_size()?);
    let mut load = LoadBuilder::default();
    let (read, ahead) = (
        difference("Innodb_pages_read")?,
        difference("Innodb_buffer_pool_read_ahead")?,
    );
    // The two are counted at different moments: a page may be counted as read ahead only.
    let sequential = ahead.min(read);
    load.pages(Operation::ReadSequential, sequential, page_size);
    load.pages(Operation::ReadRandom, read - sequential, page_size);
    load.pages(Operation::Write, difference("Innodb_pages_written")?, page_size);
    let log_count = if after.encrypts_mini_transactions() {
        difference("Innodb_log_write_requests")?
    } else {
        difference("Innodb_log_writes")?
    };
    let log_bytes = difference("Innodb_os_log_written")?;
    if log_count == 0.0 && log_bytes > 0.0 {
        let reason = format!("{log_bytes} bytes of the log were written in no writes: is the version missing?");
        return Err(PlanError::input(after.place.as_str(), reason));
    }
    load.bytes(Operation::LogRecord, log_count, log_bytes);
    load.count(
        Operation::Commit,
        if after.rows.contains_key(TRANSACTION_ID) {
            difference(TRANSACTION_ID)? / NUMBERS_OF_A_TRANSACTION
        } else {
            difference("Handler_commit")?
        },
    );
    let questions = difference("Questions")?;
    let network_bytes = difference("Bytes_received")? + difference("Bytes_sent")?;
    let packets = (2.0 * questions).max((network_bytes / TLS_RECORD).ceil());
    load.bytes(Operation::Packet, packets, network_bytes);
    load.count(Operation::Handshake, difference(CONNECTIONS)?);
    Ok(ObservedInterval {
        seconds,
        load: load.finish(),
        requests: Some(questions),
        cpu_seconds: None,
    })
}

const NAME: &str = "variable_name";
const VALUE: &str = "value";
const TIME: &str = "selenite_snapshot_time";
const DATABASE_BYTES: &str = "selenite_database_bytes";
const CONNECTIONS: &str = "Connections";
const TRANSACTION_ID: &str = "Innodb_max_trx_id";
const PAGE_SIZE_STATUS: &str = "Innodb_page_size";
const PAGE_SIZE_VARIABLE: &str = "innodb_page_size";
/// What names a server: variables, and below them status of MySQL.
const NAMES: [&str; 5] = [
    "hostname",
    "server_uid",
    "server_uuid",
    "Innodb_redo_log_uuid",
    "Caching_sha2_password_rsa_public_key",
];
/// What a server keeps, and others may have, too.
const KEPT: [&str; 5] = ["port", "socket", "datadir", "server_id", "version"];
/// Measured with 10.11: 1,000 updates, each a transaction, advance the identifier by 2,000.
const NUMBERS_OF_A_TRANSACTION: f64 = 2.0;
/// <https://jira.mariadb.org/browse/MDEV-14425>, the log format of 10.8.
const MINI_TRANSACTION_SINCE: (u32, u32) = (10, 8);
/// A TLS record holds at most 2^14 bytes (RFC 8446, 5.1).
const TLS_RECORD: f64 = 16.0 * KIB;
/// Uptime is in whole seconds, and the query that reads it may take a moment.
const UPTIME_ERROR: f64 = 5.0;
