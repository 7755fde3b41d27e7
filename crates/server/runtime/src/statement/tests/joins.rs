//! Joins of all kinds.

use super::shop;
use crate::testing::Session;

#[test]
fn joins_before_an_on_belong_to_the_right_side() {
    let shop = shop();
    let inner = "SELECT c.id, o.id, d.id FROM customer c JOIN orders o JOIN orders d ON d.id = o.id + 1 ON o.customer = c.id ORDER BY o.id";
    let plain = "SELECT c.id, o.id, d.id FROM customer c, orders o, orders d WHERE d.id = o.id + 1 AND o.customer = c.id ORDER BY o.id";
    assert!(!shop.rows(plain).is_empty());
    assert_eq!(shop.rows(inner), shop.rows(plain));
}

#[test]
fn an_inner_join_keeps_pairs_that_match() {
    let rows =
        shop().rows("SELECT c.name, o.id FROM customer c INNER JOIN orders o ON c.id = o.customer ORDER BY o.id");
    assert_eq!(rows, "Ann|10\nAnn|11\nbob|12");
}

#[test]
fn a_left_join_keeps_rows_without_a_match() {
    let answer = shop().answer(
        "SELECT c.name, o.id, o.amount FROM customer c LEFT JOIN orders o ON c.id = o.customer AND o.amount > 3
         ORDER BY c.id",
    );
    assert_eq!(answer.rows, ["Ann|10|5.50", "bob|12|9.00", "Cid|NULL|NULL"]);
    assert_eq!(answer.columns[1], "id int null");
}

#[test]
fn right_and_full_joins_keep_the_other_side() {
    let shop = shop();
    let right = "SELECT c.name, o.id FROM customer c RIGHT JOIN orders o ON c.id = o.customer ORDER BY o.id";
    assert_eq!(shop.rows(right), "Ann|10\nAnn|11\nbob|12\nNULL|13");
    let full = "SELECT c.name, o.id FROM customer c FULL JOIN orders o ON c.id = o.customer ORDER BY o.id, c.name";
    assert_eq!(shop.rows(full), "Cid|NULL\nAnn|10\nAnn|11\nbob|12\nNULL|13");
}

#[test]
fn a_comma_and_a_cross_join_give_all_pairs() {
    let shop = shop();
    assert_eq!(shop.rows("SELECT COUNT(*) FROM customer, orders"), "12");
    assert_eq!(
        shop.rows("SELECT COUNT(*) FROM customer a CROSS JOIN customer b CROSS JOIN customer c"),
        "27"
    );
    assert_eq!(
        shop.rows("SELECT c.name FROM customer c, orders o WHERE c.id = o.customer AND o.id = 12"),
        "bob"
    );
}

#[test]
fn joins_in_parentheses_are_joined_first() {
    let rows = shop().rows(
        "SELECT c.name, o.id, d.id FROM customer c LEFT JOIN (orders o JOIN orders d ON d.id = o.id + 1) ON o.customer = c.id
         ORDER BY c.id, o.id",
    );
    assert_eq!(rows, "Ann|10|11\nAnn|11|12\nbob|12|13\nCid|NULL|NULL");
}

#[test]
fn a_comma_has_lower_precedence_than_a_join() {
    let shop = shop();
    assert_eq!(
        shop.number("SELECT 1 FROM customer a, customer b JOIN orders o ON o.customer = a.id"),
        4104
    );
    let rows = "SELECT COUNT(*) FROM customer a, customer b LEFT JOIN orders o ON o.customer = b.id";
    assert_eq!(shop.rows(rows), "12");
}

#[test]
fn columns_of_two_types_are_joined_by_the_higher() {
    let session = Session::new(
        "CREATE TABLE a (n int, s varchar(10)) CREATE TABLE b (n decimal(6, 2), s nvarchar(10), f float)
         INSERT a VALUES (1, 'x'), (2, 'y ') INSERT b VALUES (1.00, N'X', 1), (2.50, N'Y', 2.5)",
    );
    assert_eq!(session.rows("SELECT a.n FROM a JOIN b ON a.n = b.n"), "1");
    assert_eq!(session.rows("SELECT a.n FROM a JOIN b ON a.s = b.s ORDER BY 1"), "1\n2");
    assert_eq!(
        session.rows("SELECT a.n, b.f FROM a JOIN b ON a.n < b.f ORDER BY 1, 2"),
        "1|2.5\n2|2.5"
    );
}

#[test]
fn names_that_clash_are_refused() {
    let shop = shop();
    assert_eq!(
        shop.fault("SELECT 1 FROM customer c JOIN orders c ON 1 = 1"),
        (
            1011,
            "The correlation name 'c' is specified multiple times in a FROM clause.".to_owned()
        )
    );
    assert_eq!(shop.number("SELECT 1 FROM customer, customer"), 1013);
    assert_eq!(shop.number("SELECT 1 FROM customer, orders customer"), 1012);
}

#[test]
fn a_view_is_bound_in_each_query_that_names_it() {
    let mut shop = shop();
    shop.define(
        "CREATE VIEW big AS SELECT id, customer AS c, amount FROM orders WHERE amount > 2
GO
CREATE VIEW totals (who, total) AS SELECT c.name, SUM(b.amount) FROM customer c JOIN big b ON b.c = c.id GROUP BY c.name",
    );
    assert_eq!(shop.rows("SELECT * FROM totals ORDER BY who"), "Ann|7.75\nbob|9.00");
    assert_eq!(
        shop.rows("SELECT t.total FROM dbo.totals t WHERE t.who = 'BOB'"),
        "9.00"
    );
    let sets = "WITH orders AS (SELECT 1 AS id) SELECT COUNT(*) FROM big";
    assert_eq!(shop.rows(sets), "3");
}

#[test]
fn a_view_that_refers_to_itself_is_nested_too_deeply() {
    let mut session = Session::new("");
    session.define("CREATE VIEW a AS SELECT * FROM b\nGO\nCREATE VIEW b AS SELECT * FROM a");
    assert_eq!(session.number("SELECT * FROM a"), 191);
}

#[test]
fn a_chain_of_many_joins_is_not_deeply_nested() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (1)");
    let joins: String = (1..60).map(|at| format!(" JOIN t t{at} ON t{at}.a = t.a")).collect();
    assert_eq!(session.rows(&format!("SELECT COUNT(*) FROM t{joins}")), "1");
}
