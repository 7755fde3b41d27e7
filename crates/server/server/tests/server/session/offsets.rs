//! datetimeoffset: two values of one instant are equal, whatever their offsets.

use super::client::Client;
use super::fixture::Fixture;

/// Rows 1 and 2 are of one instant, 3 is later, 4 is NULL.
fn made(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    let made = client.batch(
        "USE d CREATE TABLE t (a INT PRIMARY KEY, o DATETIMEOFFSET(0))
         INSERT INTO t VALUES (1, '2024-02-09 12:00:00 +01:00'), (2, '2024-02-09 11:00:00 +00:00'),
            (3, '2024-02-09 12:00:00 +00:00'), (4, NULL)",
    );
    assert_eq!(made.errors(), []);
    client
}

#[test]
fn comparisons_see_the_instant() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    for (text, expected) in [
        ("SELECT COUNT(*) FROM t WHERE o = '2024-02-09 13:00:00 +02:00'", 2),
        ("SELECT COUNT(*) FROM t WHERE o <> '2024-02-09 13:00:00 +02:00'", 1),
        ("SELECT COUNT(*) FROM t WHERE o > '2024-02-09 13:00:00 +02:00'", 1),
        (
            "SELECT COUNT(*) FROM t WHERE o BETWEEN '2024-02-09 10:00 -01:00' AND '2024-02-09 16:30 +05:30'",
            2,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE o IN ('2024-02-09 09:00:00 -03:00', '2024-02-09 09:00:00 -02:00')",
            3,
        ),
        ("SELECT COUNT(*) FROM t WHERE o IN (SELECT o FROM t WHERE a = 1)", 2),
        (
            "SELECT COUNT(*) FROM t WHERE a < 4 AND o NOT IN (SELECT o FROM t WHERE a = 1)",
            1,
        ),
        (
            "SELECT COUNT(*) FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE y.o = x.o AND y.a <> x.a)",
            2,
        ),
        ("SELECT COUNT(*) FROM t x JOIN t y ON x.o = y.o", 5),
        (
            "SELECT COUNT(*) FROM t x LEFT JOIN t y ON x.o = y.o AND x.a <> y.a WHERE y.a IS NULL",
            2,
        ),
        ("SELECT COUNT(*) FROM (SELECT o FROM t GROUP BY o) x", 3),
        ("SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY o) x", 2),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT o FROM t) x", 3),
        ("SELECT COUNT(DISTINCT o) FROM t", 2),
        ("SELECT a FROM t WHERE o = (SELECT MAX(o) FROM t)", 3),
        ("SELECT COUNT(*) FROM t WHERE o = (SELECT MIN(o) FROM t)", 2),
        (
            "SELECT SUM(r) FROM (SELECT CAST(RANK() OVER (ORDER BY o) AS INT) AS r FROM t WHERE a < 4) x",
            5,
        ),
        (
            "SELECT MAX(r) FROM (SELECT CAST(ROW_NUMBER() OVER (PARTITION BY o ORDER BY a) AS INT) AS r FROM t) x",
            2,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE CASE o WHEN '2024-02-09 13:00:00 +02:00' THEN 1 ELSE 0 END = 1",
            2,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE NULLIF(o, '2024-02-09 13:00:00 +02:00') IS NULL",
            3,
        ),
        // Of another precision, and of a type without an offset, which is UTC.
        (
            "DECLARE @o DATETIMEOFFSET(7) = '2024-02-09 13:00:00 +02:00' SELECT COUNT(*) FROM t WHERE o = @o",
            2,
        ),
        (
            "DECLARE @m DATETIME2(0) = '2024-02-09 11:00:00' SELECT COUNT(*) FROM t WHERE o = @m",
            2,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE CAST(o AS DATETIME2(0)) = '2024-02-09 12:00:00'",
            2,
        ),
        ("SELECT DATEPART(HOUR, o) FROM t WHERE a = 1", 12),
    ] {
        assert_eq!(client.int(text), expected, "{text}");
    }
}

