//! Triggers: what they see, what they undo, and what they fire themselves.

use selenite_types::Value;

use super::client::{Answer, Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (id int IDENTITY(1, 1) PRIMARY KEY, a int NOT NULL CHECK (a < 100), b varchar(20)); \
         CREATE TABLE log_of (id int IDENTITY(100, 1), what varchar(40), n int)",
    );
    client
}

fn wholes(answer: &Answer) -> Vec<Vec<i64>> {
    let whole = |value: &Value| match value {
        Value::SmallInt(value) => i64::from(*value),
        Value::Int(value) => i64::from(*value),
        Value::Bit(value) => i64::from(*value),
        Value::Decimal(value) => i64::try_from(value.unscaled).unwrap(),
        Value::Binary(bytes) => bytes.iter().fold(0, |sum, byte| sum << 8 | i64::from(*byte)),
        Value::Null => -1,
        other => panic!("{other:?}"),
    };
    let row = |row: &Vec<Value>| row.iter().map(whole).collect();
    answer.rows().iter().map(row).collect()
}

#[track_caller]
fn selects(client: &mut Client, sql: &str, expected: &[&[i64]]) {
    let answer = succeed(client, sql);
    assert_eq!(wholes(&answer), expected, "{sql}");
}

#[track_caller]
fn fails(client: &mut Client, sql: &str, expected: &[i32]) {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), expected, "{sql}: {answer:?}");
}

#[test]
fn a_trigger_runs_once_for_each_statement_and_sees_its_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT, UPDATE, DELETE AS \
         SELECT @@ROWCOUNT AS n, (SELECT COUNT(*) FROM inserted), (SELECT COUNT(*) FROM deleted), \
         (SELECT SUM(a) FROM inserted), (SELECT SUM(a) FROM deleted)",
    );
    selects(
        &mut client,
        "INSERT t (a, b) VALUES (1, 'x'), (2, 'y')",
        &[&[2, 2, 0, 3, -1]],
    );
    selects(
        &mut client,
        "UPDATE t SET a += 10; SELECT @@ROWCOUNT",
        &[&[2, 2, 2, 23, 3], &[2]],
    );
    selects(&mut client, "UPDATE t SET a = 1 WHERE a > 1000", &[&[0, 0, 0, -1, -1]]);
    selects(&mut client, "INSERT t (a) SELECT a + 1 FROM t", &[&[2, 2, 0, 25, -1]]);
    selects(&mut client, "DELETE t WHERE a > 12", &[&[1, 0, 1, -1, 13]]);
    succeed(&mut client, "TRUNCATE TABLE t");
    selects(
        &mut client,
        "DECLARE @a int = 7; INSERT t (a) VALUES (@a); SELECT a FROM t",
        &[&[1, 1, 0, 7, -1], &[7]],
    );
    succeed(&mut client, "DROP TRIGGER tr");
    let answer = succeed(&mut client, "INSERT t (a) VALUES (1)");
    assert!(answer.rows().is_empty());
}

#[test]
fn columns_that_a_statement_assigns_are_updated() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t FOR INSERT, UPDATE, DELETE AS \
         DECLARE @a int = 0, @b int = 0; IF UPDATE(a) SET @a = 1; IF UPDATE(b) AND NOT UPDATE(id) SET @b = 1; \
         SELECT @a, @b, COLUMNS_UPDATED(), TRIGGER_NESTLEVEL(), TRIGGER_NESTLEVEL(OBJECT_ID('tr'), 'AFTER', 'DML'), @@NESTLEVEL",
    );
    selects(&mut client, "INSERT t (a) VALUES (1)", &[&[1, 0, 7, 1, 1, 1]]);
    selects(&mut client, "UPDATE t SET b = 'x'", &[&[0, 1, 4, 1, 1, 1]]);
    selects(&mut client, "UPDATE t SET a = a, b = b", &[&[1, 1, 6, 1, 1, 1]]);
    selects(&mut client, "DELETE t", &[&[0, 0, 0, 1, 1, 1]]);
    selects(&mut client, "SELECT TRIGGER_NESTLEVEL()", &[&[0]]);
    fails(&mut client, "IF UPDATE(a) PRINT 'x'", &[140]);
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER UPDATE AS IF UPDATE(nothing) PRINT 'x'",
    );
    fails(&mut client, "UPDATE t SET b = 'y'", &[207]);
}

