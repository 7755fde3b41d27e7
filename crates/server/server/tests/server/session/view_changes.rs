//! INSERT, UPDATE and DELETE through views.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id int IDENTITY, a int, b varchar(10) DEFAULT 'x', c AS a + 1)",
        "CREATE TABLE u (a int)",
        "CREATE VIEW v AS SELECT a, b FROM t WHERE a < 100",
        "CREATE VIEW whole AS SELECT id, a, b FROM t",
        "CREATE VIEW renamed (x, y) AS SELECT b, a FROM dbo.t AS q",
        "CREATE VIEW over_view AS SELECT y AS z, x FROM renamed",
        "CREATE VIEW derived AS SELECT a, a + 1 AS more FROM t",
        "CREATE VIEW both AS SELECT t.a, u.a AS ua FROM t JOIN u ON u.a = t.a",
        "CREATE VIEW groups AS SELECT a, COUNT(*) AS n FROM t GROUP BY a",
        "CREATE VIEW checked AS SELECT q.a, b FROM t q WHERE q.a < 100 WITH CHECK OPTION",
        "CREATE VIEW over_checked AS SELECT a AS z FROM checked",
    ] {
        succeed(&mut client, text);
    }
    client
}

fn row(client: &mut Client) -> Vec<Value> {
    succeed(client, "SELECT TOP 1 a, b FROM t ORDER BY id DESC")
        .rows()
        .remove(0)
}

fn both(a: i32, b: &str) -> Vec<Value> {
    vec![Value::Int(a), Value::Text(b.into())]
}

#[test]
fn rows_are_inserted_through_a_view_over_one_table() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (text, expected) in [
        ("INSERT v VALUES (1, 'one')", both(1, "one")),
        ("INSERT INTO dbo.v (a) VALUES (2)", both(2, "x")),
        ("INSERT v (b, a) SELECT 'three', 3", both(3, "three")),
        ("INSERT whole VALUES (4, 'four')", both(4, "four")),
        ("INSERT renamed VALUES ('five', 5)", both(5, "five")),
        ("INSERT renamed (y) VALUES (6)", both(6, "x")),
        ("INSERT over_view (x, z) VALUES ('seven', 7)", both(7, "seven")),
        ("INSERT over_view VALUES (8, 'eight')", both(8, "eight")),
        ("INSERT derived (a) VALUES (9)", both(9, "x")),
        ("INSERT v DEFAULT VALUES", vec![Value::Null, Value::Text("x".into())]),
        // Without CHECK OPTION a row need not be one of the view's.
        ("INSERT v (a) VALUES (1000)", both(1000, "x")),
        ("INSERT checked (a) VALUES (10)", both(10, "x")),
    ] {
        succeed(&mut client, text);
        assert_eq!(row(&mut client), expected, "{text}");
    }
    succeed(
        &mut client,
        "SET IDENTITY_INSERT t ON; INSERT whole (id, a) VALUES (500, 50); SET IDENTITY_INSERT t OFF",
    );
    assert_eq!(client.int("SELECT id FROM t WHERE a = 50"), 500);
    for (number, text) in [
        (4406, "INSERT derived VALUES (1, 2)"),
        (4406, "INSERT derived (more) VALUES (1)"),
        (4405, "INSERT both (a) VALUES (1)"),
        (4403, "INSERT groups (a) VALUES (1)"),
        (4403, "UPDATE groups SET a = 1"),
        (4426, "WITH x AS (SELECT a FROM t UNION SELECT a FROM u) DELETE x"),
        (207, "INSERT v (none) VALUES (1)"),
        (264, "INSERT v (a, a) VALUES (1, 2)"),
        (213, "INSERT v VALUES (1)"),
        (544, "INSERT whole (id, a) VALUES (1, 2)"),
        (259, "INSERT sys.objects (name) VALUES ('x')"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
}

#[test]
fn rows_are_changed_and_deleted_through_views_over_views() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "INSERT t (a) VALUES (1), (2), (3)");
    succeed(
        &mut client,
        "UPDATE over_view SET x = 'two' WHERE z = 2; DELETE over_view WHERE z = 3",
    );
    assert_eq!(row(&mut client), both(2, "two"));
    succeed(
        &mut client,
        "UPDATE q SET x = 'one' FROM over_view q JOIN t ON t.a = q.z WHERE t.id = 1",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE b = 'one'"), 1);
}

#[test]
fn with_check_option_rows_stay_in_the_view() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "INSERT checked (a) VALUES (1); INSERT over_checked VALUES (2)",
    );
    for text in [
        "INSERT checked (a) VALUES (100)",
        "INSERT checked (a) VALUES (3), (100)",
        "INSERT checked (b) VALUES ('unknown')",
        "INSERT over_checked VALUES (100)",
        "UPDATE checked SET a = 100 WHERE a = 1",
        "UPDATE over_checked SET z = z + 99",
        "UPDATE q SET a = 100 FROM checked AS q",
    ] {
        assert_eq!(numbers(&client.batch(text)), [550], "{text}");
        assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE a IN (1, 2)"), 2, "{text}");
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2, "{text}");
    }
    succeed(
        &mut client,
        "UPDATE checked SET a = 99 WHERE a = 1; DELETE checked WHERE a = 99",
    );
    for text in [
        "CREATE VIEW w AS SELECT a FROM t WHERE a IN (SELECT a FROM u) WITH CHECK OPTION",
        "CREATE VIEW w AS SELECT a FROM v WITH CHECK OPTION",
        "CREATE VIEW w AS SELECT t.a FROM t JOIN u ON u.a = t.a WITH CHECK OPTION",
    ] {
        assert_eq!(numbers(&client.batch(text)), [40510], "{text}");
    }
    let shown = client.value("SELECT CHECK_OPTION FROM INFORMATION_SCHEMA.VIEWS WHERE TABLE_NAME = 'checked'");
    assert_eq!(shown, Value::Text("CASCADE".into()));
}

