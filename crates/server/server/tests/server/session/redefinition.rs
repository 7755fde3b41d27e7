//! Statements beside another session that changes what their names mean (`bound-schema-is-read`).

use std::sync::atomic::{AtomicBool, Ordering};

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;
use super::inside::wait_for;

/// The statement that the second session of the fixture runs once the first one has committed; it waits for it.
fn run_after(holder: &mut Client, (late, sql): (&mut Client, &str), observer: &mut Client) -> Vec<i32> {
    late.ask(sql);
    wait_for(
        observer,
        "SELECT 1 FROM sys.dm_exec_requests WHERE session_id = 52 AND blocking_session_id = 51",
    );
    succeed(holder, "COMMIT");
    numbers(&late.answer().unwrap())
}

/// Ends the loops of other threads, also when the thread that has it panics.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Three sessions of a database `d`.
fn three(fixture: &Fixture, setup: &str) -> [Client; 3] {
    let mut clients = [fixture.client(), fixture.client(), fixture.client()];
    succeed(&mut clients[0], "CREATE DATABASE d");
    for client in &mut clients {
        succeed(client, "USE d");
    }
    succeed(&mut clients[0], setup);
    clients
}

#[test]
fn a_change_that_waited_for_a_definition_is_bound_to_it() {
    for (late_sql, expected) in [
        ("INSERT u SELECT id, CAST(y AS VARCHAR(30)) FROM s", "70007"),
        ("UPDATE u SET y = (SELECT CAST(y AS VARCHAR(30)) FROM s)", "70007"),
        (
            "BEGIN TRAN INSERT u SELECT id, CAST(y AS VARCHAR(30)) FROM s COMMIT",
            "70007",
        ),
        (
            "EXEC sp_executesql N'INSERT u SELECT id, CAST(y AS VARCHAR(30)) FROM s'",
            "70007",
        ),
        // A lock that a read takes.
        (
            "BEGIN TRAN DECLARE @y VARCHAR(30) SELECT @y = CAST(y AS VARCHAR(30)) FROM s WITH (UPDLOCK) UPDATE u SET y = @y COMMIT",
            "70007",
        ),
        (
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN DECLARE @y VARCHAR(30)
             SELECT @y = CAST(y AS VARCHAR(30)) FROM s UPDATE u SET y = @y COMMIT",
            "70007",
        ),
        (
            "INSERT s (id, y) VALUES (2, 3) UPDATE u SET y = (SELECT CAST(MIN(y) AS VARCHAR(30)) FROM s)",
            "3",
        ),
    ] {
        let fixture = Fixture::new();
        let [mut holder, mut late, mut observer] = three(
            &fixture,
            "CREATE TABLE s (id INT PRIMARY KEY, y MONEY) INSERT s VALUES (1, 5)
             CREATE TABLE u (id INT, y VARCHAR(30)) INSERT u VALUES (0, '')",
        );
        // What is bound already is kept, too.
        succeed(
            &mut late,
            &format!(
                "BEGIN TRAN {late_sql} IF @@TRANCOUNT > 0 ROLLBACK UPDATE u SET y = '' DELETE u WHERE id > 0 DELETE s WHERE id > 1"
            ),
        );
        succeed(
            &mut holder,
            "BEGIN TRAN DROP TABLE s CREATE TABLE s (id INT PRIMARY KEY, y BIGINT) INSERT s VALUES (1, 70007)",
        );
        assert_eq!(
            run_after(&mut holder, (&mut late, late_sql), &mut observer),
            Vec::<i32>::new(),
            "{late_sql}"
        );
        assert_eq!(
            observer.value("SELECT MAX(y) FROM u"),
            Value::Text(expected.into()),
            "{late_sql}"
        );
    }
}