#[test]
fn identities_of_a_trigger_are_those_of_the_session_and_not_of_the_scope() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE plain (n int); CREATE TABLE u (id int IDENTITY(50, 1), a int)",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log_of (what, n) SELECT 'i', id FROM inserted",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tu ON u AFTER INSERT AS INSERT plain SELECT id FROM inserted",
    );
    selects(
        &mut client,
        "INSERT t (a) VALUES (1); SELECT @@IDENTITY, SCOPE_IDENTITY(); INSERT u (a) VALUES (1); SELECT @@IDENTITY, SCOPE_IDENTITY()",
        &[&[100, 1], &[50, 50]],
    );
}

#[test]
fn an_error_in_a_trigger_undoes_its_statement_and_the_transaction() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log_of (what) VALUES ('before'); SELECT 1 / (a - 5) FROM inserted",
    );
    fails(&mut client, "INSERT t (a) VALUES (5); SELECT 1", &[8134]);
    selects(
        &mut client,
        "SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM log_of; SELECT @@TRANCOUNT",
        &[&[0], &[0], &[0]],
    );
    fails(
        &mut client,
        "BEGIN TRAN; INSERT log_of (what) VALUES ('x'); INSERT t (a) VALUES (5); SELECT 1",
        &[8134],
    );
    selects(
        &mut client,
        "SELECT COUNT(*) FROM log_of; SELECT @@TRANCOUNT",
        &[&[0], &[0]],
    );
    // The batch that catches it finds no transaction of the statement's own.
    selects(
        &mut client,
        "BEGIN TRY INSERT t (a) VALUES (5) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(), @@TRANCOUNT END CATCH; \
         SELECT COUNT(*) FROM log_of",
        &[&[8134, 0, 0], &[0]],
    );
    // One of its own can only be rolled back.
    selects(
        &mut client,
        "BEGIN TRAN; INSERT log_of (what) VALUES ('x'); BEGIN TRY INSERT t (a) VALUES (5) END TRY \
         BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(), @@TRANCOUNT END CATCH; ROLLBACK; SELECT COUNT(*) FROM log_of",
        &[&[8134, -1, 1], &[0]],
    );
    // With XACT_ABORT OFF an error ends its own statement.
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER INSERT AS SET XACT_ABORT OFF; INSERT t (a) SELECT 100 FROM inserted WHERE a = 5; \
         INSERT log_of (what) VALUES ('after')",
    );
    fails(&mut client, "INSERT t (a) VALUES (5)", &[547]);
    selects(
        &mut client,
        "SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM log_of",
        &[&[1], &[1]],
    );
    // An error of a name ends all.
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER INSERT AS SET XACT_ABORT OFF; SELECT * FROM missing",
    );
    fails(&mut client, "INSERT t (a) VALUES (6); SELECT 1", &[208]);
    selects(&mut client, "SELECT COUNT(*) FROM t", &[&[1]]);
}

#[test]
fn a_caught_error_in_a_trigger_leaves_nothing_to_commit() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT XACT_STATE() END CATCH",
    );
    fails(&mut client, "INSERT t (a) VALUES (5); SELECT 1", &[3616]);
    selects(&mut client, "SELECT COUNT(*) FROM t; SELECT @@TRANCOUNT", &[&[0], &[0]]);
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER INSERT AS SET XACT_ABORT OFF; BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT XACT_STATE() END CATCH",
    );
    succeed(&mut client, "INSERT t (a) VALUES (5)");
}

#[test]
fn a_rollback_in_a_trigger_ends_the_batch() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS IF EXISTS (SELECT 1 FROM inserted WHERE a = 13) BEGIN \
         RAISERROR ('no', 16, 1); ROLLBACK; INSERT log_of (what, n) SELECT 'kept', a FROM inserted END",
    );
    fails(&mut client, "INSERT t (a) VALUES (13); SELECT 1", &[50000, 3609]);
    selects(
        &mut client,
        "SELECT COUNT(*) FROM t; SELECT n FROM log_of",
        &[&[0], &[13]],
    );
    fails(
        &mut client,
        "BEGIN TRAN; INSERT t (a) VALUES (1); INSERT t (a) VALUES (13); COMMIT",
        &[50000, 3609],
    );
    selects(&mut client, "SELECT COUNT(*) FROM t; SELECT @@TRANCOUNT", &[&[0], &[0]]);
    selects(
        &mut client,
        "BEGIN TRY BEGIN TRAN; INSERT t (a) VALUES (13) END TRY BEGIN CATCH SELECT ERROR_NUMBER(), @@TRANCOUNT; ROLLBACK END CATCH",
        &[&[50000, 1]],
    );
    succeed(
        &mut client,
        "INSERT t (a) VALUES (1); BEGIN TRAN; INSERT t (a) VALUES (2); COMMIT",
    );
    selects(&mut client, "SELECT COUNT(*) FROM t; SELECT @@TRANCOUNT", &[&[2], &[0]]);
}

