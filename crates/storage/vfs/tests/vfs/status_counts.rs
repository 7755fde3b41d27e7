//! The counts in `selenite_status` after work with a known result.

use std::collections::BTreeMap;

use rusqlite::Connection;
use selenite_testing::disk::DiskGuard;
use selenite_testing::{Call, Disk, KeyFile, Opening, own_process};
use selenite_vfs::role::Role;

const PAGE_SIZE: usize = 1024;
const ROWS: i64 = 300;

struct Fixture {
    disk: std::sync::Arc<Disk>,
    opening: Opening,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

type Figures = BTreeMap<String, i64>;

impl Fixture {
    fn new(pool_size: &str) -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        Self {
            opening: Opening::encrypted("/figures/main.db", &key)
                .with("page_size", &PAGE_SIZE.to_string())
                .with("pool_size", pool_size),
            disk,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    /// A table with one page per row, all of them in the database and none in the log.
    fn filled(&self) -> Connection {
        let connection = self.connect();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = wal; CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
                 INSERT INTO t SELECT i, 0, zeroblob(700) FROM n; PRAGMA wal_checkpoint(truncate)"
            ))
            .unwrap();
        connection
    }

    fn connect(&self) -> Connection {
        let connection = self.opening.connect().unwrap();
        connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        connection
    }

    fn calls(&self, call: Call, role: Role) -> Vec<usize> {
        let calls = self.disk.calls().into_iter();
        let wanted = calls.filter(|record| (record.call, record.role) == (call, role));
        wanted.map(|record| record.size).collect()
    }
}

fn figures(connection: &Connection) -> Figures {
    let mut select = connection
        .prepare("SELECT section || '.' || name, value FROM selenite_status WHERE typeof(value) = 'integer'")
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// The increase of each count caused by a piece of work.
fn raised(connection: &Connection, work: impl FnOnce()) -> impl Fn(&str) -> i64 {
    let before = figures(connection);
    work();
    let after = figures(connection);
    move |name| after[name] - before[name]
}

fn scan(connection: &Connection) {
    let sum: i64 = connection
        .query_row("SELECT sum(length(body)) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sum, 700 * ROWS);
}

/// Three rows on three pages, no index, and page 1 as it was: three frames, and one write.
#[test]
fn commits_of_three_frames_are_one_write_each() {
    own_process!();
    let fixture = Fixture::new("0");
    let connection = fixture.filled();
    connection
        .execute_batch("UPDATE t SET version = 0 WHERE id = 1")
        .unwrap();
    fixture.disk.watch();
    let raised = raised(&connection, || {
        for number in 0..20 {
            let first = number * 9 + 1;
            let ids = [first, first + 3, first + 6];
            let sql = "UPDATE t SET version = version + 1 WHERE id IN (?1, ?2, ?3)";
            assert_eq!(connection.execute(sql, ids).unwrap(), 3);
        }
    });
    assert_eq!((raised("wal.frames_written"), raised("wal.writes")), (60, 20));
    assert_eq!(raised("wal.pages_sealed"), 60);
    let writes = fixture.calls(Call::Write, Role::Wal);
    assert_eq!(writes[0], 32, "the header of a log that begins");
    assert_eq!(writes[1..], [3 * (24 + PAGE_SIZE); 20]);
}

/// Sixty pages were changed twice: a checkpoint copies the newest image of each, and seals none.
#[test]
fn a_checkpoint_carries_each_changed_page_once() {
    own_process!();
    let fixture = Fixture::new("0");
    let connection = fixture.filled();
    for _ in 0..2 {
        let sql = "UPDATE t SET version = version + 1 WHERE id % 5 = 0";
        assert_eq!(connection.execute(sql, []).unwrap(), 60);
    }
    fixture.disk.watch();
    let raised = raised(&connection, || {
        let sql = "PRAGMA wal_checkpoint(passive)";
        let copied: (i64, i64) = connection
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(2)?)))
            .unwrap();
        assert_eq!(copied, (0, 120));
    });
    assert_eq!(
        (raised("database.pages_carried"), raised("database.pages_sealed")),
        (60, 0)
    );
    assert_eq!(raised("wal.pages_opened"), 60);
    assert_eq!(fixture.calls(Call::Write, Role::Main), [PAGE_SIZE; 60]);
}

/// Pages read ahead were used or wasted, and the others were read separately.
#[test]
fn pages_read_ahead_are_counted_as_used_or_wasted() {
    own_process!();
    let fixture = Fixture::new("0");
    drop(fixture.filled());
    let connection = fixture.connect();
    fixture.disk.watch();
    let whole = raised(&connection, || scan(&connection));
    let reads = fixture.calls(Call::Read, Role::Main);
    let ahead: usize = reads
        .iter()
        .filter(|size| **size > PAGE_SIZE)
        .map(|size| size / PAGE_SIZE)
        .sum();
    let used = whole("database.read_ahead_used");
    let sum = used + whole("database.read_ahead_wasted");
    assert_eq!(sum, i64::try_from(ahead).unwrap(), "{reads:?}");
    assert!(used >= ROWS - 10 && sum - used < 20, "{used} used of {sum}");

    let part = raised(&connection, || {
        let sql = "SELECT sum(length(body)) FROM t WHERE id < 100";
        let sum: i64 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(sum, 99 * 700);
    });
    let (used, wasted) = (part("database.read_ahead_used"), part("database.read_ahead_wasted"));
    assert!(
        (60..=100).contains(&used) && wasted > 0 && wasted <= 256,
        "{used} used, {wasted} wasted"
    );

    let random = raised(&connection, || {
        for number in 0..50 {
            let sql = "SELECT version FROM t WHERE id = ?1";
            let version: i64 = connection
                .query_row(sql, [number * 173 % ROWS + 1], |row| row.get(0))
                .unwrap();
            assert_eq!(version, 0);
        }
    });
    assert_eq!(
        (random("database.read_ahead_used"), random("database.read_ahead_wasted")),
        (0, 0)
    );
}

/// Every lookup in the pool is a hit or a miss; a page that was not there was opened.
#[test]
fn pages_looked_for_in_the_pool_are_counted_as_found_or_not() {
    own_process!();
    let fixture = Fixture::new("4M");
    drop(fixture.filled());
    let connections = [fixture.connect(), fixture.connect()];
    for round in 0..6 {
        let connection = &connections[round % 2];
        let raised = raised(connection, || scan(connection));
        let (hits, misses) = (raised("pool.hits"), raised("pool.misses"));
        assert!(hits + misses >= ROWS, "round {round}: {hits} hits, {misses} misses");
        let opened = raised("database.pages_opened");
        assert!(
            opened >= misses && opened <= misses + 2,
            "round {round}: {opened} opened, {misses} misses"
        );
        assert!(hits == 0 || round > 0, "nothing was there before");
        assert!(misses < 4 || round < 4, "round {round}: {misses} misses");
    }
    let now = figures(&connections[0]);
    assert!(now["pool.bytes"] > ROWS * 1024 && now["pool.bytes"] <= now["pool.limit"]);
    assert_eq!(now["pool.limit"], 4 << 20);
}

/// Without any work the counts do not change.
#[test]
fn no_figure_moves_by_itself() {
    own_process!();
    let fixture = Fixture::new("4M");
    let connection = fixture.filled();
    scan(&connection);
    assert_eq!(figures(&connection), figures(&connection));
}
