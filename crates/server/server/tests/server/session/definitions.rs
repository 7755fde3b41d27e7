//! CREATE, ALTER and DROP: what is made, what stays of it, and what is refused.

use rusqlite::{Connection, OpenFlags};
use selenite::Access;
use selenite_types::Value;

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

fn int(value: i32) -> Value {
    Value::Int(value)
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

/// A client in a new database.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

#[test]
fn definitions_that_can_not_be_are_refused_by_number() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE p (id INT CONSTRAINT pk_p PRIMARY KEY, v INT, w INT CONSTRAINT df_w DEFAULT 5)
         CREATE TABLE c (p INT CONSTRAINT fk_c REFERENCES p (id), b BIGINT)
         CREATE INDEX ix ON p (v)",
    );
    succeed(&mut client, "CREATE VIEW w AS SELECT v FROM p");
    succeed(&mut client, "CREATE PROCEDURE q AS SELECT 1 AS a");
    all_fail(
        &mut client,
        &[
            (2714, "CREATE TABLE p (a INT)"),
            (2714, "CREATE TABLE w (a INT)"),
            (2714, "CREATE TABLE x (a INT CONSTRAINT pk_p PRIMARY KEY)"),
            (2714, "CREATE VIEW w AS SELECT 1 AS a"),
            (2714, "CREATE PROCEDURE p AS SELECT 1"),
            (2714, "SELECT v INTO p FROM p"),
            (2760, "CREATE TABLE other.x (a INT)"),
            (1767, "CREATE TABLE x (a INT REFERENCES nothing (id))"),
            (1776, "CREATE TABLE x (a INT REFERENCES p (v))"),
            (1778, "CREATE TABLE x (a BIGINT REFERENCES p (id))"),
            (3701, "DROP TABLE nothing"),
            (3701, "DROP VIEW nothing"),
            (3701, "DROP PROCEDURE nothing"),
            (3701, "DROP INDEX nothing ON p"),
            (3705, "DROP TABLE w"),
            (3705, "DROP VIEW p"),
            (3726, "DROP TABLE p"),
            (3725, "ALTER TABLE p DROP CONSTRAINT pk_p"),
            (3723, "DROP INDEX pk_p ON p"),
            (1913, "CREATE INDEX ix ON p (id)"),
            (1902, "CREATE CLUSTERED INDEX iy ON p (v)"),
            (1088, "CREATE INDEX iy ON nothing (v)"),
            (2727, "ALTER INDEX nothing ON p REBUILD"),
            (4902, "ALTER TABLE nothing ADD a INT"),
            (5074, "ALTER TABLE p DROP COLUMN v"),
            (5074, "ALTER TABLE p DROP COLUMN w"),
            (5074, "ALTER TABLE p ALTER COLUMN id BIGINT"),
            (4924, "ALTER TABLE p DROP COLUMN nothing"),
            (3728, "ALTER TABLE p DROP CONSTRAINT nothing"),
            (208, "ALTER VIEW nothing AS SELECT 1 AS a"),
            (208, "CREATE VIEW x AS SELECT a FROM nothing"),
            (207, "CREATE VIEW x AS SELECT a FROM p"),
            (4511, "CREATE VIEW x AS SELECT v + 1 FROM p"),
            (4506, "CREATE VIEW x AS SELECT v, v FROM p"),
            (1033, "CREATE VIEW x AS SELECT v FROM p ORDER BY v"),
            (4508, "CREATE VIEW x AS SELECT v FROM #p"),
            (208, "ALTER PROCEDURE nothing AS SELECT 1"),
            (137, "CREATE PROCEDURE x AS SELECT @a"),
            (40510, "CREATE TABLE sqlite_x (a INT)"),
            (2714, "CREATE SCHEMA dbo"),
        ],
    );
    succeed(
        &mut client,
        "DROP TABLE IF EXISTS nothing DROP INDEX IF EXISTS nothing ON p DROP VIEW IF EXISTS nothing",
    );
    succeed(&mut client, "DROP TABLE c, p");
    all_fail(&mut client, &[(208, "SELECT * FROM p"), (208, "SELECT * FROM w")]);
}

