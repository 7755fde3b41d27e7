//! Schemas: their objects, how names are resolved, and what the file has.

use selenite_types::Value;

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

fn said(client: &mut Client, sql: &str) -> String {
    client.batch(sql).said()[0].text.clone()
}

/// A database `d` with a schema `s`.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(&mut client, "CREATE SCHEMA s");
    client
}

const PASSWORD: &str = "Gruen-Tisch-3";

#[test]
fn two_tables_of_one_name_are_in_different_schemas() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a INT) CREATE TABLE s.t (a INT IDENTITY PRIMARY KEY, b VARCHAR(9) UNIQUE)
         INSERT t VALUES (1), (2) INSERT S.T (b) VALUES ('x')",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2);
    assert_eq!(client.int("SELECT COUNT(*) FROM d.s.t"), 1);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM dbo.t, s.t WHERE s.t.b = 'x' AND dbo.t.a = 2"),
        1
    );
    succeed(&mut client, "UPDATE s.t SET b = 'y' DELETE FROM dbo.t WHERE a = 1");
    assert_eq!(client.text("SELECT b FROM s.t"), "y");
    let duplicate = said(&mut client, "INSERT s.t (b) VALUES ('y')");
    assert!(duplicate.contains("object 's.t'"), "{duplicate}");
    succeed(
        &mut client,
        "SET IDENTITY_INSERT s.t ON INSERT s.t (a, b) VALUES (9, 'z') SET IDENTITY_INSERT s.t OFF",
    );
    succeed(&mut client, "SELECT * INTO s.copy FROM s.t");
    assert_eq!(client.int("SELECT MAX(a) FROM s.copy"), 9);
    succeed(&mut client, "TRUNCATE TABLE s.copy DROP TABLE s.t, dbo.t");
    all_fail(&mut client, &[(208, "SELECT * FROM t"), (208, "SELECT * FROM s.t")]);
    all_fail(
        &mut client,
        &[
            (2760, "CREATE TABLE none.t (a INT)"),
            (2760, "CREATE TABLE sys.t (a INT)"),
            (2760, "CREATE TABLE INFORMATION_SCHEMA.t (a INT)"),
            (2760, "SELECT 1 AS a INTO none.t"),
            (2714, "CREATE TABLE s.copy (a INT)"),
            (3701, "DROP TABLE s.none"),
        ],
    );
    let missing = said(&mut client, "DROP TABLE s.none");
    assert_eq!(
        missing,
        "Cannot drop the table 's.none', because it does not exist or you do not have permission."
    );
    succeed(
        &mut client,
        "CREATE TABLE guest.t (a INT) CREATE TABLE db_owner.t (a INT)",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM guest.t, db_owner.t"), 0);
}

#[test]
fn a_name_with_a_point_is_no_other_tables() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA [s.a]");
    succeed(&mut client, "CREATE SCHEMA a");
    succeed(&mut client, "CREATE TABLE a.t (a INT)");
    succeed(
        &mut client,
        "CREATE TABLE [s.t] (a INT, INDEX x (a)) CREATE TABLE s.t (a INT, INDEX x (a))
         CREATE TABLE s.[a.t] (a INT) CREATE TABLE [s.a].t (a INT) CREATE TABLE [s.a.t] (a INT) CREATE TABLE a (a INT)
         CREATE INDEX t ON a (a)
         INSERT [s.t] VALUES (1) INSERT s.t VALUES (2) INSERT s.[a.t] VALUES (3) INSERT [s.a].t VALUES (4)
         INSERT [s.a.t] VALUES (5)",
    );
    assert_eq!(
        client.text("SELECT CONCAT((SELECT a FROM [s.t]), (SELECT a FROM s.t), (SELECT a FROM s.[a.t]), (SELECT a FROM [s.a].t),
             (SELECT a FROM [s.a.t]))"
        ),
        "12345"
    );
    drop(client);
    // SQLite sees `dbo` as ever, and other schemas beside it.
    let file = fixture.in_sqlite("d");
    let names = "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' AND
                 name NOT LIKE 'selenite%' ORDER BY name)";
    let names: String = file.query_row(names, [], |row| row.get(0)).unwrap();
    assert_eq!(names, "@a.t @s%2Ea.t @s.a.t @s.t a s.a.t s.t");
    drop(file);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(client.int("SELECT a FROM d.[s.a].t"), 4);
    all_fail(&mut client, &[(40510, "USE d CREATE TABLE [@x] (a INT)")]);
}

