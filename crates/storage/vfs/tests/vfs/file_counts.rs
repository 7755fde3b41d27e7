//! Compares [`file_counts`] with the calls that reach the disk, for encrypted and unencrypted
//! databases.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use selenite_testing::disk::DiskGuard;
use selenite_testing::{Call, Disk, KeyFile, Opening, own_process};
use selenite_vfs::role::Role;
use selenite_vfs::{DatabaseFileCounts, FileCounts, file_counts};

struct CountedDatabase {
    disk: Arc<Disk>,
    opening: Opening,
    _disk_guard: DiskGuard,
    _key: KeyFile,
}

impl CountedDatabase {
    /// A disk for one database, at a path that no other test uses: counts belong to the process.
    fn new(test: &str, is_clear: bool) -> Self {
        let disk = Disk::new();
        let disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let path = format!("/counts-{test}-{is_clear}/main.db");
        let opening = if is_clear {
            // The VFS itself creates only encrypted databases.
            drop(filled(&Opening::plain(&path), "delete", 1));
            Opening::encrypted(&path, &key).with("plain", "allow")
        } else {
            Opening::encrypted(&path, &key)
        };
        disk.watch();
        Self {
            disk,
            opening,
            _disk_guard: disk_guard,
            _key: key,
        }
    }

    fn counts(&self) -> DatabaseFileCounts {
        file_counts(Path::new(self.opening.path())).unwrap_or_default()
    }

    /// The number of calls of one kind for one role, from call `from` on, and their bytes.
    fn calls(&self, call: Call, role: Role, from: usize) -> (u64, u64) {
        let calls = self.disk.calls();
        let wanted = calls[from..]
            .iter()
            .filter(|record| (record.call, record.role) == (call, role));
        wanted.fold((0, 0), |(count, bytes), record| {
            (count + 1, bytes + u64::try_from(record.size).unwrap())
        })
    }

    /// Compares the counts of all roles since `before` with the calls from `from` on. The bytes of
    /// a read that reached the end of the file are unknown.
    fn compare(&self, before: &DatabaseFileCounts, from: usize, has_short_reads: bool) {
        let after = self.counts();
        let roles = [
            (Role::Main, before.database, after.database),
            (Role::Wal, before.wal, after.wal),
            (Role::Journal, before.journal, after.journal),
        ];
        for (role, before, after) in roles {
            let context = format!("{role} of {}: {before:?} {after:?}", self.opening.path());
            let (reads, bytes_read) = self.calls(Call::Read, role, from);
            assert_eq!(after.reads - before.reads, reads, "{context}");
            let counted = after.bytes_read - before.bytes_read;
            assert!(
                counted <= bytes_read && (has_short_reads || counted == bytes_read),
                "{context}"
            );
            let (writes, bytes_written) = self.calls(Call::Write, role, from);
            let counted = (after.writes - before.writes, after.bytes_written - before.bytes_written);
            assert_eq!(counted, (writes, bytes_written), "{context}");
            assert_eq!(
                after.syncs - before.syncs,
                self.calls(Call::Sync, role, from).0,
                "{context}"
            );
            assert_eq!(after.read_ns > 0, after.reads > 0, "{context}");
            assert_eq!(after.write_ns > 0, after.writes > 0, "{context}");
        }
    }
}

fn filled(opening: &Opening, mode: &str, rows: i64) -> Connection {
    let connection = opening.connect().unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5;
             CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, body BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             INSERT INTO t(body) SELECT zeroblob(3000) FROM n"
        ))
        .unwrap();
    connection
}

fn sum(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT sum(length(body)) FROM t", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn every_call_of_the_disk_is_counted_once() {
    for mode in ["wal", "delete"] {
        for is_clear in [false, true] {
            let fixture = CountedDatabase::new(&format!("calls-{mode}"), is_clear);
            let connection = filled(&fixture.opening, mode, 300);
            fixture.compare(&DatabaseFileCounts::default(), 0, true);
            let (log, other) = match mode {
                "wal" => (fixture.counts().wal, fixture.counts().journal),
                _ => (fixture.counts().journal, fixture.counts().wal),
            };
            assert!(log.bytes_written > 0 && (mode == "wal" || other == FileCounts::default()));
            if mode == "wal" {
                connection
                    .query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(()))
                    .unwrap();
                fixture.compare(&DatabaseFileCounts::default(), 0, true);
                assert!(fixture.counts().database.bytes_written > 300 * 4096);
            }
            drop(connection);
            fixture.compare(&DatabaseFileCounts::default(), 0, true);
        }
    }
}