#[test]
fn what_was_defined_is_there_after_a_restart() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    succeed(
        &mut one,
        "CREATE TABLE t (id INT IDENTITY(5, 5) PRIMARY KEY, a INT NOT NULL DEFAULT 3, b AS a * 2, CHECK (a < 100))
         INSERT t (a) VALUES (1), (DEFAULT)",
    );
    succeed(&mut one, "CREATE VIEW v (x) AS SELECT b FROM t");
    succeed(&mut one, "CREATE VIEW vv AS SELECT x + 1 AS y FROM v");
    succeed(
        &mut one,
        "CREATE OR ALTER PROCEDURE p @a INT AS SELECT id FROM t WHERE a = @a",
    );
    succeed(&mut one, "ALTER VIEW v (x) AS SELECT b + 100 FROM t");
    drop(one);
    let fixture = fixture.restarted();
    let mut two = fixture.client();
    succeed(&mut two, "USE d");
    assert_eq!(
        two.batch("SELECT y FROM vv ORDER BY y").rows(),
        [[int(103)], [int(107)]]
    );
    assert_eq!(two.batch("EXEC p 3").rows(), [[int(10)]]);
    all_fail(&mut two, &[(547, "INSERT t (a) VALUES (100)")]);
    succeed(&mut two, "INSERT t DEFAULT VALUES");
    assert_eq!(
        two.batch("SELECT COUNT(*) FROM t WHERE id > 10 AND id % 5 = 0").rows(),
        [[int(1)]]
    );
}

#[test]
fn tables_that_stock_sqlite_has_made_are_read_and_written() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let access = Access {
        allow_plain: true,
        ..fixture.access()
    };
    let uri = access.uri(&fixture.data_folder().join("d.db"));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
    let stock = Connection::open_with_flags(uri.as_str(), flags).unwrap();
    stock
        .execute_batch("CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT, amount REAL)")
        .unwrap();
    stock
        .execute_batch("INSERT INTO plain VALUES (1, 'one', 1.5), (2, NULL, 2.5)")
        .unwrap();
    drop(stock);
    let rows = client
        .batch("SELECT id, name FROM plain WHERE amount > 1.0 ORDER BY id")
        .rows();
    assert_eq!(rows, [[Value::BigInt(1), text("one")], [Value::BigInt(2), Value::Null]]);
    succeed(
        &mut client,
        "INSERT plain VALUES (3, 'three', 3) ALTER TABLE plain ADD extra INT",
    );
    succeed(&mut client, "UPDATE plain SET extra = 7 WHERE id = 3");
    assert_eq!(client.batch("SELECT extra FROM plain WHERE id = 3").rows(), [[int(7)]]);
}

#[test]
fn a_table_is_altered_with_its_rows_kept() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE p (id INT PRIMARY KEY, code VARCHAR(10) NOT NULL, gone INT, n INT)
         CREATE TABLE c (id INT PRIMARY KEY, p INT NOT NULL REFERENCES p (id) ON DELETE CASCADE)
         CREATE UNIQUE INDEX ux ON p (n)
         INSERT p VALUES (1, '11', 5, 100), (2, '22', 6, NULL)
         INSERT c VALUES (1, 1), (2, 2)",
    );
    succeed(&mut client, "ALTER TABLE p ALTER COLUMN code INT NOT NULL");
    succeed(&mut client, "ALTER TABLE p DROP COLUMN gone");
    succeed(
        &mut client,
        "ALTER TABLE p ADD d INT NOT NULL CONSTRAINT df_d DEFAULT 9, e VARCHAR(5) NULL DEFAULT 'x' WITH VALUES",
    );
    succeed(
        &mut client,
        "ALTER TABLE p ADD CONSTRAINT ck CHECK (code < 50), k INT IDENTITY(1, 1)",
    );
    let rows = client.batch("SELECT id, code, n, d, e, k FROM p ORDER BY id").rows();
    assert_eq!(
        rows,
        [
            [int(1), int(11), int(100), int(9), text("x"), int(1)],
            [int(2), int(22), Value::Null, int(9), text("x"), int(2)],
        ]
    );
    // What refers to it is untouched, and refers to it still.
    assert_eq!(client.int("SELECT COUNT(*) FROM c"), 2);
    all_fail(
        &mut client,
        &[
            (547, "INSERT c VALUES (3, 3)"),
            (547, "INSERT p (id, code) VALUES (3, 50)"),
            (2601, "INSERT p (id, code, n) VALUES (3, 3, 100)"),
            (547, "ALTER TABLE p ADD CONSTRAINT ck2 CHECK (code < 20)"),
            (4901, "ALTER TABLE p ADD f INT NOT NULL"),
            (5074, "ALTER TABLE p ALTER COLUMN n INT NOT NULL"),
            (1505, "ALTER TABLE p ADD CONSTRAINT uq UNIQUE (d)"),
            (245, "ALTER TABLE p ALTER COLUMN e INT"),
            (2627, "INSERT p (id, code, n) VALUES (1, 1, 77)"),
        ],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM p"), 2);
    succeed(&mut client, "DELETE p WHERE id = 1");
    assert_eq!(client.int("SELECT COUNT(*) FROM c"), 1);
    succeed(&mut client, "INSERT p (id, code, n) VALUES (3, 3, 33)");
    assert_eq!(
        client.batch("SELECT d, e, k FROM p WHERE id = 3").rows(),
        // Inserts that failed have used up numbers, as SQL Server has it.
        [[int(9), text("x"), int(6)]]
    );
}

