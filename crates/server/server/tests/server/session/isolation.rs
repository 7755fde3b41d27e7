//! What sessions see of each other, and who waits for whom.

use std::time::{Duration, Instant};

use selenite_server::ServerLimits;
use selenite_types::Value;

use super::client::{Client, succeed};
use super::fixture::Fixture;

/// A database `d` with a table of one row, and a second session in it.
fn two(fixture: &Fixture) -> (Client, Client) {
    let mut first = fixture.client();
    assert_eq!(first.batch("CREATE DATABASE d").errors(), []);
    let made = first.batch("USE d CREATE TABLE t (a INT PRIMARY KEY, b INT) INSERT INTO t VALUES (1, 10)");
    assert_eq!(made.errors(), []);
    let mut second = fixture.client();
    second.batch("USE d");
    (first, second)
}

/// Every login is a user of master and tempdb, without a permission there: an idle transaction must not stop logins
/// or administration.
#[test]
fn a_transaction_of_temporary_tables_in_master_or_tempdb_keeps_nobody_waiting() {
    let fixture = Fixture::new();
    let mut administrator = fixture.client();
    succeed(&mut administrator, "CREATE LOGIN low WITH PASSWORD = 'Gruen-Tisch-3'");
    for (at, begun) in [
        "BEGIN TRAN CREATE TABLE #t (a INT) INSERT #t VALUES (1)",
        "USE tempdb BEGIN TRAN CREATE TABLE #t (a INT) INSERT #t VALUES (1)",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN SELECT name FROM sys.databases",
        "BEGIN TRAN SELECT name FROM sys.databases WITH (UPDLOCK)",
    ]
    .into_iter()
    .enumerate()
    {
        let mut low = fixture.client_as("low", "Gruen-Tisch-3", "master");
        succeed(&mut low, begun);
        let mut other = fixture.client_as("low", "Gruen-Tisch-3", "master");
        succeed(&mut other, "SET LOCK_TIMEOUT 0");
        succeed(&mut other, begun);
        succeed(
            &mut administrator,
            &format!("CREATE LOGIN l{at} WITH PASSWORD = 'Gruen-Tisch-3'"),
        );
        succeed(&mut administrator, &format!("CREATE DATABASE d{at}"));
        succeed(&mut low, "ROLLBACK");
        assert_eq!(
            low.int("SELECT COUNT(*) FROM tempdb.sys.tables WHERE name LIKE '#t%'"),
            0
        );
    }
}

#[test]
fn read_committed_keeps_no_snapshot_between_statements() {
    let fixture = Fixture::new();
    let (mut reader, mut writer) = two(&fixture);
    succeed(&mut reader, "BEGIN TRAN");
    assert_eq!(reader.int("SELECT b FROM t"), 10);
    succeed(&mut writer, "UPDATE t SET b = 20");
    assert_eq!(reader.int("SELECT b FROM t"), 20);
    // Nor did reading keep a session from writing, or from what follows.
    succeed(&mut reader, "UPDATE t SET b = b + 1");
    succeed(&mut reader, "COMMIT");
    assert_eq!(writer.int("SELECT b FROM t"), 21);
}

#[test]
fn readers_see_what_is_committed_and_do_not_wait() {
    let fixture = Fixture::new();
    let (mut writer, mut reader) = two(&fixture);
    succeed(&mut reader, "SET LOCK_TIMEOUT 0");
    succeed(
        &mut writer,
        "BEGIN TRAN UPDATE t SET b = 20 INSERT INTO t VALUES (2, 0)",
    );
    assert_eq!(writer.int("SELECT COUNT(*) FROM t"), 2);
    assert_eq!(reader.int("SELECT b FROM t"), 10);
    succeed(&mut writer, "COMMIT");
    assert_eq!(reader.int("SELECT COUNT(*) FROM t"), 2);
    succeed(&mut writer, "BEGIN TRAN DELETE FROM t");
    assert_eq!(reader.int("SELECT COUNT(*) FROM t"), 2);
    succeed(&mut writer, "ROLLBACK");
    assert_eq!(writer.int("SELECT COUNT(*) FROM t"), 2);
}

