//! OUTPUT.

use crate::testing::Session;

fn table() -> Session {
    Session::new(
        "CREATE TABLE t (id int IDENTITY PRIMARY KEY, a int, b varchar(5) DEFAULT 'z') CREATE TABLE log (id int, note varchar(20))
         INSERT t (a) VALUES (1), (2)",
    )
}

#[test]
fn output_of_an_insert_has_identities_and_defaults() {
    let answer = table().answer("INSERT t (a) OUTPUT inserted.id, inserted.*, inserted.a * 2 AS twice VALUES (5), (6)");
    assert_eq!(answer.rows, ["3|3|5|z|10", "4|4|6|z|12"]);
    assert_eq!(
        answer.columns,
        ["id int", "id int", "a int null", "b varchar(5) null", "twice int null"]
    );
}

#[test]
fn output_of_an_update_has_both_rows() {
    let session = table();
    let answer =
        session.answer("UPDATE t SET a = a + 10 OUTPUT deleted.a, inserted.a, inserted.a - deleted.a WHERE id > 0");
    assert_eq!(answer.rows, ["1|11|10", "2|12|10"]);
    assert_eq!(answer.counts, [2]);
    let joined = session.answer(
        "UPDATE t SET b = 'q' OUTPUT inserted.id, n.n, deleted.b FROM t JOIN sys.numbers n ON n.n = t.id WHERE n.n = 2",
    );
    assert_eq!(joined.rows, ["2|2|z"]);
}

#[test]
fn output_of_a_delete_has_the_deleted_rows() {
    let session = table();
    let answer = session.answer("DELETE t OUTPUT deleted.*, deleted.a + 1 WHERE a = 2");
    assert_eq!(answer.rows, ["2|2|z|3"]);
    assert_eq!(session.rows("SELECT COUNT(*) FROM t"), "1");
}

#[test]
fn output_may_go_into_a_table() {
    let session = table();
    let answer = session.answer("DELETE t OUTPUT deleted.id, 'gone' INTO log (id, note)");
    assert!(answer.rows.is_empty());
    assert_eq!(session.rows("SELECT * FROM log ORDER BY id"), "1|gone\n2|gone");
    let both = session.answer("INSERT t (a) OUTPUT inserted.id, inserted.b INTO log OUTPUT inserted.id VALUES (9)");
    assert_eq!(both.rows, ["3"]);
    assert_eq!(session.rows("SELECT note FROM log WHERE id = 3"), "z");
}

#[test]
fn invalid_output_is_refused() {
    let session = table();
    assert_eq!(session.number("INSERT t (a) OUTPUT deleted.a VALUES (1)"), 4104);
    assert_eq!(session.number("DELETE t OUTPUT inserted.a"), 4104);
    assert_eq!(session.number("DELETE t OUTPUT SUM(deleted.a)"), 158);
    assert_eq!(session.number("DELETE t OUTPUT deleted.a INTO log"), 213);
}
