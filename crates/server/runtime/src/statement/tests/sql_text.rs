//! The SQL for SQLite, and the indexes that it uses.

use crate::testing::Session;

mod logic;

fn indexed() -> Session {
    let mut session = Session::new(
        "CREATE TABLE t (id int PRIMARY KEY, s varchar(20), n nvarchar(20), d decimal(10, 2), w decimal(30, 2), m money,
             at datetime, day date, g uniqueidentifier, b bigint, f float, c char(5), o datetimeoffset(3), v varbinary(8))
         CREATE TABLE u (id int PRIMARY KEY, t smallint, s nvarchar(20), d decimal(10, 2))",
    );
    for column in ["s", "n", "d", "w", "m", "at", "day", "g", "b", "f", "c", "o", "v"] {
        session.define(&format!("CREATE INDEX ix_{column} ON t ({column})"));
    }
    session.define("CREATE INDEX iu_t ON u (t) CREATE INDEX iu_s ON u (s)");
    session
}

#[track_caller]
fn assert_searched(session: &Session, batch: &str) {
    let (plan, sql) = session.plan(batch);
    assert!(
        plan.contains("SEARCH t0") || plan.contains("SEARCH t1"),
        "{batch}: {plan}\n{sql}"
    );
    assert!(!sql.contains("tsql_op") || batch.contains("LIKE"), "{batch}: {sql}");
}

#[test]
fn a_column_compared_with_a_constant_is_looked_up() {
    let session = indexed();
    for condition in [
        "id = 5",
        "5 = id",
        "id > 5 AND id <= 9",
        "id IN (1, 2, 3)",
        "id BETWEEN 2 AND 4",
        "s = 'abc'",
        "s = N'abc'",
        "n >= 'abc'",
        "c = 'ab'",
        "c IN ('a', 'b')",
        "s IS NULL",
        "d = 5",
        "d > 5.5",
        "d = 1.25",
        "w >= 7",
        "m > 10.50",
        "m = 3",
        "at >= '2024-01-01'",
        "at < CAST('2024-02-01' AS date)",
        "day = '20240229'",
        "day BETWEEN '2024-01-01' AND '2024-12-31'",
        "g = '6F9619FF-8B86-D011-B42D-00C04FC964FF'",
        "b = 5",
        "f = 1",
        "v = 0x0102",
        "at > DATEADD(day, -7, GETDATE())",
    ] {
        assert_searched(&session, &format!("SELECT id FROM t WHERE {condition}"));
    }
}

#[test]
fn a_variable_of_another_whole_type_is_looked_up() {
    let session = indexed();
    assert_searched(&session, "DECLARE @i bigint = 5 SELECT id FROM t WHERE id = @i");
    assert_searched(&session, "DECLARE @i smallint = 5 SELECT id FROM t WHERE b < @i + 1");
    assert_searched(&session, "DECLARE @s nvarchar(50) = N'x' SELECT id FROM t WHERE s = @s");
    assert_searched(
        &session,
        "DECLARE @s varchar(max) = 'x' SELECT id FROM t WHERE s = LTRIM(@s)",
    );
}

#[test]
fn a_pattern_that_begins_with_letters_is_looked_up() {
    let session = indexed();
    assert_searched(&session, "SELECT id FROM t WHERE s LIKE 'abc%'");
    assert_searched(
        &session,
        "DECLARE @p varchar(9) = 'ab_%' SELECT id FROM t WHERE n LIKE @p",
    );
    let (plan, _) = session.plan("SELECT id FROM t WHERE s LIKE '%abc'");
    assert!(plan.contains("SCAN"), "{plan}");
}

#[test]
fn joins_of_columns_of_one_form_are_looked_up() {
    let session = indexed();
    for join in [
        "u.id = t.id",
        "u.t = t.id",
        "u.s = t.s",
        "u.d = t.d AND u.id = t.id",
        "u.id = t.b",
    ] {
        assert_searched(&session, &format!("SELECT t.id FROM t JOIN u ON {join}"));
    }
    assert_searched(
        &session,
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t = t.id)",
    );
    assert_searched(&session, "SELECT id FROM t WHERE id IN (SELECT t FROM u)");
}

#[test]
fn an_order_by_an_index_sorts_nothing() {
    let session = indexed();
    for batch in [
        "SELECT TOP 5 s FROM t ORDER BY s",
        "SELECT id, at FROM t ORDER BY 2 DESC",
        "SELECT d FROM t GROUP BY d",
        "SELECT DISTINCT s FROM t",
    ] {
        let (plan, sql) = session.plan(batch);
        assert!(
            !plan.contains("TEMP B-TREE") && plan.contains("INDEX"),
            "{batch}: {plan}\n{sql}"
        );
    }
    let (plan, _) = session.plan("SELECT MAX(s) FROM t");
    assert!(plan.contains("SEARCH t0 USING COVERING INDEX ix_s"), "{plan}");
}

