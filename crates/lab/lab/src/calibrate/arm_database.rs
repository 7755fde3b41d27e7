//! The database of one arm and page size, and the operations on it.
//!
//! - misses-by-construction: SQLite's counters of a connection (SQLITE_DBSTATUS_CACHE_MISS and
//!   SQLITE_DBSTATUS_CACHE_WRITE) cannot be read without unsafe code, which this crate forbids.
//!   Each row has a page of its own, and each block begins with a new connection, whose cache is
//!   empty: a page that is visited once is read once. `PRAGMA page_count` determines the number of
//!   the other pages.
//! - no-page-pool: `pool_size=0`. Selenite's page pool answers reads without decryption. A coefficient is the cost of a
//!   page that is read from the file; how many are is for the observation to say.
//! - sqlite-included: an unencrypted cost includes SQLite's own work for the operation, such as the
//!   UPDATE of a row on the page. That work is the same in all arms, and cancels in their
//!   differences.
//! - one-log: pages written, transactions, commits, pages read from the log and the checkpoint are measured one after
//!   the other in one write-ahead log.
//! - cached-as-read: the file is in the system's cache as the system reads files from a disk: in large pieces. Pages that
//!   a checkpoint wrote one by one stay in pieces of a page, each of which is looked up and copied alone: reading 16 of
//!   them at once, as Selenite does in sequence, then saves less (200 ns a page, of 800), by another amount in each file.
//! - among-other-work: an application does not repeat one operation. Between operations that are measured one by one
//!   there is a statement on another table, from SQLite's cache; its own cost is subtracted. In a scan, all bytes of a
//!   page are read. Repeated alone, operations and system calls find their code and data in the processor's caches and
//!   cost less, by another amount in clear than encrypted: the league (docs/FORECASTS.md) was predicted 1 to 2 points
//!   better with the other work.
//! - log-overwritten: the log has its full size before, and is written from its beginning, as that of an application
//!   after its first checkpoint. Appending to a file makes each of SQLite's writes dearer, and so those that Selenite
//!   saves.

use std::collections::BTreeMap;
use std::path::Path;

use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Statement};
use selenite::Suite;
use selenite_plan::observe::sqlite;
use selenite_plan::observe::{SnapshotText, Supplement};
use selenite_plan::{Load, PlanError};
use selenite_worker::engine::Engine as _;
use selenite_worker::meter::WorkTimer;
use selenite_worker::protocol::{DatabaseSpec, PLAIN};
use selenite_worker::{WorkerError, layout};

use crate::native::Native;

/// A database with a row on each page of a table, and another table.
pub struct ArmDatabase {
    spec: DatabaseSpec,
    rows: u32,
    /// Pages of the schema and of the first table.
    pages: u32,
    all_pages: u32,
}

/// CPU nanoseconds of one operation each.
#[derive(Clone, Copy, Debug)]
pub struct LogTimes {
    /// Of a page that is written over one of a log that has its full size.
    pub write: f64,
    /// Of a page that is appended to a log.
    pub append: f64,
    /// Of a transaction that reads a row from SQLite's cache.
    pub transaction: f64,
    /// Of a commit, without its page and its beginning.
    pub commit: f64,
    /// Of a page that is read from the log.
    pub read: f64,
    /// Of a page that is checkpointed.
    pub checkpoint: f64,
}

/// CPU nanoseconds of one operation in rollback mode each.
pub struct RollbackTimes {
    /// Of a page that is written, to the journal or to the database.
    pub write: f64,
    /// Of a transaction that reads a row from SQLite's cache.
    pub transaction: f64,
    /// Of a commit, without its pages and its beginning.
    pub commit: f64,
}

/// A mix of operations.
pub struct MixTimes {
    /// CPU nanoseconds of all of it.
    pub ns: f64,
    /// Its operations, where they are counted.
    pub load: Option<Load>,
}

impl ArmDatabase {
    /// How a database is made and opened; `suite` is none for one in clear.
    pub fn spec_of(path: &Path, key_file: &Path, suite: Option<Suite>, page_size: u32) -> DatabaseSpec {
        let settings = suite.map(|_| ("pool_size".to_owned(), "0".to_owned()));
        DatabaseSpec {
            path: path.to_owned(),
            cipher: suite.map_or(PLAIN, Suite::name).to_owned(),
            key_file: key_file.to_owned(),
            settings: settings.into_iter().collect::<BTreeMap<_, _>>(),
            page_size,
            cache_kib: CACHE_KIB,
            journal_mode: "wal".to_owned(),
            synchronous: "normal".to_owned(),
        }
    }