#[test]
fn a_file_of_before_has_dbo_alone() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE DATABASE d CREATE LOGIN ann WITH PASSWORD = 'Gruen-Tisch-3'",
    );
    succeed(&mut client, "USE d CREATE TABLE t (a INT) CREATE USER ann");
    succeed(&mut client, "USE master");
    drop(client);
    let fixture = fixture.restarted();
    // As an earlier server made it.
    fixture
        .in_sqlite("d")
        .execute_batch("ALTER TABLE selenite_user DROP COLUMN default_schema")
        .unwrap();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    assert_eq!(
        client.text("SELECT default_schema_name FROM sys.database_principals WHERE name = 'ann'"),
        "dbo"
    );
    let file = fixture.in_sqlite("d");
    let count = "SELECT count(*) FROM sqlite_schema WHERE name = 'selenite_schema'";
    assert_eq!(file.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(
        &mut client,
        "CREATE TABLE s.t (a INT) ALTER USER ann WITH DEFAULT_SCHEMA = s",
    );
    assert_eq!(file.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    assert_eq!(
        client.text("SELECT default_schema_name FROM sys.database_principals WHERE name = 'ann'"),
        "s"
    );
}

#[test]
fn schemas_are_made_with_what_is_in_them_and_dropped_when_they_are_empty() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SCHEMA parts AUTHORIZATION dbo
         CREATE VIEW v AS SELECT c.id FROM child c JOIN parent p ON p.id = c.parent
         CREATE TABLE child (id INT PRIMARY KEY, parent INT REFERENCES parts.parent (id))
         CREATE TABLE parts.parent (id INT PRIMARY KEY)",
    );
    succeed(
        &mut client,
        "INSERT parts.parent VALUES (1) INSERT parts.child VALUES (5, 1)",
    );
    assert_eq!(client.int("SELECT id FROM parts.v"), 5);
    // All of it, or nothing.
    all_fail(
        &mut client,
        &[(
            208,
            "CREATE SCHEMA bad CREATE TABLE x (a INT) CREATE VIEW y AS SELECT a FROM none",
        )],
    );
    assert_eq!(client.value("SELECT SCHEMA_ID('bad')"), Value::Null);
    all_fail(
        &mut client,
        &[
            (
                40510,
                "CREATE SCHEMA bad CREATE TABLE x (a INT) GRANT SELECT ON x TO public",
            ),
            (40510, "CREATE SCHEMA bad CREATE TABLE dbo.x (a INT)"),
            (2714, "CREATE SCHEMA S"),
            (2714, "CREATE SCHEMA guest"),
            (15151, "CREATE SCHEMA bad AUTHORIZATION none"),
            (3729, "DROP SCHEMA parts"),
            (15150, "DROP SCHEMA dbo"),
            (15150, "DROP SCHEMA sys"),
            (15151, "DROP SCHEMA none"),
            (111, "SELECT 1 CREATE SCHEMA x"),
        ],
    );
    assert_eq!(
        said(&mut client, "DROP SCHEMA none"),
        "Cannot drop the schema 'none', because it does not exist or you do not have permission."
    );
    let used = said(&mut client, "DROP SCHEMA parts");
    assert!(
        used.starts_with("Cannot drop schema 'parts' because it is being referenced by object '"),
        "{used}"
    );
    succeed(&mut client, "DROP VIEW parts.v DROP TABLE parts.child, parts.parent");
    succeed(&mut client, "DROP SCHEMA parts DROP SCHEMA IF EXISTS parts");
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.schemas WHERE name = 'parts'"), 0);
    // As all definitions.
    succeed(&mut client, "BEGIN TRANSACTION");
    succeed(&mut client, "CREATE SCHEMA later");
    succeed(&mut client, "CREATE TABLE later.t (a INT) ROLLBACK");
    assert_eq!(client.value("SELECT SCHEMA_ID('later')"), Value::Null);
    all_fail(&mut client, &[(2760, "CREATE TABLE later.t (a INT)")]);
}

