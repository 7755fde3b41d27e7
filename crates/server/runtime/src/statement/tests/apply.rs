//! APPLY over functions, queries and values.

use super::shop;
use crate::testing::Session;

#[test]
fn a_function_takes_columns_of_the_left() {
    let session =
        Session::new("CREATE TABLE t (id int, list varchar(50)) INSERT t VALUES (1, '[1,2]'), (2, '[]'), (3, '[7]')");
    let cross = "SELECT t.id, e.value FROM t CROSS APPLY sys.each(t.list) AS e ORDER BY 1, 2";
    assert_eq!(session.rows(cross), "1|1\n1|2\n3|7");
    let outer = "SELECT t.id, e.v + 1 FROM t OUTER APPLY sys.each(t.list) AS e (v) ORDER BY 1, 2";
    assert_eq!(session.rows(outer), "1|2\n1|3\n2|NULL\n3|8");
    assert_eq!(session.rows("SELECT value FROM sys.each('[5]')"), "5");
    assert_eq!(session.number("SELECT * FROM sys.each()"), 313);
    assert_eq!(session.number("SELECT * FROM sys.each('[]', 1)"), 8144);
    assert_eq!(session.number("SELECT * FROM sys.nope('[]')"), 208);
    assert_eq!(session.number("SELECT * FROM t JOIN sys.each(t.list) e ON 1 = 1"), 4104);
}

#[test]
fn rows_of_a_query_are_joined() {
    let shop = shop();
    let cross = "SELECT c.name, o.id, o.twice FROM customer c
        CROSS APPLY (SELECT id, amount * 2 AS twice FROM orders WHERE customer = c.id AND amount > 2) o ORDER BY o.id";
    assert_eq!(shop.rows(cross), "Ann|10|11.00\nAnn|11|4.50\nbob|12|18.00");
    let outer = "SELECT c.name, o.id, o.x FROM customer c
        OUTER APPLY (SELECT id, ISNULL(amount, 0) + 1 AS x FROM orders WHERE customer = c.id AND amount > 3) o ORDER BY c.id";
    assert_eq!(shop.rows(outer), "Ann|10|6.50\nbob|12|10.00\nCid|NULL|NULL");
}

#[test]
fn an_apply_of_aggregates_always_returns_one_row() {
    let shop = shop();
    let rows = "SELECT c.name, s.n, s.total FROM customer c
        CROSS APPLY (SELECT COUNT(*) AS n, SUM(amount) AS total FROM orders WHERE customer = c.id) s ORDER BY c.id";
    assert_eq!(shop.rows(rows), "Ann|2|7.75\nbob|1|9.00\nCid|0|NULL");
    let filtered = "SELECT c.name FROM customer c
        OUTER APPLY (SELECT COUNT(*) AS n FROM orders WHERE customer = c.id) s WHERE s.n = 0";
    assert_eq!(shop.rows(filtered), "Cid");
}

#[test]
fn the_first_rows_of_a_table_are_found_by_rowid() {
    let shop = shop();
    let latest = "SELECT c.name, o.id FROM customer c
        CROSS APPLY (SELECT TOP 1 id FROM orders WHERE customer = c.id ORDER BY placed DESC) o ORDER BY c.id";
    assert_eq!(shop.rows(latest), "Ann|11\nbob|12");
    let outer = "SELECT c.name, o.x FROM customer c
        OUTER APPLY (SELECT TOP (1) id + 0 AS x FROM orders WHERE customer = c.id ORDER BY id) o ORDER BY c.id";
    assert_eq!(shop.rows(outer), "Ann|10\nbob|12\nCid|NULL");
}

#[test]
fn a_query_without_tables_computes_columns() {
    let shop = shop();
    let rows = "SELECT c.id, x.twice, y.more FROM customer c CROSS APPLY (SELECT c.id * 2 AS twice) x
        CROSS APPLY (SELECT x.twice + 1 AS more) y WHERE y.more > 3 ORDER BY 1";
    assert_eq!(shop.rows(rows), "2|4|5\n3|6|7");
    let filtered = "SELECT c.id, x.i FROM customer c OUTER APPLY (SELECT c.id AS i WHERE c.id > 1) x ORDER BY 1";
    assert_eq!(shop.rows(filtered), "1|NULL\n2|2\n3|3");
}

