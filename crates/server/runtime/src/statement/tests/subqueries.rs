//! Subqueries as values and in conditions.

use super::shop;
use crate::testing::Session;

#[test]
fn a_subquery_is_a_value() {
    let shop = shop();
    assert_eq!(shop.rows("SELECT (SELECT MAX(amount) FROM orders)"), "9.00");
    let rows = "SELECT name, (SELECT SUM(o.amount) FROM orders o WHERE o.customer = c.id) FROM customer c ORDER BY id";
    assert_eq!(shop.rows(rows), "Ann|7.75\nbob|9.00\nCid|NULL");
    assert_eq!(shop.rows("SELECT (SELECT id FROM orders WHERE 1 = 0)"), "NULL");
}

#[test]
fn a_scalar_subquery_of_two_rows_is_an_error() {
    let shop = shop();
    let text = "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or \
                when the subquery is used as an expression.";
    assert_eq!(shop.fault("SELECT (SELECT id FROM orders)"), (512, text.to_owned()));
    assert_eq!(
        shop.number("SELECT id FROM customer WHERE id = (SELECT customer FROM orders WHERE customer = 1)"),
        512
    );
    assert_eq!(shop.rows("SELECT (SELECT TOP 1 id FROM orders ORDER BY id DESC)"), "13");
    assert_eq!(shop.rows("SELECT (SELECT id FROM orders WHERE id = 12) + 1"), "13");
    assert_eq!(shop.number("SELECT (SELECT id, customer FROM orders)"), 116);
}

#[test]
fn exists_is_true_for_any_row() {
    let shop = shop();
    let some =
        "SELECT name FROM customer c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer = c.id) ORDER BY name";
    assert_eq!(shop.rows(some), "Ann\nbob");
    let none = "SELECT name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)";
    assert_eq!(shop.rows(none), "Cid");
    assert_eq!(
        shop.rows("SELECT CASE WHEN EXISTS (SELECT 1 FROM orders) THEN 'yes' ELSE 'no' END"),
        "yes"
    );
}

#[test]
fn in_is_unknown_if_a_null_prevents_a_decision() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE id IN (SELECT customer FROM orders) ORDER BY 1"),
        "1\n2"
    );
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE id NOT IN (SELECT customer FROM orders)"),
        ""
    );
    let known = "SELECT id FROM customer WHERE id NOT IN (SELECT customer FROM orders WHERE customer IS NOT NULL)";
    assert_eq!(shop.rows(known), "3");
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE name IN (SELECT 'ANN ' UNION SELECT 'x')"),
        "1"
    );
}

#[test]
fn in_converts_both_sides_to_one_type() {
    let session = Session::new(
        "CREATE TABLE a (n int) CREATE TABLE b (s varchar(5), d decimal(5, 1))
         INSERT a VALUES (1), (2) INSERT b VALUES ('01', 2.0)",
    );
    assert_eq!(session.rows("SELECT n FROM a WHERE n IN (SELECT s FROM b)"), "1");
    assert_eq!(session.rows("SELECT n FROM a WHERE n IN (SELECT d FROM b)"), "2");
    assert_eq!(
        session.rows("SELECT n FROM a WHERE CAST(n AS varchar(5)) + '' IN (SELECT d FROM b)"),
        "2"
    );
}

#[test]
fn a_comparison_may_be_with_all_rows_or_any() {
    let shop = shop();
    let all = "SELECT id FROM orders WHERE amount >= ALL (SELECT amount FROM orders)";
    assert_eq!(shop.rows(all), "12");
    let any = "SELECT id FROM orders WHERE amount > ANY (SELECT amount FROM orders) ORDER BY id";
    assert_eq!(shop.rows(any), "10\n11\n12");
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE id = SOME (SELECT customer FROM orders) ORDER BY 1"),
        "1\n2"
    );
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE id <> ALL (SELECT 1) ORDER BY 1"),
        "2\n3"
    );
    assert_eq!(
        shop.rows("SELECT id FROM customer WHERE id > ALL (SELECT id FROM orders WHERE 1 = 0) ORDER BY 1"),
        "1\n2\n3"
    );
    let unknown = "SELECT id FROM customer WHERE NOT (id > ANY (SELECT customer FROM orders)) ORDER BY 1";
    assert_eq!(shop.rows(unknown), "");
}

#[test]
fn a_derived_table_names_its_columns() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT d.x FROM (SELECT id FROM customer) AS d (x) WHERE d.x > 2"),
        "3"
    );
    assert_eq!(
        shop.fault("SELECT * FROM (SELECT 1) d"),
        (8155, "No column name was specified for column 1 of 'd'.".to_owned())
    );
    assert_eq!(shop.number("SELECT * FROM (SELECT 1 AS a, 2 AS a) d"), 8156);
    assert_eq!(shop.number("SELECT * FROM (SELECT 1 AS a, 2 AS b) d (x)"), 8158);
    assert_eq!(shop.number("SELECT * FROM (SELECT 1 AS a) d (x, y)"), 8159);
    assert_eq!(
        shop.rows("SELECT * FROM (SELECT TOP 1 id FROM customer ORDER BY id DESC) d"),
        "3"
    );
}

#[test]
fn values_are_a_table() {
    let session = Session::new("");
    assert_eq!(
        session.rows("SELECT a, b FROM (VALUES (1, 'x'), (2, NULL)) v (a, b) ORDER BY a DESC"),
        "2|NULL\n1|x"
    );
    let answer = session.answer("SELECT a FROM (VALUES (1), (2.5)) v (a) ORDER BY a");
    assert_eq!(answer.columns, ["a numeric(11,1)"]);
    assert_eq!(answer.rows, ["1.0", "2.5"]);
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM (VALUES (1), (2), (3)) v (a) WHERE a > 1"),
        "2"
    );
}

#[test]
fn the_nesting_of_queries_is_limited() {
    let session = Session::new("");
    let nested = |depth: usize| {
        let (open, close): (String, String) = ("(SELECT ".repeat(depth), ")".repeat(depth));
        format!("SELECT {open}1{close}")
    };
    assert_eq!(session.rows(&nested(30)), "1");
    assert_eq!(session.number(&nested(40)), 191);
}

#[test]
fn a_correlated_subquery_sees_every_level_outside() {
    let shop = shop();
    let rows = shop.rows(
        "SELECT c.id FROM customer c WHERE EXISTS (
             SELECT 1 FROM orders o WHERE o.customer = c.id AND o.amount = (
                 SELECT MAX(p.amount) FROM orders p WHERE p.customer = c.id AND p.id <> o.id + 100))
         ORDER BY 1",
    );
    assert_eq!(rows, "1\n2");
}