#[test]
fn names_of_constraints_are_unique_in_their_schema() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a INT CONSTRAINT k PRIMARY KEY, b INT CONSTRAINT c CHECK (b > 0))
         CREATE TABLE s.t (a INT CONSTRAINT k PRIMARY KEY, b INT CONSTRAINT c CHECK (b > 5))
         CREATE INDEX i ON t (b) CREATE INDEX i ON s.t (b)",
    );
    all_fail(&mut client, &[(547, "INSERT s.t VALUES (1, 3)")]);
    succeed(&mut client, "INSERT t VALUES (1, 3)");
    all_fail(
        &mut client,
        &[
            (2714, "CREATE TABLE s.u (a INT CONSTRAINT k PRIMARY KEY)"),
            (2714, "ALTER TABLE s.t ADD CONSTRAINT c CHECK (a > 0)"),
            (1913, "CREATE INDEX i ON s.t (a)"),
        ],
    );
    succeed(
        &mut client,
        "ALTER TABLE s.t DROP CONSTRAINT c ALTER TABLE s.t ADD d INT NOT NULL CONSTRAINT df DEFAULT 4
         ALTER INDEX i ON s.t REBUILD DROP INDEX i ON s.t ALTER TABLE s.t ALTER COLUMN b BIGINT NULL
         INSERT s.t (a, b) VALUES (1, 3)",
    );
    assert_eq!(client.int("SELECT d FROM s.t"), 4);
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.indexes WHERE name = 'i'"), 1);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.check_constraints WHERE schema_id = SCHEMA_ID('s')"),
        0
    );
}

#[test]
fn foreign_keys_cross_schemas() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (id INT PRIMARY KEY) CREATE TABLE s.t (id INT PRIMARY KEY, up INT REFERENCES dbo.t (id) ON DELETE
         CASCADE) CREATE TABLE u (id INT, up INT CONSTRAINT f REFERENCES s.t)
         INSERT t VALUES (1), (2) INSERT s.t VALUES (5, 1), (6, NULL) INSERT u VALUES (1, 6)",
    );
    let refused = said(&mut client, "INSERT u VALUES (2, 1)");
    assert!(
        refused.contains("\"f\"") && refused.contains("table \"s.t\""),
        "{refused}"
    );
    all_fail(
        &mut client,
        &[
            (547, "DELETE s.t WHERE id = 6"),
            (547, "INSERT s.t VALUES (7, 9)"),
            (3726, "DROP TABLE t"),
            (3726, "DROP TABLE s.t"),
            (4712, "TRUNCATE TABLE s.t"),
            (1767, "CREATE TABLE x (a INT REFERENCES s.none (id))"),
        ],
    );
    succeed(&mut client, "DELETE t WHERE id = 1");
    assert_eq!(client.int("SELECT COUNT(*) FROM s.t"), 1);
    assert_eq!(
        client.text(
            "SELECT CONCAT(OBJECT_SCHEMA_NAME(parent_object_id), OBJECT_SCHEMA_NAME(referenced_object_id))
             FROM sys.foreign_keys WHERE name = 'f'"
        ),
        "dbos"
    );
    assert_eq!(
        client.text(
            "SELECT CONCAT(CONSTRAINT_SCHEMA, UNIQUE_CONSTRAINT_SCHEMA) FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS
             WHERE CONSTRAINT_NAME = 'f'"
        ),
        "dbos"
    );
    let keys = client.batch("EXEC sp_fkeys @pktable_name = 't', @pktable_owner = 's'");
    assert_eq!(keys.rows().len(), 1);
    succeed(&mut client, "DROP TABLE u, s.t, t");
}