#[test]
fn a_predicate_on_a_view_reaches_its_table() {
    let mut session = indexed();
    session.define("CREATE VIEW v AS SELECT id AS i, s + '!' AS loud, s FROM t WHERE d > 0");
    assert_searched_any(&session, "SELECT loud FROM v WHERE i = 5");
    assert_searched_any(&session, "SELECT i FROM (SELECT id AS i, s FROM t) x WHERE x.s = 'a'");
    assert_searched_any(
        &session,
        "WITH x AS (SELECT id, s FROM t) SELECT id FROM x WHERE id = 3",
    );
}

#[track_caller]
fn assert_searched_any(session: &Session, batch: &str) {
    let (plan, sql) = session.plan(batch);
    assert!(plan.contains("SEARCH"), "{batch}: {plan}\n{sql}");
}

#[test]
fn a_comparison_that_differs_in_sqlite_is_an_operation() {
    let session = indexed();
    for condition in [
        "id = 1.5",
        "d = CAST(1 AS float)",
        "day = GETDATE()",
        "s = 5",
        "id + 1 = 2",
        "f = d",
        "m = d",
        "at = day",
    ] {
        let (_, sql) = session.plan(&format!("SELECT id FROM t WHERE {condition}"));
        assert!(sql.contains("tsql_op"), "{condition}: {sql}");
    }
}

#[test]
fn an_instant_is_compared_without_its_offset() {
    let session = Session::new(
        "CREATE TABLE t (id int, o datetimeoffset(0))
         INSERT t VALUES (1, '2024-01-01 12:00 +00:00'), (2, '2024-01-01 14:00 +02:00'), (3, '2024-01-01 13:00 +02:00')",
    );
    assert_eq!(
        session.rows("SELECT id FROM t WHERE o = '2024-01-01 13:00 +01:00' ORDER BY id"),
        "1\n2"
    );
    assert_eq!(
        session.rows("SELECT a.id, b.id FROM t a JOIN t b ON a.o = b.o AND a.id < b.id"),
        "1|2"
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM t GROUP BY o ORDER BY o"), "1\n2");
    assert_eq!(
        session.rows("SELECT id FROM t WHERE o IN (SELECT o FROM t WHERE id = 1) ORDER BY id"),
        "1\n2"
    );
    assert_eq!(session.rows("SELECT id FROM t ORDER BY o, id"), "3\n1\n2");
    assert_eq!(session.rows("SELECT COUNT(*) FROM (SELECT DISTINCT o FROM t) x"), "2");
    assert_eq!(session.number("SELECT DISTINCT MAX(o) FROM t GROUP BY id"), 40510);
}

#[test]
fn nothing_that_a_user_wrote_is_in_the_sql_but_names() {
    let session = indexed();
    let (_, sql) = session.plan(
        "DECLARE @x int = 1 SELECT id AS [al\"ias], 'text' AS a, s + 'more' FROM t AS [my table] WHERE s = 'secret' AND id > @x",
    );
    assert_eq!(
        sql,
        "SELECT t0.\"id\" AS c0, ?1 AS c1, tsql_op(0, t0.\"s\") AS c2 FROM \"main\".\"t\" AS t0 \
         WHERE (t0.\"s\" COLLATE SQL_Latin1_General_CP1_CI_AS = ?2) AND (t0.\"id\" > ?3)"
    );
}

#[test]
fn thousands_of_conditions_are_not_deeply_nested() {
    let session = Session::new("CREATE TABLE t (a int) INSERT t VALUES (1), (1999)");
    let conditions: Vec<String> = (0..2000).map(|at| format!("a = {at}")).collect();
    assert_eq!(
        session.rows(&format!("SELECT a FROM t WHERE {}", conditions.join(" OR "))),
        "1\n1999"
    );
    let values: Vec<String> = (0..2000).map(|at| at.to_string()).collect();
    assert_eq!(
        session.rows(&format!("SELECT a FROM t WHERE a IN ({})", values.join(", "))),
        "1\n1999"
    );
    let rows: Vec<String> = (0..1500).map(|at| format!("({at})")).collect();
    assert_eq!(
        session.rows(&format!("SELECT COUNT(*) FROM (VALUES {}) v (a)", rows.join(", "))),
        "1500"
    );
}

#[test]
fn like_matches_rows_within_its_bounds() {
    let session = Session::new(
        "CREATE TABLE t (s varchar(20))
         INSERT t VALUES ('abc'), ('ABcd'), ('ab'), ('abd'), ('ab' + CHAR(10) + 'x'), ('ab' + CHAR(1)), ('b'), (''), (NULL)",
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM t WHERE s LIKE 'ab%'"), "6");
    assert_eq!(session.rows("SELECT COUNT(*) FROM t WHERE s NOT LIKE 'ab%'"), "2");
    assert_eq!(session.rows("SELECT COUNT(*) FROM t WHERE s LIKE 'abc%'"), "2");
    assert_eq!(
        session.rows("DECLARE @p varchar(5) = '%' SELECT COUNT(*) FROM t WHERE s LIKE @p"),
        "8"
    );
    assert_eq!(
        session.rows("DECLARE @p varchar(5) SELECT COUNT(*) FROM t WHERE s LIKE @p"),
        "0"
    );
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM t WHERE s LIKE 'a!b%' ESCAPE '!'"),
        "6"
    );
}

#[test]
fn a_column_may_have_a_collation_of_its_own() {
    let session = Session::new(
        "CREATE TABLE t (b varchar(5) COLLATE Latin1_General_BIN2 PRIMARY KEY, s varchar(5)) INSERT t VALUES ('a', 'a'), ('A', 'x')",
    );
    assert_eq!(session.rows("SELECT b FROM t WHERE b = 'a'"), "a");
    assert_searched(&session, "SELECT s FROM t WHERE b = 'a'");
    assert_eq!(session.rows("SELECT COUNT(*) FROM t WHERE s = 'A'"), "1");
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM t WHERE s = 'A' COLLATE Latin1_General_BIN2"),
        "0"
    );
    assert_eq!(session.rows("SELECT COUNT(*) FROM t GROUP BY b"), "1\n1");
}