#[test]
fn values_are_turned_into_rows() {
    let session =
        Session::new("CREATE TABLE t (id int, a int, b varchar(5)) INSERT t VALUES (1, 10, 'x'), (2, 20, NULL)");
    let rows =
        "SELECT t.id, v.name, v.val FROM t CROSS APPLY (VALUES ('a', CAST(a AS varchar(5))), ('b', b)) v (name, val)
        ORDER BY 1, 2";
    assert_eq!(session.rows(rows), "1|a|10\n1|b|x\n2|a|20\n2|b|NULL");
}

#[test]
fn an_independent_query_is_joined_as_any_other() {
    let shop = shop();
    let rows = "SELECT COUNT(*) FROM customer c CROSS APPLY (SELECT TOP 2 id FROM orders ORDER BY id) o";
    assert_eq!(shop.rows(rows), "6");
    assert_eq!(
        shop.rows("SELECT COUNT(*) FROM customer c OUTER APPLY (SELECT DISTINCT 1 AS x WHERE 1 = 0) o"),
        "3"
    );
}

#[test]
fn an_apply_without_a_known_form_is_evaluated_row_by_row() {
    let session = Session::new(
        "CREATE TABLE t (id int, a int) INSERT t VALUES (1, 1), (1, 1), (1, 2), (2, 5)
         CREATE TABLE k (id int) INSERT k VALUES (1), (2), (3)",
    );
    let apply = |kind: &str, query: &str| {
        let order = "ORDER BY k.id, x.a";
        session.rows(&format!("SELECT k.id, x.a FROM k {kind} APPLY ({query}) x {order}"))
    };
    let distinct = "SELECT DISTINCT a FROM t WHERE id = k.id";
    assert_eq!(apply("CROSS", distinct), "1|1\n1|2\n2|5");
    assert_eq!(apply("OUTER", distinct), "1|1\n1|2\n2|5\n3|NULL");
    let grouped = "SELECT SUM(a) AS a FROM t WHERE id = k.id GROUP BY a HAVING COUNT(*) > k.id - 1";
    assert_eq!(apply("OUTER", grouped), "1|2\n1|2\n2|NULL\n3|NULL");
    let combined = "SELECT k.id AS a UNION SELECT a + 10 FROM t WHERE id = k.id";
    assert_eq!(apply("CROSS", combined), "1|1\n1|11\n1|12\n2|2\n2|15\n3|3");
    let first = "SELECT TOP 1 WITH TIES a FROM t WHERE id = k.id ORDER BY a";
    assert_eq!(apply("OUTER", first), "1|1\n1|1\n2|5\n3|NULL");
    let inner = "SELECT y.a FROM (SELECT TOP 1 a FROM t WHERE id = k.id ORDER BY a DESC) y JOIN k q ON q.id = k.id";
    assert_eq!(apply("OUTER", inner), "1|2\n2|5\n3|NULL");
    // One of them in another, and after it.
    let deep =
        "SELECT z.a FROM k q CROSS APPLY (SELECT DISTINCT a FROM t WHERE id = q.id) z WHERE q.id = k.id GROUP BY z.a";
    assert_eq!(apply("CROSS", deep), "1|1\n1|2\n2|5");
    let twice = "SELECT x.a, y.n FROM k CROSS APPLY (SELECT DISTINCT a FROM t WHERE id = k.id) x
        OUTER APPLY (SELECT COUNT(*) AS n FROM t WHERE t.a > x.a GROUP BY id) y ORDER BY x.a, y.n";
    assert_eq!(session.rows(twice), "1|1\n1|1\n2|1\n5|NULL");
}

#[test]
fn a_column_computed_from_an_outer_join_is_null_without_a_row() {
    let session = Session::new("CREATE TABLE t (id int, a int) INSERT t VALUES (1, NULL), (2, 5)");
    let left = "SELECT n.n, z.y FROM sys.numbers n
        LEFT JOIN (t CROSS APPLY (SELECT ISNULL(t.a, 0) AS y, 1 AS one) z) ON t.id = n.n ORDER BY n.n";
    assert_eq!(session.rows(left), "1|0\n2|5\n3|NULL");
    let right = "SELECT n.n, z.one FROM t CROSS APPLY (SELECT 1 AS one) z RIGHT JOIN sys.numbers n ON n.n = t.id
        ORDER BY n.n";
    assert_eq!(session.rows(right), "1|1\n2|1\n3|NULL");
}

#[test]
fn dependent_sources_in_an_outer_join_are_refused() {
    let shop = shop();
    let joined = "SELECT 1 FROM customer c OUTER APPLY (orders o JOIN orders p ON p.customer = c.id)";
    assert_eq!(
        shop.fault(joined).1,
        "APPLY of joined sources that depend on the left side is not supported."
    );
}
