//! Statements with names of several databases.

use selenite_server::ServerLimits;
use selenite_types::Value;

use super::client::{Client, fails, succeed};
use super::encryption::{MASTER_KEY, run, wait_for_state};
use super::fixture::Fixture;
use super::redefinition::Ends;

/// Databases `a`, in use, and `b`, each with a table and a view.
fn two(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE a CREATE DATABASE b");
    succeed(
        &mut client,
        "USE b CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(20), price DECIMAL(20, 2), twice AS price * 2,
             made DATETIME2(3), mark NCHAR(3))
         INSERT INTO u VALUES (1, 'One', 1.50, '2020-01-02 03:04:05.678', N'x'), (2, 'two', 2.25, NULL, NULL)",
    );
    succeed(&mut client, "CREATE VIEW w AS SELECT id, twice FROM u WHERE id > 1");
    succeed(
        &mut client,
        "CREATE PROCEDURE q @n INT OUTPUT AS SELECT DB_NAME(), COUNT(*) FROM u SET @n = 7 RETURN 3",
    );
    succeed(
        &mut client,
        "USE a CREATE TABLE t (id INT IDENTITY PRIMARY KEY, name VARCHAR(20), amount INT)
         INSERT INTO t (name, amount) VALUES ('ONE ', 10), ('three', 30)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT id FROM t");
    fails(
        &mut client,
        40510,
        "CREATE VIEW x AS SELECT t.id FROM t JOIN b.dbo.u ON u.id = t.id",
    );
    client
}

#[test]
fn tables_of_two_databases_are_joined() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    // Collation, a computed column and types are those of the table that is read.
    let sql = "SELECT t.amount, u.twice, u.made, u.mark, DB_NAME(), OBJECT_ID('t') - OBJECT_ID('a.dbo.t')
               FROM t JOIN b.dbo.u AS u ON t.name = u.name";
    let rows = client.batch(sql);
    assert_eq!(rows.errors(), []);
    assert_eq!(rows.rows().len(), 1);
    assert_eq!(rows.rows()[0][0], Value::Int(10));
    assert_eq!(rows.rows()[0][3], Value::Text("x  ".into()));
    assert_eq!(rows.rows()[0][4], Value::Text("a".into()));
    assert_eq!(rows.rows()[0][5], Value::Int(0));
    assert_eq!(
        client.text("SELECT CONVERT(VARCHAR(9), SUM(twice)) FROM b.dbo.u LEFT JOIN a.dbo.t ON t.id = u.id"),
        "7.50"
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM t AS x, b..u AS y, b.dbo.u AS z, b.dbo.w"),
        8
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM v"), 2);
    // From outside, its names are those of its own database.
    assert_eq!(
        client.int("USE master SELECT COUNT(*) FROM a.dbo.v JOIN b.dbo.w ON w.id = v.id"),
        1
    );
    assert_eq!(
        client.int("USE a SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM b.dbo.u WHERE u.id = t.id)"),
        2
    );
    assert_eq!(
        client.int("DECLARE @n INT SELECT @n = COUNT(*) FROM t, b.dbo.u SELECT @n"),
        4
    );
    fails(&mut client, 208, "SELECT * FROM t, b.dbo.none");
    fails(&mut client, 208, "SELECT * FROM t, none.dbo.u");
    fails(&mut client, 207, "SELECT none FROM t, b.dbo.u");
    assert_eq!(
        client.int("USE tempdb SELECT COUNT(*) FROM a.dbo.t JOIN b.dbo.u ON t.name = u.name"),
        1
    );
    // Nothing is left of the copies.
    assert_eq!(client.int("SELECT COUNT(*) FROM tempdb.sys.tables"), 0);
}

