//! TOP whose count is an expression.

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (a int); CREATE TABLE u (a int)",
        "INSERT t SELECT value FROM GENERATE_SERIES(1, 10)",
        "CREATE FUNCTION two () RETURNS int AS BEGIN RETURN 2 END",
    ] {
        succeed(&mut client, text);
    }
    client
}

#[test]
fn the_count_of_top_is_any_expression() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (top, count) in [
        ("TOP (1 + 1)", 2),
        ("TOP (@n)", 3),
        ("TOP (@n * 2 - 1)", 5),
        ("TOP (LEN('four') + @n)", 7),
        ("TOP (CASE WHEN @n > 2 THEN 1 ELSE 5 END)", 1),
        ("TOP (SELECT MIN(a) + 3 FROM t)", 4),
        ("TOP ((SELECT COUNT(*) FROM t) - @n)", 7),
        ("TOP (ISNULL((SELECT MAX(a) FROM t WHERE a > 100), 6))", 6),
        ("TOP (@n * 10) PERCENT", 3),
        ("TOP (SELECT 25.5) PERCENT", 3),
        ("TOP ((SELECT MAX(a) FROM t) * 5) PERCENT", 5),
    ] {
        let select = format!("DECLARE @n int = 3; SELECT COUNT(*) FROM (SELECT {top} a FROM t ORDER BY a) AS q");
        assert_eq!(client.int(&select), count, "{top}");
        let insert = format!("DECLARE @n int = 3; TRUNCATE TABLE u; INSERT {top} INTO u SELECT a FROM t");
        succeed(&mut client, &insert);
        assert_eq!(client.int("SELECT COUNT(*) FROM u"), count, "{insert}");
        for change in [
            format!("UPDATE {top} t SET a = a + 0"),
            format!("MERGE {top} t USING (SELECT 1 AS one) AS s ON 1 = 1 WHEN MATCHED THEN UPDATE SET a = a;"),
            format!("DELETE {top} FROM t"),
        ] {
            let answer = succeed(
                &mut client,
                &format!("DECLARE @n int = 3; BEGIN TRAN; {change} ROLLBACK"),
            );
            let counts: Vec<u64> = answer.dones().iter().map(|done| done.row_count).collect();
            assert!(counts.contains(&u64::try_from(count).unwrap()), "{change}: {counts:?}");
        }
    }
    assert_eq!(
        client.int(
            "SELECT COUNT(*) FROM (SELECT TOP (@@MAX_PRECISION - 36) WITH TIES a / 3 AS b FROM t ORDER BY a / 3) AS q"
        ),
        2
    );
}

#[test]
fn a_count_that_is_none_is_an_error() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, top) in [
        (1060, "TOP ((SELECT 1.5) + 1)"),
        (1060, "TOP ('x')"),
        (1014, "TOP (0 - (SELECT 1))"),
        (1014, "TOP ((SELECT a FROM t WHERE a > 100) + 1)"),
        (1031, "TOP ((SELECT 100) + 1) PERCENT"),
        (4115, "TOP (a)"),
        (512, "TOP ((SELECT a FROM t) + 1)"),
    ] {
        let answer = client.batch(&format!("SELECT {top} a FROM t"));
        assert_eq!(numbers(&answer), [number], "{top}: {answer:?}");
    }
}

#[test]
fn the_lower_of_rowcount_and_a_constant_top_counts() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (row_count, top, count) in [(3, 5, 3), (5, 3, 3), (0, 4, 4)] {
        for change in [
            format!("INSERT TOP ({top}) u SELECT a FROM t"),
            format!("UPDATE TOP ({top}) t SET a = a"),
            format!("MERGE TOP ({top}) t USING (SELECT 1 AS one) AS s ON 1 = 1 WHEN MATCHED THEN UPDATE SET a = a;"),
        ] {
            let answer = succeed(&mut client, &format!("SET ROWCOUNT {row_count}; {change}"));
            assert_eq!(answer.dones().last().unwrap().row_count, count, "{row_count} {change}");
        }
    }
    let answer = client.batch("SET ROWCOUNT 2; DELETE TOP (1 + 1) FROM t");
    assert_eq!(numbers(&answer), [40510]);
}