#[test]
fn objects_are_transferred() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (id INT IDENTITY CONSTRAINT k PRIMARY KEY, a INT NULL UNIQUE, b AS a + 1, INDEX i (a))
         CREATE TABLE u (id INT CONSTRAINT f REFERENCES t (id), own INT)
         INSERT t (a) VALUES (4) INSERT u (id) VALUES (1)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT b FROM t");
    succeed(&mut client, "CREATE PROCEDURE p AS SELECT b FROM s.t");
    let id = client.int("SELECT OBJECT_ID('t')");
    succeed(&mut client, "ALTER SCHEMA s TRANSFER dbo.t");
    succeed(&mut client, "ALTER SCHEMA s TRANSFER OBJECT::p");
    assert_eq!(client.int("SELECT OBJECT_ID('s.t')"), id);
    assert_eq!(client.value("SELECT OBJECT_ID('dbo.t')"), Value::Null);
    assert_eq!(client.int("EXEC s.p"), 5);
    all_fail(
        &mut client,
        &[
            (208, "SELECT * FROM v"),
            (547, "INSERT u (id) VALUES (7)"),
            (547, "DELETE s.t"),
            (2627, "INSERT s.t (a) VALUES (4)"),
            (2812, "EXEC dbo.p"),
            (15530, "ALTER SCHEMA s TRANSFER s.t"),
            (15151, "ALTER SCHEMA s TRANSFER none"),
            (15151, "ALTER SCHEMA none TRANSFER s.t"),
            (15151, "ALTER SCHEMA sys TRANSFER s.t"),
            (15151, "ALTER SCHEMA s TRANSFER TYPE::x"),
        ],
    );
    succeed(&mut client, "INSERT s.t (a) VALUES (5)");
    assert_eq!(client.int("SELECT MAX(id) FROM s.t"), 3);
    // What it refers to follows in the file, too, and after a restart.
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    all_fail(
        &mut client,
        &[(547, "INSERT u (id) VALUES (7)"), (3726, "DROP TABLE s.t")],
    );
    succeed(&mut client, "CREATE TABLE t (id INT)");
    all_fail(&mut client, &[(15530, "ALTER SCHEMA dbo TRANSFER s.t")]);
    succeed(
        &mut client,
        "DROP TABLE dbo.t ALTER SCHEMA dbo TRANSFER s.t DROP INDEX i ON t",
    );
    assert_eq!(client.int("SELECT b FROM v WHERE b = 6"), 6);
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.objects WHERE schema_id = SCHEMA_ID('s')"),
        1
    );
}

#[test]
fn a_name_of_one_part_is_in_the_default_schema_or_in_dbo() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE USER ann WITH DEFAULT_SCHEMA = s"),
    );
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
    succeed(
        &mut client,
        "CREATE TABLE t (a VARCHAR(9)) CREATE TABLE s.t (a VARCHAR(9)) CREATE TABLE u (a VARCHAR(9))
         INSERT t VALUES ('dbo') INSERT s.t VALUES ('s') INSERT u VALUES ('u')",
    );
    succeed(&mut client, "CREATE VIEW s.v AS SELECT t.a + u.a AS a FROM t, u");
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    succeed(&mut client, "CREATE PROCEDURE s.p AS SELECT t.a + u.a FROM t, u");
    succeed(&mut client, "CREATE PROCEDURE p AS SELECT a FROM t");
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    assert_eq!(ann.text("SELECT SCHEMA_NAME()"), "s");
    assert_eq!(ann.text("SELECT t.a + u.a FROM t, u"), "su");
    assert_eq!(client.text("SELECT t.a + u.a FROM t, u"), "dbou");
    // What a view or a procedure names is in its schema, for every caller.
    for client in [&mut ann, &mut client] {
        assert_eq!(client.text("SELECT a FROM s.v"), "su");
        assert_eq!(client.text("SELECT a FROM dbo.v"), "dbo");
        assert_eq!(client.text("EXEC s.p"), "su");
        assert_eq!(client.text("EXEC dbo.p"), "dbo");
    }
    assert_eq!(ann.text("EXEC p"), "su");
    // Nor does it matter whose default schema it is where one procedure calls another.
    succeed(&mut client, "CREATE PROCEDURE s.calls AS EXEC p EXEC only");
    succeed(&mut client, "CREATE PROCEDURE calls AS EXEC p");
    succeed(&mut client, "CREATE PROCEDURE only AS SELECT 'only'");
    let of_s = [[Value::Text("su".into())], [Value::Text("only".into())]];
    assert_eq!(client.batch("EXEC s.calls").rows(), of_s);
    assert_eq!(ann.batch("EXEC s.calls").rows(), of_s);
    assert_eq!(ann.text("EXEC dbo.calls"), "dbo");
    assert_eq!(client.text("EXEC p"), "dbo");
    assert_eq!(ann.int("SELECT IIF(OBJECT_ID('t') = OBJECT_ID('s.t'), 1, 0)"), 1);
    assert_eq!(ann.int("SELECT IIF(OBJECT_ID('u') = OBJECT_ID('dbo.u'), 1, 0)"), 1);
    succeed(&mut ann, "CREATE TABLE new (a INT) INSERT new VALUES (1) DROP TABLE t");
    assert_eq!(client.int("SELECT a FROM s.new"), 1);
    assert_eq!(ann.text("SELECT a FROM t"), "dbo");
    // One that does not exist is no error until something is made in it.
    succeed(&mut client, "ALTER USER ann WITH DEFAULT_SCHEMA = later");
    assert_eq!(ann.text("SELECT a FROM t"), "dbo");
    all_fail(&mut ann, &[(2760, "CREATE TABLE x (a INT)")]);
    succeed(&mut client, "CREATE SCHEMA later");
    succeed(&mut ann, "CREATE TABLE x (a INT)");
    assert_eq!(client.int("SELECT COUNT(*) FROM later.x"), 0);
    succeed(&mut ann, "CREATE OR ALTER VIEW v AS SELECT 7 AS a");
    assert_eq!(client.int("SELECT a FROM later.v"), 7);
    assert_eq!(client.text("SELECT a FROM dbo.v"), "dbo");
}

