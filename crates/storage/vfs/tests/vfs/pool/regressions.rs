//! Sequences of events in which the pool of an earlier version served a stale page, or a stale page
//! was written back.

use super::*;
use selenite_testing::own_process;

fn query(connection: &Connection, sql: &str) {
    connection.query_row(sql, [], |_| Ok(())).unwrap();
}

fn foreign(fixture: &Fixture) -> Connection {
    fixture.opening.clone().with("plain", "allow").connect().unwrap()
}

/// Two transactions under one EXCLUSIVE lock; another process rolls back the second, without a
/// change of page 1.
#[test]
fn a_second_transaction_of_an_exclusive_connection_that_is_taken_back_leaves_nothing() {
    own_process!();
    let fixture = Fixture::new("delete");
    let one = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let writer = fixture.opening.connect().unwrap();
    writer
        .execute_batch("PRAGMA locking_mode = exclusive; PRAGMA cache_size = 5")
        .unwrap();
    set_all(&writer, 1);
    fixture.disk.inject(Fault {
        call: Call::Write,
        role: Some(Role::Main),
        after: 100,
        times: 1,
        failure: Failure::Code(Code::FULL),
    });
    let failed = writer.execute_batch("BEGIN; UPDATE t SET version = -1; COMMIT");
    assert!(failed.is_err());
    let _ = writer.execute_batch("ROLLBACK");
    drop(writer);
    assert_eq!(all(&foreign(&fixture)), each(1), "the journal was played back");
    assert_eq!(all(&one), each(1));
}

/// Between two transactions in rollback mode there was a log, of which page 1 shows nothing; an
/// exclusive connection leaves WAL mode.
#[test]
fn a_log_created_and_deleted_in_exclusive_mode_is_noticed() {
    own_process!();
    let fixture = Fixture::new("delete");
    let one = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let writer = fixture.connect();
    query(&writer, "PRAGMA journal_mode = wal");
    drop(writer);
    let other = foreign(&fixture);
    set_all(&other, 1);
    drop(other);
    let exclusive = fixture.opening.connect().unwrap();
    query(&exclusive, "PRAGMA locking_mode = exclusive");
    query(&exclusive, "PRAGMA journal_mode = delete");
    drop(exclusive);
    assert_eq!(all(&foreign(&fixture)), each(1));
    assert_eq!(all(&one), each(1));
}

/// The same in normal locking mode.
#[test]
fn a_log_created_and_deleted_is_noticed() {
    own_process!();
    let fixture = Fixture::new("delete");
    let one = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let writer = fixture.connect();
    let _ = all(&writer);
    query(&writer, "PRAGMA journal_mode = wal");
    let other = foreign(&fixture);
    set_all(&other, 1);
    drop(other);
    query(&writer, "PRAGMA journal_mode = delete");
    assert_eq!(all(&foreign(&fixture)), each(1));
    assert_eq!(all(&one), each(1));
}

thread_local! {
    static OLD: std::cell::RefCell<Option<(Opening, Vec<Connection>)>> = const { std::cell::RefCell::new(None) };
}

fn resize_and_read(_: i32) -> bool {
    let Some((opening, old)) = OLD.take() else { return false };
    drop(opening.with("pool_size", "32M").connect().unwrap());
    for reader in &old {
        assert_eq!(all(reader), each(0));
    }
    for reader in &old {
        reader.execute_batch("COMMIT").unwrap();
    }
    true
}

/// The limit changes while a checkpoint of this process waits for a reader.
#[test]
fn a_limit_that_changes_while_a_checkpoint_waits_keeps_nothing_old() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, writer, mut waiting) = (fixture.connect(), fixture.connect(), fixture.connect());
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let old: Vec<Connection> = (0..3).map(|_| fixture.connect()).collect();
    for reader in &old {
        reader.execute_batch("BEGIN").unwrap();
        query(reader, "SELECT count(*) FROM sqlite_schema");
    }
    set_all(&writer, 1);
    OLD.set(Some((fixture.opening.clone(), old)));
    waiting.busy_handler(Some(resize_and_read)).unwrap();
    checkpoint(&waiting, "FULL");
    assert!(OLD.take().is_none(), "no thread waited");
    for _ in 0..2 {
        assert_eq!(all(&one), each(1));
    }
}

/// A process dies in the second TRUNCATE, between both copies of the index's header.
#[test]
fn an_empty_log_that_comes_back_is_another() {
    own_process!();
    let fixture = Fixture::new("wal");
    // The connection is closed, so that the log is a new one.
    let one = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let other = foreign(&fixture);
    set_all(&other, 1);
    checkpoint(&other, "TRUNCATE");
    fixture.disk.tear_index("/pool/main.db");
    assert_eq!(all(&other), each(1));
    // `one` may have pages in SQLite's own cache, which assumes that the index is unchanged.
    assert_eq!(all(&fixture.connect()), each(1));
}

