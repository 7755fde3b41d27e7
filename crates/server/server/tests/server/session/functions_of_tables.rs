//! Functions of users that tables call: defaults, and constraints.

use super::client::{all_fail, succeed};
use super::fixture::Fixture;
use super::functions::{client, ints};

#[test]
fn defaults_and_checks_call_functions() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.next_a () RETURNS INT AS BEGIN RETURN (SELECT ISNULL(MAX(a), 0) + 1 FROM t) END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.is_even (@a INT) RETURNS BIT AS BEGIN RETURN CASE WHEN @a % 2 = 0 THEN 1 ELSE 0 END END",
    );
    succeed(
        &mut client,
        "CREATE TABLE u (a INT DEFAULT dbo.next_a(), b INT CHECK (dbo.is_even(b) = 1))",
    );
    succeed(&mut client, "INSERT u (b) VALUES (2) INSERT u VALUES (7, 4)");
    assert_eq!(client.int("SELECT a FROM u WHERE b = 2"), 5);
    all_fail(
        &mut client,
        &[
            (547, "INSERT u (b) VALUES (3)"),
            (547, "UPDATE u SET b = 5 WHERE b = 2"),
            (40510, "CREATE TABLE w (a INT, b AS dbo.is_even(a))"),
        ],
    );
    succeed(
        &mut client,
        "ALTER TABLE t ADD c INT NOT NULL DEFAULT dbo.next_a() WITH VALUES",
    );
    assert_eq!(client.int("SELECT MIN(c) FROM t"), 5);
}

#[test]
fn a_check_sees_the_row_that_it_checks() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE k (a INT, b INT)");
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.rows_of_k () RETURNS INT AS BEGIN RETURN (SELECT COUNT(*) FROM k) END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.sum_of_k () RETURNS INT AS BEGIN RETURN (SELECT SUM(b) FROM k) END",
    );
    succeed(
        &mut client,
        "INSERT k VALUES (0, 0) ALTER TABLE k ADD CONSTRAINT few CHECK (dbo.rows_of_k() BETWEEN 1 AND 3), \
         CONSTRAINT small CHECK (b IS NOT NULL AND dbo.sum_of_k() <= 10) DELETE k",
    );
    // The first row is there when it is counted.
    succeed(&mut client, "INSERT k VALUES (1, 1), (2, 2)");
    all_fail(
        &mut client,
        &[
            (547, "INSERT k VALUES (3, 3), (4, 4)"),
            (547, "INSERT k SELECT a, b FROM k"),
            (547, "UPDATE k SET b = 10 WHERE a = 1"),
            (547, "INSERT k VALUES (3, 8)"),
        ],
    );
    succeed(&mut client, "UPDATE k SET b = 8 WHERE a = 1 UPDATE k SET b = 3 - a");
    assert_eq!(ints(&mut client, "SELECT a, b FROM k ORDER BY a"), [[1, 2], [2, 1]]);
}

#[test]
fn a_function_that_a_table_calls_stays_as_it_is() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for name in ["one", "two", "three"] {
        succeed(
            &mut client,
            &format!("CREATE FUNCTION {name} (@a INT) RETURNS INT AS BEGIN RETURN @a + 1 END"),
        );
    }
    succeed(
        &mut client,
        "CREATE TABLE u (a INT CONSTRAINT ck_u CHECK ([dbo].[one] (a) > 0), b INT CONSTRAINT df_u DEFAULT (dbo.TWO(1)))",
    );
    all_fail(
        &mut client,
        &[
            (3729, "DROP FUNCTION one"),
            (3729, "DROP FUNCTION IF EXISTS dbo.two"),
            (3729, "ALTER FUNCTION one (@a INT) RETURNS INT AS BEGIN RETURN 0 END"),
            (
                3729,
                "CREATE OR ALTER FUNCTION two (@a INT) RETURNS INT AS BEGIN RETURN 0 END",
            ),
        ],
    );
    succeed(&mut client, "DROP FUNCTION three");
    succeed(&mut client, "DROP TABLE u DROP FUNCTION one, two");
}
