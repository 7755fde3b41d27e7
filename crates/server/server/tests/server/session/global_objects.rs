//! Global temporary tables, and temporary procedures.

use selenite_server::ServerLimits;
use selenite_types::Value;

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Gruen-Tisch-3";

/// A client whose database is `d`.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "IF DB_ID('d') IS NULL CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// Waits until a session that ended has dropped what it made.
fn wait_for_none(client: &mut Client, name: &str) {
    let asked = format!("SELECT OBJECT_ID('tempdb..{name}')");
    while client.value(&asked) != Value::Null {
        std::thread::yield_now();
    }
}

#[test]
fn a_global_table_is_everyones_until_its_session_ends() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut two = client(&fixture);
    all_fail(&mut two, &[(208, "SELECT * FROM ##t")]);
    assert_eq!(two.value("SELECT OBJECT_ID('tempdb..##t')"), Value::Null);
    succeed(
        &mut one,
        "CREATE TABLE ##t (id INT IDENTITY CONSTRAINT pk_g PRIMARY KEY, a INT NOT NULL DEFAULT 5, b AS a * 2, CHECK (a < 100))
         INSERT ##t (a) VALUES (1) INSERT ##t DEFAULT VALUES",
    );
    assert_eq!(two.int("SELECT SUM(b) FROM ##t"), 12);
    succeed(
        &mut two,
        "CREATE TABLE own (a INT) INSERT own SELECT a FROM ##t UPDATE ##t SET a = own.a + 10 FROM ##t JOIN own ON
         own.a = ##t.a INSERT ##t (a) SELECT a FROM own WHERE a = 5",
    );
    assert_eq!(one.int("SELECT SUM(a) FROM tempdb..##t"), 31);
    assert_eq!(
        one.int("SELECT COUNT(*) FROM tempdb.dbo.[##t] JOIN d.dbo.own ON own.a = [##t].a"),
        1
    );
    all_fail(
        &mut two,
        &[
            (2714, "CREATE TABLE ##t (a INT)"),
            (2714, "SELECT 1 AS a INTO ##t"),
            (547, "INSERT ##t (a) VALUES (100)"),
            (2627, "SET IDENTITY_INSERT ##t ON INSERT ##t (id, a) VALUES (1, 1)"),
            (4508, "CREATE VIEW v AS SELECT a FROM ##t"),
        ],
    );
    succeed(
        &mut two,
        "SET IDENTITY_INSERT ##t OFF CREATE INDEX i ON ##t (a) ALTER TABLE ##t ADD c VARCHAR(9) DROP INDEX i ON ##t
         DELETE ##t WHERE a = 5",
    );
    assert_eq!(one.int("SELECT COUNT(*) FROM ##t WHERE c IS NULL"), 2);
    assert_eq!(
        two.int("SELECT IIF(OBJECT_ID('tempdb..##t') = OBJECT_ID('tempdb.dbo.[##t]'), 1, 0)"),
        1
    );
    assert_eq!(
        two.text("SELECT name FROM tempdb.sys.tables WHERE object_id = OBJECT_ID('tempdb..##t')"),
        "##t"
    );
    assert_eq!(
        two.int("SELECT COUNT(*) FROM tempdb.INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = '##t'"),
        4
    );
    drop(one);
    wait_for_none(&mut two, "##t");
    all_fail(&mut two, &[(208, "SELECT * FROM ##t")]);
    succeed(&mut two, "CREATE TABLE ##t (a INT) DROP TABLE ##t");
    assert_eq!(two.int("SELECT COUNT(*) FROM tempdb.sys.objects"), 0);
}

