//! Changes through common table expressions, views and derived tables.

use crate::testing::Session;

fn doubled() -> Session {
    let mut session = Session::new(
        "CREATE TABLE t (id int IDENTITY PRIMARY KEY, a int, b varchar(5))
         INSERT t (a, b) VALUES (1, 'x'), (1, 'y'), (2, 'z'), (1, 'w')",
    );
    session.define("CREATE VIEW v AS SELECT b AS name, a + 1 AS more, a FROM t WHERE a < 2");
    session
}

#[test]
fn duplicates_are_deleted_through_their_row_numbers() {
    let session = doubled();
    let batch =
        "WITH d AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS n FROM t) DELETE FROM d WHERE n > 1";
    assert_eq!(session.answer(batch).counts, [2]);
    assert_eq!(session.rows("SELECT id FROM t ORDER BY id"), "1\n3");
}

#[test]
fn the_first_rows_of_an_order_are_changed() {
    let session = doubled();
    let update = "WITH first AS (SELECT TOP 2 a, b FROM t ORDER BY id DESC) UPDATE first SET b = 'new', a += 10";
    assert_eq!(session.answer(update).counts, [2]);
    assert_eq!(
        session.rows("SELECT a, b FROM t ORDER BY id"),
        "1|x\n1|y\n12|new\n11|new"
    );
    let delete = "DELETE d FROM (SELECT TOP 1 * FROM t ORDER BY id) AS d";
    assert_eq!(session.answer(delete).counts, [1]);
    assert_eq!(session.rows("SELECT MIN(id) FROM t"), "2");
}

#[test]
fn rows_are_renumbered() {
    let session = doubled();
    let update = "WITH n AS (SELECT a, ROW_NUMBER() OVER (ORDER BY b) AS r FROM t) UPDATE n SET a = r OUTPUT deleted.a, inserted.a";
    assert_eq!(session.answer(update).rows.len(), 4);
    assert_eq!(session.rows("SELECT b, a FROM t ORDER BY a"), "w|1\nx|2\ny|3\nz|4");
}

#[test]
fn a_view_of_one_table_is_changed() {
    let session = doubled();
    assert_eq!(session.answer("UPDATE v SET name = 'q' WHERE more = 2").counts, [3]);
    assert_eq!(session.answer("DELETE v WHERE name = 'Q'").counts, [3]);
    assert_eq!(session.rows("SELECT id FROM t"), "3");
    assert_eq!(
        session.fault("UPDATE v SET more = 1"),
        (
            4406,
            "Update or insert of view or function 'v' failed because it contains a derived or constant field."
                .to_owned()
        )
    );
    assert_eq!(session.number("UPDATE v SET b = 'x'"), 207);
}

#[test]
fn queries_not_over_rows_of_one_table_are_not_changed() {
    let session = doubled();
    for (number, query) in [
        (4403, "SELECT DISTINCT a FROM t"),
        (4403, "SELECT a FROM t GROUP BY a"),
        (4405, "SELECT x.a FROM t x JOIN t y ON x.id = y.id"),
        (4405, "SELECT 1 AS a"),
        (4416, "SELECT a FROM t UNION ALL SELECT a FROM t"),
        (4426, "SELECT a FROM t UNION SELECT a FROM t"),
    ] {
        assert_eq!(
            session.number(&format!("WITH q AS ({query}) DELETE FROM q")),
            number,
            "{query}"
        );
    }
    assert_eq!(session.number("INSERT v (more) VALUES (1)"), 4406);
}

#[test]
fn a_view_of_a_view_is_changed_beside_other_tables() {
    let mut session = doubled();
    session.define(
        "CREATE VIEW w AS SELECT name AS other, a AS number FROM v
GO
CREATE VIEW plain (x, y) AS SELECT b, a FROM t AS q",
    );
    let join = "JOIN t ON t.a = w.number WHERE t.id = 1";
    assert_eq!(
        session
            .answer(&format!("UPDATE w SET other = 'q' FROM w {join}"))
            .counts,
        [3]
    );
    assert_eq!(
        session
            .answer("UPDATE k SET x = 'r' FROM plain AS k JOIN t ON t.a = k.y WHERE t.id = 3")
            .counts,
        [1]
    );
    assert_eq!(session.rows("SELECT b FROM t ORDER BY id"), "q\nq\nr\nq");
    assert_eq!(session.answer(&format!("DELETE w FROM w {join}")).counts, [3]);
    assert_eq!(session.answer("INSERT w (number, other) VALUES (7, 's')").counts, [1]);
    assert_eq!(session.rows("SELECT a, b FROM t"), "2|r\n7|s");
}

#[test]
fn rows_are_changed_through_a_query_over_a_query() {
    let session = doubled();
    let delete = "WITH r AS (SELECT id, a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS n FROM t), \
                  d AS (SELECT id, n FROM r WHERE n > 1) DELETE d WHERE n = 2";
    assert_eq!(session.answer(delete).counts, [1]);
    assert_eq!(session.rows("SELECT id FROM t ORDER BY id"), "1\n3\n4");
    let update = "WITH r AS (SELECT b AS c FROM t), d AS (SELECT c AS e FROM r WHERE c = 'w') UPDATE d SET e = 'v'";
    assert_eq!(session.answer(update).counts, [1]);
    assert_eq!(session.rows("SELECT b FROM t ORDER BY id"), "x\nz\nv");
}

#[test]
fn an_update_through_a_join_changes_the_table_of_its_columns() {
    let mut session = doubled();
    session.define("CREATE TABLE u (a int, name varchar(5)) INSERT u VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    session.define("CREATE VIEW j AS SELECT t.id, t.b, u.name, t.a + u.a AS both FROM u LEFT JOIN t ON t.a = u.a");
    assert_eq!(session.answer("UPDATE j SET b = name WHERE name = 'two'").counts, [1]);
    assert_eq!(session.answer("UPDATE j SET name = 'ones' WHERE both = 2").counts, [1]);
    let common = "WITH c AS (SELECT t.b, u.name FROM t JOIN u ON u.a = t.a) UPDATE c SET b = 'q' WHERE name = 'ones'";
    assert_eq!(session.answer(common).counts, [3]);
    let beside = "UPDATE d SET b = 'r' FROM (SELECT t.id, t.b FROM t JOIN u ON u.a = t.a) AS d JOIN u ON u.a = d.id";
    assert_eq!(session.answer(beside).counts, [3]);
    assert_eq!(session.rows("SELECT b FROM t ORDER BY id"), "r\nr\nr\nq");
    assert_eq!(session.rows("SELECT name FROM u ORDER BY a"), "ones\ntwo\nthree");
    assert_eq!(session.number("UPDATE j SET b = 'x', name = 'y'"), 4405);
    assert_eq!(session.number("UPDATE j SET both = 1"), 4406);
    assert_eq!(session.number("DELETE j WHERE id = 1"), 4405);
}