#[test]
fn rows_go_from_one_database_to_another() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    succeed(&mut client, "INSERT t SELECT name, id FROM b.dbo.u");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 4);
    succeed(
        &mut client,
        "INSERT b.dbo.u (id, name) SELECT id + 10, name FROM t WHERE name NOT IN (SELECT name FROM b.dbo.u)",
    );
    assert_eq!(client.text("SELECT name FROM b.dbo.u WHERE id = 12"), "three");
    succeed(
        &mut client,
        "UPDATE t SET amount = u.id * 100 FROM t JOIN b.dbo.u ON u.name = t.name",
    );
    assert_eq!(client.int("SELECT MAX(amount) FROM t WHERE name = 'three'"), 1200);
    succeed(
        &mut client,
        "UPDATE u SET name = t.name FROM b.dbo.u AS u JOIN t ON t.id = u.id WHERE u.id = 1",
    );
    assert_eq!(client.int("SELECT DATALENGTH(name) FROM b.dbo.u WHERE id = 1"), 4);
    succeed(&mut client, "DELETE FROM b.dbo.u WHERE id IN (SELECT id + 10 FROM t)");
    assert_eq!(client.int("SELECT COUNT(*) FROM b.dbo.u"), 2);
    succeed(
        &mut client,
        "SELECT u.id, t.name INTO n FROM t JOIN b.dbo.u ON u.id = t.id",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM a.dbo.n"), 2);
    succeed(&mut client, "SELECT t.id INTO b.dbo.m FROM t");
    assert_eq!(client.int("SELECT COUNT(*) FROM b.dbo.m"), 4);
    // A key that is taken undoes the statement, and the copies with it.
    fails(
        &mut client,
        2627,
        "INSERT b.dbo.u (id, name) SELECT 50 - ROW_NUMBER() OVER (ORDER BY id) / 4 * 49, name FROM t",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM b.dbo.u"), 2);
}

#[test]
fn temporary_tables_stand_beside_those_of_another_database() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE #x (id INT, name VARCHAR(20)) INSERT #x SELECT id, name FROM b.dbo.u",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM #x JOIN b.dbo.u ON u.id = #x.id"), 2);
    succeed(&mut client, "INSERT b.dbo.u (id, name) SELECT id + 5, name FROM #x");
    assert_eq!(client.int("SELECT COUNT(*) FROM b.dbo.u"), 4);
    succeed(&mut client, "SELECT * INTO #y FROM b.dbo.u");
    assert_eq!(client.int("SELECT COUNT(*) FROM #y"), 4);
    assert_eq!(
        client.int(
            "DECLARE @v TABLE (id INT) INSERT @v SELECT id FROM b.dbo.u
                    DELETE b.dbo.u WHERE id IN (SELECT id FROM @v WHERE id > 5) SELECT COUNT(*) FROM @v, b.dbo.u"
        ),
        8
    );
    fails(
        &mut client,
        40510,
        "DECLARE @v TABLE (id INT) DELETE b.dbo.u OUTPUT deleted.id INTO @v",
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM tempdb.sys.tables WHERE name LIKE '#_'"),
        2
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM tempdb.sys.columns WHERE object_id = OBJECT_ID('tempdb..#x')"),
        2
    );
}

#[test]
fn a_transaction_sees_its_own_rows_in_both_databases_and_keeps_no_snapshot() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    let mut other = fixture.client();
    let both = "SELECT COUNT(*) FROM a.dbo.t, b.dbo.u";
    succeed(&mut client, "BEGIN TRAN INSERT b.dbo.u (id) VALUES (3)");
    assert_eq!(client.int(both), 6);
    assert_eq!(other.int(both), 4);
    succeed(&mut client, "INSERT t (name) SELECT name FROM b.dbo.u WHERE id = 3");
    assert_eq!(client.int(both), 9);
    fails(&mut client, 8134, "INSERT t (amount) SELECT 1 / (id - 3) FROM b.dbo.u");
    assert_eq!(client.int(both), 9);
    succeed(&mut client, "ROLLBACK");
    assert_eq!(client.int(both), 4);
    succeed(&mut client, "BEGIN TRAN UPDATE t SET amount = 0");
    assert_eq!(client.int(both), 4);
    succeed(&mut other, "INSERT b.dbo.u (id) VALUES (3)");
    assert_eq!(client.int(both), 6);
    succeed(&mut client, "COMMIT");
    // What is read is held by who asks for that.
    succeed(
        &mut client,
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ BEGIN TRAN",
    );
    assert_eq!(client.int(both), 6);
    succeed(&mut other, "SET LOCK_TIMEOUT 0");
    fails(&mut other, 1222, "INSERT b.dbo.u (id) VALUES (4)");
    fails(&mut other, 1222, "UPDATE a.dbo.t SET amount = 1");
    succeed(&mut client, "COMMIT");
    succeed(&mut other, "INSERT b.dbo.u (id) VALUES (4)");
}

