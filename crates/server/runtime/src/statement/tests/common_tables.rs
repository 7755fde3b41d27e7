//! Common table expressions.

use super::shop;
use crate::testing::Session;

#[test]
fn a_common_table_is_read_by_name() {
    let shop = shop();
    let rows = "WITH big AS (SELECT id, amount FROM orders WHERE amount > 2), two (n) AS (SELECT COUNT(*) FROM big)
        SELECT b.id, two.n FROM big b CROSS JOIN two ORDER BY b.id";
    assert_eq!(shop.rows(rows), "10|3\n11|3\n12|3");
    assert_eq!(
        shop.rows("WITH customer AS (SELECT 1 AS x) SELECT * FROM customer"),
        "1"
    );
    assert_eq!(
        shop.rows("WITH customer AS (SELECT id FROM dbo.customer) SELECT COUNT(*) FROM customer"),
        "3"
    );
    assert_eq!(
        shop.rows("WITH a AS (SELECT 1 AS x) SELECT (SELECT x FROM a), a.x FROM a"),
        "1|1"
    );
}

#[test]
fn a_recursive_common_table_ends_when_no_row_is_added() {
    let session = Session::new(
        "CREATE TABLE staff (id int PRIMARY KEY, boss int, name varchar(20))
         INSERT staff VALUES (1, NULL, 'Ann'), (2, 1, 'Bob'), (3, 1, 'Cid'), (4, 3, 'Dee')",
    );
    let rows = "WITH tree AS (
            SELECT id, boss, 0 AS depth, CAST(name AS varchar(100)) AS path FROM staff WHERE boss IS NULL
            UNION ALL
            SELECT s.id, s.boss, t.depth + 1, CAST(t.path + '/' + s.name AS varchar(100))
            FROM staff s JOIN tree t ON s.boss = t.id)
        SELECT depth, path FROM tree ORDER BY path";
    assert_eq!(session.rows(rows), "0|Ann\n1|Ann/Bob\n1|Ann/Cid\n2|Ann/Cid/Dee");
    let count = "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT SUM(i) FROM n";
    assert_eq!(session.rows(count), "1275");
}

#[test]
fn recursion_ends_at_its_limit() {
    let session = Session::new("");
    let endless = "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    assert_eq!(
        session.fault(endless),
        (
            530,
            "The statement terminated. The maximum recursion 100 has been exhausted before statement completion."
                .to_owned()
        )
    );
    let to = |last: i32, option: &str| {
        format!(
            "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {last}) SELECT MAX(i) FROM n {option}"
        )
    };
    assert_eq!(session.rows(&to(101, "")), "101");
    assert_eq!(session.number(&to(102, "")), 530);
    assert_eq!(session.rows(&to(102, "OPTION (MAXRECURSION 101)")), "102");
    assert_eq!(session.rows(&to(5000, "OPTION (MAXRECURSION 0)")), "5000");
    assert_eq!(session.number(&to(5, "OPTION (MAXRECURSION 3)")), 530);
    assert_eq!(session.number(&to(5, "OPTION (MAXRECURSION 40000)")), 310);
}

#[test]
fn anchor_and_recursive_member_have_the_same_types() {
    let session = Session::new("");
    let batch = "WITH n AS (SELECT 'a' AS s UNION ALL SELECT s + 'b' FROM n) SELECT * FROM n";
    assert_eq!(
        session.fault(batch),
        (
            240,
            "Types don't match between the anchor and the recursive part in column \"s\" of recursive query \"n\"."
                .to_owned()
        )
    );
}

#[test]
fn several_anchors_and_members_are_combined() {
    let session = Session::new("");
    let batch = "WITH n (i) AS (
            SELECT 1 UNION SELECT 1 UNION ALL SELECT 2
            UNION ALL SELECT i + 10 FROM n WHERE i < 10
            UNION ALL SELECT i + 20 FROM n WHERE i < 10)
        SELECT i FROM n ORDER BY i";
    assert_eq!(session.rows(batch), "1\n2\n11\n12\n21\n22");
}

#[test]
fn invalid_recursion_is_refused() {
    let session = Session::new("CREATE TABLE t (a int)");
    let member = |member: &str| format!("WITH n AS (SELECT 1 AS i UNION ALL {member}) SELECT * FROM n");
    assert_eq!(session.number("WITH n AS (SELECT i FROM n) SELECT * FROM n"), 252);
    assert_eq!(
        session.number("WITH n AS (SELECT i FROM n UNION ALL SELECT 1) SELECT * FROM n"),
        246
    );
    assert_eq!(
        session.number("WITH n AS (SELECT 1 AS i UNION SELECT i FROM n) SELECT * FROM n"),
        252
    );
    assert_eq!(
        session.number(&member("SELECT a.i FROM n a JOIN n b ON a.i = b.i")),
        253
    );
    assert_eq!(
        session.number(&member("SELECT n.i FROM n LEFT JOIN t ON t.a = n.i")),
        462
    );
    assert_eq!(session.number(&member("SELECT DISTINCT i FROM n")), 460);
    assert_eq!(session.number(&member("SELECT TOP 1 i FROM n")), 461);
    assert_eq!(session.number(&member("SELECT MAX(i) FROM n")), 467);
    assert_eq!(session.number(&member("SELECT i FROM (SELECT i FROM n) x")), 465);
    assert_eq!(
        session.number(&member("SELECT a FROM t WHERE a IN (SELECT i FROM n)")),
        465
    );
}

#[test]
fn names_of_common_tables_are_unique() {
    let session = Session::new("");
    assert_eq!(
        session.fault("WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT * FROM a"),
        (
            239,
            "Duplicate common table expression name 'a' was specified.".to_owned()
        )
    );
    assert_eq!(session.number("WITH a AS (SELECT 1) SELECT * FROM a"), 8155);
    assert_eq!(session.number("WITH a (x, y) AS (SELECT 1) SELECT * FROM a"), 8159);
}

/// SQLite joins 64 tables at most, and flattens queries, which joins their tables with the outer ones.
#[test]
fn queries_joined_with_themselves_are_not_flattened_beyond_the_join_limit() {
    let commons = |levels: usize| {
        let mut text = "WITH c0 AS (SELECT 1 AS n)".to_owned();
        for level in 1..=levels {
            let before = level - 1;
            text.push_str(&format!(
                ", c{level} AS (SELECT a.n FROM c{before} a JOIN c{before} b ON a.n = b.n)"
            ));
        }
        format!("{text} SELECT COUNT(*) FROM c{levels}")
    };
    let session = Session::new("CREATE TABLE t (n int); INSERT t VALUES (1)");
    for levels in [6, 7, 8] {
        assert_eq!(session.rows(&commons(levels)), "1", "{levels}");
    }
    assert_eq!(session.fault(&commons(9)).0, 8623);
    let mut derived = "SELECT n FROM t".to_owned();
    for _ in 0..8 {
        derived = format!("SELECT a.n FROM ({derived}) a JOIN ({derived}) b ON a.n = b.n");
    }
    assert_eq!(session.rows(&derived), "1");
    let many: Vec<String> = (0..20)
        .map(|at| {
            format!("(SELECT x.n FROM t x JOIN t y ON y.n = x.n JOIN t z ON z.n = y.n JOIN t w ON w.n = x.n) q{at}")
        })
        .collect();
    assert_eq!(session.rows(&format!("SELECT COUNT(*) FROM {}", many.join(", "))), "1");
}