#[test]
fn the_second_writer_waits_for_the_first() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two(&fixture);
    succeed(&mut first, "BEGIN TRAN UPDATE t SET b = 20");
    // The error ends the statement, not the transaction.
    succeed(&mut second, "SET LOCK_TIMEOUT 0 BEGIN TRAN");
    let answer = second.batch("UPDATE t SET b = 30");
    assert_eq!(answer.errors(), [(1222, 1)]);
    assert_eq!(answer.said()[0].text, "Lock request time out period exceeded.");
    assert_eq!(second.int("SELECT @@TRANCOUNT"), 1);
    succeed(&mut second, "SET LOCK_TIMEOUT -1");
    second.ask("UPDATE t SET b = b + 1");
    succeed(&mut first, "COMMIT");
    assert_eq!(second.answer().unwrap().errors(), []);
    succeed(&mut second, "COMMIT");
    assert_eq!(first.int("SELECT b FROM t"), 21);
}

#[test]
fn no_wait_for_a_writer_is_longer_than_the_server_lets_it() {
    let limits = ServerLimits {
        lock_timeout: Duration::from_millis(50),
        ..ServerLimits::default()
    };
    let fixture = Fixture::limited(limits);
    let (mut first, mut second) = two(&fixture);
    succeed(&mut first, "CREATE TABLE other (a int) BEGIN TRAN UPDATE t SET b = 20");
    // One thread has both sessions: while the second waits the first can't commit.
    for timeout in ["-1", "3600000"] {
        succeed(&mut second, &format!("SET LOCK_TIMEOUT {timeout}"));
        assert_eq!(second.int("SELECT @@LOCK_TIMEOUT"), timeout.parse::<i32>().unwrap());
        let answer = second.batch("BEGIN TRAN INSERT other VALUES (1)");
        assert_eq!(answer.errors(), [(1222, 1)], "{timeout}");
        succeed(&mut second, "ROLLBACK");
    }
    succeed(&mut first, "COMMIT");
    succeed(&mut second, "INSERT other VALUES (1)");
}

#[test]
fn repeatable_read_and_above_keep_writers_out_from_the_first_statement_on() {
    for level in ["REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"] {
        let fixture = Fixture::new();
        let (mut reader, mut writer) = two(&fixture);
        succeed(
            &mut reader,
            &format!("SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN"),
        );
        // BEGIN itself locks out no session.
        succeed(&mut writer, "UPDATE t SET b = 11");
        assert_eq!(reader.int("SELECT b FROM t"), 11, "{level}");
        succeed(&mut writer, "SET LOCK_TIMEOUT 50");
        let answer = writer.batch("UPDATE t SET b = 12");
        assert_eq!(answer.errors(), [(1222, 1)], "{level}");
        let answer = writer.batch("INSERT INTO t VALUES (2, 0)");
        assert_eq!(answer.errors(), [(1222, 1)], "{level}");
        assert_eq!(reader.int("SELECT SUM(b) FROM t"), 11, "{level}");
        // Who only reads is not kept out.
        assert_eq!(writer.int("SELECT b FROM t"), 11, "{level}");
        succeed(&mut reader, "UPDATE t SET b = b * 2 COMMIT");
        succeed(&mut writer, "UPDATE t SET b = b + 1");
        assert_eq!(writer.int("SELECT b FROM t"), 23, "{level}");
    }
}

#[test]
fn a_lost_update_can_not_happen_above_read_committed() {
    let fixture = Fixture::new();
    let (mut first, _second) = two(&fixture);
    const SESSIONS: i32 = 4;
    const ROUNDS: i32 = 10;
    std::thread::scope(|scope| {
        for _ in 0..SESSIONS {
            let mut client = fixture.client();
            succeed(&mut client, "USE d SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let text = "BEGIN TRAN DECLARE @b INT SELECT @b = b FROM t WHERE a = 1 SET @b += 1
                        UPDATE t SET b = @b WHERE a = 1 COMMIT";
                    succeed(&mut client, text);
                }
            });
        }
    });
    assert_eq!(first.int("SELECT b FROM t"), 10 + SESSIONS * ROUNDS);
}