#[test]
fn rows_are_inserted_through_a_common_table_expression() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (text, expected) in [
        (
            "WITH x AS (SELECT a, b FROM t) INSERT x VALUES (1, 'one')",
            both(1, "one"),
        ),
        (
            "WITH x (p, q) AS (SELECT b, a FROM t WHERE a < 0) INSERT INTO x (q) VALUES (2)",
            both(2, "x"),
        ),
        (
            "WITH x AS (SELECT z, x FROM over_view) INSERT x SELECT 3, 'three'",
            both(3, "three"),
        ),
        (
            "WITH x AS (SELECT a AS n FROM t), y AS (SELECT n + 3 AS m FROM x WHERE n = 1) INSERT x SELECT m FROM y",
            both(4, "x"),
        ),
        (
            "WITH t AS (SELECT a, b FROM dbo.t) INSERT t (a) VALUES (5)",
            both(5, "x"),
        ),
    ] {
        succeed(&mut client, text);
        assert_eq!(row(&mut client), expected, "{text}");
    }
    for (number, text) in [
        (4406, "WITH x AS (SELECT a + 1 AS n FROM t) INSERT x VALUES (1)"),
        (
            4405,
            "WITH x AS (SELECT t.a FROM t JOIN u ON u.a = t.a) INSERT x VALUES (1)",
        ),
        (4403, "WITH x AS (SELECT DISTINCT a FROM t) INSERT x VALUES (1)"),
        (207, "WITH x AS (SELECT a FROM t) INSERT x (b) VALUES ('b')"),
        (550, "WITH x AS (SELECT a FROM checked) INSERT x VALUES (100)"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
}

#[test]
fn output_has_the_columns_of_the_view() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (text, expected) in [
        (
            "INSERT renamed (y) OUTPUT inserted.x, inserted.y VALUES (1)",
            vec![Value::Text("x".into()), Value::Int(1)],
        ),
        ("INSERT over_view (z) OUTPUT inserted.* VALUES (2)", both(2, "x")),
        (
            "WITH q AS (SELECT a AS n FROM t) INSERT q OUTPUT inserted.n * 2 VALUES (3)",
            vec![Value::Int(6)],
        ),
        (
            "UPDATE renamed SET x = 'new' OUTPUT deleted.x + '>' + inserted.x, inserted.y WHERE y = 1",
            vec![Value::Text("x>new".into()), Value::Int(1)],
        ),
        ("DELETE over_view OUTPUT deleted.* WHERE z = 1", both(1, "new")),
        (
            "UPDATE derived SET a = 20 OUTPUT inserted.a WHERE a = 2",
            vec![Value::Int(20)],
        ),
    ] {
        assert_eq!(succeed(&mut client, text).rows(), [expected], "{text}");
    }
    succeed(&mut client, "INSERT renamed (y) OUTPUT inserted.y INTO u VALUES (30)");
    assert_eq!(client.int("SELECT a FROM u"), 30);
    for (number, text) in [
        (207, "INSERT renamed (y) OUTPUT inserted.a VALUES (1)"),
        (40510, "UPDATE derived SET a = 1 OUTPUT inserted.more"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
}

#[test]
fn insert_top_takes_a_query_or_a_percentage() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "INSERT u VALUES (2), (1)");
    for (count, text) in [
        (2, "INSERT TOP (SELECT MAX(a) FROM u) t (a) VALUES (1), (2), (3)"),
        (1, "INSERT TOP (SELECT MIN(a) FROM u) INTO t (a) SELECT a FROM u"),
        (
            1,
            "WITH n AS (SELECT 1 AS i) INSERT TOP (SELECT i FROM n) t (a) SELECT a FROM u",
        ),
        (0, "INSERT TOP (SELECT 0) t (a) SELECT a FROM u"),
        (1, "INSERT TOP (50) PERCENT t (a) SELECT a FROM u"),
        (2, "INSERT TOP (50.1) PERCENT t (a) SELECT a FROM u"),
        (2, "INSERT TOP (34) PERCENT t (a) VALUES (1), (2), (3), (4)"),
        (0, "INSERT TOP (0) PERCENT t (a) VALUES (1), (2), (3), (4)"),
    ] {
        assert_eq!(client.int(&format!("{text}; SELECT @@ROWCOUNT")), count, "{text}");
    }
    for (number, text) in [
        (
            1014,
            "INSERT TOP (SELECT MAX(a) FROM u WHERE a > 5) t (a) SELECT a FROM u",
        ),
        (1014, "INSERT TOP (SELECT -1) t (a) SELECT a FROM u"),
        (1060, "INSERT TOP (SELECT 'x') t (a) SELECT a FROM u"),
        (1031, "INSERT TOP (101) PERCENT t (a) SELECT a FROM u"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
}