#[test]
fn triggers_fire_each_other_up_to_a_limit() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE u (a int)");
    // A statement of its own does not fire a trigger again.
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS INSERT t (a) SELECT a + 1 FROM inserted; INSERT u SELECT a FROM inserted",
    );
    succeed(&mut client, "INSERT t (a) VALUES (1)");
    selects(
        &mut client,
        "SELECT a FROM t ORDER BY a; SELECT a FROM u",
        &[&[1], &[2], &[1]],
    );
    // One of another trigger does.
    succeed(
        &mut client,
        "CREATE TRIGGER tu ON u AFTER INSERT AS INSERT t (a) SELECT a + 10 FROM inserted",
    );
    fails(&mut client, "INSERT t (a) VALUES (1)", &[547]);
    succeed(
        &mut client,
        "ALTER TABLE t DROP CONSTRAINT IF EXISTS x; CREATE TABLE v (n int); CREATE TABLE w (n int)",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tv ON v AFTER INSERT AS INSERT w SELECT n + 1 FROM inserted",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tw ON w AFTER INSERT AS IF (SELECT n FROM inserted) < 20 INSERT v SELECT n + 1 FROM inserted",
    );
    succeed(&mut client, "INSERT v VALUES (1)");
    selects(&mut client, "SELECT COUNT(*), MAX(n) FROM w", &[&[10, 20]]);
    succeed(
        &mut client,
        "ALTER TRIGGER tw ON w AFTER INSERT AS INSERT v SELECT n + 1 FROM inserted",
    );
    fails(&mut client, "INSERT v VALUES (1)", &[217]);
    selects(
        &mut client,
        "SELECT COUNT(*) FROM v; SELECT @@TRANCOUNT",
        &[&[10], &[0]],
    );
}

#[test]
fn an_instead_of_trigger_takes_the_place_of_a_change() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t INSTEAD OF INSERT AS SELECT id, a FROM inserted; INSERT t (a, b) SELECT ISNULL(a, 50), b FROM inserted",
    );
    selects(
        &mut client,
        "INSERT t (a, b) VALUES (NULL, 'x'), (200 - 110, 'y'); SELECT a FROM t ORDER BY id",
        &[&[0, -1], &[0, 90], &[50], &[90]],
    );
    fails(&mut client, "INSERT t (a) VALUES (500)", &[547]);
    succeed(
        &mut client,
        "CREATE TRIGGER del ON t INSTEAD OF DELETE AS UPDATE t SET b = 'gone' WHERE id IN (SELECT id FROM deleted)",
    );
    let answer = succeed(
        &mut client,
        "DELETE t WHERE a = 50; SELECT COUNT(*) FROM t WHERE b = 'gone'",
    );
    assert_eq!(wholes(&answer), [[1]]);
    succeed(
        &mut client,
        "CREATE TRIGGER upd ON t INSTEAD OF UPDATE AS SELECT d.a, i.a FROM inserted i JOIN deleted d ON d.id = i.id",
    );
    selects(
        &mut client,
        "UPDATE t SET a = 1000 WHERE a = 90; SELECT COUNT(*) FROM t WHERE a = 90",
        &[&[90, 1000], &[1]],
    );
    fails(
        &mut client,
        "CREATE TRIGGER second ON t INSTEAD OF UPDATE AS SELECT 1",
        &[2111],
    );
}