#[test]
fn a_global_table_is_part_of_a_transaction() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut two = client(&fixture);
    succeed(
        &mut one,
        "CREATE TABLE t (a INT) CREATE TABLE ##t (a INT) INSERT ##t VALUES (1)",
    );
    let both = one.batch("BEGIN TRANSACTION INSERT ##t VALUES (2) INSERT t SELECT a FROM ##t CREATE TABLE ##u (a INT)");
    assert_eq!(both.errors(), []);
    // What is lost with tempdb needs no warning.
    assert!(both.said().is_empty(), "{both:?}");
    assert_eq!(one.int("SELECT COUNT(*) FROM ##t JOIN t ON t.a = ##t.a"), 2);
    assert_eq!(one.int("SELECT IIF(OBJECT_ID('tempdb..##u') IS NULL, 0, 1)"), 1);
    assert_eq!(two.int("SELECT COUNT(*) FROM ##t"), 1);
    all_fail(
        &mut two,
        &[
            (1222, "SET LOCK_TIMEOUT 0 INSERT ##t VALUES (3)"),
            (208, "SELECT * FROM ##u"),
        ],
    );
    succeed(&mut one, "ROLLBACK");
    assert_eq!(one.int("SELECT COUNT(*) FROM ##t"), 1);
    assert_eq!(one.int("SELECT COUNT(*) FROM t"), 0);
    all_fail(
        &mut one,
        &[(208, "SELECT * FROM ##u"), (8134, "INSERT ##t SELECT a / 0 FROM ##t")],
    );
    succeed(&mut two, "INSERT ##t VALUES (3)");
    succeed(
        &mut one,
        "BEGIN TRANSACTION DELETE ##t SAVE TRANSACTION s INSERT ##t VALUES (9) ROLLBACK TRANSACTION s COMMIT",
    );
    assert_eq!(two.int("SELECT COUNT(*) FROM ##t"), 0);
    // A transaction that began with a table of its own takes what is everyone's in turn.
    let begun = "USE tempdb BEGIN TRANSACTION CREATE TABLE #own (a INT) INSERT #own VALUES (1)";
    succeed(&mut one, begun);
    succeed(&mut one, "INSERT ##t SELECT a FROM #own COMMIT");
    succeed(&mut one, "DROP TABLE #own");
    // It does not see what others have done since, and so can't write after them.
    succeed(&mut one, begun);
    succeed(&mut two, "INSERT ##t VALUES (4)");
    all_fail(&mut one, &[(1205, "INSERT ##t SELECT a FROM #own")]);
    assert_eq!(one.int("SELECT @@TRANCOUNT"), 0);
    assert_eq!(two.int("SELECT SUM(a) FROM ##t"), 5);
}

#[test]
fn select_into_and_a_reset_make_and_drop_a_global_table() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut two = client(&fixture);
    succeed(&mut one, "CREATE TABLE t (a INT) INSERT t VALUES (1), (2)");
    succeed(
        &mut one,
        "SELECT 7 AS a INTO ##n SELECT a INTO ##t FROM t EXEC ('SELECT a * 2 AS a INTO ##u FROM ##t')",
    );
    assert_eq!(
        two.int("SELECT SUM(##t.a) + SUM(##u.a) FROM ##t JOIN ##u ON ##u.a = ##t.a"),
        4
    );
    assert_eq!(two.int("SELECT a FROM ##n"), 7);
    succeed(
        &mut two,
        "TRUNCATE TABLE ##t INSERT ##t VALUES (5) SELECT a INTO #mine FROM ##t INSERT ##u SELECT a FROM #mine",
    );
    assert_eq!(one.int("SELECT MAX(a) FROM ##u"), 5);
    assert_eq!(one.batch_after_reset("SELECT 1 AS a").errors(), []);
    all_fail(&mut two, &[(208, "SELECT * FROM ##t"), (208, "SELECT * FROM ##u")]);
    succeed(&mut two, "CREATE TABLE ##t (a INT)");
    // Not that of a session which had one of the name before.
    drop(one);
    succeed(&mut fixture.client(), "SELECT a FROM ##t");
    succeed(&mut two, "DROP TABLE IF EXISTS ##t, ##none");
    all_fail(
        &mut two,
        &[
            (3701, "DROP TABLE ##t"),
            (
                40510,
                "CREATE TABLE ##t (a INT) CREATE TABLE #s (a INT) DROP TABLE ##t, #s",
            ),
            (4103, "CREATE VIEW ##v AS SELECT 1 AS a"),
        ],
    );
}

