//! Extended properties: sp_addextendedproperty and what shows them.

use selenite_types::Value;

use super::client::{Client, fails, numbers, succeed};
use super::fixture::Fixture;

fn database(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY, b int, c int) CREATE INDEX ix ON t (b)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    succeed(&mut client, "CREATE PROCEDURE p @x int AS RETURN 1");
    succeed(&mut client, "CREATE SCHEMA s CREATE TABLE st (a int)");
    for text in [
        "EXEC sp_addextendedproperty 'MS_Description', N'of the database'",
        "EXEC sp_addextendedproperty 'MS_Description', N'of s', 'SCHEMA', 's'",
        "EXEC sys.sp_addextendedproperty @name = N'MS_Description', @value = N'of t', @level0type = N'SCHEMA', \
         @level0name = N'dbo', @level1type = N'TABLE', @level1name = N't'",
        "EXEC sp_addextendedproperty 'MS_Description', 'of b', 'schema', 'dbo', 'table', 't', 'column', 'B'",
        "EXEC sp_addextendedproperty 'MS_Description', 'of c', 'user', 'dbo', 'table', 't', 'column', 'c'",
        "EXEC sp_addextendedproperty 'MS_Description', 'of ix', 'schema', 'dbo', 'table', 't', 'index', 'ix'",
        "EXEC sp_addextendedproperty 'MS_Description', 'of pk', 'schema', 'dbo', 'table', 't', 'constraint', 'pk'",
        "EXEC sp_addextendedproperty 'x', 'of v.a', 'schema', 'dbo', 'view', 'v', 'column', 'a'",
        "EXEC sp_addextendedproperty 'x', 'of @x', 'schema', 'dbo', 'procedure', 'p', 'parameter', '@x'",
        "EXEC sp_addextendedproperty 'x', NULL, 'schema', 's', 'table', 'st'",
    ] {
        let answer = client.batch(text);
        assert_eq!((answer.errors(), answer.return_status()), (vec![], Some(0)), "{text}");
    }
    client
}

/// Everything, in the order of the values.
const ALL: &str = "SELECT STRING_AGG(CONCAT(e.class, ':', CASE WHEN e.class = 3 THEN SCHEMA_NAME(e.major_id) ELSE \
    OBJECT_NAME(e.major_id) END, '.', e.minor_id, '=', CAST(e.value AS nvarchar(max))), ' ') WITHIN GROUP (ORDER BY \
    CAST(e.value AS nvarchar(max))) FROM sys.extended_properties e";

#[test]
fn properties_are_shown_and_follow_what_they_are_of() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    assert_eq!(
        client.value(ALL),
        Value::Text(
            "1:st.0= 2:p.1=of @x 1:t.2=of b 1:t.3=of c 7:t.2=of ix 1:pk.0=of pk 3:s.0=of s 1:t.0=of t 0:.0=of the database \
             1:v.1=of v.a"
                .into()
        )
    );
    let listed = "SELECT STRING_AGG(CONCAT(objtype, ' ', objname, '=', CAST(value AS varchar(50))), ',') WITHIN \
                  GROUP (ORDER BY objname) FROM fn_listextendedproperty(NULL, 'schema', 'dbo', 'table', 't', 'column', NULL)";
    assert_eq!(client.value(listed), Value::Text("COLUMN b=of b,COLUMN c=of c".into()));
    let one = "SELECT CAST(value AS nvarchar(50)) FROM sys.fn_listextendedproperty('MS_Description', 'schema', 'dbo', \
         'table', 't', NULL, NULL)";
    assert_eq!(client.value(one), Value::Text("of t".into()));
    let of_database = "SELECT CAST(value AS nvarchar(50)) FROM fn_listextendedproperty(DEFAULT, default, DEFAULT, NULL, DEFAULT, DEFAULT, \
         DEFAULT)";
    assert_eq!(client.text(of_database), "of the database");
    fails(&mut client, 102, "SELECT value FROM STRING_SPLIT('a b', DEFAULT)");
    let none = "SELECT objtype FROM fn_listextendedproperty(NULL, NULL, NULL, NULL, NULL, NULL, NULL)";
    assert_eq!(client.value(none), Value::Null);
    succeed(
        &mut client,
        "EXEC sp_updateextendedproperty 'ms_description', 'of B', 'schema', 'dbo', 'table', 't', 'column', 'b'",
    );
    succeed(
        &mut client,
        "EXEC sp_rename 't.b', 'bb', 'COLUMN' EXEC sp_rename 't.ix', 'ii', 'INDEX' EXEC sp_rename 'pk', 'kk'",
    );
    succeed(&mut client, "ALTER TABLE t DROP COLUMN c ALTER TABLE t ADD c int");
    succeed(
        &mut client,
        "EXEC sp_rename 't', 'tt' DROP VIEW v DROP TABLE s.st DROP SCHEMA s",
    );
    succeed(&mut client, "EXEC sp_dropextendedproperty 'MS_Description'");
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    assert_eq!(
        client.value(ALL),
        Value::Text("2:p.1=of @x 1:tt.2=of B 7:tt.2=of ix 1:kk.0=of pk 1:tt.0=of t".into())
    );
    succeed(&mut client, "DROP INDEX ii ON tt BEGIN TRAN DROP TABLE tt ROLLBACK");
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.extended_properties"), 4);
    succeed(&mut client, "DROP TABLE tt DROP PROCEDURE p");
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.extended_properties"), 0);
}

#[test]
fn what_has_no_property_is_an_error() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for (number, text) in [
        (
            15_233,
            "sp_addextendedproperty 'MS_Description', 'x', 'schema', 'dbo', 'table', 't'",
        ),
        (
            15_217,
            "sp_updateextendedproperty 'other', 'x', 'schema', 'dbo', 'table', 't'",
        ),
        (15_217, "sp_dropextendedproperty 'other', 'schema', 'dbo', 'table', 't'"),
        (
            15_135,
            "sp_addextendedproperty 'x', 'x', 'schema', 'dbo', 'table', 'nowhere'",
        ),
        (15_135, "sp_addextendedproperty 'x', 'x', 'schema', 'nowhere'"),
        (
            15_135,
            "sp_addextendedproperty 'x', 'x', 'schema', 'dbo', 'table', 't', 'column', 'nowhere'",
        ),
        (15_600, "sp_addextendedproperty 'x', 'x', 'schema', 'dbo', 'thing', 't'"),
        (15_600, "sp_addextendedproperty 'x', 'x', 'schema', NULL, 'table', 't'"),
        (40_510, "sp_addextendedproperty 'x', 'x', 'schema', 'dbo', 'type', 't'"),
        (201, "sp_addextendedproperty"),
    ] {
        assert_eq!(numbers(&client.batch(&format!("EXEC {text}"))), [number], "{text}");
    }
}

#[test]
fn a_value_of_an_earlier_version_is_text() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d EXEC sp_addextendedproperty 'a', 5");
    drop(client);
    let sqlite = fixture.in_sqlite("d");
    let changed = sqlite.execute("UPDATE selenite_property SET value = 'old'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(sqlite);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    let told = "SELECT CONCAT(CAST(SQL_VARIANT_PROPERTY(value, 'BaseType') AS sysname), ' ', CAST(value AS nvarchar(9))) \
                FROM sys.extended_properties";
    assert_eq!(client.text(told), "nvarchar old");
    drop(client);
    fixture.stop();
}