#[test]
fn triggers_are_disabled_altered_and_shown() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TRIGGER one ON t AFTER INSERT, DELETE AS SELECT 1");
    succeed(
        &mut client,
        "CREATE OR ALTER TRIGGER dbo.two ON dbo.t AFTER INSERT AS SELECT 2",
    );
    selects(&mut client, "INSERT t (a) VALUES (1)", &[&[1], &[2]]);
    succeed(&mut client, "DISABLE TRIGGER one ON t");
    selects(&mut client, "INSERT t (a) VALUES (1)", &[&[2]]);
    selects(
        &mut client,
        "SELECT is_disabled FROM sys.triggers ORDER BY name",
        &[&[1], &[0]],
    );
    succeed(
        &mut client,
        "ALTER TABLE t DISABLE TRIGGER ALL; INSERT t (a) VALUES (1)",
    );
    succeed(&mut client, "ENABLE TRIGGER ALL ON t");
    selects(
        &mut client,
        "SELECT COUNT(*) FROM sys.trigger_events e JOIN sys.triggers t ON t.object_id = e.object_id WHERE t.name = 'one'",
        &[&[2]],
    );
    selects(
        &mut client,
        "SELECT COUNT(*) FROM sys.objects WHERE type = 'TR' AND parent_object_id = OBJECT_ID('t'); \
         SELECT COUNT(*) FROM sys.sql_modules WHERE definition LIKE 'CREATE%TRIGGER%'",
        &[&[2], &[2]],
    );
    for (sql, number) in [
        ("CREATE TRIGGER one ON t AFTER INSERT AS SELECT 1", 2714),
        ("CREATE TRIGGER three ON missing AFTER INSERT AS SELECT 1", 8197),
        ("ALTER TRIGGER three ON t AFTER INSERT AS SELECT 1", 208),
        ("DROP TRIGGER three", 3701),
        ("DROP TRIGGER t", 3705),
        ("DISABLE TRIGGER three ON t", 4920),
        ("ENABLE TRIGGER ALL ON missing", 1088),
        ("CREATE TRIGGER three ON DATABASE FOR CREATE_TABLE AS SELECT 1", 40510),
        ("CREATE TRIGGER three ON ALL SERVER FOR LOGON AS SELECT 1", 40510),
    ] {
        fails(&mut client, sql, &[number]);
    }
    fails(&mut client, "INSERT t (a) OUTPUT inserted.a VALUES (1)", &[334]);
    succeed(
        &mut client,
        "DECLARE @o TABLE (a int); INSERT t (a) OUTPUT inserted.a INTO @o VALUES (1)",
    );
    succeed(&mut client, "ALTER TRIGGER one ON t AFTER INSERT AS DELETE inserted");
    fails(&mut client, "INSERT t (a) VALUES (1)", &[286]);
    succeed(&mut client, "DROP TABLE t");
    selects(&mut client, "SELECT COUNT(*) FROM sys.triggers", &[&[0]]);
}

#[test]
fn a_trigger_stays_after_a_restart_and_moves_with_its_table() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS SELECT COUNT(*) FROM inserted",
    );
    succeed(
        &mut client,
        "ALTER SCHEMA s TRANSFER t; ALTER TABLE s.t ADD c int NOT NULL DEFAULT 5; ALTER TABLE s.t ALTER COLUMN b varchar(40)",
    );
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    selects(&mut client, "USE d; INSERT s.t (a) VALUES (1), (2)", &[&[2]]);
    succeed(&mut client, "DROP TRIGGER s.tr; INSERT s.t (a) VALUES (1)");
}

#[test]
fn changes_that_cascade_to_triggers_are_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE c (id int REFERENCES t (id) ON DELETE CASCADE); INSERT t (a) VALUES (1); INSERT c VALUES (1)",
    );
    succeed(&mut client, "CREATE TRIGGER tr ON c AFTER DELETE AS SELECT 1");
    fails(&mut client, "DELETE t", &[40510]);
    fails(
        &mut client,
        "CREATE TRIGGER ti ON c INSTEAD OF DELETE AS SELECT 1",
        &[2113],
    );
    selects(&mut client, "DELETE c; SELECT COUNT(*) FROM t", &[&[1], &[1]]);
    succeed(&mut client, "DISABLE TRIGGER ALL ON c; DELETE t");
}

