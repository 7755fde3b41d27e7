//! CONTROL SERVER: what it lets do, what is denied all the same, and that it does not lead to `sysadmin`.

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `ann`, who has CONTROL SERVER; `bob` has nothing, `boss` is an administrator, `deputy` may
/// execute as `boss`. None has a user in the database `d`, which has a table `t`.
fn logins(fixture: &Fixture) -> [Client; 2] {
    let mut client = fixture.client();
    for login in ["ann", "bob", "boss", "deputy"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    succeed(
        &mut client,
        "ALTER SERVER ROLE sysadmin ADD MEMBER boss; GRANT IMPERSONATE ON LOGIN::boss TO deputy;
         GRANT CONTROL SERVER TO ann; CREATE DATABASE d",
    );
    succeed(&mut client, "USE d; CREATE TABLE t (a INT); INSERT t VALUES (7)");
    succeed(&mut client, "USE master");
    let ann = fixture.client_as("ann", PASSWORD, "");
    [client, ann]
}

#[test]
fn it_is_every_permission_on_the_server_and_in_databases_but_those_denied() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    let has =
        |ann: &mut Client, permission: &str| ann.int(&format!("SELECT HAS_PERMS_BY_NAME(NULL, NULL, '{permission}')"));
    for permission in ["CONTROL SERVER", "ALTER ANY LOGIN", "VIEW SERVER STATE", "SHUTDOWN"] {
        assert_eq!(has(&mut ann, permission), 1, "{permission}");
    }
    assert_eq!(ann.int("SELECT IS_SRVROLEMEMBER('sysadmin')"), 0);
    assert_eq!(ann.int("SELECT HAS_DBACCESS('d')"), 1);
    succeed(
        &mut ann,
        "CREATE LOGIN eve WITH PASSWORD = 'Corr3ct-horse'; GRANT VIEW SERVER STATE TO eve;
         EXECUTE AS LOGIN = 'eve'; REVERT; CREATE SERVER ROLE own; GRANT CONTROL SERVER TO own;
         ALTER SERVER ROLE own ADD MEMBER eve; DBCC FREEPROCCACHE",
    );
    succeed(
        &mut ann,
        "USE d; UPDATE t SET a = 8; CREATE TABLE dbo.u (a INT); CREATE ROLE r",
    );
    assert_eq!(ann.int("SELECT a FROM t"), 8);
    assert_eq!(ann.text("SELECT USER_NAME()"), "guest");
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME('d', 'DATABASE', 'CONTROL')"), 1);
    // What a guest makes is not all guests'.
    assert_eq!(
        ann.int("SELECT owning_principal_id FROM sys.database_principals WHERE name = 'r'"),
        1
    );
    // What is denied, on the server or in the database, is not had.
    succeed(&mut client, "DENY ALTER ANY LOGIN, VIEW ANY DEFINITION TO ann");
    succeed(&mut client, "USE d; DENY SELECT ON t TO public; USE master");
    all_fail(
        &mut ann,
        &[
            (229, "SELECT a FROM t"),
            (15247, "CREATE LOGIN more WITH PASSWORD = 'Corr3ct-horse'"),
        ],
    );
    assert_eq!(
        ann.int("SELECT HAS_PERMS_BY_NAME('d', 'DATABASE', 'VIEW DEFINITION')"),
        0
    );
    succeed(&mut ann, "USE master");
    fails(&mut ann, 4613, "GRANT ALTER ANY LOGIN TO bob");
    fails(&mut ann, 4613, "REVOKE ALTER ANY LOGIN FROM ann");
    succeed(&mut client, "DENY IMPERSONATE ON LOGIN::bob TO ann");
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'bob'");
    succeed(
        &mut client,
        "USE d; CREATE USER ann FOR LOGIN ann; DENY CONNECT TO ann; USE master",
    );
    fails(&mut ann, 916, "USE d");
    succeed(&mut client, "REVOKE CONTROL SERVER FROM ann");
    assert_eq!(has(&mut ann, "VIEW SERVER STATE"), 0);
    succeed(&mut client, "DENY CONTROL SERVER TO ann");
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "").login), [18456]);
    drop((client, ann));
    fixture.stop();
}