    /// Makes a database of `rows` rows.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn create(spec: DatabaseSpec, rows: u32) -> Result<Self, WorkerError> {
        let page_size = spec.page_size;
        // Nothing is measured yet, so nothing has to be on the disk.
        let connection = Native.create(&DatabaseSpec {
            synchronous: "off".to_owned(),
            ..spec.clone()
        })?;
        connection
            .execute_batch("CREATE TABLE t(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, body BLOB NOT NULL)")?;
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
             INSERT INTO t SELECT i, 1000, randomblob(?2) FROM n",
            // A row of three quarters of a page has a page of its own.
            (rows, page_size / 4 * 3),
        )?;
        if spec.journal_mode == "wal" {
            layout::checkpoint(&connection)?;
        }
        let pages = layout::page_count(&connection)?;
        connection.execute_batch(OTHER_TABLE)?;
        if spec.journal_mode == "wal" {
            layout::checkpoint(&connection)?;
        }
        let all_pages = layout::page_count(&connection)?;
        close(connection)?;
        cache_as_read(&spec.path)?;
        let pages = u32::try_from(pages).unwrap_or(u32::MAX);
        // The schema, the root, and a few inner pages.
        if pages <= rows || pages - rows > rows / INNER_SHARE_MAX + INNER_PAGES_MIN {
            return Err(WorkerError::Wrong(format!("{rows} rows are on {pages} pages")));
        }
        let all_pages = u32::try_from(all_pages).unwrap_or(u32::MAX);
        Ok(Self {
            spec,
            rows,
            pages,
            all_pages,
        })
    }

    /// The number of pages that have no row: the schema and the inner pages.
    #[must_use]
    pub fn inner_pages(&self) -> u32 {
        self.pages - self.rows
    }

    /// How it is opened.
    #[must_use]
    pub fn spec(&self) -> &DatabaseSpec {
        &self.spec
    }

    /// Reads all pages of the table in their order.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn read_sequential(&self) -> Result<f64, WorkerError> {
        let connection = Native.open(&self.spec)?;
        // The copy of a substring reads all bytes of a page at the speed of memory.
        let mut statement = connection.prepare("SELECT sum(stamp) FROM t WHERE length(substr(body, 2)) > 0")?;
        let part = WorkTimer::start();
        let sum: i64 = statement.query_row([], |row| row.get(0))?;
        let ns = mean_ns(part, self.pages - 1);
        drop(statement);
        close(connection)?;
        if sum < i64::from(self.rows) * 1000 {
            return Err(WorkerError::Wrong(format!("the sum over {} rows is {sum}", self.rows)));
        }
        ns
    }

    /// Reads rows by their key, each once, in random order, in one transaction.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn read_random(&self, random: &mut ChaCha20Rng) -> Result<f64, WorkerError> {
        let count = self.rows.min(READS);
        let ids = self.draw(count, random);
        let connection = Native.open(&self.spec)?;
        let mut statement = connection.prepare("SELECT stamp FROM t WHERE id = ?1")?;
        connection.execute_batch("BEGIN")?;
        let mut other = OtherWork::new(&connection, random)?;
        let each = other.among(&ids, &mut |id| statement.query_row([id], |_| Ok(())))?;
        // Inner pages are read once; the schema was read before.
        let ns = each * f64::from(count) / f64::from(count + self.pages - self.rows - 1);
        connection.execute_batch("COMMIT")?;
        drop((statement, other));
        close(connection)?;
        Ok(ns)
    }

    /// Changes pages that are in SQLite's cache in one transaction, reads some of them in a
    /// transaction each, changes them in a transaction each, reads all of them with an empty cache, and checkpoints
    /// the log.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn write(&self, random: &mut ChaCha20Rng) -> Result<LogTimes, WorkerError> {
        let count = (WRITTEN_BYTES / self.spec.page_size).min(self.rows);
        let commits = count.min(COMMITS);
        let ids = self.draw(count, random);
        let connection = Native.open(&self.spec)?;
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
        let mut read = connection.prepare("SELECT stamp FROM t WHERE id = ?1")?;
        let mut change = connection.prepare("UPDATE t SET stamp = stamp + 1 WHERE id = ?1")?;
        for id in &ids {
            read.query_row([id], |_| Ok(()))?;
        }
        let changed: Vec<u32> = ids.iter().copied().take(commits as usize).collect();
        let mut other = OtherWork::new(&connection, random)?;
        let change_all = |other: &mut OtherWork<'_>, change: &mut Statement<'_>| -> Result<f64, WorkerError> {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let changes = other.among(&ids, &mut |id| change.execute([id]).map(drop))?;
            let part = WorkTimer::start();
            connection.execute_batch("COMMIT")?;
            Ok(changes + mean_ns(part, count)?)
        };
        let append = change_all(&mut other, &mut change)?;
        // log-overwritten.
        change_all(&mut other, &mut change)?;
        for id in &changed {
            change.execute([id])?;
        }
        checkpoint_all(&connection)?;
        let write = (change_all(&mut other, &mut change)? + change_all(&mut other, &mut change)?) / 2.0;
        let asked: Vec<u32> = ids.iter().copied().cycle().take(TRANSACTIONS).collect();
        let transaction = other.among(&asked, &mut |id| read.query_row([id], |_| Ok(())))?;
        let commit = other.among(&changed, &mut |id| change.execute([id]).map(drop))? - write - transaction;
        drop((read, change, other));
        let logged = self.read_from_log(&ids, random)?;
        let part = WorkTimer::start();
        checkpoint_all(&connection)?;
        let checkpoint = mean_ns(part, count)?;
        close(connection)?;
        Ok(LogTimes {
            write,
            append,
            transaction,
            commit,
            read: logged,
            checkpoint,
        })
    }

    /// Reads rows whose pages are in the log, each once, in one transaction of a connection of its own.
    fn read_from_log(&self, ids: &[u32], random: &mut ChaCha20Rng) -> Result<f64, WorkerError> {
        let connection = Native.open(&self.spec)?;
        let mut statement = connection.prepare("SELECT stamp FROM t WHERE id = ?1")?;
        connection.execute_batch("BEGIN")?;
        let mut other = OtherWork::new(&connection, random)?;
        // Inner pages are in the database. After a quarter of the rows they are in SQLite's cache.
        let (first, rest) = ids.split_at(ids.len() / 4);
        for id in first {
            statement.query_row([id], |_| Ok(()))?;
        }
        let ns = other.among(rest, &mut |id| statement.query_row([id], |_| Ok(())))?;
        connection.execute_batch("COMMIT")?;
        drop((statement, other));
        close(connection)?;
        Ok(ns)
    }

    /// Changes rows that are in SQLite's cache, and reads one, in rollback mode.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn write_in_rollback_mode(&self, random: &mut ChaCha20Rng) -> Result<RollbackTimes, WorkerError> {
        let ids = self.draw(PAGES_FEW + PAGES_MANY, random);
        let connection = Native.open(&self.spec)?;
        connection.execute_batch("PRAGMA journal_mode = delete")?;
        let mut read = connection.prepare("SELECT stamp FROM t WHERE id = ?1")?;
        let mut change = connection.prepare("UPDATE t SET stamp = stamp + 1 WHERE id = ?1")?;
        let (few, many) = ids.split_at(ids.len().min(PAGES_FEW as usize));
        for id in &ids {
            read.query_row([id], |_| Ok(()))?;
        }
        let mut cost = |ids: &[u32]| -> Result<f64, WorkerError> {
            let part = WorkTimer::start();
            for _ in 0..ROLLBACK_COMMITS {
                connection.execute_batch("BEGIN")?;
                for id in ids {
                    change.execute([id])?;
                }
                connection.execute_batch("COMMIT")?;
            }
            mean_ns(part, ROLLBACK_COMMITS)
        };
        let (few_ns, many_ns) = (cost(few)?, cost(many)?);
        // Each is written to the journal and to the database.
        let page_ns = (many_ns - few_ns) / f64::from(PAGES_MANY - PAGES_FEW) / 2.0;
        let mut other = OtherWork::new(&connection, random)?;
        let asked: Vec<u32> = ids.iter().copied().cycle().take(TRANSACTIONS).collect();
        let transaction = other.among(&asked, &mut |id| read.query_row([id], |_| Ok(())))?;
        drop((read, change, other));
        connection.execute_batch("PRAGMA journal_mode = wal")?;
        close(connection)?;
        Ok(RollbackTimes {
            write: page_ns,
            transaction,
            commit: few_ns - transaction - page_ns * 2.0 * f64::from(PAGES_FEW),
        })
    }

    /// Reads and changes rows in random order, most of them not in SQLite's cache, in a transaction each, and copies the
    /// log to the database. `seed` draws the rows: with the same one, databases of all arms do the same.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn mix(&self, seed: u64) -> Result<MixTimes, WorkerError> {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let connection = Native.open(&self.spec)?;
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
        let mut statements = MixStatements::new(&connection)?;
        // log-overwritten.
        statements.run(&self.draw_mix(&mut random))?;
        checkpoint_all(&connection)?;
        let rows = self.draw_mix(&mut random);
        let before = Native.file_counts(&connection, &self.spec)?;
        let part = WorkTimer::start();
        statements.run(&rows)?;
        checkpoint_all(&connection)?;
        let ns = mean_ns(part, 1)?;
        let after = Native.file_counts(&connection, &self.spec)?;
        drop(statements);
        close(connection)?;
        let load = match (before, after) {
            (Some(before), Some(after)) => Some(load_between(&before, &after)?),
            (None, _) | (_, None) => None,
        };
        Ok(MixTimes { ns, load })
    }

    /// Pairs of a row of each table.
    fn draw_mix(&self, random: &mut ChaCha20Rng) -> Vec<(u32, u32)> {
        (0..MIXED)
            .map(|_| (random.random_range(1..=self.rows), random.random_range(1..=OTHER_ROWS)))
            .collect()
    }

    /// Opens the database, reads a row and closes it, again and again.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn open(&self) -> Result<f64, WorkerError> {
        let part = WorkTimer::start();
        for _ in 0..OPENS {
            let connection = Native.connect(&self.spec)?;
            connection.query_row("SELECT stamp FROM t WHERE id = 1", [], |_| Ok(()))?;
            close(connection)?;
        }
        mean_ns(part, OPENS)
    }

    /// Copies all pages to a new database of the same arm, by SQLite's online backup.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    pub fn back_up(&self) -> Result<f64, WorkerError> {
        let target = DatabaseSpec {
            path: self.spec.path.with_extension("backup"),
            // In a write-ahead log every page would be written twice.
            journal_mode: "delete".to_owned(),
            synchronous: "off".to_owned(),
            ..self.spec.clone()
        };
        let source = Native.open(&self.spec)?;
        let mut copy = Native.create(&target)?;
        let part = WorkTimer::start();
        let backup = Backup::new(&source, &mut copy)?;
        let step = backup.step(-1)?;
        let ns = mean_ns(part, self.all_pages);
        drop(backup);
        close(copy)?;
        close(source)?;
        std::fs::remove_file(&target.path).map_err(WorkerError::io("remove", &target.path))?;
        if step != StepResult::Done {
            return Err(WorkerError::Wrong(format!("the backup stopped: {step:?}")));
        }
        ns
    }

    /// Random keys of `count` rows.
    fn draw(&self, count: u32, random: &mut ChaCha20Rng) -> Vec<u32> {
        let mut ids: Vec<u32> = (1..=self.rows).collect();
        ids.shuffle(random);
        ids.truncate(count as usize);
        ids
    }
}