#[test]
fn bytes_read_are_those_of_the_disk_and_not_of_the_pool() {
    own_process!();
    for is_clear in [false, true] {
        let fixture = CountedDatabase::new("pool", is_clear);
        let connection = filled(&fixture.opening, "delete", 300);
        assert!(sum(&connection) >= 900_000);
        let (before, from) = (fixture.counts(), fixture.disk.calls().len());
        connection
            .query_row("SELECT selenite_drop_pages()", [], |_| Ok(()))
            .unwrap();
        sum(&connection);
        fixture.compare(&before, from, false);
        let read = fixture.counts().database.bytes_read - before.database.bytes_read;
        assert!(read >= 300 * 4096, "{read}");
        // A page is stored in the pool when it is read for the second time. SQLite's own cache of
        // five pages holds almost nothing.
        sum(&connection);
        let before = fixture.counts();
        sum(&connection);
        let read = fixture.counts().database.bytes_read - before.database.bytes_read;
        assert_eq!(read < 4096, !is_clear, "{read}");
    }
}

#[test]
fn counts_go_on_over_connections_and_add_up_those_that_are_open() {
    for is_clear in [false, true] {
        let fixture = CountedDatabase::new("connections", is_clear);
        drop(filled(&fixture.opening, "wal", 20));
        let first = fixture.counts();
        let (one, other) = (fixture.opening.connect().unwrap(), fixture.opening.connect().unwrap());
        sum(&one);
        sum(&other);
        let second = fixture.counts();
        assert!(second.database.reads > first.database.reads);
        assert_eq!(second.database.writes, first.database.writes);
        drop(one);
        fixture.compare(&DatabaseFileCounts::default(), 0, true);
        drop(other);
        assert_eq!(file_counts(Path::new("/counts-connections/never.db")), None);
    }
}

/// A write transaction begins as a read transaction; statements between BEGIN and COMMIT are of one.
#[test]
fn a_transaction_is_counted_when_it_begins_to_read() {
    for mode in ["wal", "delete"] {
        for is_clear in [false, true] {
            let fixture = CountedDatabase::new(&format!("transactions-{mode}"), is_clear);
            let connection = filled(&fixture.opening, mode, 20);
            let other = fixture.opening.connect().unwrap();
            assert!(sum(&other) > 0);
            let written = u64::from(mode == "delete");
            let counted = |sql: &str| {
                let before = fixture.counts().database;
                connection.execute_batch(sql).unwrap();
                let after = fixture.counts().database;
                (
                    after.transactions - before.transactions,
                    after.rollback_commits - before.rollback_commits,
                )
            };
            let context = format!("{mode}, in clear {is_clear}");
            assert_eq!(counted("SELECT 1"), (0, 0), "{context}");
            let two = "SELECT count(*) FROM t; SELECT count(*) FROM t";
            assert_eq!(counted(two), (2, 0), "{context}");
            let update = "UPDATE t SET body = zeroblob(10) WHERE id = 5";
            assert_eq!(counted(update), (1, written), "{context}");
            let several = "BEGIN; SELECT count(*) FROM t; DELETE FROM t WHERE id = 6; SELECT count(*) FROM t; COMMIT";
            assert_eq!(counted(several), (1, written), "{context}");
            if mode == "wal" {
                assert_eq!(counted("PRAGMA wal_checkpoint(truncate)").1, 0, "{context}");
            }
            let after = fixture.counts();
            assert_eq!(
                (after.wal.transactions, after.journal.transactions),
                (0, 0),
                "{context}"
            );
            // With a log, the first lock of a connection is one of the file.
            let (all, of_rollback) = (after.database.transactions, after.database.rollback_transactions);
            match mode {
                "wal" => assert!(
                    of_rollback < all && after.wal.bytes_appended > 0,
                    "{context}: {after:?}"
                ),
                _ => assert!(
                    of_rollback == all && after.wal.bytes_appended == 0,
                    "{context}: {after:?}"
                ),
            }
        }
    }
}