#[test]
fn combined_rows_are_compared_by_the_instant() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    for (text, expected) in [
        ("SELECT o FROM t WHERE a = 1 UNION SELECT o FROM t WHERE a = 2", 1),
        ("SELECT o FROM t WHERE a = 1 EXCEPT SELECT o FROM t WHERE a = 2", 0),
        ("SELECT o FROM t WHERE a = 1 INTERSECT SELECT o FROM t WHERE a = 2", 1),
        ("SELECT o FROM t WHERE a = 1 UNION ALL SELECT o FROM t WHERE a = 2", 2),
    ] {
        let answer = client.batch(text);
        assert_eq!((answer.errors().len(), answer.rows().len()), (0, expected), "{text}");
    }
}

#[test]
fn rows_come_in_the_order_of_their_instants() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    client.batch("INSERT INTO t VALUES (5, '2024-02-09 23:00:00 +14:00'), (6, '2024-02-09 01:00:00 -12:00')");
    for (text, expected) in [
        ("SELECT a FROM t ORDER BY o, a", [4, 5, 1, 2, 3, 6]),
        ("SELECT a FROM t ORDER BY o DESC, a DESC", [6, 3, 2, 1, 5, 4]),
    ] {
        let rows = client.batch(text).rows();
        let order: Vec<String> = rows.iter().map(|row| format!("{:?}", row[0])).collect();
        let expected: Vec<String> = expected.iter().map(|number| format!("Int({number})")).collect();
        assert_eq!(order, expected, "{text}");
    }
}

#[test]
fn keys_are_of_the_instant() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let numbers = |client: &mut Client, text: &str| -> Vec<i32> {
        let answer = client.batch(text);
        answer.errors().iter().map(|error| error.0).collect()
    };
    assert_eq!(numbers(&mut client, "CREATE UNIQUE INDEX i ON t (o)"), [1505]);
    assert_eq!(numbers(&mut client, "DELETE FROM t WHERE a = 2"), [0; 0]);
    assert_eq!(numbers(&mut client, "CREATE UNIQUE INDEX i ON t (o DESC)"), [0; 0]);
    assert_eq!(
        numbers(&mut client, "INSERT INTO t VALUES (2, '2024-02-09 08:00:00 -03:00')"),
        [2601]
    );
    assert_eq!(numbers(&mut client, "INSERT INTO t VALUES (2, NULL)"), [2601]);
    assert_eq!(
        numbers(&mut client, "UPDATE t SET o = '2024-02-09 13:00:00 +02:00' WHERE a = 1"),
        [0; 0]
    );
    assert_eq!(
        numbers(&mut client, "UPDATE t SET o = '2024-02-09 13:00:00 +02:00' WHERE a = 3"),
        [2601]
    );
    assert_eq!(client.int("SELECT a FROM t WHERE o = '2024-02-09 11:00:00 +00:00'"), 1);
    assert_eq!(
        numbers(
            &mut client,
            "CREATE TABLE k (o DATETIMEOFFSET(3) PRIMARY KEY, u DATETIMEOFFSET UNIQUE, b INT)
             INSERT INTO k VALUES ('2024-02-09 12:00:00 +01:00', '2024-02-09 12:00:00 +01:00', 1)"
        ),
        [0; 0]
    );
    for values in [
        "'2024-02-09 11:00:00.000 +00:00', '2025-01-01', 2",
        "'2025-01-01', '2024-02-09 13:00:00.0000000 +02:00', 2",
    ] {
        let answer = client.batch(&format!("INSERT INTO k VALUES ({values})"));
        assert_eq!(answer.errors(), [(2627, 1)], "{values}");
        assert!(answer.said()[0].text.contains("dbo.k"), "{answer:?}");
    }
    assert_eq!(
        numbers(&mut client, "INSERT INTO k VALUES ('2025-01-01', '2025-01-01', 2)"),
        [0; 0]
    );
    assert_eq!(
        numbers(&mut client, "INSERT INTO k VALUES (NULL, '2026-01-01', 2)"),
        [515]
    );
    assert_eq!(
        numbers(&mut client, "CREATE TABLE r (o DATETIMEOFFSET(3) REFERENCES k (o))"),
        [40510]
    );
    // Of the definition that is read again.
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    client.batch("USE d");
    assert_eq!(
        numbers(
            &mut client,
            "INSERT INTO k VALUES ('2024-02-09 11:00:00 +00:00', '2027-01-01', 2)"
        ),
        [2627]
    );
    assert_eq!(client.int("SELECT SUM(b) FROM k"), 3);
}
