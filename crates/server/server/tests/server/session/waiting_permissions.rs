//! A statement that waits to write is judged by what its session may do once it writes.

use super::client::{Client, fails, numbers, succeed};
use super::execute_as::users;
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// Runs a statement that waits to write until `holder` has done something, and answers the numbers of its errors.
fn waits(who: &mut Client, statement: &str, holder: &mut Client, done: impl FnOnce(&mut Client)) -> Vec<i32> {
    let session = who.int("SELECT CAST(@@SPID AS INT)");
    who.ask(statement);
    let waiting = format!("SELECT COUNT(*) FROM sys.dm_os_waiting_tasks WHERE session_id = {session}");
    while holder.int(&waiting) == 0 {
        std::thread::yield_now();
    }
    done(holder);
    numbers(&who.answer().unwrap())
}

const STATEMENTS: &[(i32, &str)] = &[
    (15151, "ALTER ROLE db_owner ADD MEMBER bob"),
    (15151, "ALTER ROLE r ADD MEMBER bob"),
    (15151, "GRANT SELECT ON hidden TO bob"),
    (15247, "CREATE USER spare FOR LOGIN spare"),
    (15151, "ALTER USER bob WITH DEFAULT_SCHEMA = s"),
    (15151, "DROP USER bob"),
    (15247, "CREATE ROLE another"),
    (15151, "DROP ROLE r"),
    (15247, "EXEC sp_addrolemember 'db_owner', 'bob'"),
    (15151, "ALTER AUTHORIZATION ON SCHEMA::s TO ann"),
    (15151, "ALTER AUTHORIZATION ON ROLE::r TO ann"),
    (262, "CREATE TABLE n (a INT)"),
    (1088, "ALTER TABLE t ADD b INT"),
    (3701, "DROP TABLE t"),
    (3704, "ALTER PROCEDURE p AS SELECT 2"),
    (15151, "ALTER SCHEMA s TRANSFER dbo.t"),
    (15247, "EXEC sp_rename 't', 'u'"),
    (15247, "EXEC sp_addextendedproperty 'n', 'v'"),
    (229, "UPDATE hidden SET a = 1"),
    (229, "INSERT INTO hidden VALUES (1)"),
    (1088, "TRUNCATE TABLE hidden"),
    (229, "INSERT INTO e.dbo.copy SELECT a FROM hidden"),
    (15247, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Corr3ct-horse'"),
    (
        15247,
        "CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Corr3ct-horse'",
    ),
    (15151, "DROP SYMMETRIC KEY known"),
];

#[test]
fn what_is_taken_away_while_a_statement_waits_it_has_not() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    for sql in [
        "CREATE PROCEDURE p AS SELECT 1",
        "CREATE SCHEMA s",
        "CREATE ROLE r
         CREATE SYMMETRIC KEY known WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Corr3ct-horse'
         CREATE DATABASE e",
        "USE e CREATE TABLE copy (a INT) CREATE USER ann FOR LOGIN ann GRANT INSERT ON copy TO ann",
    ] {
        succeed(&mut client, sql);
    }
    succeed(
        &mut client,
        &format!("CREATE LOGIN spare WITH PASSWORD = '{PASSWORD}' USE d"),
    );
    for (number, statement) in STATEMENTS {
        succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
        succeed(
            &mut client,
            "BEGIN TRAN INSERT INTO e.dbo.copy VALUES (0) ALTER ROLE db_owner DROP MEMBER ann",
        );
        let found = waits(&mut ann, statement, &mut client, |client| {
            succeed(client, "COMMIT");
        });
        assert_eq!(found.first(), Some(number), "{statement}");
    }
    let kept = "SELECT CONCAT((SELECT a FROM hidden), (SELECT COUNT(*) FROM e.dbo.copy WHERE a > 0), OBJECT_ID('n'))";
    assert_eq!(client.text(kept), "420");
}

#[test]
fn what_is_not_taken_away_stays() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
    for statement in [
        "UPDATE hidden SET a = 1",
        "GRANT SELECT ON hidden TO bob",
        "CREATE TABLE n (a INT)",
    ] {
        succeed(&mut client, "BEGIN TRAN CREATE ROLE other DROP ROLE other");
        let found = waits(&mut ann, statement, &mut client, |client| {
            succeed(client, "COMMIT");
        });
        assert_eq!(found, [0_i32; 0], "{statement}");
    }
}

/// Logins are in another file, which the transaction of the holder has nothing to do with.
#[test]
fn a_login_that_is_no_administrator_any_more_writes_nothing() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    let mut other = fixture.client();
    for (number, statement) in [
        (229, "UPDATE hidden SET a = 1"),
        (15151, "GRANT SELECT ON hidden TO bob"),
        (262, "CREATE TABLE n (a INT)"),
    ] {
        succeed(&mut other, "ALTER SERVER ROLE sysadmin ADD MEMBER ann");
        succeed(&mut client, "BEGIN TRAN INSERT INTO t VALUES (8)");
        let found = waits(&mut ann, statement, &mut client, |client| {
            succeed(&mut other, "ALTER SERVER ROLE sysadmin DROP MEMBER ann");
            succeed(client, "COMMIT");
        });
        assert_eq!(found.first(), Some(&number), "{statement}");
    }
}

/// The number of a database is given again.
#[test]
fn a_database_as_whose_user_a_session_executes_is_in_use() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (fixture.client(), fixture.client());
    succeed(
        &mut client,
        "CREATE DATABASE d USE d EXECUTE AS USER = 'dbo' USE tempdb",
    );
    fails(&mut other, 3702, "DROP DATABASE d");
    fails(&mut other, 5030, "ALTER DATABASE d MODIFY NAME = e");
    succeed(&mut client, "USE d REVERT USE master");
    succeed(&mut other, "DROP DATABASE d");
}
