//! The memory and threads that a process with open databases uses, compared with stock SQLite.
//!
//! Without a thread, a timer or a signal handler of its own the library runs only when SQLite calls
//! it: an idle process uses no processor time.

use std::sync::{Barrier, Mutex, OnceLock, PoisonError};

use rusqlite::{Connection, OpenFlags};
use selenite_testing::KeyFile;
use selenite_testing::own_process::test_command;

/// The environment variable that selects a child's work.
const CHILD: &str = "SELENITE_TEST_FOOTPRINT";

const MIB: u64 = 1 << 20;
const POOL_SIZE: u64 = 4 * MIB;
/// The maximal additional memory of a process compared with stock SQLite, without the pool.
const PROCESS_SIZE: u64 = 2 * MIB;
/// The maximal additional memory of each active connection: 1.25 MiB.
const CONNECTION_SIZE: u64 = 5 * MIB / 4;
const MARK: &str = "footprint: ";

fn run(kind: &str, connection_count: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let key = KeyFile::new(1);
    let path = folder.path().join("main.db");
    let words = [
        kind,
        &connection_count.to_string(),
        &path.to_string_lossy(),
        &key.spec(),
    ]
    .join("\n");
    let output = test_command("footprint::child").env(CHILD, words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let number = said.lines().find_map(|line| line.split_once(MARK)).unwrap().1;
    number.parse().unwrap()
}

#[test]
fn memory_stays_within_what_is_promised() {
    for count in [1, 8] {
        let stock = run("stock", count);
        let sealed = run("sealed", count);
        // musl's allocator rounds up more.
        let rounding = if cfg!(target_env = "musl") { MIB / 2 } else { 0 };
        let allowed = rounding + stock + POOL_SIZE + PROCESS_SIZE + CONNECTION_SIZE * u64::try_from(count).unwrap();
        println!(
            "{count} connections: {} KiB, stock {} KiB, allowed {} KiB",
            sealed >> 10,
            stock >> 10,
            allowed >> 10
        );
        assert!(sealed <= allowed, "{count} connections");
        // Without work the figures would be meaningless.
        assert!(stock > 2 * MIB && sealed > stock + POOL_SIZE / 2, "{count} connections");
    }
}

#[test]
fn open_databases_start_no_thread() {
    assert_eq!(run("threads", 4), 0);
}

#[test]
fn child() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let [kind, count, path, spec] = words[..] else {
        panic!("four words");
    };
    let count: usize = count.parse().unwrap();
    let open = || match kind {
        "stock" => open_stock(path),
        _ => open_sealed(path, spec),
    };
    let figure = if kind == "threads" {
        let before = thread_count();
        let connections: Vec<Connection> = (0..count).map(|_| open()).collect();
        create(&connections[0]);
        connections.iter().for_each(|connection| work(connection, 1));
        thread_count() - before
    } else {
        create(&open());
        work_side_by_side(&open, count);
        memory_peak()
    };
    println!("{MARK}{figure}");
}

fn open_stock(path: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA page_size = 4096").unwrap();
    connection
}

fn open_sealed(path: &str, spec: &str) -> Connection {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        selenite_vfs::ffi::install_linked(selenite_vfs::installer(), rusqlite::ffi::sqlite3_auto_extension).unwrap();
        Connection::open_in_memory().unwrap();
    });
    let uri = format!("file:{path}?vfs=selenite&selenite_identity={spec}&pool_size={POOL_SIZE}");
    Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI).unwrap()
}

/// 16 MiB in 4,000 rows: four times the limit of the pool.
fn create(connection: &Connection) {
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = off;
             CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
             INSERT INTO t SELECT i, 0, zeroblob(3500) FROM n; PRAGMA wal_checkpoint(truncate)",
        )
        .unwrap();
}

/// All connections read concurrently; one at a time writes.
fn work_side_by_side(open: &(impl Fn() -> Connection + Sync), count: usize) {
    let (barrier, writer) = (Barrier::new(count), Mutex::new(()));
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                let connection = open();
                barrier.wait();
                for round in 0..3 {
                    read(&connection);
                    let _alone = writer.lock().unwrap_or_else(PoisonError::into_inner);
                    write(&connection, round);
                }
                barrier.wait();
            });
        }
    });
}

fn work(connection: &Connection, round: i64) {
    read(connection);
    write(connection, round);
}

fn read(connection: &Connection) {
    connection.execute_batch("PRAGMA cache_size = -512").unwrap();
    for order in ["ASC", "DESC", "ASC", "ASC"] {
        let sql = format!("SELECT sum(length(body)) FROM (SELECT body FROM t ORDER BY id {order})");
        let sum: i64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(sum, 4000 * 3500);
    }
    for number in 0..2000 {
        let sql = "SELECT id FROM t WHERE id = ?1 AND length(body) = 3500";
        let id = number * 7919 % 1000 + 1;
        assert_eq!(connection.query_row(sql, [id], |row| row.get::<_, i64>(0)), Ok(id));
    }
}

/// A transaction of 2 MiB, which is spilled, and a checkpoint without concurrent access.
fn write(connection: &Connection, round: i64) {
    let sql = "UPDATE t SET version = version + ?1 WHERE id % 8 = 0";
    assert_eq!(connection.execute(sql, [round]).unwrap(), 500);
    connection
        .query_row("PRAGMA wal_checkpoint(passive)", [], |_| Ok(()))
        .unwrap();
}

fn thread_count() -> u64 {
    u64::try_from(std::fs::read_dir("/proc/self/task").unwrap().count()).unwrap()
}

fn memory_peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}
