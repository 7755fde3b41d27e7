//! Table variables: tables of a batch or a call, and of no transaction.

use super::client::{Answer, Client, numbers};
use super::fixture::Fixture;

fn made(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    let made = client.batch("USE d CREATE TABLE t (a INT PRIMARY KEY, b INT) INSERT INTO t VALUES (1, 10), (2, 20)");
    assert_eq!(made.errors(), []);
    client
}

/// The rows of an answer without errors, as text.
fn rows(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.errors(), [], "{answer:?}");
    let rows = answer.rows().into_iter();
    rows.map(|row| {
        row.iter()
            .map(|value| format!("{value:?} "))
            .collect::<String>()
            .trim()
            .to_owned()
    })
    .collect()
}

#[test]
fn a_table_variable_is_a_table_like_any_other() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let answer = client.batch(
        "DECLARE @t TABLE (i INT IDENTITY(5, 5) PRIMARY KEY, a INT NOT NULL UNIQUE, c AS a * 2, b INT DEFAULT 7 CHECK (b < 100))
         INSERT INTO @t (a) VALUES (1), (2)
         INSERT @t (a, b) SELECT a + 2, b FROM t
         UPDATE @t SET b = b + 1 WHERE a = 3
         DELETE FROM @t WHERE a = 2
         SELECT i, a, c, b FROM @t ORDER BY i
         SELECT COUNT(*) FROM t JOIN @t AS v ON v.a = t.a
         SELECT x.a FROM @t x WHERE EXISTS (SELECT 1 FROM @t y WHERE y.a > x.a) ORDER BY x.a
         SELECT @@ROWCOUNT, @@IDENTITY",
    );
    assert_eq!(
        rows(&answer),
        [
            "Int(5) Int(1) Int(2) Int(7)",
            "Int(15) Int(3) Int(6) Int(11)",
            "Int(20) Int(4) Int(8) Int(20)",
            "Int(1)",
            "Int(1)",
            "Int(3)",
            "Int(2) Decimal(Decimal { unscaled: 20, scale: 0 })",
        ]
    );
    // The variable is dropped with its batch, and another one with the same name is empty.
    assert_eq!(numbers(&client.batch("SELECT a FROM @t")), [1087]);
    assert_eq!(client.int("DECLARE @t TABLE (z INT) SELECT COUNT(*) FROM @t"), 0);
}

#[test]
fn its_errors_name_it() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    for (text, number, told) in [
        ("INSERT @t VALUES (1, 1), (1, 2)", 2627, "'dbo.@t'"),
        ("INSERT @t VALUES (NULL, 1)", 515, "table '@t'"),
        ("INSERT @t VALUES (1, 200)", 547, "CHECK"),
        ("INSERT @t VALUES ('x', 1)", 245, "'x'"),
    ] {
        let answer = client.batch(&format!(
            "DECLARE @t TABLE (a INT PRIMARY KEY, b INT CHECK (b < 100)) {text} SELECT COUNT(*) FROM @t"
        ));
        assert_eq!(numbers(&answer), [number], "{text}");
        assert!(answer.said()[0].text.contains(told), "{answer:?}");
        // A statement that fails leaves nothing behind; a conversion's error ends the batch.
        if number != 245 {
            assert_eq!(format!("{:?}", answer.rows()), "[[Int(0)]]", "{text}");
        }
    }
    assert_eq!(
        numbers(&client.batch("DECLARE @t TABLE (a INT, a INT) SELECT 1")),
        [2705]
    );
    assert_eq!(
        numbers(&client.batch("DECLARE @t TABLE (a INT REFERENCES t (a)) SELECT 1")),
        [40510]
    );
    assert_eq!(
        numbers(&client.batch("INSERT @t VALUES (1) DECLARE @t TABLE (a INT)")),
        [1087]
    );
}

#[test]
fn it_is_there_from_the_batchs_begin_to_its_end() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let text = "DECLARE @i INT = 0 WHILE @i < 3 BEGIN DECLARE @t TABLE (a INT) INSERT @t VALUES (@i) SET @i += 1 END
        SELECT COUNT(*) FROM @t";
    assert_eq!(client.int(text), 3);
    assert_eq!(
        client.int("IF 1 = 0 DECLARE @t TABLE (a INT) INSERT @t VALUES (1) SELECT COUNT(*) FROM @t"),
        1
    );
    // The same text again: what was bound is used again.
    assert_eq!(client.int(text), 3);
    let answer = client.batch("DECLARE @t TABLE (a INT) INSERT @t VALUES (1) EXEC('SELECT a FROM @t')");
    assert_eq!(numbers(&answer), [1087]);
}