#[test]
fn an_owner_of_a_schema_may_do_what_it_likes_in_it_and_nowhere_else() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE USER ann"),
    );
    succeed(&mut client, "CREATE SCHEMA hers AUTHORIZATION ann");
    succeed(
        &mut client,
        "CREATE TABLE t (a INT) CREATE TABLE s.t (a INT) CREATE TABLE hers.t (a INT) INSERT hers.t VALUES (1)",
    );
    succeed(&mut client, "CREATE PROCEDURE hers.p AS SELECT a FROM t");
    succeed(&mut client, "CREATE PROCEDURE s.p AS SELECT a FROM t");
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    assert_eq!(ann.int("SELECT a FROM hers.t"), 1);
    assert_eq!(ann.int("EXEC hers.p"), 1);
    succeed(
        &mut ann,
        "INSERT hers.t VALUES (2) UPDATE hers.t SET a = 3 WHERE a = 2 DELETE hers.t WHERE a = 3
         ALTER TABLE hers.t ADD b INT CREATE INDEX i ON hers.t (b) DROP INDEX i ON hers.t TRUNCATE TABLE hers.t",
    );
    assert_eq!(
        ann.text("SELECT STRING_AGG(SCHEMA_NAME(schema_id), ',') FROM sys.tables"),
        "hers"
    );
    assert_eq!(ann.value("SELECT OBJECT_ID('s.t')"), Value::Null);
    let denied = said(&mut ann, "SELECT a FROM s.t");
    assert_eq!(
        denied,
        "The SELECT permission was denied on the object 't', database 'd', schema 's'."
    );
    all_fail(
        &mut ann,
        &[
            (229, "SELECT a FROM t"),
            (229, "INSERT s.t VALUES (1)"),
            (229, "EXEC s.p"),
            (262, "CREATE TABLE hers.u (a INT)"),
            (262, "CREATE SCHEMA another"),
            (1088, "ALTER TABLE hers.none ADD b INT"),
            (1088, "ALTER TABLE t ADD b INT"),
            (3701, "DROP TABLE s.t"),
            (15151, "DROP SCHEMA s"),
            (15151, "ALTER SCHEMA hers TRANSFER s.t"),
            (15151, "ALTER SCHEMA s TRANSFER hers.t"),
        ],
    );
    all_fail(&mut client, &[(15138, "DROP USER ann")]);
    succeed(&mut ann, "DROP TABLE hers.t DROP PROCEDURE hers.p");
    succeed(&mut ann, "DROP SCHEMA hers");
    succeed(&mut client, "DROP USER ann");
}

/// A client beside tables `dbo.t` and `s.t`, and a view and a procedure in `s`.
fn shown(fixture: &Fixture) -> Client {
    let mut client = client(fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a INT) CREATE TABLE s.t (a INT CONSTRAINT k PRIMARY KEY, b INT)",
    );
    succeed(&mut client, "CREATE VIEW s.v AS SELECT b AS c FROM t");
    succeed(&mut client, "CREATE PROCEDURE s.p @x INT AS SELECT 1");
    client
}

