//! DBCC CHECKCONSTRAINTS: the rows that violate constraints which were not checked.

use super::client::{Client, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE p (id int PRIMARY KEY); INSERT p VALUES (1); \
         CREATE TABLE t (a int, b varchar(5), c int, CONSTRAINT ck CHECK (a > 0), \
         CONSTRAINT fk FOREIGN KEY (c) REFERENCES p (id)); \
         ALTER TABLE t NOCHECK CONSTRAINT ALL; \
         INSERT t VALUES (1, 'x', 1), (-1, 'y', 7), (NULL, 'it''s', NULL), (-2, NULL, 8)",
    );
    client
}

#[test]
fn violations_of_constraints_are_listed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    // Disabled constraints are checked if they are asked for.
    assert_eq!(shown(&succeed(&mut client, "DBCC CHECKCONSTRAINTS")), "");
    let all =
        "[dbo].[t],[ck],[a] = '-1'; [dbo].[t],[ck],[a] = '-2'; [dbo].[t],[fk],[c] = '7'; [dbo].[t],[fk],[c] = '8'";
    let answer = succeed(&mut client, "DBCC CHECKCONSTRAINTS WITH ALL_CONSTRAINTS");
    assert_eq!(shown(&answer), all);
    assert!(answer.infos()[0].starts_with("DBCC execution completed."));
    let of_one = "[dbo].[t],[fk],[c] = '7'; [dbo].[t],[fk],[c] = '8'";
    for sql in [
        "DBCC CHECKCONSTRAINTS (fk) WITH NO_INFOMSGS",
        "DBCC CHECKCONSTRAINTS ('dbo.fk')",
        "DECLARE @id int = OBJECT_ID('fk'); DBCC CHECKCONSTRAINTS (@id)",
    ] {
        assert_eq!(shown(&succeed(&mut client, sql)), of_one, "{sql}");
    }
    succeed(&mut client, "ALTER TABLE t CHECK CONSTRAINT ALL");
    assert_eq!(shown(&succeed(&mut client, "DBCC CHECKCONSTRAINTS (t)")), all);
    assert_eq!(shown(&succeed(&mut client, "DBCC CHECKCONSTRAINTS ('p')")), "");
    fails(&mut client, 2501, "DBCC CHECKCONSTRAINTS ('none')");
    fails(&mut client, 155, "DBCC CHECKCONSTRAINTS WITH SOMETHING");
    fails(&mut client, 2526, "DBCC CHECKCONSTRAINTS WITH TABLERESULTS");
    drop(client);
    fixture.stop();
}

#[test]
fn two_hundred_violations_of_a_constraint_are_listed_unless_all_are_asked_for() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "INSERT t (a) SELECT -value FROM GENERATE_SERIES(10, 309)");
    let count = |client: &mut Client, sql: &str| succeed(client, sql).rows().len();
    assert_eq!(count(&mut client, "DBCC CHECKCONSTRAINTS (ck)"), 200);
    assert_eq!(count(&mut client, "DBCC CHECKCONSTRAINTS (ck) WITH ALL_ERRORMSGS"), 302);
    drop(client);
    fixture.stop();
}
