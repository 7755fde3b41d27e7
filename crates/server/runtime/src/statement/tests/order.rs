//! ORDER BY, DISTINCT, TOP and OFFSET.

use super::shop;
use crate::testing::Session;

#[test]
fn null_comes_first() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT customer FROM orders ORDER BY customer"),
        "NULL\n1\n1\n2"
    );
    assert_eq!(
        shop.rows("SELECT customer FROM orders ORDER BY customer DESC"),
        "2\n1\n1\nNULL"
    );
}

#[test]
fn text_is_ordered_without_case() {
    let session = Session::new(
        "CREATE TABLE t (s varchar(5), b varchar(5) COLLATE Latin1_General_BIN2)
         INSERT t VALUES ('b', 'b'), ('A', 'A'), ('C', 'C'), ('a', 'a')",
    );
    assert_eq!(session.rows("SELECT s FROM t ORDER BY s, b"), "A\na\nb\nC");
    assert_eq!(session.rows("SELECT b FROM t ORDER BY b"), "A\nC\na\nb");
    assert_eq!(
        session.rows("SELECT s FROM t ORDER BY s COLLATE Latin1_General_BIN2"),
        "A\nC\na\nb"
    );
    assert_eq!(
        session.rows("SELECT s + '' AS x FROM t ORDER BY x DESC, b"),
        "C\nb\nA\na"
    );
}

#[test]
fn an_order_is_by_number_alias_or_value() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT id AS x, name FROM customer ORDER BY 2 DESC"),
        "3|Cid\n2|bob\n1|Ann"
    );
    assert_eq!(shop.rows("SELECT -id AS id FROM customer ORDER BY id"), "-3\n-2\n-1");
    assert_eq!(
        shop.rows("SELECT -id AS id FROM customer ORDER BY customer.id"),
        "-1\n-2\n-3"
    );
    assert_eq!(
        shop.rows("SELECT name FROM customer ORDER BY LEN(name), id DESC"),
        "Cid\nbob\nAnn"
    );
    assert_eq!(
        shop.fault("SELECT id FROM customer ORDER BY 2"),
        (
            108,
            "The ORDER BY position number 2 is out of range of the number of items in the select list.".to_owned()
        )
    );
    assert_eq!(shop.number("SELECT id FROM customer ORDER BY 'a'"), 408);
    assert_eq!(
        shop.number("DECLARE @a int = 1 SELECT id FROM customer ORDER BY @a"),
        1008
    );
    assert_eq!(shop.number("SELECT id FROM customer ORDER BY id, id"), 169);
    assert_eq!(shop.number("SELECT id AS a, name AS a FROM customer ORDER BY a"), 209);
}

#[test]
fn distinct_rows_are_ordered_by_their_columns() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT DISTINCT customer FROM orders ORDER BY customer DESC"),
        "2\n1\nNULL"
    );
    assert_eq!(
        shop.fault("SELECT DISTINCT customer FROM orders ORDER BY id"),
        (
            145,
            "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.".to_owned()
        )
    );
    let session = Session::new("CREATE TABLE t (s char(5)) INSERT t VALUES ('a'), ('A'), ('b')");
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM (SELECT DISTINCT s + 'x' AS s FROM t) d"),
        "2"
    );
}

#[test]
fn top_takes_the_first_rows() {
    let shop = shop();
    assert_eq!(shop.rows("SELECT TOP 2 id FROM orders ORDER BY id DESC"), "13\n12");
    assert_eq!(
        shop.rows("DECLARE @n bigint = 1 SELECT TOP (@n + 1) id FROM orders ORDER BY id"),
        "10\n11"
    );
    assert_eq!(shop.rows("SELECT TOP 0 id FROM orders"), "");
    assert_eq!(shop.number("SELECT TOP (-1) id FROM orders"), 1014);
    assert_eq!(shop.number("SELECT TOP (1.5) id FROM orders"), 1060);
    assert_eq!(shop.number("SELECT TOP (id) id FROM orders"), 4115);
}

#[test]
fn with_ties_and_percent_are_counted() {
    let session = Session::new("CREATE TABLE t (a int, b int) INSERT t VALUES (1, 1), (2, 1), (2, 2), (3, 3), (3, 4)");
    assert_eq!(session.rows("SELECT TOP 2 WITH TIES a FROM t ORDER BY a"), "1\n2\n2");
    assert_eq!(session.rows("SELECT TOP 1 WITH TIES b FROM t ORDER BY a DESC"), "3\n4");
    assert_eq!(session.rows("SELECT TOP 50 PERCENT b FROM t ORDER BY a, b"), "1\n1\n2");
    assert_eq!(
        session.rows("SELECT TOP (40) PERCENT WITH TIES a FROM t ORDER BY a"),
        "1\n2\n2"
    );
    assert_eq!(session.rows("SELECT TOP 0 PERCENT a FROM t"), "");
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM (SELECT TOP 100 PERCENT a FROM t ORDER BY a) x"),
        "5"
    );
    assert_eq!(session.number("SELECT TOP (101) PERCENT a FROM t"), 1031);
    assert_eq!(
        session.number("DECLARE @p float SELECT TOP (@p) PERCENT a FROM t"),
        1031
    );
}

#[test]
fn offset_skips_and_fetch_takes() {
    let shop = shop();
    assert_eq!(shop.rows("SELECT id FROM orders ORDER BY id OFFSET 2 ROWS"), "12\n13");
    assert_eq!(
        shop.rows("SELECT id FROM orders ORDER BY id OFFSET 1 ROW FETCH FIRST 1 ROW ONLY"),
        "11"
    );
    let paged = "DECLARE @page int = 2, @size int = 3
        SELECT id FROM orders ORDER BY id OFFSET (@page - 1) * @size ROWS FETCH NEXT @size ROWS ONLY";
    assert_eq!(shop.rows(paged), "13");
    assert_eq!(
        shop.fault("DECLARE @n int = -1 SELECT id FROM orders ORDER BY id OFFSET @n ROWS"),
        (
            10742,
            "The offset specified in a OFFSET clause may not be negative.".to_owned()
        )
    );
    assert_eq!(
        shop.number("SELECT id FROM orders ORDER BY id OFFSET 0 ROWS FETCH NEXT 0 ROWS ONLY"),
        10744
    );
}

#[test]
fn decimals_money_and_dates_sort_as_values() {
    let session = Session::new(
        "CREATE TABLE t (a decimal(30, 2), m money, d datetime2(3), g uniqueidentifier)
         INSERT t VALUES (-5, -1, '2024-01-02', '00000000-0000-0000-0000-010000000000'),
             (10, 2, '1999-12-31 23:59:59.999', '01000000-0000-0000-0000-000000000000'),
             (-100.5, 10, '2024-01-02 00:00:00.001', NULL)",
    );
    assert_eq!(session.rows("SELECT a FROM t ORDER BY a"), "-100.50\n-5.00\n10.00");
    assert_eq!(session.rows("SELECT m FROM t ORDER BY m DESC"), "10.00\n2.00\n-1.00");
    assert_eq!(session.rows("SELECT a FROM t ORDER BY d"), "10.00\n-5.00\n-100.50");
    assert_eq!(session.rows("SELECT a FROM t ORDER BY g"), "-100.50\n10.00\n-5.00");
}
