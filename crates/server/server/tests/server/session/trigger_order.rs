//! sp_settriggerorder and RECURSIVE_TRIGGERS.

use super::client::{Client, all_fail, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int); CREATE TABLE log (n int IDENTITY, what varchar(10))",
    );
    for name in ["one", "two", "three"] {
        let text = format!("CREATE TRIGGER {name} ON t AFTER INSERT, UPDATE AS INSERT log VALUES ('{name}')");
        succeed(&mut client, &text);
    }
    client
}

/// What triggers did in a statement.
fn fired(client: &mut Client, sql: &str) -> String {
    succeed(client, "TRUNCATE TABLE log");
    succeed(client, sql);
    shown(&succeed(client, "SELECT what FROM log ORDER BY n"))
}

#[test]
fn triggers_fire_in_the_order_that_was_set() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(fired(&mut client, "INSERT t VALUES (1)"), "one; two; three");
    succeed(
        &mut client,
        "EXEC sp_settriggerorder 'three', 'First', 'INSERT'; EXEC sp_settriggerorder 'dbo.one', 'last', 'insert', NULL",
    );
    assert_eq!(fired(&mut client, "INSERT t VALUES (1)"), "three; two; one");
    assert_eq!(fired(&mut client, "UPDATE t SET a = 2"), "one; two; three");
    let events = "SELECT OBJECT_NAME(object_id), type_desc, is_first, is_last FROM sys.trigger_events \
                  WHERE type_desc = 'INSERT' ORDER BY 1";
    assert_eq!(
        shown(&succeed(&mut client, events)),
        "one,INSERT,0,1; three,INSERT,1,0; two,INSERT,0,0"
    );
    succeed(&mut client, "DISABLE TRIGGER three ON t; ENABLE TRIGGER three ON t");
    assert_eq!(fired(&mut client, "INSERT t VALUES (1)"), "three; two; one");
    succeed(&mut client, "CREATE TRIGGER instead ON t INSTEAD OF DELETE AS SELECT 1");
    all_fail(
        &mut client,
        &[
            (15130, "EXEC sp_settriggerorder 'two', 'First', 'INSERT'"),
            (15125, "EXEC sp_settriggerorder 'two', 'First', 'DELETE'"),
            (15133, "EXEC sp_settriggerorder 'instead', 'First', 'DELETE'"),
            (15165, "EXEC sp_settriggerorder 'none', 'First', 'INSERT'"),
            (15600, "EXEC sp_settriggerorder 'two', 'Middle', 'INSERT'"),
            (
                40510,
                "EXEC sp_settriggerorder 'two', 'First', 'CREATE_TABLE', 'DATABASE'",
            ),
        ],
    );
    succeed(&mut client, "EXEC sp_settriggerorder 'three', 'None', 'INSERT'");
    succeed(
        &mut client,
        "ALTER TRIGGER one ON t AFTER INSERT AS INSERT log VALUES ('one')",
    );
    assert_eq!(fired(&mut client, "INSERT t VALUES (1)"), "one; two; three");
    drop(client);
    fixture.stop();
}

#[test]
fn a_trigger_fires_itself_where_that_is_switched_on() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "DROP TRIGGER one; DROP TRIGGER two; DROP TRIGGER three");
    succeed(
        &mut client,
        "CREATE TRIGGER again ON t AFTER INSERT AS BEGIN INSERT log VALUES (TRIGGER_NESTLEVEL()); \
         INSERT t SELECT a - 1 FROM inserted WHERE a > 0 END",
    );
    assert_eq!(fired(&mut client, "INSERT t VALUES (3)"), "1");
    succeed(&mut client, "ALTER DATABASE d SET RECURSIVE_TRIGGERS ON");
    assert_eq!(
        client.int("SELECT CONVERT(int, is_recursive_triggers_on) FROM sys.databases WHERE name = 'd'"),
        1
    );
    succeed(
        &mut client,
        "ALTER TRIGGER again ON t AFTER INSERT AS BEGIN \
         IF NOT EXISTS (SELECT 1 FROM inserted) RETURN; INSERT log VALUES (TRIGGER_NESTLEVEL()); \
         INSERT t SELECT a - 1 FROM inserted WHERE a > 0 END",
    );
    assert_eq!(fired(&mut client, "INSERT t VALUES (2)"), "1; 2; 3");
    succeed(
        &mut client,
        "ALTER TRIGGER again ON t AFTER INSERT AS INSERT t VALUES (1)",
    );
    all_fail(&mut client, &[(217, "INSERT t VALUES (1)")]);
    succeed(&mut client, "ALTER DATABASE d SET RECURSIVE_TRIGGERS OFF");
    succeed(&mut client, "INSERT t VALUES (1)");
    drop(client);
    fixture.stop();
}