#[test]
fn a_constant_beyond_a_column_s_range_is_beyond_its_values() {
    let session = Session::new(
        "CREATE TABLE t (i int, d decimal(18, 4), w decimal(38, 10), m money)
         INSERT t VALUES (2147483647, 99999999999999.9999, 9999999999999999999999999999.9999999999, 922337203685477.5807),
             (-2147483648, -99999999999999.9999, -9999999999999999999999999999.9999999999, -922337203685477.5808)",
    );
    for column in ["i", "d", "w", "m"] {
        let count = |condition: &str| session.rows(&format!("SELECT COUNT(*) FROM t WHERE {column} {condition}"));
        let huge = "99999999999999999999999999999999999999";
        assert_eq!(count(&format!("< {huge}")), "2", "{column}");
        assert_eq!(count(&format!("> -{huge}")), "2", "{column}");
        assert_eq!(count(&format!("= {huge}")), "0", "{column}");
        assert_eq!(count("> 0"), "1", "{column}");
    }
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM t WHERE m = 922337203685477.5807"),
        "1"
    );
    assert_eq!(
        session.rows("SELECT COUNT(*) FROM t WHERE w >= 9999999999999999999999999999.9999999999"),
        "1"
    );
}

#[test]
fn a_volatile_column_is_evaluated_once_for_each_row() {
    let session = Session::new("CREATE TABLE t (a int)");
    let (plan, _) = session.plan("SELECT x.g, x.g FROM (SELECT NEWID() AS g FROM t) x");
    assert!(plan.contains("CO-ROUTINE") || plan.contains("MATERIALIZE"), "{plan}");
    let (plan, _) = session.plan("WITH x AS (SELECT NEWID() AS g FROM t) SELECT g, g FROM x");
    assert!(plan.contains("MATERIALIZE"), "{plan}");
}

#[test]
fn joins_nested_too_deeply_are_refused() {
    let session = Session::new("CREATE TABLE t (a int)");
    let nested = |depth: usize| {
        let open: String = (0..depth).map(|at| format!("t t{at} JOIN (")).collect();
        let close: String = (0..depth).rev().map(|at| format!(") ON t{at}.a = z.a")).collect();
        format!("SELECT 1 FROM {open}t z{close}")
    };
    assert_eq!(session.rows(&nested(1).replace("(t z)", "t z")), "");
    let flat: String = (0..70).map(|at| format!(", t t{at}")).collect();
    assert_eq!(
        session.fault(&format!("SELECT 1 FROM t{flat}")).1,
        "A join of more than 64 tables is not supported."
    );
}