#[test]
fn each_call_has_its_own() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let made = client.batch(
        "CREATE PROCEDURE p @n INT AS
         BEGIN
            DECLARE @t TABLE (a INT)
            INSERT @t VALUES (@n)
            IF @n > 0 BEGIN DECLARE @m INT = @n - 1 EXEC p @m END
            INSERT @t VALUES (@n)
            SELECT SUM(a), COUNT(*) FROM @t
         END",
    );
    assert_eq!(made.errors(), []);
    for _ in 0..2 {
        let answer = client.batch("EXEC p 2");
        assert_eq!(rows(&answer), ["Int(0) Int(2)", "Int(2) Int(2)", "Int(4) Int(2)"]);
    }
}

#[test]
fn rollback_leaves_it_as_it_is() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let answer = client.batch(
        "DECLARE @t TABLE (a INT PRIMARY KEY, b VARCHAR(10))
         INSERT @t VALUES (1, 'before')
         BEGIN TRAN
         INSERT @t VALUES (2, 'first')
         DELETE FROM t OUTPUT deleted.a + 10, 'deleted' INTO @t
         INSERT @t VALUES (3, NULL)
         UPDATE @t SET b = 'changed' WHERE a = 1
         ROLLBACK
         SELECT a, b FROM @t ORDER BY a
         SELECT COUNT(*) FROM t",
    );
    assert_eq!(
        rows(&answer),
        [
            "Int(1) Text(\"changed\")",
            "Int(2) Text(\"first\")",
            "Int(3) Null",
            "Int(11) Text(\"deleted\")",
            "Int(12) Text(\"deleted\")",
            "Int(2)",
        ]
    );
    let answer = client.batch(
        "DECLARE @t TABLE (a INT)
         BEGIN TRAN UPDATE t SET b = 0 SAVE TRAN s INSERT @t VALUES (1) UPDATE t SET b = 1 ROLLBACK TRAN s
         SELECT COUNT(*) FROM @t SELECT SUM(b) FROM t COMMIT",
    );
    assert_eq!(rows(&answer), ["Int(1)", "Int(0)"]);
}

#[test]
fn nobody_is_waited_for() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let mut other = fixture.client();
    other.batch("USE d SET LOCK_TIMEOUT 0 CREATE TABLE #t (a INT)");
    assert_eq!(client.batch("BEGIN TRAN UPDATE t SET b = 0").errors(), []);
    let text = "DECLARE @t TABLE (a INT) INSERT @t SELECT a FROM t UPDATE @t SET a += 1 SELECT SUM(a) FROM @t";
    assert_eq!(other.int(text), 5);
    assert_eq!(other.batch("INSERT INTO #t SELECT a FROM t").errors(), []);
    assert_eq!(other.int("SELECT COUNT(*) FROM #t"), 2);
    let before = fixture.database_registry.sync_figures("d");
    assert_eq!(
        other
            .batch("BEGIN TRAN DECLARE @t TABLE (a INT) INSERT @t VALUES (1) COMMIT")
            .errors(),
        []
    );
    assert_eq!(fixture.database_registry.sync_figures("d"), before);
}

#[test]
fn temporary_tables_stay_when_another_database_is_used() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    assert_eq!(client.batch("CREATE DATABASE e").errors(), []);
    let answer = client.batch(
        "CREATE TABLE #t (i INT IDENTITY PRIMARY KEY, a INT UNIQUE, b VARCHAR(5) DEFAULT 'x')
         CREATE INDEX k ON #t (b)
         INSERT INTO #t (a) VALUES (1), (2) DELETE FROM #t WHERE a = 2
         DECLARE @v TABLE (a INT) INSERT @v VALUES (9)
         USE e
         INSERT INTO #t (a) VALUES (3)
         SELECT i, a, b FROM #t ORDER BY i
         SELECT a FROM @v
         INSERT INTO #t (a) VALUES (3)",
    );
    assert_eq!(numbers(&answer), [2627]);
    let seen: Vec<String> = answer.rows().iter().map(|row| format!("{row:?}")).collect();
    assert_eq!(
        seen,
        [
            "[Int(1), Int(1), Text(\"x\")]",
            "[Int(3), Int(3), Text(\"x\")]",
            "[Int(9)]"
        ]
    );
    assert_eq!(client.int("USE d SELECT COUNT(*) FROM #t"), 2);
    assert_eq!(client.batch("DROP TABLE #t").errors(), []);
    assert_eq!(numbers(&client.batch("USE e SELECT * FROM #t")), [208]);
    client.batch("USE d CREATE TABLE #t (a INT)");
    let answer = client.batch("BEGIN TRAN INSERT INTO t VALUES (5, 5) USE e");
    assert_eq!(numbers(&answer), [40510]);
    assert_eq!(
        client
            .batch("ROLLBACK SELECT a FROM #t USE e SELECT a FROM #t")
            .errors(),
        []
    );
}