#[test]
fn a_hint_that_holds_keeps_writers_out_until_the_transaction_ends() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two(&fixture);
    succeed(&mut second, "SET LOCK_TIMEOUT 0");
    for (statement, holds) in [
        (
            "DECLARE @b INT SELECT @b = b FROM t WITH (UPDLOCK, HOLDLOCK) WHERE a = 1",
            true,
        ),
        ("SELECT b FROM t (XLOCK)", true),
        (
            "DECLARE @t TABLE (b INT) INSERT @t SELECT b FROM t WITH (UPDLOCK)",
            true,
        ),
        (
            "DECLARE @t TABLE (b INT) INSERT @t VALUES (1) UPDATE @t SET b = (SELECT MAX(b) FROM t WITH (UPDLOCK))",
            true,
        ),
        ("SELECT b FROM t WITH (SERIALIZABLE)", true),
        ("IF EXISTS (SELECT 1 FROM t WITH (UPDLOCK)) PRINT 'x'", true),
        ("SELECT (SELECT MAX(b) FROM t WITH (TABLOCKX))", true),
        (
            "WITH c AS (SELECT b FROM t WITH (REPEATABLEREAD)) SELECT b FROM c",
            true,
        ),
        ("SELECT b FROM t WITH (NOLOCK)", false),
        ("SELECT b FROM t WITH (ROWLOCK, READCOMMITTED, TABLOCK)", false),
    ] {
        // Outside a transaction it holds nothing.
        succeed(&mut first, statement);
        succeed(&mut second, "UPDATE t SET b = b + 1");
        succeed(&mut first, "BEGIN TRAN");
        succeed(&mut first, statement);
        let errors = second.batch("UPDATE t SET b = b + 1").errors();
        assert_eq!(
            errors.first().map(|error| error.0),
            holds.then_some(1222),
            "{statement}"
        );
        succeed(&mut first, "COMMIT");
        succeed(&mut second, "UPDATE t SET b = b + 1");
    }
    assert_eq!(first.batch("SELECT b FROM t WITH (UPDLOK)").errors(), [(321, 1)]);
}

#[test]
fn temporary_tables_wait_for_no_writer() {
    let fixture = Fixture::new();
    let (mut writer, mut other) = two(&fixture);
    succeed(&mut writer, "BEGIN TRAN UPDATE t SET b = b + 1");
    succeed(&mut other, "SET LOCK_TIMEOUT 0");
    for statement in [
        "CREATE TABLE #q (a INT PRIMARY KEY, b INT)",
        "CREATE INDEX i ON #q (b)",
        "INSERT INTO #q SELECT a, b FROM t",
        "ALTER TABLE #q ADD c INT",
        "UPDATE #q SET c = 7",
    ] {
        succeed(&mut other, statement);
    }
    assert_eq!(other.int("SELECT c FROM #q"), 7);
    succeed(&mut other, "DROP TABLE #q");
    succeed(&mut writer, "COMMIT");
    // One that fails leaves nothing.
    assert_eq!(other.batch("CREATE TABLE #r (a INT, a INT)").errors().len(), 1);
    succeed(&mut other, "CREATE TABLE #r (a INT)");
}

#[test]
fn attention_ends_a_wait_for_a_lock() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two(&fixture);
    succeed(&mut first, "BEGIN TRAN UPDATE t SET b = 20");
    second.ask("UPDATE t SET b = 30");
    second.cancel();
    second.wait_for_attention();
    succeed(&mut first, "COMMIT");
    assert_eq!(second.int("SELECT b FROM t"), 20);
    succeed(&mut second, "UPDATE t SET b = 40");
}

#[test]
fn a_transaction_that_sqlite_has_ended_is_not_gone_on_with() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two(&fixture);
    fill(&mut first);
    lose(&mut first, "BEGIN TRAN UPDATE t SET b = 99 WHERE a = 1");
    assert_eq!(first.int("SELECT @@TRANCOUNT"), 1);
    succeed(&mut second, "SET LOCK_TIMEOUT 0 UPDATE t SET b = b + 1 WHERE a = 1");
    let answer = first.batch("UPDATE t SET b = 100 WHERE a = 1 SELECT 'not reached'");
    assert_eq!((answer.errors(), answer.rows().len()), (vec![(3998, 1)], 0));
    assert_eq!(first.int("SELECT @@TRANCOUNT"), 0);
    assert_eq!(first.int("SELECT b FROM t WHERE a = 1"), 11);
    assert_eq!(first.int("SELECT COUNT(*) FROM t"), 399);
    succeed(&mut first, "BEGIN TRAN UPDATE t SET b = 5 WHERE a = 1 COMMIT");
    assert_eq!(second.int("SELECT b FROM t WHERE a = 1"), 5);
}

/// So many rows that [`lose`] has time.
fn fill(client: &mut Client) {
    succeed(
        client,
        "DECLARE @i INT = 2 WHILE @i < 400 BEGIN INSERT INTO t VALUES (@i, 0) SET @i += 1 END",
    );
}