#[test]
fn a_savepoint_of_a_trigger_ends_with_it() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS SAVE TRAN inside; INSERT log_of (what) VALUES ('undone'); ROLLBACK TRAN inside; \
         INSERT log_of (what) VALUES ('kept')",
    );
    succeed(&mut client, "BEGIN TRAN; SAVE TRAN outside; INSERT t (a) VALUES (1)");
    fails(&mut client, "ROLLBACK TRAN inside", &[6401]);
    selects(&mut client, "SELECT COUNT(*) FROM log_of WHERE what = 'kept'", &[&[1]]);
    succeed(&mut client, "ROLLBACK TRAN outside");
    selects(
        &mut client,
        "SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM log_of; COMMIT",
        &[&[0], &[0]],
    );
    succeed(
        &mut client,
        "ALTER TRIGGER tr ON t AFTER INSERT AS ROLLBACK TRAN outside",
    );
    fails(
        &mut client,
        "BEGIN TRAN; SAVE TRAN outside; INSERT t (a) VALUES (1)",
        &[40510],
    );
    selects(&mut client, "SELECT COUNT(*) FROM t; SELECT @@TRANCOUNT", &[&[0], &[0]]);
}

#[test]
fn an_attention_in_a_trigger_undoes_its_statement() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS INSERT log_of (what) VALUES ('x'); WAITFOR DELAY '00:01:00'",
    );
    client.ask("INSERT t (a) VALUES (1)");
    client.cancel();
    client.wait_for_attention();
    selects(
        &mut client,
        "SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM log_of; SELECT @@TRANCOUNT",
        &[&[0], &[0], &[0]],
    );
    succeed(&mut client, "DROP TRIGGER tr; INSERT t (a) VALUES (2)");
}

#[test]
fn the_text_of_a_trigger_is_shown_and_its_name_is_changed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON t AFTER INSERT AS SELECT 7, 7, 7, 7, 7",
    );
    succeed(&mut client, "DISABLE TRIGGER tr ON t");
    let text = "CREATE TRIGGER tr ON t AFTER INSERT AS SELECT 7, 7, 7, 7, 7";
    let shown = |client: &mut Client, sql: &str| succeed(client, sql).rows();
    let expected = [[selenite_types::Value::Text(text.into())]];
    assert_eq!(
        shown(&mut client, "SELECT OBJECT_DEFINITION(OBJECT_ID('tr'))"),
        expected
    );
    assert_eq!(shown(&mut client, "EXEC sp_helptext 'tr'"), expected);
    succeed(
        &mut client,
        "CREATE TABLE ids (a int); INSERT ids SELECT OBJECT_ID('tr'); EXEC sp_rename 'tr', 'tr2'",
    );
    let same = "SELECT COUNT(*) FROM sys.triggers WHERE name = 'tr2' AND is_disabled = 1 AND parent_id = OBJECT_ID('t') \
                AND object_id = (SELECT a FROM ids)";
    selects(&mut client, same, &[&[1]]);
    succeed(&mut client, "ENABLE TRIGGER tr2 ON t");
    selects(&mut client, "INSERT t (a) VALUES (1)", &[&[7, 7, 7, 7, 7]]);
    fails(&mut client, "EXEC sp_rename 'tr', 'tr3'", &[15225]);
    succeed(&mut client, "DROP TRIGGER tr2");
}

#[test]
fn many_rows_of_a_trigger_are_joined_by_their_key() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE m (k int, x varchar(10), v int, PRIMARY KEY (x, k)); \
         INSERT m SELECT value, CASE value % 2 WHEN 0 THEN 'a' ELSE 'B' END, value FROM GENERATE_SERIES(1, 500)",
    );
    succeed(
        &mut client,
        "CREATE TRIGGER tr ON m AFTER UPDATE AS \
         SELECT (SELECT COUNT(*) FROM inserted i FULL JOIN deleted d ON d.k = i.k AND d.x = i.x), \
         (SELECT COUNT(*) FROM inserted i WHERE NOT EXISTS (SELECT 1 FROM deleted d WHERE d.k = i.k AND d.x = i.x)), \
         (SELECT SUM(i.v - d.v) FROM inserted i JOIN deleted d ON d.k = i.k AND d.x = i.x)",
    );
    selects(&mut client, "UPDATE m SET v = v + 1", &[&[500, 0, 500]]);
    selects(&mut client, "UPDATE m SET x = 'A' WHERE k % 2 = 0", &[&[250, 0, 0]]);
    selects(
        &mut client,
        "UPDATE m SET k = k + 1000 WHERE k <= 100",
        &[&[200, 100, -1]],
    );
}
