//! ALTER DATABASE .. MODIFY NAME, sp_renamedb, and sp_rename of a database.

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

fn filled() -> (Fixture, Client) {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int); INSERT t VALUES (1); USE master",
    );
    (fixture, client)
}

#[test]
fn a_database_gets_another_name_and_keeps_its_file() {
    let (fixture, mut client) = filled();
    let id = client.int("SELECT CAST(DB_ID('d') AS int)");
    let answer = succeed(&mut client, "ALTER DATABASE d MODIFY NAME = [Other one]");
    assert_eq!(answer.infos(), ["The database name 'Other one' has been set."]);
    assert_eq!(client.int("SELECT CAST(DB_ID('other ONE') AS int)"), id);
    assert_eq!(client.int("SELECT a FROM [Other one].dbo.t"), 1);
    fails(&mut client, 911, "USE d");
    succeed(&mut client, "USE [Other one]");
    assert_eq!(client.text("SELECT DB_NAME()"), "Other one");
    let file = client.text("SELECT physical_name FROM sys.database_files WHERE type = 0");
    assert!(file.ends_with("/d.db"), "{file}");
    assert!(std::path::Path::new(&file).exists());
    drop(client);
    // The name is in master.db alone.
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(client.int("SELECT a FROM [Other one].dbo.t"), 1);
    // Another one of the first name would need the file.
    assert_eq!(numbers(&client.batch("CREATE DATABASE d")), [1802, 5170]);
    assert_eq!(client.int("SELECT a FROM [Other one].dbo.t"), 1);
    succeed(&mut client, "EXEC sp_renamedb 'Other one', 'third'");
    succeed(&mut client, "EXEC sp_rename 'third', 'fourth', 'DATABASE'");
    succeed(&mut client, "ALTER DATABASE fourth MODIFY NAME = FOURTH");
    assert_eq!(
        client.text("SELECT name FROM sys.databases WHERE database_id > 4"),
        "FOURTH"
    );
    succeed(&mut client, "DROP DATABASE fourth; CREATE DATABASE d");
    assert_eq!(client.int("SELECT COUNT(*) FROM d.sys.tables WHERE name = 't'"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn names_that_are_taken_and_databases_that_are_used_stay() {
    let (fixture, mut client) = filled();
    succeed(&mut client, "CREATE DATABASE e");
    all_fail(
        &mut client,
        &[
            (1801, "ALTER DATABASE d MODIFY NAME = E"),
            (1801, "EXEC sp_renamedb 'd', 'master'"),
            (5011, "ALTER DATABASE missing MODIFY NAME = f"),
            (15010, "EXEC sp_renamedb 'missing', 'f'"),
            (5016, "ALTER DATABASE tempdb MODIFY NAME = f"),
            (226, "BEGIN TRANSACTION ALTER DATABASE d MODIFY NAME = f"),
        ],
    );
    succeed(&mut client, "IF @@TRANCOUNT > 0 ROLLBACK");
    let mut other = fixture.client();
    succeed(&mut other, "USE d; SELECT * FROM t");
    fails(&mut client, 5030, "ALTER DATABASE d MODIFY NAME = f");
    succeed(&mut other, "USE master");
    succeed(&mut client, "USE d");
    fails(&mut client, 5030, "ALTER DATABASE CURRENT MODIFY NAME = f");
    succeed(
        &mut client,
        "USE master; CREATE LOGIN l WITH PASSWORD = 'Str0ng-and-long', DEFAULT_DATABASE = d",
    );
    succeed(
        &mut client,
        "USE d; CREATE USER l FOR LOGIN l; ALTER ROLE db_owner ADD MEMBER l; USE master",
    );
    let mut owner = fixture.client_as("l", "Str0ng-and-long", "master");
    fails(&mut owner, 5011, "ALTER DATABASE d MODIFY NAME = f");
    fails(&mut owner, 15247, "EXEC sp_renamedb 'd', 'f'");
    // Who begins in it still does.
    succeed(&mut client, "ALTER DATABASE d MODIFY NAME = f");
    let mut owner = fixture.client_as("l", "Str0ng-and-long", "");
    assert_eq!(owner.text("SELECT DB_NAME()"), "f");
    drop((client, other, owner));
    fixture.stop();
}

#[test]
fn a_bound_statement_does_not_find_what_had_the_name_before() {
    let (fixture, mut client) = filled();
    succeed(&mut client, "CREATE DATABASE e");
    succeed(&mut client, "USE e; CREATE TABLE t (a int); INSERT t VALUES (2); USE d");
    let sql = "SELECT a FROM d.dbo.t";
    assert_eq!(client.int(sql), 1);
    succeed(&mut client, "USE master");
    let mut other = fixture.client();
    succeed(
        &mut other,
        "ALTER DATABASE d MODIFY NAME = f; ALTER DATABASE e MODIFY NAME = d",
    );
    succeed(&mut client, "USE f");
    assert_eq!(client.int(sql), 2);
    succeed(&mut client, "BACKUP DATABASE f TO DISK = 'f.bak'; USE master");
    // A backup knows the id, not the name.
    succeed(&mut client, "RESTORE DATABASE f FROM DISK = 'f.bak'");
    assert_eq!(client.int("SELECT a FROM f.dbo.t"), 1);
    fails(&mut client, 3154, "RESTORE DATABASE d FROM DISK = 'f.bak'");
    drop((client, other));
    fixture.stop();
}
