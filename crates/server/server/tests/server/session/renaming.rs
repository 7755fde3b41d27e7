//! sp_rename, and DBCC CHECKIDENT.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// A database with two tables, one of which refers to the other.
fn database(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d CREATE TABLE p (id int PRIMARY KEY, u int CONSTRAINT uq UNIQUE, d int CONSTRAINT df DEFAULT 7) \
         CREATE TABLE c (id int IDENTITY PRIMARY KEY, p int CONSTRAINT fk REFERENCES p (id), k int CONSTRAINT ck CHECK (k > 0), \
         e AS id + 1, n nvarchar(10)) \
         CREATE INDEX ix ON c (p, n) INSERT p (id, u) VALUES (1, 1) INSERT c (p, k, n) VALUES (1, 1, N'x')",
    );
    succeed(&mut client, "CREATE SCHEMA s CREATE TABLE st (a int)");
    succeed(&mut client, "CREATE PROCEDURE pr AS SELECT 5 AS five");
    succeed(
        &mut client,
        "CREATE SEQUENCE sq START WITH 1 CREATE SEQUENCE so START WITH 1 CREATE SYNONYM sy FOR c",
    );
    succeed(&mut client, "CREATE TABLE n (a int DEFAULT (NEXT VALUE FOR sq))");
    succeed(&mut client, "CREATE VIEW v AS SELECT id FROM c");
    client
}

#[test]
fn tables_columns_and_what_is_theirs_get_other_names() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for text in [
        "EXEC sp_rename 'p', 'parents'",
        "EXEC sp_rename 'dbo.parents.id', 'parent id', 'COLUMN'",
        "EXEC sp_rename N'[c].[p]', N'parent', N'COLUMN'",
        "EXEC sp_rename @objname = 'c.ix', @newname = 'ix2', @objtype = 'INDEX'",
        "EXEC sp_rename 'uq', 'uq2'",
        "EXEC sp_rename 'fk', 'fk2', 'OBJECT'",
        "EXEC sp_rename 'ck', 'ck2'",
        "EXEC sp_rename 'df', 'df2'",
        "EXEC sp_rename 's.st', 'ST'",
        "EXEC sp_rename 'pr', 'pr2'",
        "EXEC sp_rename 'so', 'so2'",
        "EXEC sp_rename 'sy', 'sy2'",
        "EXEC sp_rename 'c', 'children'",
    ] {
        let answer = client.batch(text);
        assert_eq!((answer.errors(), answer.return_status()), (vec![], Some(0)), "{text}");
        assert_eq!(answer.infos().len(), 1, "{text}");
    }
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "USE d INSERT parents ([parent id], u) VALUES (2, 2) INSERT children (parent, k) VALUES (2, 5)",
    );
    succeed(&mut client, "INSERT s.ST VALUES (1) EXEC pr2 SELECT NEXT VALUE FOR so2");
    assert_eq!(numbers(&client.batch("INSERT children (parent) VALUES (9)")), [547]);
    assert_eq!(numbers(&client.batch("DELETE parents")), [547]);
    let duplicate = client.batch("INSERT parents ([parent id], u) VALUES (3, 2)");
    assert_eq!(numbers(&duplicate), [2627]);
    assert!(duplicate.said().iter().any(|said| said.text.contains("'uq2'")));
    assert_eq!(client.int("SELECT d FROM parents WHERE u = 2"), 7);
    let names = "SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name) FROM (SELECT name FROM sys.objects WHERE type IN \
                 ('U', 'UQ', 'F', 'C', 'D', 'P') AND name NOT LIKE 'DF[_][_]%' UNION SELECT name FROM sys.indexes WHERE name LIKE 'ix%') x";
    assert_eq!(
        client.value(names),
        Value::Text("children,ck2,df2,fk2,ix2,n,parents,pr2,ST,uq2".into())
    );
    // What is in a text stays, as in SQL Server.
    assert_eq!(numbers(&client.batch("SELECT id FROM v")), [208]);
}

#[test]
fn a_function_keeps_its_permissions_under_another_name() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for text in [
        "CREATE FUNCTION f (@a int) RETURNS int AS BEGIN RETURN @a + 1 END",
        "CREATE FUNCTION rows_of (@a int) RETURNS TABLE AS RETURN SELECT @a AS a",
        "CREATE FUNCTION made () RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (8) RETURN END",
        "CREATE FUNCTION used () RETURNS int AS BEGIN RETURN 1 END",
        "CREATE TABLE u (a int DEFAULT dbo.used())",
        "CREATE LOGIN ann WITH PASSWORD = 'Gruen-Tisch-3' CREATE USER ann GRANT EXECUTE ON f TO ann",
        "EXEC sp_rename 'f', 'F2' EXEC sp_rename 'dbo.rows_of', 'r2', 'OBJECT' EXEC sp_rename 'made', 'm2'",
    ] {
        succeed(&mut client, text);
    }
    assert_eq!(numbers(&client.batch("SELECT dbo.f(1)")), [4121]);
    assert_eq!(numbers(&client.batch("EXEC sp_rename 'used', 'x'")), [15_336]);
    assert_eq!(numbers(&client.batch("EXEC sp_rename 'F2', 'r2'")), [15_335]);
    assert_eq!(client.int("SELECT a FROM r2(5)") + client.int("SELECT a FROM m2()"), 13);
    assert_eq!(client.int("EXECUTE AS USER = 'ann' SELECT dbo.f2(1) REVERT"), 2);
}