#[test]
fn a_login_without_rights_may_use_a_global_table_and_its_own_procedures() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    succeed(
        &mut one,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE USER ann"),
    );
    succeed(
        &mut one,
        "CREATE TABLE t (a INT) CREATE TABLE ##t (a INT) INSERT ##t VALUES (1)",
    );
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    assert_eq!(ann.int("SELECT a FROM ##t"), 1);
    succeed(
        &mut ann,
        "INSERT ##t VALUES (2) UPDATE ##t SET a = 3 WHERE a = 2 DELETE ##t WHERE a = 1 CREATE TABLE ##hers (a INT)
         SELECT a INTO ##copy FROM ##t DROP TABLE ##hers",
    );
    assert_eq!(one.int("SELECT a FROM ##copy"), 3);
    assert_eq!(
        ann.text("SELECT STRING_AGG(name, ' ') FROM tempdb.sys.tables"),
        "##copy ##t"
    );
    all_fail(
        &mut ann,
        &[
            (229, "SELECT t.a FROM t, ##t"),
            (229, "INSERT ##t SELECT a FROM t"),
            (262, "USE tempdb CREATE TABLE x (a INT)"),
        ],
    );
    succeed(&mut ann, "USE d");
    succeed(&mut ann, "CREATE PROCEDURE #p AS SELECT a FROM ##t");
    assert_eq!(ann.int("EXEC #p"), 3);
    // A procedure gives no rights.
    succeed(&mut one, "CREATE PROCEDURE ##q AS SELECT a FROM t");
    all_fail(&mut ann, &[(229, "EXEC ##q"), (262, "CREATE PROCEDURE p AS SELECT 1")]);
}

#[test]
fn temporary_procedures_are_the_sessions_own() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut two = client(&fixture);
    succeed(&mut one, "CREATE TABLE #t (a INT) INSERT #t VALUES (4)");
    succeed(
        &mut one,
        "CREATE PROCEDURE #p @n INT, @m INT = 1 OUTPUT AS SELECT a + @n FROM #t SET @m = 8 RETURN 6",
    );
    succeed(&mut one, "CREATE PROCEDURE outer_one AS EXEC #p 10");
    assert_eq!(one.int("EXEC #p 1"), 5);
    assert_eq!(one.int("EXEC outer_one"), 14);
    assert_eq!(
        one.batch("DECLARE @r INT, @m INT EXEC @r = #p @n = 2, @m = @m OUTPUT SELECT @r, @m")
            .rows(),
        [vec![Value::Int(6)], vec![Value::Int(6), Value::Int(8)]]
    );
    all_fail(
        &mut one,
        &[
            (2714, "CREATE PROCEDURE #p AS SELECT 1"),
            (201, "EXEC #p"),
            (208, "ALTER PROCEDURE #q AS SELECT 1"),
        ],
    );
    all_fail(&mut two, &[(2812, "EXEC #p 1")]);
    succeed(&mut two, "CREATE PROCEDURE #p AS SELECT 2");
    assert_eq!(two.int("EXEC #p"), 2);
    succeed(&mut one, "ALTER PROCEDURE #p AS SELECT 3");
    assert_eq!(one.int("#p"), 3);
    succeed(&mut one, "CREATE OR ALTER PROCEDURE #p AS SELECT 4");
    assert_eq!(
        one.text("SELECT name FROM tempdb.sys.procedures WHERE object_id = OBJECT_ID('tempdb..#p')"),
        "#p"
    );
    succeed(&mut one, "USE master");
    assert_eq!(one.int("EXEC #p"), 4);
    succeed(&mut one, "EXEC ('CREATE PROCEDURE #inner AS SELECT 5')");
    assert_eq!(one.int("EXEC #inner"), 5);
    succeed(&mut one, "DROP PROCEDURE #p DROP PROCEDURE IF EXISTS #p");
    all_fail(&mut one, &[(2812, "EXEC #p"), (3701, "DROP PROCEDURE #p")]);
    assert_eq!(one.batch_after_reset("SELECT 1 AS a").errors(), []);
    all_fail(&mut one, &[(2812, "EXEC #inner")]);
}

#[test]
fn global_procedures_are_everyones() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut two = client(&fixture);
    succeed(
        &mut one,
        "CREATE PROCEDURE ##p @n INT AS SELECT DB_NAME() + CONVERT(VARCHAR(9), @n)",
    );
    assert_eq!(two.text("EXEC ##p 5"), "d5");
    assert_eq!(two.text("CREATE TABLE #t (a INT) EXEC ##p 6"), "d6");
    all_fail(
        &mut two,
        &[(2714, "CREATE PROCEDURE ##p AS SELECT 1"), (2812, "EXEC ##none")],
    );
    succeed(&mut two, "ALTER PROCEDURE ##p AS SELECT 'changed'");
    assert_eq!(one.text("EXEC ##p"), "changed");
    drop(one);
    wait_for_none(&mut two, "##p");
    all_fail(&mut two, &[(2812, "EXEC ##p")]);
}

