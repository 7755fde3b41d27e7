//! A procedure or trigger that changes its own definition while it runs.

use super::client::{Client, fails, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `ann` of db_ddladmin, who may not read `dbo.hidden`.
fn users(fixture: &Fixture) -> [Client; 2] {
    let mut client = fixture.client();
    for sql in [
        "CREATE DATABASE d",
        "USE d CREATE TABLE hidden (a INT) INSERT INTO hidden VALUES (42)",
        "CREATE TABLE log (who SYSNAME)",
    ] {
        succeed(&mut client, sql);
    }
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' CREATE USER ann FOR LOGIN ann"),
    );
    succeed(&mut client, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut ann, "CREATE SCHEMA own");
    succeed(&mut ann, "CREATE TABLE own.t (a INT)");
    [client, ann]
}

#[test]
fn a_procedure_that_drops_itself_keeps_its_owner() {
    let fixture = Fixture::new();
    let [_, mut ann] = users(&fixture);
    succeed(
        &mut ann,
        "CREATE PROCEDURE own.p AS BEGIN DROP PROCEDURE own.p EXEC ('CREATE PROCEDURE dbo.n AS SELECT 1')
         SELECT a FROM dbo.hidden END",
    );
    fails(&mut ann, 229, "EXEC own.p");
}

#[test]
fn a_procedure_that_is_moved_keeps_its_schema_and_owner() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    for (name, body) in [
        ("reads", "SELECT a FROM dbo.hidden"),
        ("writes", "UPDATE dbo.hidden SET a = 1"),
        ("calls", "EXEC dbo.works"),
        ("declares", "DECLARE c CURSOR GLOBAL FOR SELECT a FROM dbo.hidden"),
    ] {
        let of_dbo = "CREATE OR ALTER PROCEDURE dbo.works AS SELECT a FROM hidden";
        succeed(&mut client, of_dbo);
        succeed(
            &mut ann,
            &format!("CREATE PROCEDURE own.{name} AS BEGIN ALTER SCHEMA dbo TRANSFER own.{name} {body} END"),
        );
        fails(&mut ann, 229, &format!("EXEC own.{name}"));
    }
    // What it owns, it still reaches, by a name without a schema, too.
    succeed(&mut client, "CREATE SCHEMA bobs");
    succeed(&mut client, "CREATE TABLE bobs.u (a INT) INSERT INTO bobs.u VALUES (5)");
    succeed(
        &mut client,
        "CREATE PROCEDURE bobs.p AS BEGIN ALTER SCHEMA dbo TRANSFER bobs.p SELECT a FROM u END",
    );
    assert_eq!(client.int("EXEC bobs.p"), 5);
}

#[test]
fn a_cursor_reads_what_the_procedure_could_that_declared_it() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    // Nothing is refused when it is declared, since the table is ann's.
    succeed(
        &mut ann,
        "CREATE PROCEDURE own.p AS DECLARE c CURSOR GLOBAL STATIC FOR SELECT a FROM own.t",
    );
    succeed(&mut ann, "EXEC own.p");
    succeed(&mut ann, "ALTER SCHEMA dbo TRANSFER own.p");
    succeed(&mut client, "ALTER SCHEMA dbo TRANSFER own.t");
    succeed(&mut ann, "CREATE SYNONYM own.t FOR dbo.hidden");
    fails(&mut ann, 229, "OPEN c");
    succeed(&mut ann, "DEALLOCATE c");
    // A cursor of a procedure that has the rights is opened by its caller.
    succeed(
        &mut client,
        "CREATE PROCEDURE dbo.q AS DECLARE c CURSOR GLOBAL STATIC FOR SELECT a FROM hidden",
    );
    succeed(&mut client, "GRANT EXECUTE ON dbo.q TO ann");
    succeed(&mut ann, "EXEC dbo.q");
    assert_eq!(ann.int("OPEN c FETCH c"), 42);
}

#[test]
fn a_trigger_that_is_to_fire_is_not_another_module_with_its_number() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = users(&fixture);
    for sql in [
        "GRANT INSERT ON log TO ann",
        "CREATE PROCEDURE make WITH EXECUTE AS OWNER AS EXEC ('CREATE PROCEDURE dbo.n WITH EXECUTE AS OWNER AS SELECT 1')",
        "GRANT EXECUTE ON make TO ann",
    ] {
        succeed(&mut client, sql);
    }
    // The first trigger drops the second, whose number a procedure of dbo's gets.
    succeed(
        &mut ann,
        "CREATE TRIGGER own.a ON own.t AFTER INSERT AS BEGIN DROP TRIGGER own.b EXEC dbo.make END",
    );
    let second = "TRIGGER own.b ON own.t AFTER INSERT AS SELECT a FROM dbo.hidden";
    succeed(&mut ann, &format!("CREATE {second}"));
    fails(&mut ann, 229, "INSERT INTO own.t VALUES (1)");
    // One that executes as its owner does not execute as that of the other module.
    succeed(
        &mut ann,
        "ALTER TRIGGER own.b ON own.t WITH EXECUTE AS OWNER AFTER INSERT AS INSERT INTO dbo.log VALUES (USER_NAME())",
    );
    fails(&mut ann, 15517, "INSERT INTO own.t VALUES (1)");
    assert_eq!(client.int("SELECT COUNT(*) FROM log"), 0);
}
