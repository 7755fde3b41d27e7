//! A batch with an unsupported feature: none of its statements is executed.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(&mut client, "CREATE TABLE t (id int IDENTITY, a int)");
    client
}

const REFUSED: &[(i32, &str)] = &[
    (40510, "SETUSER"),
    (40510, "IF 1 = 0 SETUSER"),
    (
        40510,
        "BEGIN TRY DECLARE c CURSOR SCROLL_LOCKS FOR SELECT 1 AS a END TRY BEGIN CATCH END CATCH",
    ),
    (40510, "CREATE TABLE x (a geometry)"),
    (40510, "DECLARE @t TABLE (a geography)"),
    (40517, "SET ANSI_NULLS OFF"),
    (40517, "WHILE 1 = 0 SET NOEXEC ON"),
    (195, "SET NO_SUCH_OPTION ON"),
    (40510, "SELECT PWDENCRYPT('x') FROM t"),
    (40510, "UPDATE t SET a = @@CONNECTIONS"),
    (
        40510,
        "IF EXISTS (SELECT 1 FROM t WHERE PwdCompare('x', a) = 1) PRINT 'x'",
    ),
    (40510, "ALTER TABLE t ADD x geometry"),
    (40510, "ALTER DATABASE d SET RECOVERY FULL"),
    (40510, "DBCC CHECKALLOC ('t')"),
];

#[test]
fn nothing_of_a_batch_is_done_that_has_what_is_not_supported() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, refused) in REFUSED {
        let batch = format!("INSERT t (a) VALUES (1); SET IDENTITY_INSERT t ON; {refused} SET IDENTITY_INSERT t OFF");
        let answer = client.batch(&batch);
        assert_eq!(numbers(&answer), [*number], "{refused}");
        assert_eq!(answer.dones().len(), 1, "{refused}");
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0, "{refused}");
        // IDENTITY_INSERT stayed as it was.
        assert_eq!(
            numbers(&client.batch("INSERT t (id, a) VALUES (9, 9)")),
            [544],
            "{refused}"
        );
    }
}

#[test]
fn a_procedure_that_has_what_is_not_supported_is_not_made() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = client.batch("CREATE PROCEDURE p AS INSERT t (a) VALUES (1); SETUSER");
    assert_eq!(numbers(&answer), [40510]);
    assert_eq!(client.value("SELECT OBJECT_ID('p')"), Value::Null);
}

#[test]
fn a_text_that_has_what_is_not_supported_is_refused_where_it_is_called() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let answer = client.batch(
        "INSERT t (a) VALUES (1)
         BEGIN TRY EXEC ('INSERT t (a) VALUES (2); SETUSER') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
         SELECT COUNT(*) FROM t",
    );
    assert_eq!(answer.rows(), [[Value::Int(40510)], [Value::Int(1)]]);
}

/// As SQL Server has it: names are looked up when a statement runs, and what ran before stays.
#[test]
fn what_ran_before_a_name_that_is_not_there_stays() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(
        numbers(&client.batch("INSERT t (a) VALUES (1); SELECT * FROM none; INSERT t (a) VALUES (2)")),
        [208]
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
}
