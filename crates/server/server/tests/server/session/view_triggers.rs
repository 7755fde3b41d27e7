//! INSTEAD OF triggers on views, and views WITH SCHEMABINDING.

use super::client::{Client, numbers, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL)",
        "CREATE TABLE u (id int PRIMARY KEY, b varchar(10))",
        "INSERT t VALUES (1, 10), (2, 20), (3, 30); INSERT u VALUES (1, 'one'), (2, 'two')",
        "CREATE TABLE log_of (n int IDENTITY, what varchar(50))",
        "CREATE VIEW v AS SELECT t.id, t.a, u.b, t.a * 2 AS twice FROM t LEFT JOIN u ON u.id = t.id",
        "CREATE VIEW groups AS SELECT b, COUNT(*) AS n FROM u GROUP BY b",
    ] {
        succeed(&mut client, text);
    }
    client
}

#[track_caller]
fn selects(client: &mut Client, sql: &str, expected: &str) {
    assert_eq!(shown(&succeed(client, sql)), expected, "{sql}");
}

#[test]
fn triggers_take_the_place_of_changes_of_a_view() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for text in [
        "CREATE TRIGGER ins ON v INSTEAD OF INSERT AS BEGIN INSERT t SELECT id, a FROM inserted; \
         INSERT u SELECT id, b FROM inserted WHERE b IS NOT NULL END",
        "CREATE TRIGGER upd ON dbo.v INSTEAD OF UPDATE AS BEGIN IF UPDATE(b) INSERT log_of VALUES ('b'); \
         INSERT log_of SELECT CONCAT(d.id, ':', d.a, '>', i.a, ' ', d.twice, '>', i.twice) FROM inserted i \
         JOIN deleted d ON d.id = i.id ORDER BY d.id; \
         UPDATE t SET a = i.a FROM inserted i WHERE i.id = t.id END",
        "CREATE TRIGGER del ON v INSTEAD OF DELETE AS DELETE t WHERE id IN (SELECT id FROM deleted)",
    ] {
        succeed(&mut client, text);
    }
    let answer = succeed(&mut client, "INSERT v (id, a, b) VALUES (4, 40, 'four'), (5, 50, NULL)");
    assert_eq!(answer.dones().last().unwrap().row_count, 2);
    selects(
        &mut client,
        "SELECT id, a, b FROM v WHERE id > 3 ORDER BY id",
        "4,40,four; 5,50,-",
    );
    // A column that may not be NULL needs a value; one that is computed may be given.
    assert_eq!(numbers(&client.batch("INSERT v (id, b) VALUES (9, 'x')")), [515]);
    succeed(&mut client, "INSERT v VALUES (6, 60, 'six', 1)");
    let answer = succeed(&mut client, "UPDATE v SET a = a + 1, b = 'new' WHERE id < 3");
    assert_eq!(answer.dones().last().unwrap().row_count, 2);
    selects(
        &mut client,
        "SELECT what FROM log_of ORDER BY n",
        "b; 1:10>11 20>20; 2:20>21 40>40",
    );
    selects(
        &mut client,
        "SELECT id, a, b FROM v WHERE id < 3 ORDER BY id",
        "1,11,one; 2,21,two",
    );
    succeed(
        &mut client,
        "UPDATE x SET twice = 5, a = q.n FROM v AS x JOIN (SELECT 3 AS id, 7 AS n) AS q ON q.id = x.id",
    );
    selects(&mut client, "SELECT a FROM t WHERE id = 3", "7");
    succeed(&mut client, "DELETE v WHERE a >= 40; DELETE TOP (0) FROM v");
    selects(&mut client, "SELECT id FROM t ORDER BY id", "1; 2; 3");
    succeed(
        &mut client,
        "MERGE v USING (VALUES (1, 5), (8, 80)) AS s (id, a) ON s.id = v.id WHEN MATCHED THEN UPDATE SET a = s.a \
         WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) WHEN NOT MATCHED BY SOURCE AND v.id = 2 THEN DELETE;",
    );
    selects(&mut client, "SELECT id, a FROM t ORDER BY id", "1,5; 3,7; 8,80");
    assert_eq!(numbers(&client.batch("UPDATE v SET a = 1 OUTPUT inserted.a")), [334]);
    succeed(&mut client, "DROP VIEW v");
    selects(&mut client, "SELECT COUNT(*) FROM sys.triggers", "0");
}

#[test]
fn triggers_on_views_are_listed_disabled_and_one_for_each_event() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (name, event) in [("ins", "INSERT"), ("upd", "UPDATE"), ("del", "DELETE")] {
        let text = format!("CREATE TRIGGER {name} ON v INSTEAD OF {event} AS INSERT log_of VALUES ('{name}')");
        succeed(&mut client, &text);
    }
    selects(
        &mut client,
        "SELECT t.name, o.name, t.is_instead_of_trigger FROM sys.triggers t JOIN sys.objects o ON o.object_id = t.parent_id \
         ORDER BY t.name",
        "del,v,1; ins,v,1; upd,v,1",
    );
    succeed(&mut client, "DISABLE TRIGGER del ON v");
    assert_eq!(numbers(&client.batch("DELETE v")), [4405]);
    assert_eq!(numbers(&client.batch("UPDATE groups SET b = 'x'")), [4403]);
    succeed(
        &mut client,
        "CREATE TRIGGER g ON groups INSTEAD OF UPDATE AS INSERT log_of SELECT CONCAT(b, n) FROM inserted",
    );
    succeed(
        &mut client,
        "TRUNCATE TABLE log_of; UPDATE groups SET n = n + 5 WHERE b = 'two'",
    );
    selects(&mut client, "SELECT what FROM log_of", "two6");
    for (number, text) in [
        (8197, "CREATE TRIGGER x ON v AFTER INSERT AS SELECT 1"),
        (2111, "CREATE TRIGGER x ON v INSTEAD OF INSERT AS SELECT 1"),
    ] {
        assert_eq!(numbers(&client.batch(text)), [number], "{text}");
    }
    succeed(&mut client, "CREATE VIEW over_v AS SELECT id, a FROM v");
    // Of the view below, triggers would have to make the change.
    assert_eq!(numbers(&client.batch("UPDATE over_v SET a = 1")), [40510]);
    succeed(&mut client, "CREATE VIEW plain AS SELECT id, a FROM t");
    succeed(
        &mut client,
        "CREATE TRIGGER p ON plain INSTEAD OF DELETE AS INSERT log_of VALUES ('not deleted')",
    );
    succeed(&mut client, "CREATE VIEW over_plain AS SELECT id, a FROM plain");
    succeed(&mut client, "UPDATE plain SET a = 6 WHERE id = 1; DELETE plain");
    selects(&mut client, "SELECT id, a FROM t ORDER BY id", "1,6; 2,20; 3,30");
    assert_eq!(numbers(&client.batch("DELETE over_plain")), [40510]);
}