#[test]
fn a_temporary_table_goes_with_the_call_that_made_it() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    client.batch("CREATE PROCEDURE inner_one AS SELECT COUNT(*) FROM #mine");
    let made = client.batch(
        "CREATE PROCEDURE p AS
         BEGIN CREATE TABLE #mine (a INT IDENTITY, b INT) INSERT INTO #mine (b) SELECT b FROM t EXEC inner_one END",
    );
    assert_eq!(made.errors(), []);
    for _ in 0..2 {
        assert_eq!(rows(&client.batch("EXEC p")), ["Int(2)"]);
        assert_eq!(numbers(&client.batch("SELECT * FROM #mine")), [208]);
    }
    assert_eq!(
        numbers(&client.batch("EXEC('SELECT a INTO #x FROM t SELECT COUNT(*) FROM #x') SELECT * FROM #x")),
        [208]
    );
    assert_eq!(
        numbers(&client.batch("EXEC sp_executesql N'CREATE TABLE #y (a INT)' SELECT * FROM #y")),
        [208]
    );
    // That of a batch stays, and a procedure may use it.
    assert_eq!(client.batch("SELECT a INTO #mine FROM t").errors(), []);
    assert_eq!(rows(&client.batch("EXEC inner_one")), ["Int(2)"]);
}

#[test]
fn a_statement_on_another_database_is_run_there() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    client.batch("CREATE DATABASE e");
    let made = client.batch(
        "USE e CREATE TABLE u (a INT IDENTITY PRIMARY KEY, b INT) USE d
         INSERT INTO e.dbo.u (b) VALUES (1), (2) INSERT INTO e..u (b) SELECT b + 10 FROM e.dbo.u
         UPDATE E.dbo.U SET b += 1 WHERE a = 1 DELETE FROM [e].[dbo].[u] WHERE a = 2",
    );
    assert_eq!(made.errors(), []);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM e.dbo.u x JOIN e..u y ON x.a >= y.a"),
        6
    );
    assert_eq!(client.int("SELECT SUM(b) FROM e..u WHERE DB_NAME() = 'd'"), 25);
    // What does not exist is refused, beside tables of another database, too.
    assert_eq!(numbers(&client.batch("SELECT * FROM e.dbo.u, #x")), [208]);
    assert_eq!(numbers(&client.batch("SELECT * FROM nowhere.dbo.u")), [208]);
    assert_eq!(numbers(&client.batch("SELECT * FROM e.dbo.t")), [208]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2);
    // A transaction over both ends in both.
    let answer = client.batch("BEGIN TRAN DELETE FROM e..u DELETE FROM t ROLLBACK");
    assert_eq!(answer.errors(), []);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM e..u") + client.int("SELECT COUNT(*) FROM d.dbo.t"),
        5
    );
}

#[test]
fn rowcount_ends_changes_as_it_ends_results() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    client.batch("INSERT INTO t VALUES (3, 30), (4, 40), (5, 50)");
    let answer = client.batch(
        "SET ROWCOUNT 2 UPDATE t SET b = 0 SELECT @@ROWCOUNT
         INSERT INTO t SELECT a + 100, b FROM t SELECT @@ROWCOUNT
         DELETE FROM t WHERE b <> 0 SELECT @@ROWCOUNT
         SET ROWCOUNT 0 SELECT COUNT(*) FROM t SELECT COUNT(*) FROM t WHERE b = 0",
    );
    assert_eq!(rows(&answer), ["Int(2)", "Int(2)", "Int(2)", "Int(5)", "Int(4)"]);
    let answer = client.batch("SET ROWCOUNT 1 DELETE TOP (2) FROM t SET ROWCOUNT 0");
    assert_eq!(answer.errors(), []);
    assert!(answer.dones().iter().any(|done| done.row_count == 1), "{answer:?}");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 4);
}