#[test]
fn foreign_keys_are_added_and_dropped_over_rows_that_are_there() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE p (id INT PRIMARY KEY) CREATE TABLE c (id INT PRIMARY KEY, p INT)
         INSERT p VALUES (1) INSERT c VALUES (1, 1), (2, 2)",
    );
    all_fail(
        &mut client,
        &[(547, "ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p")],
    );
    succeed(&mut client, "DELETE c WHERE id = 2");
    succeed(
        &mut client,
        "BEGIN TRAN ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p COMMIT",
    );
    all_fail(
        &mut client,
        &[
            (547, "INSERT c VALUES (2, 2)"),
            (547, "DELETE p"),
            (3726, "DROP TABLE p"),
        ],
    );
    succeed(&mut client, "BEGIN TRAN ALTER TABLE c DROP CONSTRAINT fk ROLLBACK");
    all_fail(&mut client, &[(547, "INSERT c VALUES (2, 2)")]);
    succeed(&mut client, "ALTER TABLE c DROP CONSTRAINT fk INSERT c VALUES (2, 2)");
    assert_eq!(client.int("SELECT COUNT(*) FROM c"), 2);
}

#[test]
fn definitions_are_rolled_back_with_their_transaction() {
    let fixture = Fixture::new();
    let mut one = client(&fixture);
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    succeed(&mut one, "CREATE TABLE t (a INT) INSERT t VALUES (1)");
    succeed(
        &mut one,
        "BEGIN TRAN CREATE TABLE u (a INT) ALTER TABLE t ADD b INT NOT NULL DEFAULT 2",
    );
    assert_eq!(one.batch("SELECT a, b FROM t").rows(), [[int(1), int(2)]]);
    all_fail(&mut other, &[(208, "SELECT * FROM u"), (207, "SELECT b FROM t")]);
    succeed(&mut one, "ROLLBACK");
    all_fail(&mut one, &[(208, "SELECT * FROM u"), (207, "SELECT b FROM t")]);
    succeed(&mut one, "CREATE TABLE u (a INT)");
    assert!(other.batch("SELECT * FROM u").rows().is_empty());
}

#[test]
fn temporary_tables_are_the_sessions_own() {
    let fixture = Fixture::new();
    let (mut one, mut other) = (client(&fixture), fixture.client());
    succeed(
        &mut one,
        "CREATE TABLE #t (id INT IDENTITY PRIMARY KEY, a INT DEFAULT 4, INDEX ix (a)) INSERT #t DEFAULT VALUES",
    );
    assert_eq!(one.batch("SELECT id, a FROM #t").rows(), [[int(1), int(4)]]);
    all_fail(&mut other, &[(208, "SELECT * FROM #t")]);
    all_fail(&mut one, &[(2714, "CREATE TABLE #t (a INT)")]);
    succeed(&mut one, "ALTER TABLE #t ADD b VARCHAR(3) NOT NULL DEFAULT 'x'");
    assert_eq!(one.batch("SELECT b FROM #t").rows(), [[text("x")]]);
    succeed(
        &mut one,
        "SELECT id, a + 1 AS b INTO #u FROM #t SELECT id, b INTO d..kept FROM #u DROP TABLE #t, #u",
    );
    assert_eq!(one.batch("SELECT id, b FROM kept").rows(), [[int(1), int(5)]]);
    all_fail(&mut one, &[(208, "SELECT * FROM #u")]);
}

#[test]
fn a_persisted_column_is_refused_if_its_value_varies_and_dropped_whatever_it_is_called() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a INT, noted AS 'noted', twice AS a * 2 PERSISTED)",
    );
    all_fail(
        &mut client,
        &[
            (4936, "CREATE TABLE u (a INT, made AS GETDATE() PERSISTED)"),
            (4936, "ALTER TABLE t ADD made AS NEWID() PERSISTED"),
        ],
    );
    succeed(&mut client, "ALTER TABLE t ADD made AS GETDATE()");
    succeed(&mut client, "ALTER TABLE t DROP COLUMN noted");
    assert!(
        client
            .batch("ALTER TABLE t DROP COLUMN a")
            .errors()
            .iter()
            .any(|(number, _)| *number == 5074)
    );
    drop(client);
    fixture.stop();
}
