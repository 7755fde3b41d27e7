//! GROUP BY, HAVING and aggregates.

use super::shop;
use crate::testing::Session;

fn numbers() -> Session {
    Session::new(
        "CREATE TABLE t (g varchar(5), i int, d decimal(5, 2), f float, m money, big bigint)
         INSERT t VALUES ('a', 1, 1.25, 0.5, 1.5, 1), ('A ', 2, 2.50, 1.5, 2, 2), ('b', 4, NULL, NULL, NULL, 4),
             ('b', 5, 0.25, 3, 3, 5)",
    )
}

#[test]
fn groups_are_by_the_collation() {
    let session = numbers();
    assert_eq!(
        session.rows("SELECT COUNT(*), SUM(i) FROM t GROUP BY g ORDER BY 2"),
        "2|3\n2|9"
    );
    assert_eq!(session.rows("SELECT COUNT(DISTINCT g) FROM t"), "2");
    assert_eq!(session.rows("SELECT COUNT(*) FROM (SELECT DISTINCT g FROM t) x"), "2");
}

#[test]
fn aggregates_have_the_types_of_t_sql() {
    let answer = numbers().answer(
        "SELECT SUM(i), AVG(i), SUM(d), AVG(d), SUM(f), AVG(f), SUM(m), MIN(d), MAX(g), COUNT(d), COUNT_BIG(*), SUM(big) FROM t",
    );
    assert_eq!(
        answer.columns,
        [
            " int null",
            " int null",
            " decimal(38,2) null",
            " decimal(38,6) null",
            " float null",
            " float null",
            " money null",
            " decimal(5,2) null",
            " varchar(5) null",
            " int",
            " bigint",
            " bigint null"
        ]
    );
    assert_eq!(answer.rows, ["12|3|4.00|1.333333|5|1.66667|6.50|0.25|b|3|4|12"]);
}

#[test]
fn a_sum_of_int_overflows() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (2147483647), (1)");
    assert_eq!(
        session.fault("SELECT SUM(a) FROM t"),
        (
            8115,
            "Arithmetic overflow error converting expression to data type int.".to_owned()
        )
    );
    assert_eq!(session.rows("SELECT SUM(CAST(a AS bigint)) FROM t"), "2147483648");
    assert_eq!(session.rows("SELECT AVG(CAST(a AS bigint)) FROM t"), "1073741824");
}

#[test]
fn aggregates_of_no_rows_are_null_and_counts_are_zero() {
    let session = numbers();
    let rows =
        "SELECT SUM(i), AVG(d), MIN(f), COUNT(*), COUNT(d), COUNT(DISTINCT d), COUNT_BIG(d) FROM t WHERE i > 100";
    assert_eq!(session.rows(rows), "NULL|NULL|NULL|0|0|0|0");
    assert_eq!(session.rows("SELECT g, COUNT(d) FROM t WHERE i > 100 GROUP BY g"), "");
}

#[test]
fn a_null_skipped_by_an_aggregate_is_recorded() {
    let session = numbers();
    session.rows("SELECT SUM(i) FROM t");
    assert!(!session.database.functions.take_left_out_null());
    session.rows("SELECT SUM(d) FROM t");
    assert!(session.database.functions.take_left_out_null());
    session.rows("SELECT COUNT(m) FROM t");
    assert!(session.database.functions.take_left_out_null());
}

#[test]
fn distinct_counts_equal_values_once() {
    let session = Session::new(
        "CREATE TABLE t (a int, s varchar(5), d decimal(25, 1), f float)
         INSERT t VALUES (1, 'x', 1, 0), (1, 'X ', 1.0, -0e0), (2, 'y', 2, 1), (NULL, NULL, NULL, NULL)",
    );
    let rows =
        "SELECT COUNT(DISTINCT a), SUM(DISTINCT a), COUNT(DISTINCT s), SUM(DISTINCT d), COUNT(DISTINCT f) FROM t";
    assert_eq!(session.rows(rows), "2|3|2|3.0|2");
}