#[test]
fn each_database_is_asked_whether_its_rows_may_be_read() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' CREATE USER ann FOR LOGIN ann
         ALTER ROLE db_datareader ADD MEMBER ann ALTER ROLE db_datawriter ADD MEMBER ann",
    );
    let mut ann = fixture.client_as("ann", "Corr3ct-horse", "a");
    fails(&mut ann, 916, "SELECT * FROM t, b.dbo.u");
    fails(&mut ann, 916, "SELECT * FROM v, b.dbo.w");
    fails(&mut ann, 916, "SELECT * FROM b.sys.tables, t");
    succeed(&mut client, "USE b CREATE USER ann FOR LOGIN ann");
    fails(&mut ann, 229, "SELECT * FROM t, b.dbo.u");
    fails(&mut ann, 229, "INSERT t (name) SELECT name FROM b.dbo.u");
    succeed(&mut client, "ALTER ROLE db_datareader ADD MEMBER ann");
    assert_eq!(ann.int("SELECT COUNT(*) FROM t, b.dbo.u"), 4);
    succeed(&mut ann, "INSERT t (name) SELECT name FROM b.dbo.u");
    fails(&mut ann, 229, "INSERT b.dbo.u (id) SELECT id FROM t");
    fails(&mut ann, 262, "SELECT t.id INTO b.dbo.m FROM t");
    fails(&mut ann, 229, "EXEC b.dbo.q 1");
}

#[test]
fn views_of_another_database_show_that_database() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    assert_eq!(client.text("SELECT name FROM b.sys.tables"), "u");
    assert_eq!(
        client.int("SELECT COUNT(*) FROM b.sys.tables x, sys.tables y WHERE DB_NAME() = 'a'"),
        1
    );
    assert_eq!(
        client.int(
            "SELECT COUNT(*) FROM b.sys.columns c JOIN b.sys.tables t ON t.object_id = c.object_id JOIN sys.types y
                    ON y.user_type_id = c.user_type_id"
        ),
        6
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM b.INFORMATION_SCHEMA.COLUMNS"), 8);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM b.sys.databases WHERE name IN ('a', 'b')"),
        2
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM b.sys.database_files WHERE physical_name LIKE '%b.db'"),
        1
    );
    assert!(client.int("SELECT COUNT(*) FROM master.dbo.sysprocesses") > 0);
    fails(&mut client, 208, "SELECT * FROM none.sys.tables");
    succeed(&mut client, "USE master");
    assert_eq!(
        client.int("SELECT COUNT(*) FROM a.sys.tables x LEFT JOIN b.sys.tables y ON x.name <> y.name"),
        1
    );
}

#[test]
fn a_procedure_of_another_database_runs_there_and_comes_back() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    let answer =
        client.batch("DECLARE @n INT, @s INT EXEC @s = b.dbo.q @n OUTPUT SELECT @n, @s, DB_NAME(), COUNT(*) FROM t");
    assert_eq!(answer.errors(), []);
    let rows = answer.rows();
    assert_eq!(rows[0], [Value::Text("b".into()), Value::Int(2)]);
    let back = [Value::Int(7), Value::Int(3), Value::Text("a".into()), Value::Int(2)];
    assert_eq!(rows[1], back);
    // Its tables are those of its own database, also for what it calls and when it fails.
    succeed(&mut client, "USE b");
    succeed(
        &mut client,
        "CREATE PROCEDURE r AS INSERT u (id) VALUES (9) EXEC a.dbo.s EXEC('SELECT 1 FROM u') SELECT 1 / 0 FROM u",
    );
    succeed(&mut client, "USE a");
    succeed(&mut client, "CREATE PROCEDURE s AS INSERT t (name) SELECT DB_NAME()");
    fails(&mut client, 8134, "EXEC b..r");
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE name = 'a'"), 1);
    assert_eq!(client.int("SELECT COUNT(*) FROM b.dbo.u"), 3);
    assert_eq!(client.text("SELECT DB_NAME()"), "a");
    succeed(
        &mut client,
        "BEGIN TRAN BEGIN TRY EXEC b..r END TRY BEGIN CATCH IF @@TRANCOUNT = 1 ROLLBACK END CATCH",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t, b.dbo.u"), 9);
    fails(&mut client, 2812, "EXEC b.dbo.none");
    fails(&mut client, 201, "EXEC b.dbo.q");
    fails(
        &mut client,
        40510,
        "CREATE TABLE #x (id INT) DECLARE @n INT EXEC b.dbo.q @n OUTPUT",
    );
    assert_eq!(client.text("SELECT DB_NAME()"), "a");
}

