//! A transaction is written to the log in one write, and a write that fails or is torn invalidates
//! all of it.

use rusqlite::Connection;
use selenite_testing::fault::Failure;
use selenite_testing::recorder::writes_of;
use selenite_testing::{Call, CallRecord, Disk, Fault, Image, KeyFile, Ledger, Opening};
use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

const PATH: &str = "/gather/main.db";
const LOG: &str = "/gather/main.db-wal";
const PAGE_SIZE: usize = 1024;
const FRAME_SIZE: usize = 24 + PAGE_SIZE;
const SECTOR_SIZE: usize = 512;

/// A connection with some commits in a log that is not checkpointed.
fn open(opening: &Opening, pragmas: &str) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; {pragmas}"
        ))
        .unwrap();
    Ledger::SMALL.create(&connection, &["main"]).unwrap();
    for tx in 2..6 {
        Ledger::SMALL.commit(&connection, &["main"], tx).unwrap();
    }
    connection
}

fn opening(key: &KeyFile) -> Opening {
    Opening::encrypted(PATH, key).with("page_size", &PAGE_SIZE.to_string())
}

fn log_writes(disk: &Disk) -> Vec<CallRecord> {
    let calls = disk.calls().into_iter();
    calls
        .filter(|record| (record.call, record.role) == (Call::Write, Role::Wal))
        .collect()
}

/// The result of opening these files after all other programs have ended.
fn recovered(image: &Image, opening: &Opening, acknowledged: u64) -> Result<(), String> {
    let disk = Disk::of_image(image);
    let _disk_guard = disk.enter();
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    Ledger::SMALL.check_recovered(&connection, &["main"], acknowledged)
}

/// The number of recovered commits, after checking that there is not one more.
fn recovered_count(image: &Image, opening: &Opening) -> u64 {
    let disk = Disk::of_image(image);
    let _disk_guard = disk.enter();
    Ledger::SMALL.check(&opening.connect().unwrap(), "main").unwrap()
}

#[test]
fn a_transaction_is_one_write() {
    for pragmas in [
        "PRAGMA synchronous = full",
        "PRAGMA synchronous = normal",
        "PRAGMA locking_mode = exclusive",
    ] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let connection = open(&opening(&key), pragmas);
        for tx in 6..20 {
            disk.watch();
            let before = disk.image().bytes(LOG).len();
            Ledger::SMALL.commit(&connection, &["main"], tx).unwrap();
            let writes = log_writes(&disk);
            assert_eq!(writes.len(), 1, "{pragmas}: {writes:?}");
            assert!(writes[0].size > 2 * FRAME_SIZE && writes[0].size.is_multiple_of(FRAME_SIZE));
            assert_eq!(disk.image().bytes(LOG).len(), before + writes[0].size);
            let problem = recovered(&disk.image(), &opening(&key), tx);
            assert_eq!(problem, Ok(()), "{pragmas}, {tx}");
        }
    }
}

/// os_unix.c accepts no more than 131,071 bytes in one call (`seekAndWriteFd`): the disk of these
/// tests refuses more.
#[test]
fn a_large_transaction_is_few_writes() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let connection = open(&opening(&key), "CREATE TABLE large(body)");
    disk.watch();
    connection
        .execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
             INSERT INTO large SELECT zeroblob(900) FROM n",
        )
        .unwrap();
    let writes = log_writes(&disk);
    let written: usize = writes.iter().map(|write| write.size).sum();
    assert!(written > 1000 * FRAME_SIZE);
    let fewest = written.div_ceil(0x1ffff / FRAME_SIZE * FRAME_SIZE);
    assert_eq!(writes.len(), fewest);
    assert!(writes.iter().all(|write| write.size <= 0x1ffff));
    recovered(&disk.image(), &opening(&key), 5).unwrap();
}

/// Torn at every sector: only the sectors before it are written, only those after it, or all except
/// this one.
#[test]
fn a_torn_commit_is_there_wholly_or_not_at_all() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = opening(&key);
    let connection = open(&opening, "PRAGMA synchronous = full");
    let before = disk.image();
    Ledger::SMALL.commit(&connection, &["main"], 6).unwrap();
    let (offset, data) = writes_of(&disk, Role::Wal).into_iter().next_back().unwrap();
    let (first, end) = (usize::try_from(offset).unwrap(), data.len());
    let first_sector = first / SECTOR_SIZE;
    let last_sector = (first + end - 1) / SECTOR_SIZE;
    let mut kept = 0;
    for sector in first_sector..=last_sector {
        let place = |index: usize| (first + index) / SECTOR_SIZE;
        let shapes: [&dyn Fn(usize) -> bool; 3] = [
            &|index| place(index) < sector,
            &|index| place(index) > sector,
            &|index| place(index) != sector,
        ];
        for is_written in shapes {
            let mut image = before.clone();
            image.edit(LOG, |content| {
                for index in (0..end).filter(|&index| is_written(index)) {
                    content.write(&data[index..=index], offset + u64::try_from(index).unwrap());
                }
            });
            recovered(&image, &opening, 5).unwrap();
            kept += 1;
        }
    }
    assert!(kept > 3 * 6);
    recovered(&disk.image(), &opening, 6).unwrap();
}