/// among-other-work: statements between the operations that are measured.
struct OtherWork<'a> {
    statement: Statement<'a>,
    codes: Vec<u32>,
}

impl<'a> OtherWork<'a> {
    /// Its table is in SQLite's cache afterwards.
    fn new(connection: &'a Connection, random: &mut ChaCha20Rng) -> Result<Self, WorkerError> {
        let mut codes: Vec<u32> = (1..=OTHER_ROWS).collect();
        codes.shuffle(random);
        let mut statement = connection.prepare("SELECT text FROM other WHERE code = ?1")?;
        for code in &codes {
            statement.query_row([code], |_| Ok(()))?;
        }
        Ok(Self { statement, codes })
    }

    /// The CPU nanoseconds of each call of `operation`: those of calls with statements between them, less those of the
    /// statements alone.
    fn among(
        &mut self,
        ids: &[u32],
        operation: &mut dyn FnMut(u32) -> Result<(), rusqlite::Error>,
    ) -> Result<f64, WorkerError> {
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let part = WorkTimer::start();
        for code in self.codes.iter().cycle().take(ids.len()) {
            self.statement.query_row([code], |_| Ok(()))?;
        }
        let alone = mean_ns(part, count)?;
        let part = WorkTimer::start();
        for (id, code) in ids.iter().zip(self.codes.iter().cycle()) {
            self.statement.query_row([code], |_| Ok(()))?;
            operation(*id)?;
        }
        Ok(mean_ns(part, count)? - alone)
    }
}

