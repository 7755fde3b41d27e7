//! USE in a text of EXEC or sp_executesql ends with the text.

use selenite_tds::ProcedureId;
use selenite_types::Value;

use super::client::{Client, all_fail, succeed, text as words};
use super::fixture::Fixture;

/// The databases `a`, which is in use, and `b`, each with a table `t` of its own.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for name in ["b", "a"] {
        succeed(&mut client, &format!("CREATE DATABASE {name}"));
        succeed(
            &mut client,
            &format!("USE {name} CREATE TABLE t (name VARCHAR(9)) INSERT t VALUES ('{name}')"),
        );
    }
    client
}

#[test]
fn use_ends_with_its_text() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let texts = [
        "EXEC ('USE b INSERT t SELECT name FROM t')",
        "EXEC sp_executesql N'USE b INSERT t SELECT name FROM t'",
        "EXEC ('USE b EXEC (''USE master'') INSERT t SELECT name FROM t')",
        "BEGIN TRANSACTION EXEC ('USE b INSERT t SELECT name FROM t') COMMIT",
        "DECLARE @x TABLE (i INT) INSERT @x VALUES (1) EXEC ('USE b INSERT t VALUES (1)') INSERT t SELECT 'a' FROM @x DELETE t",
        "CREATE TABLE #x (i INT) EXEC ('USE b INSERT #x SELECT COUNT(*) FROM t') INSERT #x VALUES (1) DROP TABLE #x",
    ];
    for text in texts {
        succeed(&mut client, text);
        assert_eq!(client.text("SELECT DB_NAME()"), "a", "{text}");
        assert_eq!(
            client.text(&format!(
                "{text} SELECT CONCAT(DB_NAME(), COUNT(*)) FROM t WHERE name <> 'a'"
            )),
            "a0",
            "{text}"
        );
    }
    all_fail(
        &mut client,
        &[
            (208, "EXEC ('USE b SELECT 1 FROM none')"),
            (8134, "EXEC ('USE b SELECT 1 / 0')"),
            (911, "EXEC ('USE b USE none')"),
        ],
    );
    assert_eq!(client.text("SELECT DB_NAME()"), "a");
    assert_eq!(
        client.text("BEGIN TRY EXEC ('USE b SELECT 1 FROM none') END TRY BEGIN CATCH SELECT DB_NAME() END CATCH"),
        "a"
    );
    // USE of a batch remains, and one of a text that a client calls does not.
    let answer = client.call(ProcedureId::ExecuteSql, vec![words("USE b SELECT DB_NAME()")]);
    assert_eq!(answer.rows(), [vec![Value::Text("b".into())]]);
    assert_eq!(client.text("SELECT DB_NAME()"), "a");
    assert_eq!(client.text("USE b SELECT DB_NAME()"), "b");
    assert_eq!(client.text("SELECT DB_NAME()"), "b");
}

/// The types of a text are those of the database in which it is compiled.
#[test]
fn a_text_of_another_database_has_no_types_of_users() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE n FROM INT");
    all_fail(
        &mut client,
        &[(40510, "EXEC b.dbo.sp_executesql N'DECLARE @n n = 1 SELECT @n'")],
    );
    assert_eq!(client.int("EXEC a.dbo.sp_executesql N'DECLARE @n n = 1 SELECT @n'"), 1);
    assert_eq!(client.text("EXEC b.dbo.sp_executesql N'SELECT name FROM t'"), "b");
}