const SHOWN: &[(&str, &str)] = &[
    (
        "SELECT CONCAT(SCHEMA_ID('s'), SCHEMA_NAME(5), SCHEMA_ID('DBO'), SCHEMA_ID('db_owner'))",
        "5s116384",
    ),
    (
        "SELECT OBJECT_SCHEMA_NAME(OBJECT_ID('s.v')) + '.' + OBJECT_NAME(OBJECT_ID('s.v'))",
        "s.v",
    ),
    ("SELECT PARSENAME('d.s.t', 2)", "s"),
    (
        "SELECT STRING_AGG(CONCAT(SCHEMA_NAME(schema_id), '.', name), ' ') WITHIN GROUP (ORDER BY object_id)
     FROM sys.objects",
        "dbo.t s.t s.v s.p s.k",
    ),
    (
        "SELECT STRING_AGG(CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' ', TABLE_TYPE), ',')
     WITHIN GROUP (ORDER BY TABLE_SCHEMA, TABLE_NAME) FROM INFORMATION_SCHEMA.TABLES",
        "dbo.t BASE TABLE,s.t BASE TABLE,s.v VIEW",
    ),
    (
        "SELECT STRING_AGG(CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', COLUMN_NAME), ',')
     WITHIN GROUP (ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION) FROM INFORMATION_SCHEMA.COLUMNS",
        "dbo.t.a,s.t.a,s.t.b",
    ),
    (
        "SELECT CONCAT(TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_SCHEMA) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS",
        "sts",
    ),
    (
        "SELECT CONCAT(SPECIFIC_SCHEMA, ROUTINE_SCHEMA, ROUTINE_NAME) FROM INFORMATION_SCHEMA.ROUTINES",
        "ssp",
    ),
    ("SELECT SPECIFIC_SCHEMA FROM INFORMATION_SCHEMA.PARAMETERS", "s"),
    (
        "SELECT SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = 's'",
        "dbo",
    ),
    (
        "SELECT SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = 'db_owner'",
        "db_owner",
    ),
    (
        "SELECT CONCAT(uid, '') FROM sysobjects WHERE id = OBJECT_ID('s.t')",
        "5",
    ),
    ("SELECT COL_NAME(OBJECT_ID('s.t'), 2)", "b"),
];

#[test]
fn views_of_the_system_show_schemas() {
    let fixture = Fixture::new();
    let mut client = shown(&fixture);
    all_fail(&mut client, &[(208, "SELECT * FROM v")]);
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.schemas"), 14);
    for (sql, expected) in SHOWN {
        if sql.contains("COLUMNS") {
            succeed(&mut client, "DROP VIEW s.v");
        }
        assert_eq!(client.text(sql), *expected, "{sql}");
    }
}

#[test]
fn procedures_of_the_catalog_have_owners() {
    let fixture = Fixture::new();
    let mut client = shown(&fixture);
    for (call, count) in [
        ("EXEC sp_tables @table_owner = 's', @table_type = '''TABLE'''", 1),
        ("EXEC sp_columns 't', 's'", 2),
        ("EXEC sp_columns 't'", 1),
        ("EXEC sp_columns '%t', '%'", 3),
        ("EXEC sp_pkeys 't', 's'", 1),
        ("EXEC sp_pkeys 't'", 0),
        ("EXEC sp_statistics 't', 's'", 2),
        ("EXEC sp_special_columns 't', 's'", 1),
        ("EXEC sp_stored_procedures 'p', 's'", 1),
        ("EXEC sp_sproc_columns 'p', 's'", 2),
        ("EXEC sp_sproc_columns 'p', 'dbo'", 0),
        ("EXEC sp_helpindex 's.t'", 1),
    ] {
        let answer = client.batch(call);
        assert_eq!(answer.errors(), [], "{call}");
        assert_eq!(answer.rows().len(), count, "{call}: {answer:?}");
    }
    succeed(&mut client, "DBCC CHECKTABLE ('s.t') DBCC CHECKDB");
    all_fail(&mut client, &[(2501, "DBCC CHECKTABLE ('s.none')")]);
}