#[test]
fn catalog_procedures_of_another_database_show_that_database() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    succeed(&mut client, "CREATE TABLE #x (id INT)");
    let columns = client.batch("EXEC b..sp_columns @table_name = 'u'");
    assert_eq!(columns.errors(), []);
    assert_eq!(columns.rows().len(), 6);
    assert_eq!(columns.rows()[0][0], Value::Text("b".into()));
    assert_eq!(client.batch("EXEC b.sys.sp_pkeys 'u'").rows().len(), 1);
    assert_eq!(client.batch("EXEC master.dbo.sp_tables 'none'").errors(), []);
    assert_eq!(client.batch("EXEC b.dbo.sp_helptext 'w'").errors(), []);
    fails(&mut client, 15_009, "EXEC sp_helptext 'w'");
    fails(
        &mut client,
        15_250,
        "EXEC b..sp_columns @table_name = 'u', @table_qualifier = 'a'",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM #x, t"), 0);
}

/// 701: a session's memory.
const OUT_OF_MEMORY: i32 = 701;

#[test]
fn outside_a_transaction_a_table_is_read_where_it_is_and_within_one_its_copy_is_bounded() {
    let fixture = Fixture::limited(ServerLimits {
        session_memory: 32 << 20,
        ..ServerLimits::default()
    });
    let mut client = two(&fixture);
    // 64 MB, twice the session's memory.
    succeed(
        &mut client,
        "USE b CREATE TABLE big (id INT PRIMARY KEY, body CHAR(8000)) USE a",
    );
    let rows = "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)";
    for from in 0..8 {
        succeed(
            &mut client,
            &format!(
                "USE b; {rows} INSERT big SELECT i + {from} * 1000, REPLICATE('x', 8000) FROM n OPTION (MAXRECURSION 0); USE a"
            ),
        );
    }
    let joined = "SELECT CONVERT(INT, SUM(LEN(big.body)) / 8000) FROM t, b.dbo.big WHERE t.id = 1";
    assert_eq!(client.int(joined), 8000);
    succeed(
        &mut client,
        "INSERT t (amount) SELECT COUNT(*) FROM b.dbo.big WHERE body LIKE 'x%'",
    );
    assert_eq!(client.int("SELECT MAX(amount) FROM t"), 8000);
    succeed(&mut client, "BEGIN TRAN");
    fails(&mut client, OUT_OF_MEMORY, joined);
    client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
    assert_eq!(client.int(joined), 8000);
}

#[test]
fn more_databases_than_sqlite_attaches_are_joined() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let names: Vec<String> = (0..13).map(|number| format!("d{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        succeed(&mut client, &format!("CREATE DATABASE {name}"));
        succeed(
            &mut client,
            &format!("USE {name} CREATE TABLE t (id INT PRIMARY KEY, n INT) INSERT t VALUES (1, {number})"),
        );
    }
    let sum: Vec<String> = names.iter().map(|name| format!("{name}.n")).collect();
    let tables: Vec<String> = names.iter().map(|name| format!("{name}.dbo.t AS {name}")).collect();
    let sql = format!("SELECT {} FROM {}", sum.join(" + "), tables.join(", "));
    assert_eq!(client.int(&sql), 78);
    succeed(
        &mut client,
        &format!("UPDATE d3.dbo.t SET n = ({sql}) FROM d3.dbo.t AS target"),
    );
    assert_eq!(client.int("SELECT n FROM d3.dbo.t"), 78);
    // None is left attached: each can be dropped.
    succeed(&mut client, "USE master");
    for name in &names {
        succeed(&mut client, &format!("DROP DATABASE {name}"));
    }
}

#[test]
fn a_statement_reads_another_database_while_others_write_there() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    let mut writer = fixture.client();
    succeed(&mut writer, "USE b BEGIN TRAN INSERT u (id) VALUES (3)");
    succeed(&mut client, "SET LOCK_TIMEOUT 0");
    assert_eq!(client.int("SELECT COUNT(*) FROM t, b.dbo.u"), 4);
    // Only the database that is written to is locked.
    succeed(&mut client, "INSERT t (name) SELECT name FROM b.dbo.u");
    succeed(
        &mut client,
        "DECLARE @v TABLE (id INT) INSERT @v SELECT u.id FROM b.dbo.u, t",
    );
    fails(&mut client, 1222, "INSERT b.dbo.u (id) SELECT id + 10 FROM t");
    succeed(&mut writer, "COMMIT");
    succeed(&mut client, "INSERT b.dbo.u (id) SELECT id + 10 FROM t");
    // A statement that fails leaves nothing attached, and nothing open.
    fails(&mut client, 8134, "SELECT 1 / (u.id - u.id) FROM t, b.dbo.u");
    fails(
        &mut client,
        8134,
        "INSERT t (amount) SELECT 1 / (u.id - u.id) FROM b.dbo.u",
    );
    succeed(&mut writer, "USE master DROP DATABASE b");
    fails(&mut client, 208, "SELECT * FROM t, b.dbo.u");
}

