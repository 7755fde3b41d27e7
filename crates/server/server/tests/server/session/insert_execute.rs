//! INSERT .. EXECUTE.

use selenite_types::Value;

use super::client::{Answer, Client, numbers};
use super::fixture::Fixture;

fn ints(answer: &Answer) -> Vec<Vec<i32>> {
    let int = |value: &Value| match value {
        Value::Int(value) => *value,
        other => panic!("{other:?}"),
    };
    answer.rows().iter().map(|row| row.iter().map(int).collect()).collect()
}

fn runs(client: &mut Client, sql: &str) -> Answer {
    let answer = client.batch(sql);
    assert_eq!(answer.errors(), [], "{sql}");
    answer
}

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for sql in [
        "CREATE DATABASE d",
        "USE d CREATE TABLE t (n INT IDENTITY, a INT, b INT) CREATE TABLE log_of (a INT)",
        "CREATE PROC three @from INT AS SELECT @from, 1 UNION ALL SELECT @from + 1, 2 SELECT @from + 2, 3 RETURN 7",
        "CREATE PROC writes @a INT AS INSERT log_of VALUES (@a) SELECT @a, @a",
    ] {
        runs(&mut client, sql);
    }
    client
}

#[test]
fn rows_of_a_call_are_inserted() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = runs(
        &mut client,
        "DECLARE @rc INT INSERT t EXEC @rc = three 10 SELECT @@ROWCOUNT, @rc",
    );
    assert_eq!(ints(&answer), [[3, 7]]);
    let counts: Vec<u64> = answer.dones().iter().map(|done| done.row_count).collect();
    assert_eq!(counts, [3, 1], "{answer:?}");
    runs(&mut client, "INSERT INTO t (b, a) EXEC ('SELECT 1, 2 SELECT 3, 4')");
    runs(
        &mut client,
        "INSERT t EXEC sp_executesql N'SELECT a, b FROM t WHERE n <= @n', N'@n INT', 1",
    );
    let rows = runs(&mut client, "SELECT n, a, b FROM t ORDER BY n");
    assert_eq!(
        ints(&rows),
        [[1, 10, 1], [2, 11, 2], [3, 12, 3], [4, 2, 1], [5, 4, 3], [6, 10, 1]]
    );
    assert_eq!(ints(&runs(&mut client, "SELECT CAST(SCOPE_IDENTITY() AS INT)")), [[6]]);
    runs(
        &mut client,
        "DECLARE @t TABLE (a INT, b INT) INSERT @t EXEC three 1 SELECT * FROM @t CREATE TABLE #t (a INT, b INT) INSERT #t EXEC three 5",
    );
    assert_eq!(ints(&runs(&mut client, "SELECT SUM(a) FROM #t")), [[18]]);
    // The rows are written when the call has ended.
    runs(
        &mut client,
        "TRUNCATE TABLE t INSERT t EXEC ('SELECT COUNT(*), 0 FROM t SELECT COUNT(*), 1 FROM t PRINT ''x''')",
    );
    assert_eq!(ints(&runs(&mut client, "SELECT a FROM t")), [[0], [0]]);
    runs(&mut client, "SET ROWCOUNT 1 INSERT t EXEC three 1 SET ROWCOUNT 0");
    assert_eq!(ints(&runs(&mut client, "SELECT COUNT(*) FROM t")), [[3]]);
}

#[test]
fn what_the_call_does_is_undone_with_the_insert() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    runs(&mut client, "ALTER TABLE t ADD CONSTRAINT ck CHECK (a < 100)");
    runs(&mut client, "INSERT t EXEC writes 5");
    let failed = client.batch("INSERT t EXEC writes 500 SELECT @@TRANCOUNT");
    assert_eq!(numbers(&failed), [547]);
    assert_eq!(ints(&failed), [[0]]);
    assert!(
        failed.infos().iter().any(|text| text.contains("terminated")),
        "{failed:?}"
    );
    let failed = client.batch("BEGIN TRAN INSERT log_of VALUES (6) INSERT t EXEC writes 500 SELECT @@TRANCOUNT COMMIT");
    assert_eq!(numbers(&failed), [547]);
    assert_eq!(ints(&failed), [[1]]);
    assert_eq!(ints(&runs(&mut client, "SELECT a FROM log_of")), [[5], [6]]);
    let caught = runs(
        &mut client,
        "BEGIN TRY INSERT t EXEC writes 500 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), @@TRANCOUNT END CATCH INSERT t EXEC writes 7",
    );
    assert_eq!(ints(&caught), [[547, 0]]);
    assert_eq!(ints(&runs(&mut client, "SELECT a FROM log_of")), [[5], [6], [7]]);
    // An error of a statement within the call does not end it.
    let answer = client.batch("INSERT t EXEC ('SELECT 1, 1 SELECT 1/0, 1 SELECT 2, 2')");
    assert_eq!(numbers(&answer), [8134]);
    assert_eq!(ints(&runs(&mut client, "SELECT a FROM t")), [[5], [7], [1], [2]]);
}

#[test]
fn invalid_insert_execute_statements_are_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    runs(&mut client, "CREATE PROC nests AS INSERT t EXEC three 1");
    runs(
        &mut client,
        "CREATE PROC ends AS BEGIN TRAN COMMIT SELECT 1, 1 ROLLBACK",
    );
    for (wanted, sql) in [
        (213, "INSERT t EXEC ('SELECT 1')"),
        (213, "INSERT t (a) EXEC three 1"),
        (213, "INSERT t EXEC sp_executesql N'SELECT a FROM log_of'"),
        (208, "INSERT nothing EXEC writes 9"),
        (2812, "INSERT t EXEC nothing"),
        (8164, "INSERT t EXEC nests"),
        (3915, "INSERT t EXEC ends"),
        (3915, "BEGIN TRAN INSERT t EXEC ends COMMIT"),
        (3916, "INSERT t EXEC ('COMMIT')"),
        (3916, "BEGIN TRAN INSERT t EXEC ('COMMIT') COMMIT"),
        (483, "INSERT t OUTPUT inserted.a EXEC three 1"),
        (206, "INSERT t EXEC ('SELECT CAST(GETDATE() AS DATE), 1')"),
        (245, "INSERT t EXEC ('SELECT ''x'', 1')"),
        (102, "INSERT t EXEC ('SELECT )')"),
    ] {
        let answer = client.batch(sql);
        assert_eq!(numbers(&answer).first(), Some(&wanted), "{sql}: {answer:?}");
        assert_eq!(ints(&client.batch("SELECT @@TRANCOUNT")), [[0]], "{sql}");
    }
    assert_eq!(ints(&runs(&mut client, "SELECT COUNT(*) FROM log_of")), [[0]]);
    // What a call wanted to undo does not stay, nor does what came before it in the transaction.
    runs(
        &mut client,
        "CREATE PROC undoes AS BEGIN TRAN INSERT log_of VALUES (77) ROLLBACK",
    );
    let answer = client.batch("BEGIN TRAN INSERT log_of VALUES (76) INSERT t EXEC undoes INSERT log_of VALUES (78)");
    assert_eq!(numbers(&answer).first(), Some(&3915), "{answer:?}");
    assert_eq!(
        ints(&runs(&mut client, "SELECT COUNT(*) + @@TRANCOUNT FROM log_of")),
        [[0]]
    );
    // Behind all that, rows reach the client again.
    assert_eq!(ints(&runs(&mut client, "EXEC writes 1")), [[1, 1]]);
}
