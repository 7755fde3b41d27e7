//! sys.dm_io_virtual_file_stats: what is read from the files of databases, and written to them.

use selenite_types::Value;

use super::client::{Client, succeed};
use super::fixture::Fixture;

/// A row: the columns that are numbers, in their order.
#[derive(Clone, Debug)]
struct Stats {
    sample_ms: i64,
    reads: i64,
    bytes_read: i64,
    read_ms: i64,
    writes: i64,
    bytes_written: i64,
    write_ms: i64,
    stall_ms: i64,
    size: i64,
}

impl Stats {
    fn of(client: &mut Client, database: &str, file: i32) -> Self {
        let question = format!("SELECT * FROM sys.dm_io_virtual_file_stats(DB_ID('{database}'), {file})");
        let answer = client.batch(&question);
        assert_eq!(answer.errors(), [], "{question}");
        let [row] = answer.rows().try_into().unwrap();
        let row: [Value; 14] = row.try_into().unwrap();
        let numbers: Vec<i64> = row[2..13]
            .iter()
            .map(|value| match value {
                Value::BigInt(number) => *number,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(matches!(row[0], Value::SmallInt(_)) && row[1] == Value::SmallInt(i16::try_from(file).unwrap()));
        assert_eq!((&row[13], numbers[4], numbers[8]), (&Value::Null, 0, 0));
        Self {
            sample_ms: numbers[0],
            reads: numbers[1],
            bytes_read: numbers[2],
            read_ms: numbers[3],
            writes: numbers[5],
            bytes_written: numbers[6],
            write_ms: numbers[7],
            stall_ms: numbers[9],
            size: numbers[10],
        }
    }

    fn is_at_least(&self, earlier: &Self) -> bool {
        self.sample_ms >= earlier.sample_ms
            && self.reads >= earlier.reads
            && self.bytes_read >= earlier.bytes_read
            && self.read_ms >= earlier.read_ms
            && self.writes >= earlier.writes
            && self.bytes_written >= earlier.bytes_written
            && self.write_ms >= earlier.write_ms
            && self.stall_ms == self.read_ms + self.write_ms
    }
}

/// A client in a database of its own with an empty table.
fn in_shop(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE shop");
    let long = "x".repeat(200);
    let made =
        format!("USE shop CREATE TABLE t (a INT IDENTITY PRIMARY KEY, b VARCHAR(200) NOT NULL DEFAULT '{long}')");
    succeed(&mut client, &made);
    client
}

const FILL: &str =
    "BEGIN TRAN DECLARE @i INT = 0 WHILE @i < 1000 BEGIN INSERT INTO t DEFAULT VALUES SET @i += 1 END COMMIT";
/// At least so much is in the table then.
const FILLED: i64 = 200_000;
const SCAN: &str = "SELECT COUNT(*) FROM t WHERE b = 'y'";

#[test]
fn counts_are_of_what_was_written_and_read() {
    let fixture = Fixture::new();
    let mut client = in_shop(&fixture);
    let log = fixture.data_folder().join("shop.db-wal");
    let log_size = || i64::try_from(std::fs::metadata(&log).unwrap().len()).unwrap();

    // What a transaction writes goes to the log, which grows by it.
    let (before, size) = (Stats::of(&mut client, "shop", 2), log_size());
    let data = Stats::of(&mut client, "shop", 1);
    succeed(&mut client, FILL);
    let after = Stats::of(&mut client, "shop", 2);
    assert!(after.writes > before.writes && after.bytes_written - before.bytes_written > FILLED);
    assert_eq!(after.bytes_written - before.bytes_written, log_size() - size);
    assert_eq!(after.size, log_size());
    assert_eq!(Stats::of(&mut client, "shop", 1).bytes_written, data.bytes_written);

    // A checkpoint reads it there and writes it to the database.
    succeed(&mut client, "CHECKPOINT");
    let copied = Stats::of(&mut client, "shop", 1);
    assert!(
        copied.bytes_written - data.bytes_written > FILLED,
        "{data:?} {copied:?}"
    );
    let file = std::fs::metadata(fixture.data_folder().join("shop.db")).unwrap();
    assert_eq!(copied.size, i64::try_from(file.len()).unwrap());

    // Pages in memory are no reads of the file; pages that are not there any more are.
    succeed(&mut client, "DBCC DROPCLEANBUFFERS");
    let before = Stats::of(&mut client, "shop", 1);
    assert_eq!(client.int(SCAN), 0);
    let read = Stats::of(&mut client, "shop", 1);
    assert!(
        read.reads > before.reads && read.bytes_read - before.bytes_read > FILLED,
        "{before:?} {read:?}"
    );
    // A page goes to the pool when it is read again.
    assert_eq!(client.int(SCAN), 0);
    let read = Stats::of(&mut client, "shop", 1);
    assert_eq!(client.int(SCAN), 0);
    let again = Stats::of(&mut client, "shop", 1);
    assert!(again.bytes_read - read.bytes_read < FILLED / 10, "{read:?} {again:?}");
    assert_eq!(again.writes, before.writes);
}

#[test]
fn counts_never_fall_until_the_database_is_dropped() {
    let fixture = Fixture::new();
    let mut client = in_shop(&fixture);
    let files = [1, 2];
    let mut earlier = files.map(|file| Stats::of(&mut client, "shop", file));
    for text in [
        FILL,
        "CHECKPOINT",
        "DELETE FROM t",
        "DBCC DROPCLEANBUFFERS",
        SCAN,
        "USE master",
    ] {
        succeed(&mut client, text);
        let later = files.map(|file| Stats::of(&mut client, "shop", file));
        assert!(
            later
                .iter()
                .zip(&earlier)
                .all(|(later, earlier)| later.is_at_least(earlier)),
            "{text}"
        );
        earlier = later;
    }
    // Of another session, too, and over the time when no session has the files open.
    drop(client);
    let mut client = fixture.client();
    let later = files.map(|file| Stats::of(&mut client, "shop", file));
    assert!(
        later
            .iter()
            .zip(&earlier)
            .all(|(later, earlier)| later.is_at_least(earlier))
    );

    succeed(&mut client, "DROP DATABASE shop");
    succeed(&mut client, "CREATE DATABASE shop");
    let log = Stats::of(&mut client, "shop", 2);
    assert!(log.bytes_written < FILLED, "{log:?}");
}

#[test]
fn arguments_choose_database_and_file() {
    let fixture = Fixture::new();
    let mut client = in_shop(&fixture);
    let count = |client: &mut Client, arguments: &str| {
        client.int(&format!(
            "SELECT COUNT(*) FROM sys.dm_io_virtual_file_stats({arguments})"
        ))
    };
    let files = client.int("SELECT COUNT(*) FROM sys.master_files");
    assert_eq!(files, 4);
    for (arguments, wanted) in [
        ("NULL, NULL", files),
        ("NULL, 2", files / 2),
        ("DB_ID(), NULL", 2),
        ("DB_ID(), 1", 1),
        ("DB_ID(N'master'), 2", 1),
        ("DB_ID('tempdb'), NULL", 0),
        ("100000, NULL", 0),
        ("DB_ID(), 3", 0),
    ] {
        assert_eq!(count(&mut client, arguments), wanted, "{arguments}");
    }
    let joined = "SELECT COUNT(*) FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s
         JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id";
    assert_eq!(client.int(joined), files);
    let applied = "SELECT COUNT(*) FROM sys.master_files AS f
         CROSS APPLY sys.dm_io_virtual_file_stats(f.database_id, f.file_id) AS s WHERE s.num_of_reads >= 0";
    assert_eq!(client.int(applied), files);
    for (number, arguments) in [(313, ""), (313, "NULL"), (8144, "NULL, NULL, NULL")] {
        let answer = client.batch(&format!("SELECT * FROM sys.dm_io_virtual_file_stats({arguments})"));
        assert_eq!(answer.errors(), [(number, 1)], "{arguments}");
    }
    // The server itself writes to master.
    assert!(Stats::of(&mut client, "master", 1).reads > 0);
    assert!(Stats::of(&mut client, "master", 2).bytes_written > 0);
}