#[test]
fn a_definition_that_waited_for_another_begins_with_what_that_one_left() {
    let fixture = Fixture::new();
    let [mut holder, mut late, mut observer] = three(&fixture, "CREATE TABLE s (id INT PRIMARY KEY)");
    succeed(&mut holder, "BEGIN TRAN ALTER TABLE s ADD a MONEY");
    let done = run_after(
        &mut holder,
        (&mut late, "ALTER TABLE s ADD b DATETIME2(3)"),
        &mut observer,
    );
    assert_eq!(done, Vec::<i32>::new());
    let types = observer.batch(
        "SELECT name, TYPE_NAME(system_type_id) FROM sys.columns WHERE object_id = OBJECT_ID('s') ORDER BY column_id",
    );
    let expected = [("id", "int"), ("a", "money"), ("b", "datetime2")];
    assert_eq!(
        types.rows(),
        expected.map(|(name, of)| vec![Value::Text(name.into()), Value::Text(of.into())])
    );
    succeed(&mut holder, "BEGIN TRAN CREATE TABLE t (a INT)");
    assert_eq!(
        run_after(&mut holder, (&mut late, "CREATE TABLE t (b MONEY)"), &mut observer),
        [2714]
    );
    succeed(&mut holder, "BEGIN TRAN DROP TABLE t");
    assert_eq!(
        run_after(&mut holder, (&mut late, "DROP TABLE t"), &mut observer),
        [3701]
    );
}

#[test]
fn a_definition_in_the_catalog_alone_counts_as_one() {
    let fixture = Fixture::new();
    let [mut holder, mut late, mut observer] = three(
        &fixture,
        "CREATE TABLE s (id INT PRIMARY KEY, y VARCHAR(2)) INSERT s VALUES (1, 'ab')",
    );
    let version = |fixture: &Fixture| -> i64 {
        let query = "PRAGMA schema_version";
        fixture.in_sqlite("d").query_row(query, [], |row| row.get(0)).unwrap()
    };
    let before = version(&fixture);
    succeed(&mut holder, "BEGIN TRAN ALTER TABLE s ALTER COLUMN y VARCHAR(20)");
    let done = run_after(
        &mut holder,
        (&mut late, "UPDATE s SET y = 'more than two'"),
        &mut observer,
    );
    assert_eq!(done, Vec::<i32>::new());
    assert!(version(&fixture) > before);
}

#[test]
fn a_table_that_is_replaced_meanwhile_is_never_read_as_the_one_before() {
    let fixture = Fixture::new();
    let setup = "CREATE TABLE u (id INT PRIMARY KEY) INSERT u VALUES (1)
                 CREATE TABLE s (id INT PRIMARY KEY, y MONEY) INSERT s VALUES (1, 5)";
    let [mut writer, first, second] = three(&fixture, setup);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for mut reader in [first, second] {
            let is_done = &is_done;
            scope.spawn(move || {
                while !is_done.load(Ordering::SeqCst) {
                    for begin in ["", "BEGIN TRAN "] {
                        read_one(&mut reader, begin);
                    }
                }
            });
        }
        let _ends = Ends(&is_done);
        for _ in 0..200 {
            for (data_type, value) in [("BIGINT", 70_007), ("MONEY", 5)] {
                succeed(&mut writer, "DROP TABLE s");
                succeed(
                    &mut writer,
                    &format!("CREATE TABLE s (id INT PRIMARY KEY, y {data_type})"),
                );
                succeed(&mut writer, &format!("INSERT s VALUES (1, {value})"));
            }
        }
    });
}

fn read_one(reader: &mut Client, begin: &str) {
    let answer = reader.batch(&format!(
        "{begin}SELECT s.y FROM u JOIN s ON s.id = 1 WHERE u.id = 1 IF @@TRANCOUNT > 0 COMMIT"
    ));
    // The table is gone for a moment.
    let numbers = numbers(&answer);
    assert!(numbers.is_empty() || numbers == [208], "{answer:?}");
    for row in answer.rows() {
        assert!(
            matches!(row[0], Value::BigInt(70_007) | Value::Money(50_000)),
            "{row:?}"
        );
    }
    if begin.is_empty() {
        return;
    }
    reader.batch("IF @@TRANCOUNT > 0 ROLLBACK");
}

#[test]
fn a_column_that_comes_and_goes_is_no_fault_of_the_database() {
    let fixture = Fixture::new();
    let [mut writer, mut checker, _] = three(
        &fixture,
        "CREATE TABLE s (id INT PRIMARY KEY, y MONEY, z DATE) INSERT s VALUES (1, 5, '2020-01-02'), (2, 6, '2021-01-02')",
    );
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                for check in ["DBCC CHECKDB", "DBCC CHECKTABLE (s)"] {
                    let answer = checker.batch(check);
                    assert_eq!(numbers(&answer), Vec::<i32>::new(), "{answer:?}");
                }
            }
        });
        let _ends = Ends(&is_done);
        for _ in 0..100 {
            succeed(&mut writer, "ALTER TABLE s DROP COLUMN y");
            succeed(&mut writer, "ALTER TABLE s ADD y MONEY");
        }
    });
}