/// The write of a commit fails: the transaction is rolled back, and the log is unchanged.
#[test]
fn a_commit_that_can_not_be_written_is_rolled_back() {
    for pragmas in [
        "PRAGMA synchronous = full",
        "PRAGMA locking_mode = exclusive",
        "PRAGMA cache_size = 8",
    ] {
        for failure in [
            Failure::Code(Code::FULL),
            Failure::Code(Code::IOERR_WRITE),
            Failure::PartialWrite(Code::FULL),
            Failure::PartialWrite(Code::IOERR_WRITE),
        ] {
            let disk = Disk::new();
            let _disk_guard = disk.enter();
            let key = KeyFile::new(1);
            let opening = opening(&key);
            let connection = open(&opening, pragmas);
            let fault = Fault {
                call: Call::Write,
                role: Some(Role::Wal),
                after: 0,
                times: 1,
                failure,
            };
            for tx in 6..10 {
                disk.inject(fault.clone());
                assert!(Ledger::SMALL.commit(&connection, &["main"], tx).is_err());
                assert_eq!(disk.fault_hits(), 1);
                disk.clear_faults();
                assert_eq!(Ledger::SMALL.check(&connection, "main"), Ok(tx - 1), "{pragmas}");
                assert_eq!(
                    recovered_count(&disk.image(), &opening),
                    tx - 1,
                    "{pragmas}, {failure:?}"
                );
                // A checkpoint syncs the log first: this must not bring the transaction back.
                connection.execute_batch("PRAGMA wal_checkpoint(passive)").unwrap();
                assert_eq!(
                    recovered_count(&disk.image(), &opening),
                    tx - 1,
                    "{pragmas}, {failure:?}"
                );
                Ledger::SMALL.commit(&connection, &["main"], tx).unwrap();
                recovered(&disk.image(), &opening, tx).unwrap();
            }
        }
    }
}

/// Frames that were spilled and rolled back are never written, neither at the unlock nor later.
#[test]
fn rolled_back_frames_are_not_written() {
    for pragmas in [
        "PRAGMA cache_size = 8",
        "PRAGMA cache_size = 8; PRAGMA locking_mode = exclusive",
    ] {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = opening(&key);
        let connection = open(&opening, pragmas);
        disk.watch();
        let log = disk.image().bytes(LOG);
        connection
            .execute_batch(
                "BEGIN; CREATE TABLE gone(body);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                 INSERT INTO gone SELECT zeroblob(900) FROM n;",
            )
            .unwrap();
        // They are read from the buffer.
        let size: i64 = connection
            .query_row("SELECT sum(length(body)) FROM gone", [], |row| row.get(0))
            .unwrap();
        assert_eq!(size, 50 * 900);
        connection.execute_batch("ROLLBACK").unwrap();
        assert_eq!(log_writes(&disk), []);
        assert_eq!(Ledger::SMALL.check(&connection, "main"), Ok(5));
        Ledger::SMALL.commit(&connection, &["main"], 6).unwrap();
        assert_eq!(log_writes(&disk).len(), 1);
        assert!(disk.image().bytes(LOG).starts_with(&log));
        drop(connection);
        recovered(&disk.image(), &opening, 6).unwrap();
    }
}

/// sqlite3WalExclusiveMode: when exclusive mode ends, SQLite takes a read lock, and others may
/// write. Frames rolled back before no longer belong to this connection.
#[test]
fn the_end_of_exclusive_mode_forgets_what_was_rolled_back() {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = opening(&key);
    let one = open(&opening, "PRAGMA cache_size = 8");
    // Not earlier: with the log still closed SQLite would keep its index in its own memory, and
    // never leave the mode.
    one.execute_batch("PRAGMA locking_mode = exclusive").unwrap();
    Ledger::SMALL.commit(&one, &["main"], 6).unwrap();
    one.execute_batch(
        "BEGIN; CREATE TABLE gone(body);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
         INSERT INTO gone SELECT zeroblob(900) FROM n; PRAGMA locking_mode = normal; ROLLBACK",
    )
    .unwrap();
    assert_eq!(Ledger::SMALL.check(&one, "main"), Ok(6));
    let other = opening.connect().unwrap();
    for tx in 7..10 {
        Ledger::SMALL.commit(&other, &["main"], tx).unwrap();
        assert_eq!(Ledger::SMALL.check(&one, "main"), Ok(tx));
    }
    one.execute_batch("PRAGMA wal_checkpoint(full)").unwrap();
    recovered(&disk.image(), &opening, 9).unwrap();
}
