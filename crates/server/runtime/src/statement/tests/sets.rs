//! UNION, INTERSECT and EXCEPT.

use super::shop;
use crate::testing::Session;

#[test]
fn a_union_has_equal_rows_once() {
    let session = Session::new("");
    assert_eq!(
        session.rows("SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1"),
        "1\n2"
    );
    assert_eq!(
        session.rows("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 1 ORDER BY 1 DESC"),
        "2\n1\n1"
    );
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM (SELECT 'a' AS x UNION SELECT 'A ') u"),
        "1"
    );
    assert_eq!(session.rows("SELECT NULL UNION SELECT NULL"), "NULL");
}

#[test]
fn except_and_intersect_compare_rows() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT id FROM customer EXCEPT SELECT customer FROM orders"),
        "3"
    );
    assert_eq!(
        shop.rows("SELECT id FROM customer INTERSECT SELECT customer FROM orders ORDER BY id"),
        "1\n2"
    );
    assert_eq!(
        shop.rows("SELECT customer FROM orders EXCEPT SELECT 1 ORDER BY 1"),
        "NULL\n2"
    );
}

#[test]
fn intersect_has_higher_precedence_than_the_others() {
    let session = Session::new("");
    assert_eq!(session.rows("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3"), "1");
    assert_eq!(session.rows("(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2"), "2");
    assert_eq!(session.rows("SELECT 1 EXCEPT (SELECT 1 EXCEPT SELECT 1)"), "1");
}

#[test]
fn columns_have_the_common_type() {
    let session = Session::new("CREATE TABLE t (a int, d datetime) INSERT t VALUES (1, '2024-01-01')");
    let answer = session.answer("SELECT a FROM t UNION ALL SELECT 2.5 ORDER BY 1");
    assert_eq!(answer.columns, ["a numeric(11,1) null"]);
    assert_eq!(answer.rows, ["1.0", "2.5"]);
    let answer = session.answer("SELECT NULL AS x UNION ALL SELECT 'abc'");
    assert_eq!(answer.columns, ["x varchar(3) null"]);
    assert_eq!(session.rows("SELECT a FROM t UNION ALL SELECT '7' ORDER BY 1"), "1\n7");
    assert_eq!(session.number("SELECT a FROM t UNION ALL SELECT 'x'"), 245);
    assert_eq!(
        session.rows("SELECT TOP 1 a FROM t UNION SELECT DISTINCT CAST(1 AS bigint) FROM t"),
        "1"
    );
}

#[test]
fn counts_of_columns_must_agree() {
    let session = Session::new("");
    assert_eq!(
        session.fault("SELECT 1, 2 UNION SELECT 1"),
        (
            205,
            "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in \
             their target lists."
                .to_owned()
        )
    );
}

#[test]
fn a_union_is_ordered_by_its_own_columns() {
    let shop = shop();
    let rows = "SELECT name AS n, id FROM customer UNION ALL SELECT 'zed', 0 ORDER BY n DESC";
    assert_eq!(shop.rows(rows), "zed|0\nCid|3\nbob|2\nAnn|1");
    assert_eq!(
        shop.number("SELECT id FROM customer UNION SELECT 1 ORDER BY id + 1"),
        104
    );
    assert_eq!(shop.number("SELECT id FROM customer UNION SELECT 1 ORDER BY name"), 104);
    let cut = "SELECT id FROM customer UNION ALL SELECT 9 ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY";
    assert_eq!(shop.rows(cut), "2\n3");
}

#[test]
fn a_union_is_ordered_by_qualified_columns_of_its_first_list() {
    let shop = shop();
    let rows = "SELECT c.name AS n, c.id FROM customer c UNION SELECT 'zed', 0 UNION SELECT 'amy', 4 ORDER BY c.name DESC, C.ID";
    assert_eq!(shop.rows(rows), "zed|0\nCid|3\nbob|2\nAnn|1\namy|4");
    assert_eq!(
        shop.rows(
            "SELECT customer.id, c.id FROM customer c, customer UNION SELECT 9, 9 ORDER BY c.id DESC, dbo.customer.id"
        ),
        "9|9\n1|3\n2|3\n3|3\n1|2\n2|2\n3|2\n1|1\n2|1\n3|1"
    );
    for refused in ["c.name", "d.id", "c.id + 1"] {
        let batch = format!("SELECT c.id FROM customer c UNION SELECT d.id FROM customer d ORDER BY {refused}");
        assert_eq!(shop.number(&batch), 104, "{batch}");
    }
}

#[test]
fn a_union_takes_one_instant_once_whatever_its_offset() {
    let session = Session::new("");
    let other = "SELECT SWITCHOFFSET(SYSDATETIMEOFFSET(), '-05:00')";
    let count = |operator: &str| {
        session
            .answer(&format!("SELECT SYSDATETIMEOFFSET() {operator} {other}"))
            .rows
            .len()
    };
    assert_eq!((count("UNION"), count("UNION ALL")), (1, 2));
    assert_eq!((count("INTERSECT"), count("EXCEPT")), (1, 0));
}