/// A checkpoint of this process fails half-way; another process copies all, restarts the log and
/// dies in that; a reader that began before reads the label afterwards.
#[test]
fn a_reader_from_before_a_recovery_finds_nothing_old() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, writer) = (fixture.connect(), fixture.connect());
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    set_all(&writer, 1);
    (0..3).for_each(|_| assert_eq!(all(&one), each(1)));
    fixture.disk.inject(Fault {
        call: Call::Write,
        role: Some(Role::Main),
        after: 3,
        times: 1,
        failure: Failure::Code(Code::IOERR_WRITE),
    });
    assert!(writer.query_row("PRAGMA wal_checkpoint", [], |_| Ok(())).is_err());
    let other = foreign(&fixture);
    checkpoint(&other, "FULL");
    let early = fixture.connect();
    early.execute_batch("BEGIN").unwrap();
    query(&early, "SELECT count(*) FROM sqlite_schema");
    fixture.disk.tear_index("/pool/main.db");
    assert_eq!(all(&other), each(1));
    assert_eq!(all(&early), each(1));
}

/// As in `a_log_created_and_deleted_is_noticed`, and then a connection writes what it has read: the
/// other process's commit would be lost.
#[test]
fn pages_written_with_a_log_in_between_are_not_overwritten() {
    own_process!();
    let fixture = Fixture::new("delete");
    let one = fixture.opening.connect().unwrap();
    let filler = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&filler), each(0)));
    let writer = fixture.connect();
    let _ = all(&writer);
    query(&writer, "PRAGMA journal_mode = wal");
    let other = foreign(&fixture);
    set_all(&other, 1);
    drop(other);
    query(&writer, "PRAGMA journal_mode = delete");
    assert_eq!(all(&foreign(&fixture)), each(1));
    one.execute_batch("BEGIN").unwrap();
    let seen = all(&one);
    eprintln!("C3 one sees {:?}, hits {}", &seen[..3], status(&one, "hits"));
    one.execute_batch("UPDATE t SET body = zeroblob(699); COMMIT").unwrap();
    assert_eq!(sum(&foreign(&fixture)), 300, "lost");
}

/// As in `a_limit_that_changes_while_a_checkpoint_waits_keeps_nothing_old` with TRUNCATE, and then
/// a connection writes.
#[test]
fn pages_copied_by_a_waiting_checkpoint_are_not_overwritten() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, writer, mut waiting) = (fixture.connect(), fixture.connect(), fixture.connect());
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let old: Vec<Connection> = (0..3).map(|_| fixture.connect()).collect();
    for reader in &old {
        reader.execute_batch("BEGIN").unwrap();
        query(reader, "SELECT count(*) FROM sqlite_schema");
    }
    set_all(&writer, 1);
    OLD.set(Some((fixture.opening.clone(), old)));
    waiting.busy_handler(Some(resize_and_read)).unwrap();
    checkpoint(&waiting, "TRUNCATE");
    eprintln!("D2 hits {}", status(&one, "hits"));
    one.execute("UPDATE t SET body = zeroblob(699)", []).unwrap();
    eprintln!("D2 hits {}", status(&one, "hits"));
    assert_eq!(sum(&foreign(&fixture)), 300, "lost");
}

fn sum(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT sum(version) FROM t", [], |row| row.get(0))
        .unwrap()
}

/// As in `a_second_transaction_of_an_exclusive_connection_that_is_taken_back_leaves_nothing`, but
/// the failure is that of the sync before the end of the journal.
#[test]
fn a_journal_of_a_second_commit_that_can_not_be_ended_is_seen() {
    own_process!();
    let fixture = Fixture::new("delete");
    let one = fixture.connect();
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    let writer = fixture.opening.connect().unwrap();
    writer
        .execute_batch("PRAGMA locking_mode = exclusive; PRAGMA cache_size = 5")
        .unwrap();
    set_all(&writer, 1);
    writer.execute_batch("BEGIN; UPDATE t SET version = -1").unwrap();
    fixture.disk.inject(Fault {
        call: Call::Sync,
        role: Some(Role::Main),
        after: 0,
        times: 1,
        failure: Failure::Code(Code::IOERR_FSYNC),
    });
    assert!(writer.execute_batch("COMMIT").is_err());
    drop(writer);
    assert_eq!(all(&foreign(&fixture)), each(1), "the journal was played back");
    assert_eq!(all(&one), each(1));
}

/// A write that fails late in a checkpoint, although the data is written.
fn main_write_fault() -> Fault {
    Fault {
        call: Call::Write,
        role: Some(Role::Main),
        after: 40,
        times: 1,
        failure: Failure::Landed(Code::IOERR_WRITE),
    }
}

/// As in `a_reader_from_before_a_recovery_finds_nothing_old`, with a later failure.
#[test]
fn a_reader_from_before_a_recovery_after_a_later_fault_finds_nothing_old() {
    own_process!();
    let fixture = Fixture::new("wal");
    let (one, writer) = (fixture.connect(), fixture.connect());
    (0..3).for_each(|_| assert_eq!(all(&one), each(0)));
    set_all(&writer, 1);
    fixture.disk.inject(main_write_fault());
    assert!(writer.query_row("PRAGMA wal_checkpoint", [], |_| Ok(())).is_err());
    let other = foreign(&fixture);
    checkpoint(&other, "FULL");
    let early = fixture.connect();
    early.execute_batch("BEGIN").unwrap();
    query(&early, "SELECT count(*) FROM sqlite_schema");
    fixture.disk.tear_index("/pool/main.db");
    assert_eq!(all(&other), each(1));
    assert_eq!(all(&early), each(1));
}