#[test]
fn what_can_not_be_renamed_is_an_error() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for (number, arguments) in [
        (15_225, "'nowhere', 'x'"),
        (15_225, "'other.dbo.c', 'x'"),
        (15_248, "'c.nothing', 'x', 'COLUMN'"),
        (15_248, "'nowhere.n', 'x', 'COLUMN'"),
        (15_248, "'c.nothing', 'x', 'INDEX'"),
        (15_249, "'c', 'x', 'THING'"),
        (15_335, "'c', 'p'"),
        (15_335, "'c', 'UQ'"),
        (15_335, "'c.n', 'K', 'COLUMN'"),
        (15_336, "'c.k', 'x', 'COLUMN'"),
        (15_336, "'c.id', 'x', 'COLUMN'"),
        (15_336, "'sq', 'x'"),
        (15_253, "'[c', 'x'"),
        (15_224, "'c', ''"),
        (15_224, "'c', '#c'"),
        (40_510, "'c', 'sqlite_c'"),
        (5030, "'d', 'x', 'DATABASE'"),
        (201, "'c'"),
    ] {
        let text = format!("EXEC sp_rename {arguments}");
        assert_eq!(numbers(&client.batch(&text)), [number], "{text}");
    }
    succeed(&mut client, "BEGIN TRAN EXEC sp_rename 'c', 'x' ROLLBACK");
    succeed(&mut client, "SELECT id FROM c");
    succeed(&mut client, "EXEC sp_rename 'c', 'C' SELECT id FROM C");
}

#[test]
fn the_texts_of_objects_are_told() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for (object, text) in [
        ("pr", "CREATE PROCEDURE pr AS SELECT 5 AS five"),
        ("v", "CREATE VIEW v AS SELECT id FROM c"),
        ("df", "((7))"),
        ("ck", "([k]>(0))"),
    ] {
        let told = client.value(&format!("SELECT OBJECT_DEFINITION(OBJECT_ID('{object}'))"));
        assert_eq!(told, Value::Text(text.into()), "{object}");
    }
    assert_eq!(client.value("SELECT OBJECT_DEFINITION(OBJECT_ID('c'))"), Value::Null);
}

#[test]
fn the_number_of_a_table_is_shown_and_set() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    let shown = |client: &mut Client, text: &str| {
        let answer = client.batch(text);
        assert_eq!(answer.errors(), [], "{text}");
        answer.infos()[0].to_owned()
    };
    assert_eq!(
        shown(&mut client, "DBCC CHECKIDENT ('c', NORESEED)"),
        "Checking identity information: current identity value '1', current column value '1'."
    );
    assert_eq!(
        shown(&mut client, "DBCC CHECKIDENT ('dbo.c', RESEED, 40)"),
        "Checking identity information: current identity value '1'."
    );
    succeed(&mut client, "INSERT c (k) VALUES (1)");
    assert_eq!(client.int("SELECT MAX(id) FROM c"), 41);
    succeed(
        &mut client,
        "DELETE c DBCC CHECKIDENT (c, RESEED, 0) WITH NO_INFOMSGS INSERT c (k) VALUES (1)",
    );
    assert_eq!(client.int("SELECT MAX(id) FROM c"), 1);
    succeed(
        &mut client,
        "CREATE TABLE f (a int IDENTITY (10, 5)) DBCC CHECKIDENT (f, RESEED, 3) INSERT f DEFAULT VALUES",
    );
    assert_eq!(client.int("SELECT a FROM f"), 3);
    succeed(
        &mut client,
        "BEGIN TRAN DBCC CHECKIDENT (f, RESEED, 100) ROLLBACK INSERT f DEFAULT VALUES",
    );
    assert_eq!(client.int("SELECT MAX(a) FROM f"), 8);
    for (number, text) in [
        (2501, "DBCC CHECKIDENT ('nowhere')"),
        (7997, "DBCC CHECKIDENT ('p')"),
        (2560, "DBCC CHECKIDENT ('c', RESEED, 3000000000)"),
        (2526, "DBCC CHECKIDENT ('c', MAYBE)"),
    ] {
        assert_eq!(numbers(&client.batch(text)), [number], "{text}");
    }
}