/// Begins a transaction that SQLite rolls back: a statement that is cancelled, which SQL Server would keep it after.
///
/// An attention that arrives before SQLite runs the statement ends the batch and keeps the transaction: it is then
/// rolled back, and tried again.
fn lose(client: &mut Client, begin: &str) {
    loop {
        client.ask(&format!(
            "{begin} RAISERROR('now', 0, 1) WITH NOWAIT
             DELETE FROM t WHERE a > (SELECT COUNT(*) FROM t x, t y, t z WHERE x.b + y.b + z.b < 0)"
        ));
        client.wait_for_data();
        client.cancel();
        client.wait_for_attention();
        match client.value("SELECT XACT_STATE()") {
            Value::SmallInt(-1) => return,
            kept => assert_eq!(kept, Value::SmallInt(1)),
        }
        succeed(client, "ROLLBACK");
    }
}

#[test]
fn temporary_tables_of_a_transaction_that_sqlite_has_ended_are_those_of_before() {
    for end in [
        "IF @@TRANCOUNT > 0 ROLLBACK",
        "SELECT * FROM t",
        "COMMIT",
        "SAVE TRAN s",
    ] {
        let fixture = Fixture::new();
        let (mut first, _) = two(&fixture);
        fill(&mut first);
        succeed(
            &mut first,
            "CREATE TABLE #x (id INT, v MONEY) INSERT #x VALUES (1, 1.5)",
        );
        lose(
            &mut first,
            "BEGIN TRAN DROP TABLE #x CREATE TABLE #x (id INT, v BIGINT) CREATE TABLE #y (a INT)",
        );
        first.batch(end);
        assert_eq!(first.int("SELECT @@TRANCOUNT"), 0, "{end}");
        assert_eq!(first.value("SELECT v FROM #x"), Value::Money(15_000), "{end}");
        succeed(&mut first, "CREATE TABLE #y (a MONEY)");
    }
}

#[test]
fn a_transaction_that_sqlite_has_ended_in_one_database_commits_in_none() {
    // Databases are committed by rising id: the one that comes first is not lost.
    for end in [
        "COMMIT",
        "USE d UPDATE q SET v = 3 COMMIT",
        "USE d SELECT * FROM q COMMIT",
    ] {
        let fixture = Fixture::new();
        let (mut first, mut second) = two(&fixture);
        succeed(&mut second, "CREATE TABLE q (v INT) INSERT q VALUES (1)");
        succeed(&mut first, "CREATE DATABASE e");
        succeed(
            &mut first,
            "USE e CREATE TABLE t (a INT PRIMARY KEY, b INT) INSERT t VALUES (1, 10)",
        );
        fill(&mut first);
        lose(
            &mut first,
            "BEGIN TRAN UPDATE d.dbo.q SET v = 2 UPDATE t SET b = 99 WHERE a = 1",
        );
        let numbers: Vec<i32> = first.batch(end).errors().iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [3998], "{end}");
        assert_eq!(first.int("SELECT @@TRANCOUNT"), 0, "{end}");
        assert_eq!(second.int("SELECT v FROM q"), 1, "{end}");
        succeed(&mut second, "SET LOCK_TIMEOUT 0 UPDATE q SET v = 4");
    }
}

#[test]
fn lock_timeout_counts_while_another_process_writes() {
    let fixture = Fixture::new();
    let (mut client, mut second) = two(&fixture);
    let other = fixture.in_sqlite("d");
    other.execute_batch("BEGIN IMMEDIATE; UPDATE t SET b = 99").unwrap();
    succeed(&mut client, "SET LOCK_TIMEOUT 200");
    let began = Instant::now();
    let answer = client.batch("UPDATE t SET b = 20");
    assert_eq!(answer.errors(), [(1222, 1)]);
    assert!(began.elapsed() >= Duration::from_millis(200));
    // Reading goes on.
    assert_eq!(client.int("SELECT b FROM t"), 10);
    succeed(&mut client, "SET LOCK_TIMEOUT 0");
    assert_eq!(client.batch("UPDATE t SET b = 20").errors(), [(1222, 1)]);
    assert_eq!(
        client.batch("CREATE TABLE u (a INT)").errors(),
        [(1222, 1)],
        "of definitions, too"
    );
    // For ever, but for ATTENTION.
    succeed(&mut client, "SET LOCK_TIMEOUT -1");
    client.ask("UPDATE t SET b = 20");
    client.cancel();
    client.wait_for_attention();
    client.ask("UPDATE t SET b = 20");
    second.ask("UPDATE t SET b = b + 1 WHERE b = 20");
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(client.answer().unwrap().errors(), []);
    assert_eq!(second.answer().unwrap().errors(), []);
    let b = client.int("SELECT b FROM t");
    assert!(b == 20 || b == 21, "{b}");
}