/// The statements of a mix.
struct MixStatements<'a> {
    connection: &'a Connection,
    read: Statement<'a>,
    read_other: Statement<'a>,
    change: Statement<'a>,
    change_other: Statement<'a>,
}

impl<'a> MixStatements<'a> {
    fn new(connection: &'a Connection) -> Result<Self, WorkerError> {
        Ok(Self {
            connection,
            read: connection.prepare("SELECT stamp FROM t WHERE id = ?1")?,
            read_other: connection.prepare("SELECT text FROM other WHERE code = ?1")?,
            change: connection.prepare("UPDATE t SET stamp = stamp + 1 WHERE id = ?1")?,
            change_other: connection.prepare("UPDATE other SET text = printf('%080d', id + 1) WHERE code = ?1")?,
        })
    }

    /// By turns: a row is read, another one is read, one is changed, one of each table is changed together.
    fn run(&mut self, rows: &[(u32, u32)]) -> Result<(), WorkerError> {
        for turn in rows.chunks(MIX_TURN) {
            for (id, code) in turn.iter().take(MIX_TURN / 2) {
                self.read.query_row([id], |_| Ok(()))?;
                self.read_other.query_row([code], |_| Ok(()))?;
            }
            for (id, _) in turn.iter().skip(MIX_TURN / 2).take(1) {
                self.change.execute([id])?;
            }
            for (id, code) in turn.iter().skip(MIX_TURN / 2 + 1) {
                self.connection.execute_batch("BEGIN IMMEDIATE")?;
                self.change.execute([id])?;
                self.change_other.execute([code])?;
                self.connection.execute_batch("COMMIT")?;
            }
        }
        Ok(())
    }
}

