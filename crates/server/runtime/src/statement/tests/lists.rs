//! Lists of columns: stars, names, types.

use super::shop;
use crate::testing::Session;

#[test]
fn a_select_returns_names_types_and_rows() {
    let answer = shop().answer("SELECT id, name AS n, city FROM customer WHERE id = 1");
    assert_eq!(answer.columns, ["id int", "n varchar(20)", "city nvarchar(20) null"]);
    assert_eq!(answer.rows, ["1|Ann|Oslo"]);
}

#[test]
fn a_star_is_every_column_of_every_source() {
    let answer = shop().answer("SELECT c.*, o.id FROM customer c JOIN orders o ON o.customer = c.id WHERE o.id = 12");
    assert_eq!(answer.rows, ["2|bob|Rome|12"]);
    assert_eq!(
        shop().rows("SELECT * FROM orders WHERE id = 13"),
        "13|NULL|1.00|Mar  1 2024 12:00AM"
    );
    assert_eq!(
        shop().fault("SELECT x.* FROM orders"),
        (
            107,
            "The column prefix 'x' does not match with a table name or alias name used in the query.".to_owned()
        )
    );
    assert_eq!(shop().fault("SELECT *").0, 263);
}

#[test]
fn a_select_needs_no_table() {
    let answer = Session::new("").answer("SELECT 1 + 1 AS two, 'a', NULL WHERE 1 = 1");
    assert_eq!(answer.columns, ["two int", " varchar(1)", " int null"]);
    assert_eq!(answer.rows, ["2|a|NULL"]);
    assert_eq!(Session::new("").rows("SELECT 1 WHERE 1 = 0"), "");
}

#[test]
fn names_are_case_insensitive_and_unknown_ones_are_errors() {
    let shop = shop();
    assert_eq!(shop.rows("SELECT ID FROM CUSTOMER WHERE NAME = 'ann'"), "1");
    assert_eq!(
        shop.rows("SELECT dbo.customer.id FROM dbo.customer WHERE customer.id = 3"),
        "3"
    );
    assert_eq!(
        shop.fault("SELECT nope FROM customer"),
        (207, "Invalid column name 'nope'.".to_owned())
    );
    assert_eq!(
        shop.fault("SELECT 1 FROM nope"),
        (208, "Invalid object name 'nope'.".to_owned())
    );
    assert_eq!(
        shop.fault("SELECT id FROM customer, orders"),
        (209, "Ambiguous column name 'id'.".to_owned())
    );
    assert_eq!(
        shop.fault("SELECT z.id FROM customer"),
        (
            4104,
            "The multi-part identifier \"z.id\" could not be bound.".to_owned()
        )
    );
    assert_eq!(shop.number("SELECT c.nope FROM customer c"), 207);
}

#[test]
fn an_error_has_the_line_of_its_cause() {
    let error = shop().run("SELECT id,\n  nope\nFROM customer").unwrap_err();
    assert_eq!((error.number(), error.line()), (207, 2));
}

#[test]
fn types_are_kept_through_expressions() {
    let answer = shop().answer(
        "SELECT amount * 2, amount + id, id / 4, id / 4.0, name + '!', LEN(name), CASE WHEN id > 11 THEN id END,
             ISNULL(customer, 0), COALESCE(customer, id) FROM orders CROSS JOIN (SELECT 'Eve' AS name) e WHERE id = 13",
    );
    assert_eq!(answer.rows, ["2.00|14.00|3|3.250000|Eve!|3|13|0|13"]);
    assert_eq!(answer.columns[2], " int");
    assert_eq!(answer.columns[5], " int");
    assert_eq!(answer.columns[7], " int");
}

#[test]
fn whole_numbers_overflow_as_their_types_do() {
    let session = Session::new("CREATE TABLE t (a int, b smallint) INSERT t VALUES (2147483647, 32767)");
    assert_eq!(
        session.fault("SELECT a + 1 FROM t"),
        (
            8115,
            "Arithmetic overflow error converting expression to data type int.".to_owned()
        )
    );
    assert_eq!(session.number("SELECT 1 / (b - b) FROM t"), 8134);
    assert_eq!(session.rows("SELECT CAST(a AS bigint) + 1 FROM t"), "2147483648");
}

#[test]
fn case_evaluates_only_the_branch_it_takes() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (0), (2)");
    assert_eq!(
        session.rows("SELECT CASE WHEN a = 0 THEN 0 ELSE 10 / a END FROM t ORDER BY a"),
        "0\n5"
    );
    assert_eq!(
        session.rows("SELECT CASE WHEN a >= 0 THEN 7 ELSE 1 / 0 END FROM t"),
        "7\n7"
    );
    assert_eq!(session.rows("SELECT COALESCE(a, 1 / 0) FROM t ORDER BY a"), "0\n2");
    assert_eq!(
        session.rows("SELECT IIF(a = 0, 'none', 'some') FROM t ORDER BY a"),
        "none\nsome"
    );
}

#[test]
fn a_volatile_function_is_evaluated_for_each_row_and_a_stable_one_once() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (1), (2), (3)");
    let (_, sql) = session.plan("SELECT a FROM t ORDER BY NEWID()");
    assert_eq!(
        sql,
        "SELECT t0.\"a\" AS c0 FROM \"main\".\"t\" AS t0 ORDER BY tsql_row(0)"
    );
    assert_eq!(
        session.rows("SELECT COUNT(DISTINCT r) FROM (SELECT RAND() AS r FROM t) x"),
        "1"
    );
    assert_eq!(
        session.rows("SELECT COUNT(DISTINCT r) FROM (SELECT RAND() + a * 0 AS r FROM t) x"),
        "1"
    );
}

#[test]
fn an_invalid_stored_value_is_reported_with_its_table_and_column() {
    let session = Session::new("CREATE TABLE t (a tinyint)");
    session
        .database
        .connection
        .execute_batch("INSERT INTO t VALUES (1000)")
        .unwrap();
    let (number, text) = session.fault("SELECT a FROM t");
    assert_eq!(number, 50823);
    assert!(text.contains("table 'dbo.t', column 'a'"), "{text}");
    let (number, text) = session.fault("SELECT a + 1 FROM t");
    assert_eq!(number, 50823);
    assert!(text.contains("table 'dbo.t', column 'a'"), "{text}");
}