#[test]
fn a_column_must_be_grouped_or_aggregated() {
    let shop = shop();
    assert_eq!(
        shop.fault("SELECT customer, amount FROM orders GROUP BY customer"),
        (
            8120,
            "Column 'dbo.orders.amount' is invalid in the select list because it is not contained in either an aggregate \
             function or the GROUP BY clause."
                .to_owned()
        )
    );
    assert_eq!(shop.number("SELECT id, COUNT(*) FROM orders"), 8120);
    assert_eq!(
        shop.number("SELECT customer FROM orders GROUP BY customer HAVING amount > 1"),
        8121
    );
    assert_eq!(
        shop.number("SELECT customer FROM orders GROUP BY customer ORDER BY amount"),
        8127
    );
    assert_eq!(
        shop.number("SELECT (SELECT o.amount) FROM orders o GROUP BY o.customer"),
        8120
    );
    assert_eq!(
        shop.rows("SELECT (SELECT o.customer) FROM orders o GROUP BY o.customer ORDER BY 1"),
        "NULL\n1\n2"
    );
}

#[test]
fn an_expression_may_be_grouped_by() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT id % 2, COUNT(*) FROM orders GROUP BY id % 2 ORDER BY id % 2"),
        "0|2\n1|2"
    );
    assert_eq!(
        shop.rows("SELECT id % 2 + 10 FROM orders GROUP BY id % 2 ORDER BY 1"),
        "10\n11"
    );
    assert_eq!(shop.number("SELECT id % 3 FROM orders GROUP BY id % 2"), 8120);
    let by_year = "SELECT YEAR(placed), COUNT(*) FROM orders GROUP BY YEAR(placed) ORDER BY 1";
    assert_eq!(shop.rows(by_year), "NULL|1\n2024|3");
}

#[test]
fn having_keeps_groups() {
    let shop = shop();
    let rows = "SELECT customer, SUM(amount) FROM orders GROUP BY customer HAVING COUNT(*) > 1";
    assert_eq!(shop.rows(rows), "1|7.75");
    assert_eq!(shop.rows("SELECT MAX(id) FROM orders HAVING COUNT(*) > 10"), "");
    assert_eq!(shop.rows("SELECT 1 FROM orders HAVING 1 = 1"), "1");
}

#[test]
fn aggregates_are_allowed_only_in_grouped_clauses() {
    let shop = shop();
    assert_eq!(shop.number("SELECT id FROM orders WHERE SUM(amount) > 1"), 147);
    assert_eq!(
        shop.number("SELECT 1 FROM orders o JOIN customer c ON SUM(o.id) = 1"),
        1015
    );
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders GROUP BY SUM(amount)"), 144);
    assert_eq!(shop.number("SELECT SUM(COUNT(*)) FROM orders"), 130);
    assert_eq!(shop.number("SELECT SUM((SELECT 1)) FROM orders"), 130);
    assert_eq!(shop.number("SELECT COUNT(*) FROM orders GROUP BY 1"), 164);
    assert_eq!(shop.number("SELECT SUM(name) FROM customer"), 8117);
}

#[test]
fn string_agg_puts_a_separator_between_values() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT STRING_AGG(name, ', ') WITHIN GROUP (ORDER BY name DESC) FROM customer"),
        "Cid, bob, Ann"
    );
    let by_city = "SELECT STRING_AGG(o.id, '+') WITHIN GROUP (ORDER BY o.id) FROM orders o GROUP BY o.customer ORDER BY o.customer";
    assert_eq!(shop.rows(by_city), "13\n10+11\n12");
}

#[test]
fn statistics_are_those_of_the_sample() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (2), (4), (4), (4), (5), (5), (7), (9)");
    assert_eq!(
        session.rows("SELECT STDEVP(a), VARP(a), ROUND(VAR(a), 3) FROM t"),
        "2|4|4.571"
    );
}

#[test]
fn an_aggregate_of_an_outer_column_is_refused_by_name() {
    let (number, text) = shop().fault("SELECT (SELECT SUM(o.amount)) FROM orders o");
    assert_eq!(
        (number, text.as_str()),
        (40510, "An aggregate of an outer query's columns is not supported.")
    );
}