#[test]
fn definitions_wait_their_turn_as_rows_do() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two(&fixture);
    succeed(&mut first, "BEGIN TRAN CREATE TABLE u (a INT) INSERT INTO u VALUES (1)");
    assert_eq!(second.batch("SELECT a FROM u").errors(), [(208, 1)]);
    succeed(&mut second, "SET LOCK_TIMEOUT 20");
    assert_eq!(second.batch("CREATE INDEX i ON t (b)").errors(), [(1222, 1)]);
    succeed(&mut first, "COMMIT");
    assert_eq!(second.int("SELECT a FROM u"), 1);
}

/// Databases `d` and `e`, with a table each.
fn two_databases(fixture: &Fixture) -> (Client, Client) {
    let (mut first, second) = two(fixture);
    succeed(&mut first, "CREATE DATABASE e");
    succeed(&mut first, "USE e CREATE TABLE t (a INT PRIMARY KEY, b INT) USE d");
    (first, second)
}

#[test]
fn who_would_wait_in_a_ring_is_the_victim() {
    let fixture = Fixture::new();
    let (mut first, mut second) = two_databases(&fixture);
    succeed(&mut first, "BEGIN TRAN INSERT INTO t VALUES (2, 0)");
    succeed(&mut second, "USE e BEGIN TRAN INSERT INTO t VALUES (2, 0)");
    first.ask("USE e INSERT INTO t VALUES (3, 0)");
    second.ask("USE d INSERT INTO t VALUES (3, 0)");
    // The one that came last.
    let second_answer = second.answer().unwrap();
    let first_answer = if second_answer.errors().is_empty() {
        let answer = first.answer().unwrap();
        assert_eq!(second.int("SELECT @@TRANCOUNT"), 1);
        answer
    } else {
        assert_eq!(second.int("SELECT @@TRANCOUNT"), 0);
        first.answer().unwrap()
    };
    let mut numbers: Vec<i32> = first_answer.errors().iter().map(|error| error.0).collect();
    numbers.extend(second_answer.errors().iter().map(|error| error.0));
    assert_eq!(numbers, [1205]);
    let said = first_answer.said().into_iter().chain(second_answer.said());
    let victim: Vec<_> = said.filter(|said| said.number == 1205).collect();
    assert_eq!(victim[0].severity, 13);
    succeed(&mut first, "IF @@TRANCOUNT > 0 COMMIT");
    succeed(&mut second, "IF @@TRANCOUNT > 0 COMMIT");
    let rows = first.int("USE d SELECT COUNT(*) FROM t") + first.int("USE e SELECT COUNT(*) FROM t");
    assert_eq!(rows, 3, "the row of d, and two of the one who stayed");
}

#[test]
fn a_transaction_over_two_databases_is_warned_of_once() {
    let fixture = Fixture::new();
    let (mut first, _second) = two_databases(&fixture);
    let answer = first.batch("BEGIN TRAN INSERT INTO t VALUES (2, 0) USE e INSERT INTO t VALUES (1, 0)");
    assert_eq!(answer.errors(), []);
    let warned = |answer: &super::client::Answer| answer.said().iter().filter(|said| said.number == 50_825).count();
    assert_eq!(warned(&answer), 1);
    assert_eq!(warned(&first.batch("INSERT INTO t VALUES (2, 0)")), 0);
    succeed(&mut first, "COMMIT");
    assert_eq!(first.int("USE d SELECT COUNT(*) FROM t"), 2);
    assert_eq!(first.int("USE e SELECT COUNT(*) FROM t"), 2);
    let answer = first.batch("BEGIN TRAN DELETE FROM t USE d DELETE FROM t");
    assert_eq!(warned(&answer), 1);
    succeed(&mut first, "ROLLBACK");
    assert_eq!(first.int("USE d SELECT COUNT(*) FROM t"), 2);
    assert_eq!(first.int("USE e SELECT COUNT(*) FROM t"), 2);
}
