//! DELETE and TRUNCATE.

use crate::testing::Session;

fn tree() -> Session {
    Session::new(
        "CREATE TABLE p (id int PRIMARY KEY, name varchar(5)) CREATE TABLE c (id int PRIMARY KEY, p int CONSTRAINT FK_c REFERENCES p (id))
         INSERT p VALUES (1, 'a'), (2, 'b'), (3, 'c') INSERT c VALUES (10, 1), (11, 1), (12, NULL)",
    )
}

#[test]
fn rows_that_match_are_deleted() {
    let session = tree();
    assert_eq!(session.answer("DELETE FROM c WHERE p = 1 AND id > 10").counts, [1]);
    assert_eq!(session.answer("DELETE c").counts, [2]);
    assert_eq!(session.rows("SELECT COUNT(*) FROM c"), "0");
}

#[test]
fn a_join_deletes_each_row_once() {
    let session = tree();
    assert_eq!(
        session
            .answer("DELETE c FROM c JOIN p ON p.id = c.p WHERE p.name = 'A'")
            .counts,
        [2]
    );
    assert_eq!(
        session
            .answer("DELETE x FROM p AS x LEFT JOIN c ON c.p = x.id WHERE c.id IS NULL AND x.id > 1")
            .counts,
        [2]
    );
    assert_eq!(session.rows("SELECT id FROM p"), "1");
}

#[test]
fn top_limits_the_rows() {
    let session = tree();
    assert_eq!(session.answer("DELETE TOP (1) FROM c").counts, [1]);
    assert_eq!(session.rows("SELECT COUNT(*) FROM c"), "2");
}

#[test]
fn a_referenced_row_is_not_deleted() {
    let session = tree();
    let text = "The DELETE statement conflicted with the REFERENCE constraint \"FK_c\". The conflict occurred in database \
                \"testdb\", table \"dbo.c\", column 'p'.";
    assert_eq!(session.fault("DELETE p WHERE id = 1"), (547, text.to_owned()));
    assert_eq!(session.answer("DELETE p WHERE id = 2").counts, [1]);
    let text = "The UPDATE statement conflicted with the REFERENCE constraint \"FK_c\". The conflict occurred in database \
                \"testdb\", table \"dbo.c\", column 'p'.";
    assert_eq!(
        session.fault("UPDATE p SET id = 9 WHERE id = 1"),
        (547, text.to_owned())
    );
}

#[test]
fn of_several_references_the_violated_one_is_reported() {
    let session = Session::new(
        "CREATE TABLE p (id int PRIMARY KEY) CREATE TABLE a (p int CONSTRAINT FK_a REFERENCES p (id))
         CREATE TABLE b (p int CONSTRAINT FK_b REFERENCES p (id)) INSERT p VALUES (1), (2) INSERT a VALUES (1) INSERT b VALUES (2)",
    );
    assert!(session.fault("DELETE p WHERE id = 2").1.contains("\"FK_b\""));
    assert!(session.fault("DELETE p WHERE id = 1").1.contains("\"FK_a\""));
}

#[test]
fn truncate_takes_all_rows() {
    let session = tree();
    session.answer("TRUNCATE TABLE c");
    assert_eq!(session.rows("SELECT COUNT(*) FROM c"), "0");
    assert_eq!(
        session.fault("TRUNCATE TABLE p"),
        (
            4712,
            "Cannot truncate table 'p' because it is being referenced by a FOREIGN KEY constraint.".to_owned()
        )
    );
    assert_eq!(session.number("TRUNCATE TABLE nope"), 4701);
}

#[test]
fn a_common_table_may_filter() {
    let session = tree();
    assert_eq!(
        session
            .answer("WITH x AS (SELECT 10 AS id) DELETE c WHERE id IN (SELECT id FROM x)")
            .counts,
        [1]
    );
    assert_eq!(
        session
            .answer("DELETE FROM c WHERE EXISTS (SELECT 1 FROM p WHERE p.id = c.p)")
            .counts,
        [1]
    );
}