/// The operations between two snapshots of the counts of files.
fn load_between(before: &str, after: &str) -> Result<Load, WorkerError> {
    let wrong = |error: PlanError| WorkerError::Wrong(error.to_string());
    let text = |text| SnapshotText { name: "counts", text };
    let observed = sqlite::observe(&[text(before), text(after)], &Supplement::default()).map_err(wrong)?;
    match observed.intervals.first() {
        Some(interval) => Ok(interval.load.clone()),
        None => Err(WorkerError::Wrong("no calls were counted".to_owned())),
    }
}

/// Replaces a closed database by a copy, which is written in large pieces, and reads it.
fn cache_as_read(path: &Path) -> Result<(), WorkerError> {
    let copy = path.with_extension("copy");
    std::fs::copy(path, &copy).map_err(WorkerError::io("write", &copy))?;
    std::fs::rename(&copy, path).map_err(WorkerError::io("write", path))?;
    // Where copies share their blocks, they are not in the cache yet.
    let mut file = std::fs::File::open(path).map_err(WorkerError::io("open", path))?;
    std::io::copy(&mut file, &mut std::io::sink()).map_err(WorkerError::io("read", path))?;
    Ok(())
}

/// Copies all of the log to the database, as SQLite's own checkpoints do: the log keeps its size.
pub(crate) fn checkpoint_all(connection: &Connection) -> Result<(), WorkerError> {
    let counts = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    let (logged, copied) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], counts)?;
    match logged == copied {
        true => Ok(()),
        false => Err(WorkerError::Wrong(format!(
            "{copied} of {logged} pages were checkpointed"
        ))),
    }
}

/// CPU nanoseconds of one of `count` operations.
pub(super) fn mean_ns(part: WorkTimer, count: u32) -> Result<f64, WorkerError> {
    let (_, cpu_ns) = part.stop();
    let cpu_ns = u32::try_from(cpu_ns).map_err(|_| WorkerError::Wrong("a block took four seconds".to_owned()))?;
    Ok(f64::from(cpu_ns) / f64::from(count.max(1)))
}

