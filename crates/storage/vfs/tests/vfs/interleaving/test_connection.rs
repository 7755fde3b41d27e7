//! Connections to one database, in which every row has the version of the last commit.

use std::cell::Cell;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, params};
use selenite_testing::disk::DiskGuard;
use selenite_testing::random::seed_of;
use selenite_testing::{Disk, KeyFile, Opening, Random};

/// Each row has a page of 1 KiB.
const ROWS: i64 = 64;
const BODY_SIZE: usize = 700;

pub struct Fixture {
    opening: Opening,
    counter: Connection,
    before: Counts,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

/// Pool hits, and pages that were read ahead and used.
type Counts = (i64, i64);

/// A connection.
pub struct TestConnection {
    connection: Connection,
    /// The version of the snapshot that is held.
    version: Cell<Option<i64>>,
    /// The version that was read last.
    seen: Cell<i64>,
    /// The versions that were written last, and committed last.
    written: Cell<i64>,
    committed: Cell<i64>,
}

fn body(row: i64, version: i64) -> Vec<u8> {
    let seed = seed_of(&[row.unsigned_abs(), version.unsigned_abs()]);
    Random::new(seed).bytes(BODY_SIZE)
}

pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

impl Fixture {
    pub fn new(mode: &str, pool_size: &str) -> Self {
        let disk: Arc<Disk> = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/between/main.db", &key)
            .with("page_size", "1024")
            .with("pool_size", pool_size);
        let counter = opening.connect().unwrap();
        counter
            .execute_batch(&format!(
                "PRAGMA journal_mode = {mode}; CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                 CREATE TABLE note(number INTEGER); INSERT INTO note VALUES(0)"
            ))
            .unwrap();
        for row in 1..=ROWS {
            let insert = "INSERT INTO t VALUES(?1, 0, ?2)";
            counter.execute(insert, params![row, body(row, 0)]).unwrap();
        }
        let before = counts(&counter);
        Self {
            opening,
            counter,
            before,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    /// A connection of this process.
    pub fn connect(&self) -> TestConnection {
        TestConnection::new(&self.opening)
    }

    /// A connection that acts as another process.
    pub fn foreign(&self) -> TestConnection {
        TestConnection::new(&self.opening.clone().with("plain", "allow"))
    }

    /// Pool hits and used read-ahead since the beginning.
    pub fn counts(&self) -> Counts {
        let now = counts(&self.counter);
        (now.0 - self.before.0, now.1 - self.before.1)
    }

    /// Checks that readers used pool and read-ahead: otherwise the test would prove nothing.
    pub fn assert_used(&self, is_pooled: bool) {
        let (hits, ahead) = self.counts();
        assert!(
            ahead > if is_pooled { 50 } else { 100 },
            "{ahead} pages were read ahead"
        );
        assert_eq!(hits > 100, is_pooled, "{hits} hits");
    }
}

fn counts(connection: &Connection) -> Counts {
    let value = |section: &str, name: &str| {
        let sql = "SELECT value FROM selenite_status WHERE section = ?1 AND name = ?2";
        connection.query_row(sql, [section, name], |row| row.get(0)).unwrap()
    };
    (value("pool", "hits"), value("database", "read_ahead_used"))
}

impl TestConnection {
    fn new(opening: &Opening) -> Self {
        let connection = opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        Self {
            connection,
            version: Cell::new(None),
            seen: Cell::new(0),
            written: Cell::new(0),
            committed: Cell::new(0),
        }
    }

    /// Sets every row to the next version, in one transaction.
    pub fn commit(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = self.write().and_then(|()| self.connection.execute_batch("COMMIT"));
        if done.is_err() {
            let _ = self.connection.execute_batch("ROLLBACK");
        } else {
            self.committed.set(self.written.get());
        }
        done
    }

    fn write(&self) -> rusqlite::Result<()> {
        let select = "SELECT max(version) + 1 FROM t";
        let version: i64 = self.connection.query_row(select, [], |row| row.get(0))?;
        let mut update = self
            .connection
            .prepare_cached("UPDATE t SET version = ?2, body = ?3 WHERE id = ?1")?;
        (1..=ROWS).try_for_each(|row| update.execute(params![row, version, body(row, version)]).map(drop))?;
        self.written.set(version);
        Ok(())
    }

    /// From now on this connection must see the commits of `other`.
    pub fn must_see(&self, other: &Self) {
        self.seen.set(self.seen.get().max(other.committed.get()));
    }

    /// Commits a change of another table.
    pub fn touch(&self) {
        self.connection
            .execute_batch("UPDATE note SET number = number + 1")
            .unwrap();
    }

    pub fn checkpoint(&self, kind: &str) -> rusqlite::Result<()> {
        let sql = format!("PRAGMA wal_checkpoint({kind})");
        self.connection.query_row(&sql, [], |_| Ok(()))
    }

    /// Reads some rows, which must all have the same version, and returns it.
    fn look(&self, first: i64, last: i64, order: &str) -> rusqlite::Result<i64> {
        let sql = format!("SELECT id, version, body FROM t WHERE id BETWEEN ?1 AND ?2 ORDER BY id {order}");
        let mut select = self.connection.prepare_cached(&sql)?;
        let rows = select.query_map([first, last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<(i64, i64, Vec<u8>)>>>()?;
        assert_eq!(
            i64::try_from(rows.len()).unwrap(),
            last - first + 1,
            "stale: rows are missing"
        );
        let version = rows[0].1;
        for (id, other, found) in rows {
            assert_eq!(other, version, "stale: row {id} beside {version}");
            assert_eq!(found, body(id, version), "stale: row {id} of version {version}");
        }
        let snapshot = self.version.get().unwrap_or(version);
        assert_eq!(version, snapshot, "stale: rows of another version than the snapshot");
        Ok(version)
    }

    /// Reads in one transaction: forwards, backwards, and single rows.
    fn try_read_all(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN")?;
        let seen = self.look(1, ROWS, "ASC").and_then(|version| {
            self.version.set(Some(version));
            self.look(ROWS / 2, ROWS, "DESC")?;
            (0..6).try_for_each(|number| {
                self.look(number * 31 % ROWS + 1, number * 31 % ROWS + 1, "ASC")
                    .map(drop)
            })?;
            Ok(version)
        });
        self.version.set(None);
        self.connection.execute_batch("COMMIT")?;
        let version = seen?;
        assert!(version >= self.seen.get(), "stale: {version} after {}", self.seen.get());
        self.seen.set(version);
        Ok(())
    }

    pub fn read_all(&self) {
        self.try_read_all().unwrap();
    }

    /// Reads all rows; a lock may prevent it, and then nothing was read.
    pub fn read_all_unless_busy(&self) {
        if let Err(error) = self.try_read_all() {
            assert!(is_busy(&error), "{error}");
        }
    }

    /// Begins to hold a snapshot.
    pub fn begin(&self) {
        assert!(self.begin_or_busy());
    }

    /// Begins to hold a snapshot; returns whether it could.
    pub fn begin_or_busy(&self) -> bool {
        self.connection.execute_batch("BEGIN").unwrap();
        match self.look(1, 12, "ASC") {
            Ok(version) => {
                self.version.set(Some(version));
                true
            }
            Err(error) => {
                assert!(is_busy(&error), "{error}");
                self.connection.execute_batch("ROLLBACK").unwrap();
                false
            }
        }
    }

    /// Continues reading in the snapshot: a third of all rows, including pages read ahead with the
    /// previous third.
    pub fn read_from(&self, part: i64) {
        let first = part * ROWS / 3 + 1;
        self.look(first, (first + ROWS / 3).min(ROWS), "ASC").unwrap();
        self.look(1, ROWS / 3, "DESC").unwrap();
    }

    /// Ends the snapshot, if there is one.
    pub fn end(&self) {
        if self.version.take().is_some() {
            self.connection.execute_batch("COMMIT").unwrap();
        }
    }
}