#[test]
fn databases_under_keys_of_their_own_are_joined() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    run(
        &mut client,
        &["USE master", MASTER_KEY, "CREATE CERTIFICATE c WITH SUBJECT = 's'"],
    );
    for (name, algorithm) in [("a", "AES_128"), ("b", "AES_256")] {
        run(
            &mut client,
            &[
                &format!("USE {name}"),
                &format!(
                    "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = {algorithm} ENCRYPTION BY SERVER CERTIFICATE c"
                ),
                &format!("ALTER DATABASE {name} SET ENCRYPTION ON"),
            ],
        );
        wait_for_state(&mut client, name, 3);
    }
    succeed(&mut client, "USE a");
    assert_eq!(client.int("SELECT COUNT(*) FROM t, b.dbo.u"), 4);
    succeed(&mut client, "INSERT b.dbo.u (id) SELECT id + 10 FROM t");
    succeed(
        &mut client,
        "BEGIN TRAN INSERT t (name) SELECT name FROM b.dbo.u WHERE id > 10",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t, b.dbo.u"), 16);
    succeed(&mut client, "COMMIT");
}

#[test]
fn a_table_that_is_replaced_meanwhile_is_never_read_as_the_one_before() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    let mut writer = fixture.client();
    succeed(
        &mut writer,
        "USE b CREATE TABLE s (id INT PRIMARY KEY, y MONEY) INSERT s VALUES (1, 5)",
    );
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ends = Ends(&is_done);
            for _ in 0..150 {
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
        while !is_done.load(std::sync::atomic::Ordering::SeqCst) {
            for begin in ["", "BEGIN TRAN "] {
                let answer = client.batch(&format!(
                    "{begin}SELECT s.y FROM t JOIN b.dbo.s AS s ON s.id = 1 WHERE t.id = 1 IF @@TRANCOUNT > 0 COMMIT"
                ));
                // The table is gone for a moment.
                let numbers: Vec<i32> = answer.errors().iter().map(|(number, _)| *number).collect();
                assert!(numbers.is_empty() || numbers == [208], "{answer:?}");
                for row in answer.rows() {
                    assert!(
                        matches!(row[0], Value::BigInt(70_007) | Value::Money(50_000)),
                        "{row:?}"
                    );
                }
                client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
            }
        }
    });
}

/// They would change, or take something of, the database in use.
#[test]
fn a_procedure_of_the_system_is_not_carried_out_in_another_database_than_it_names() {
    let fixture = Fixture::new();
    let mut client = two(&fixture);
    succeed(&mut client, "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse'");
    for database in ["b", "a"] {
        succeed(&mut client, &format!("USE {database} CREATE USER ann FOR LOGIN ann"));
    }
    succeed(&mut client, "CREATE SEQUENCE s");
    let calls = [
        "sp_addrolemember 'db_datareader', 'ann'",
        "sp_droprolemember 'db_datareader', 'ann'",
        "sp_rename 't', 't2'",
        "sp_rename 't2', 't'",
        "sp_getapplock 'x', 'Exclusive', 'Session'",
        "sp_releaseapplock 'x', 'Session'",
        "sp_addextendedproperty 'p', 1",
        "sp_updateextendedproperty 'p', 2",
        "sp_dropextendedproperty 'p'",
        "sp_sequence_get_range N's', 1, @v OUTPUT",
    ];
    for place in ["b.dbo.", "b..", "b.sys.", "[B].dbo."] {
        for call in calls {
            fails(
                &mut client,
                40510,
                &format!("DECLARE @v SQL_VARIANT EXEC {place}{call}"),
            );
        }
    }
    for place in ["", "sys.", "a.dbo.", "A.."] {
        for call in calls {
            succeed(&mut client, &format!("DECLARE @v SQL_VARIANT EXEC {place}{call}"));
        }
    }
    let members = "SELECT COUNT(*) FROM sys.database_role_members WHERE member_principal_id = USER_ID('ann')";
    assert_eq!(client.int(members), 0);
    // What is about the server is called in any database.
    succeed(&mut client, "EXEC b.sys.sp_set_session_context 'k', 1");
}