/// It runs with the rights of who calls it.
#[test]
fn a_temporary_procedure_is_changed_as_whom_it_was_made() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    for login in ["ann", "bob"] {
        succeed(
            &mut one,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}' CREATE USER {login}"),
        );
    }
    succeed(&mut one, "ALTER ROLE db_owner ADD MEMBER bob");
    let (mut ann, mut bob) = (
        fixture.client_as("ann", PASSWORD, "d"),
        fixture.client_as("bob", PASSWORD, "d"),
    );
    succeed(&mut one, "CREATE PROCEDURE ##p AS SELECT 1");
    succeed(&mut one, "CREATE PROCEDURE #q AS SELECT 2");
    assert_eq!(ann.int("EXEC ##p"), 1);
    // The security id of dbo is that of sa.
    succeed(&mut bob, "EXECUTE AS USER = 'dbo'");
    succeed(&mut one, "EXECUTE AS USER = 'ann'");
    for who in [&mut ann, &mut bob, &mut one] {
        all_fail(
            who,
            &[
                (3704, "ALTER PROCEDURE ##p AS SELECT 3"),
                (3704, "CREATE OR ALTER PROCEDURE ##p AS SELECT 3"),
                (3701, "DROP PROCEDURE ##p"),
                (3701, "DROP PROCEDURE IF EXISTS ##p"),
            ],
        );
    }
    assert_eq!(one.int("EXEC #q"), 2);
    all_fail(
        &mut one,
        &[
            (3704, "ALTER PROCEDURE #q AS SELECT 3"),
            (3701, "DROP PROCEDURE #q"),
            (40_510, "CREATE PROCEDURE ##w WITH EXECUTE AS OWNER AS SELECT 3"),
        ],
    );
    succeed(&mut one, "REVERT");
    assert_eq!(one.int("EXEC ##p"), 1);
    succeed(&mut one, "DROP PROCEDURE ##p DROP PROCEDURE #q");
    succeed(&mut ann, "CREATE PROCEDURE ##p AS SELECT 4");
    succeed(&mut ann, "ALTER PROCEDURE ##p AS SELECT 5");
    assert_eq!(bob.int("EXEC ##p"), 5);
    // An administrator may.
    succeed(&mut one, "DROP PROCEDURE ##p");
}

/// Any login may make one: it takes no more of the disk than other temporary tables of memory.
#[test]
fn global_tables_take_no_more_than_sessions_may_of_memory() {
    let limits = ServerLimits {
        session_memory: 16 << 20,
        server_memory: 64 << 20,
        ..ServerLimits::default()
    };
    let fixture = Fixture::limited(limits);
    let mut one = client(&fixture);
    succeed(&mut one, "CREATE TABLE ##t (a VARCHAR(8000)) CREATE TABLE ##u (a INT)");
    let filled = one.batch(
        "DECLARE @n INT = 0 WHILE @n < 20 BEGIN INSERT ##t SELECT TOP 1000 REPLICATE('x', 8000) FROM sys.all_columns SET @n += 1 END",
    );
    assert_eq!(
        filled.errors().first().map(|(number, _)| *number),
        Some(1105),
        "{filled:?}"
    );
    succeed(&mut one, "DROP TABLE ##t INSERT ##u VALUES (1) DBCC CHECKDB ('tempdb')");
    assert_eq!(one.int("SELECT a FROM ##u"), 1);
}

/// As everything nameless of tempdb: in no form that outlives the server.
#[test]
fn the_file_of_tempdb_is_encrypted_and_goes_with_the_server() {
    let fixture = Fixture::new();
    let folder = fixture.data_folder();
    let path = folder.join("selenite-tempdb");
    let mut one = client(&fixture);
    assert!(!path.exists());
    succeed(
        &mut one,
        "CREATE TABLE ##t (a VARCHAR(40)) INSERT ##t VALUES ('the secret of tempdb')",
    );
    let mut held = Vec::new();
    for companion in ["", "-wal"] {
        let mut name = path.clone().into_os_string();
        name.push(companion);
        held.extend(std::fs::read(name).unwrap_or_default());
    }
    assert!(held.len() > 4096);
    assert!(!held.windows(10).any(|bytes| bytes == b"the secret"));
    // What a kill leaves is removed.
    drop(one);
    let fixture = fixture.restarted_after(|| {
        assert!(!path.exists());
        std::fs::write(&path, b"left").unwrap();
    });
    assert!(!path.exists());
    let mut one = client(&fixture);
    all_fail(&mut one, &[(208, "SELECT * FROM ##t")]);
    succeed(&mut one, "CREATE TABLE ##t (a INT)");
    fixture.stop();
}