#[test]
fn it_does_not_lead_to_sysadmin() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE bosses; GRANT IMPERSONATE ON LOGIN::boss TO bosses",
    );
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER SERVER ROLE sysadmin ADD MEMBER ann"),
            (15247, "EXEC sp_addsrvrolemember 'ann', 'sysadmin'"),
            (15151, "ALTER SERVER ROLE securityadmin ADD MEMBER ann"),
            (15151, "ALTER SERVER ROLE bosses ADD MEMBER ann"),
            (15406, "EXECUTE AS LOGIN = 'sa'"),
            (15406, "EXECUTE AS LOGIN = 'boss'"),
            (15406, "EXECUTE AS LOGIN = 'deputy'"),
            (15151, "GRANT IMPERSONATE ON LOGIN::sa TO bob"),
            (15151, "GRANT IMPERSONATE ON LOGIN::deputy TO bob"),
            (15151, "ALTER LOGIN sa WITH PASSWORD = 'Other-l0ng-one'"),
            (15151, "ALTER LOGIN deputy WITH PASSWORD = 'Other-l0ng-one'"),
            (15151, "DROP LOGIN boss"),
            (3110, "RESTORE DATABASE d FROM DISK = 'd.bak' WITH REPLACE"),
            (5011, "ALTER DATABASE d MODIFY NAME = e"),
            (15247, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Str0ng-and-long'"),
            (15247, "EXEC sp_accept_database 'd'"),
        ],
    );
    // CONTROL of every database does not act as their owners.
    succeed(&mut ann, "USE d");
    assert_eq!(
        numbers(&ann.batch("EXECUTE AS USER = 'dbo'; ALTER SERVER ROLE sysadmin ADD MEMBER ann")),
        [15517, 15151]
    );
    drop((client, ann));
    fixture.stop();
}

#[test]
fn who_changes_logins_and_roles_does_not_get_it() {
    let fixture = Fixture::new();
    let [mut client, ann] = logins(&fixture);
    succeed(
        &mut client,
        "ALTER SERVER ROLE securityadmin ADD MEMBER bob; GRANT ALTER ANY SERVER ROLE TO bob;
         CREATE SERVER ROLE controllers; GRANT CONTROL SERVER TO controllers;
         CREATE SERVER ROLE inner_ones; ALTER SERVER ROLE controllers ADD MEMBER inner_ones;
         CREATE LOGIN eve WITH PASSWORD = 'Corr3ct-horse'; GRANT IMPERSONATE ON LOGIN::ann TO eve",
    );
    let mut bob = fixture.client_as("bob", PASSWORD, "");
    all_fail(
        &mut bob,
        &[
            (4613, "GRANT CONTROL SERVER TO eve"),
            (4613, "REVOKE CONTROL SERVER FROM ann"),
            (15151, "ALTER LOGIN ann WITH PASSWORD = 'Other-l0ng-one'"),
            (15151, "ALTER LOGIN eve WITH PASSWORD = 'Other-l0ng-one'"),
            (15151, "ALTER LOGIN ann WITH NAME = other"),
            (15151, "DROP LOGIN ann"),
            (15151, "ALTER SERVER ROLE controllers ADD MEMBER bob"),
            (15151, "ALTER SERVER ROLE inner_ones ADD MEMBER bob"),
            (15406, "EXECUTE AS LOGIN = 'ann'"),
        ],
    );
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn who_has_it_takes_no_denial_of_its_own_back() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE SERVER ROLE limits; ALTER SERVER ROLE limits ADD MEMBER ann; DENY ALTER ANY LOGIN TO limits;
         CREATE SERVER ROLE free; ALTER SERVER ROLE free ADD MEMBER bob; ALTER SERVER ROLE securityadmin ADD MEMBER ann",
    );
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER SERVER ROLE limits DROP MEMBER ann"),
            (15151, "ALTER SERVER ROLE limits WITH NAME = other"),
            (4613, "REVOKE ALTER ANY LOGIN FROM limits"),
            (4613, "GRANT ALTER ANY LOGIN TO bob"),
            // Part of it is denied to her.
            (4613, "GRANT CONTROL SERVER TO bob"),
            (4613, "GRANT CONTROL SERVER TO free"),
        ],
    );
    succeed(
        &mut ann,
        "ALTER SERVER ROLE free DROP MEMBER bob; GRANT VIEW SERVER STATE TO bob; DENY VIEW ANY DEFINITION TO bob",
    );
    drop((client, ann));
    fixture.stop();
}