pub(crate) fn close(connection: Connection) -> Result<(), WorkerError> {
    connection.close().map_err(|(_, error)| error.into())
}

/// A table of a few hundred KiB with an index.
const OTHER_TABLE: &str = "\
CREATE TABLE other(id INTEGER PRIMARY KEY, code INTEGER NOT NULL UNIQUE, text TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
INSERT INTO other SELECT i, i * 1597 % 4001, printf('%080d', i) FROM n;";
/// Its rows; their codes are the numbers from 1 on, in another order.
const OTHER_ROWS: u32 = 4000;
/// SQLite's own default: 2 MB.
const CACHE_KIB: u32 = 2000;
/// Bytes of the pages that are changed: half of the cache.
const WRITTEN_BYTES: u32 = 1 << 20;
/// Reads of a block, if there are as many rows.
const READS: u32 = 512;
/// Commits of a block: as many as pages of 4 KiB that are changed. Of fewer, their mean differs by a microsecond between
/// sessions.
const COMMITS: u32 = 256;
/// Transactions of a block that only read: encryption adds a tenth to each.
const TRANSACTIONS: usize = 1024;
/// Commits of a block in rollback mode, with so many pages each: the difference is the cost of a page.
const ROLLBACK_COMMITS: u32 = 8;
const PAGES_FEW: u32 = 1;
const PAGES_MANY: u32 = 9;
/// Transactions of a mix, and how many are one of each kind.
const MIXED: u32 = 1024;
const MIX_TURN: usize = 4;
/// A block of about 2 ms.
const OPENS: u32 = 12;
/// An inner page has hundreds of children.
const INNER_SHARE_MAX: u32 = 50;
/// The schema and the root, and one more.
const INNER_PAGES_MIN: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// Misses by construction: as many pages are read from the file as operations are counted.
    #[test]
    fn as_many_pages_are_read_as_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        for page_size in [4096, 16_384] {
            let path = folder.path().join(format!("{page_size}.db"));
            let spec = ArmDatabase::spec_of(&path, &key, None, page_size);
            let database = ArmDatabase::create(spec, (1 << 20) / page_size).unwrap();
            let connection = Native.open(&database.spec).unwrap();
            let mut statement = connection.prepare("SELECT sum(stamp) FROM t").unwrap();
            let meter = selenite_worker::meter::Meter::start(None).unwrap();
            statement.query_row([], |_| Ok(())).unwrap();
            let sample = meter.stop().unwrap().sample(None);
            // Other tests of this process read, too.
            assert!(sample.read_calls >= u64::from(database.pages - 1), "{sample:?}");
            assert!(database.pages > 1 << 20 >> page_size.ilog2());
        }
    }

    #[test]
    fn every_operation_of_every_suite_takes_time() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        let mut random = ChaCha20Rng::seed_from_u64(1);
        for suite in [None, Some(Suite::Aes256), Some(Suite::TripleDes3Key)] {
            let path = folder.path().join(suite.map_or("plain", Suite::name));
            let spec = ArmDatabase::spec_of(&path, &key, suite, 4096);
            let database = ArmDatabase::create(spec, (1 << 19) / 4096).unwrap();
            let log = database.write(&mut random).unwrap();
            for ns in [
                database.read_sequential().unwrap(),
                database.open().unwrap(),
                database.back_up().unwrap(),
                log.checkpoint,
            ] {
                assert!(ns > 0.0, "{suite:?}");
            }
            // Differences of two times: beside other tests the second one may be the longer one.
            let read_random = database.read_random(&mut random).unwrap();
            for ns in [
                read_random,
                log.write,
                log.append,
                log.commit,
                log.transaction,
                log.read,
            ] {
                assert!(ns.is_finite(), "{suite:?}");
            }
            let mix = database.mix(5).unwrap();
            assert!(mix.ns > 0.0 && mix.load.is_none(), "{suite:?}");
            let rollback = database.write_in_rollback_mode(&mut random).unwrap();
            assert!(rollback.write.is_finite() && rollback.commit.is_finite() && rollback.transaction.is_finite());
        }
        let names = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 4);
    }
}