#[test]
fn what_a_view_is_bound_to_stays_as_it_is() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, text) in [
        (4512, "CREATE VIEW w WITH SCHEMABINDING AS SELECT id FROM t"),
        (4512, "CREATE VIEW w WITH SCHEMABINDING AS SELECT id FROM d.dbo.t"),
        (
            4512,
            "CREATE VIEW w WITH SCHEMABINDING AS SELECT t.id FROM dbo.t WHERE EXISTS (SELECT 1 FROM u)",
        ),
        (1054, "CREATE VIEW w WITH SCHEMABINDING AS SELECT * FROM dbo.t"),
        (4513, "CREATE VIEW w WITH SCHEMABINDING AS SELECT id FROM dbo.v"),
    ] {
        assert_eq!(numbers(&client.batch(text)), [number], "{text}");
    }
    for text in [
        "CREATE VIEW w WITH SCHEMABINDING, VIEW_METADATA AS SELECT t.id, COUNT(*) AS n FROM dbo.t JOIN dbo.u ON u.id = t.id GROUP BY t.id",
        "CREATE VIEW x WITH SCHEMABINDING AS SELECT n FROM dbo.w",
        "ALTER TABLE t ADD c int",
    ] {
        succeed(&mut client, text);
    }
    selects(
        &mut client,
        "SELECT OBJECT_NAME(object_id), is_schema_bound FROM sys.sql_modules ORDER BY 1",
        "groups,0; v,0; w,1; x,1",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION one () RETURNS int WITH SCHEMABINDING AS BEGIN RETURN 1 END",
    );
    succeed(&mut client, "CREATE VIEW y WITH SCHEMABINDING AS SELECT dbo.one() AS n");
    for (number, text) in [
        (3729, "DROP FUNCTION one"),
        (3729, "ALTER FUNCTION one () RETURNS int AS BEGIN RETURN 2 END"),
        (3729, "DROP TABLE t"),
        (3729, "DROP TABLE dbo.u"),
        (3729, "DROP VIEW w"),
        (3729, "ALTER VIEW w AS SELECT 1 AS n"),
        (5074, "ALTER TABLE t ALTER COLUMN id bigint"),
        (5074, "ALTER TABLE u ALTER COLUMN id bigint"),
        (15336, "EXEC sp_rename 't', 'other'"),
        (15336, "EXEC sp_rename 'u.id', 'other', 'COLUMN'"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
    assert_eq!(
        client.batch("DROP TABLE dbo.t").said()[0].text,
        "Cannot DROP TABLE 'dbo.t' because it is being referenced by object 'w'."
    );
    for text in [
        "ALTER TABLE t DROP COLUMN c",
        "ALTER TABLE u ALTER COLUMN b varchar(20)",
        "EXEC sp_rename 'u.b', 'bb', 'COLUMN'",
        "DROP VIEW x, w",
        "ALTER TABLE u ALTER COLUMN bb varchar(30)",
        "DROP VIEW v; DROP TABLE t",
    ] {
        succeed(&mut client, text);
    }
}

#[test]
fn a_change_of_a_view_by_its_own_trigger_is_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE VIEW w AS SELECT id, a FROM t WHERE a < 30");
    for (verb, body, change) in [
        (
            "DELETE",
            "DELETE w WHERE id IN (SELECT id FROM deleted)",
            "DELETE w WHERE id = 1",
        ),
        ("UPDATE", "UPDATE w SET a = 1", "UPDATE w SET a = 5 WHERE id = 1"),
        (
            "INSERT",
            "INSERT w SELECT id + 10, a FROM inserted",
            "INSERT w VALUES (5, 5)",
        ),
    ] {
        succeed(
            &mut client,
            &format!("CREATE TRIGGER {verb}_w ON w INSTEAD OF {verb} AS {body}"),
        );
        assert_eq!(numbers(&client.batch(change)), [40510], "{verb}");
    }
    selects(&mut client, "SELECT id, a FROM t ORDER BY id", "1,10; 2,20; 3,30");
    // Of the other kinds it may make any, through the view.
    succeed(
        &mut client,
        "ALTER TRIGGER DELETE_w ON w INSTEAD OF DELETE AS DELETE t WHERE id IN (SELECT id FROM deleted)",
    );
    succeed(&mut client, "DELETE w WHERE id = 1");
    selects(&mut client, "SELECT id, a FROM t ORDER BY id", "2,20; 3,30");
}
