//! Roles of the server and permissions on it: what each may, and how they are shown.

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `ann`, a login without a user; `bob` is another one.
fn logins(fixture: &Fixture) -> [Client; 2] {
    let mut client = fixture.client();
    for login in ["ann", "bob"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    let ann = fixture.client_as("ann", PASSWORD, "");
    [client, ann]
}

#[test]
fn members_are_added_shown_and_forgotten() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    for role in ["securityadmin", "processadmin", "dbcreator", "bulkadmin"] {
        let asked = format!("SELECT IS_SRVROLEMEMBER('{role}')");
        assert_eq!(ann.int(&asked), 0);
        succeed(&mut client, &format!("ALTER SERVER ROLE {role} ADD MEMBER ann"));
        assert_eq!(ann.int(&asked), 1, "{role}");
        let listed = format!(
            "SELECT COUNT(*) FROM sys.server_role_members m JOIN sys.server_principals r ON r.principal_id = m.role_principal_id
             JOIN sys.server_principals l ON l.principal_id = m.member_principal_id
             WHERE r.name = '{role}' AND l.name = 'ann' AND r.type = 'R' AND r.is_fixed_role = 1"
        );
        assert_eq!(client.int(&listed), 1, "{role}");
        // A member may let others in; others may not.
        succeed(&mut ann, &format!("EXEC sp_addsrvrolemember 'bob', '{role}'"));
        succeed(&mut client, &format!("EXEC sp_dropsrvrolemember 'ann', '{role}'"));
        assert_eq!(ann.int(&asked), 0);
        fails(&mut ann, 15151, &format!("ALTER SERVER ROLE {role} DROP MEMBER bob"));
        fails(&mut ann, 15247, &format!("EXEC sp_addsrvrolemember 'ann', '{role}'"));
    }
    all_fail(
        &mut client,
        &[
            (40510, "ALTER SERVER ROLE serveradmin ADD MEMBER ann"),
            (40510, "EXEC sp_addsrvrolemember 'ann', 'diskadmin'"),
            (15402, "EXEC sp_addsrvrolemember 'ann', 'clerks'"),
            (15151, "ALTER SERVER ROLE clerks ADD MEMBER ann"),
            (15151, "ALTER SERVER ROLE bulkadmin ADD MEMBER missing"),
            (15405, "ALTER SERVER ROLE bulkadmin ADD MEMBER sa"),
            (15150, "ALTER SERVER ROLE bulkadmin WITH NAME = loaders"),
            (15150, "DROP SERVER ROLE bulkadmin"),
        ],
    );
    drop((client, ann));
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.server_role_members WHERE role_principal_id > 3"),
        4
    );
    succeed(&mut client, "DROP LOGIN bob");
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.server_role_members WHERE role_principal_id > 3"),
        0
    );
    drop(client);
    fixture.stop();
}

#[test]
fn permissions_on_the_server_are_granted_denied_and_shown() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    let own = "SELECT STRING_AGG(permission_name, ',') WITHIN GROUP (ORDER BY permission_name) FROM fn_my_permissions(NULL, 'SERVER')";
    assert_eq!(ann.text(own), "CONNECT SQL,VIEW ANY DATABASE");
    succeed(&mut client, "GRANT VIEW SERVER STATE, ALTER ANY LOGIN TO ann");
    assert_eq!(
        ann.text(own),
        "ALTER ANY LOGIN,CONNECT SQL,VIEW ANY DATABASE,VIEW SERVER STATE"
    );
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY LOGIN')"), 1);
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'CONTROL SERVER')"), 0);
    succeed(
        &mut client,
        "DENY ALTER ANY LOGIN TO ann; GRANT IMPERSONATE ON LOGIN::bob TO ann",
    );
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY LOGIN')"), 0);
    let listed =
        "SELECT STRING_AGG(CONCAT(p.class_desc, ' ', RTRIM(p.type), ' ', p.permission_name, ' ', p.state_desc), ', ')
         WITHIN GROUP (ORDER BY p.type) FROM sys.server_permissions p JOIN sys.server_principals l
         ON l.principal_id = p.grantee_principal_id WHERE l.name = 'ann'";
    let expected = "SERVER ALLG ALTER ANY LOGIN DENY, SERVER COSQ CONNECT SQL GRANT, \
                    SERVER_PRINCIPAL IM IMPERSONATE GRANT, SERVER VWSS VIEW SERVER STATE GRANT";
    assert_eq!(client.text(listed), expected);
    assert_eq!(ann.text(listed).matches("GRANT").count(), 2);
    succeed(
        &mut client,
        "REVOKE ALTER ANY LOGIN, VIEW SERVER STATE FROM ann; REVOKE IMPERSONATE ON LOGIN::bob TO ann",
    );
    assert_eq!(ann.text(own), "CONNECT SQL,VIEW ANY DATABASE");
    succeed(&mut client, "GRANT VIEW SERVER STATE TO public");
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')"), 1);
    all_fail(
        &mut client,
        &[
            (40510, "GRANT SHUTDOWN TO ann"),
            (40510, "GRANT ALTER TRACE TO ann"),
            (40510, "GRANT ALTER ANY DATABASE TO ann"),
            (40510, "GRANT CONTROL ON LOGIN::bob TO ann"),
            (40510, "GRANT VIEW SERVER STATE TO ann WITH GRANT OPTION"),
            (40510, "REVOKE CONNECT SQL FROM ann"),
            (1020, "GRANT VIEW SERVER STATE (a) TO ann"),
            (4617, "GRANT VIEW SERVER STATE TO bulkadmin"),
            (4624, "GRANT VIEW SERVER STATE TO sa"),
            (4624, "GRANT IMPERSONATE ON LOGIN::bob TO bob"),
            (15151, "GRANT VIEW SERVER STATE TO missing"),
            (15151, "GRANT IMPERSONATE ON LOGIN::missing TO ann"),
        ],
    );
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    fails(&mut client, 4621, "GRANT VIEW SERVER STATE TO ann");
    drop((client, ann));
    fixture.stop();
}

#[test]
fn each_permission_permits_what_it_says() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    let mut bob = fixture.client_as("bob", PASSWORD, "");
    let spid = bob.int("SELECT CAST(@@SPID AS int)");
    let kill = format!("KILL {spid}");
    let cases: [(&str, i32, &str); 5] = [
        ("VIEW SERVER STATE", 300, "SELECT * FROM sys.dm_os_wait_stats"),
        ("CREATE ANY DATABASE", 262, "CREATE DATABASE anns"),
        (
            "ALTER ANY LOGIN",
            15247,
            "CREATE LOGIN eve WITH PASSWORD = 'Str0ng-and-long'",
        ),
        ("ALTER SERVER STATE", 2571, "DBCC FREEPROCCACHE"),
        ("ALTER ANY CONNECTION", 6102, &kill),
    ];
    for (permission, number, sql) in cases {
        fails(&mut ann, number, sql);
        succeed(&mut client, &format!("GRANT {permission} TO ann"));
        let answer = ann.batch(sql);
        assert!(numbers(&answer).is_empty(), "{sql}: {answer:?}");
        succeed(&mut client, &format!("DENY {permission} TO ann"));
        assert_eq!(numbers(&ann.batch(sql)), [number], "{sql}");
        succeed(&mut client, &format!("REVOKE {permission} TO ann"));
    }
    // Others' sessions, too, but with VIEW SERVER STATE alone.
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id <> @@SPID"),
        0
    );
    succeed(&mut client, "GRANT VIEW SERVER STATE, VIEW ANY DEFINITION TO ann");
    assert!(ann.int("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id <> @@SPID") > 0);
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.server_principals WHERE name = 'bob'"),
        1
    );
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn a_login_without_connect_sql_is_kept_out() {
    let fixture = Fixture::new();
    let [mut client, ann] = logins(&fixture);
    drop(ann);
    // As SQL Server Management Studio asks.
    let denied = "SELECT log.name FROM sys.server_principals AS log LEFT OUTER JOIN sys.server_permissions AS sp
         ON sp.grantee_principal_id = log.principal_id and sp.type = N'COSQ' WHERE sp.state = N'D'";
    assert_eq!(succeed(&mut client, denied).rows().len(), 0);
    succeed(&mut client, "DENY CONNECT SQL TO ann");
    assert_eq!(client.text(denied), "ann");
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "").login), [18456]);
    succeed(&mut client, "REVOKE CONNECT SQL FROM ann");
    let mut ann = fixture.client_as("ann", PASSWORD, "");
    assert_eq!(ann.text("SELECT SUSER_NAME()"), "ann");
    // An administrator is in, whatever was denied.
    succeed(
        &mut client,
        "ALTER SERVER ROLE sysadmin ADD MEMBER bob; DENY CONNECT SQL TO bob",
    );
    let mut bob = fixture.client_as("bob", PASSWORD, "");
    assert_eq!(bob.int("SELECT IS_SRVROLEMEMBER('sysadmin')"), 1);
    drop((client, ann, bob));
    fixture.stop();
}

#[test]
fn who_creates_a_database_owns_it_and_no_other() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    succeed(
        &mut client,
        "CREATE DATABASE d; ALTER SERVER ROLE dbcreator ADD MEMBER ann",
    );
    succeed(&mut ann, "CREATE DATABASE own");
    succeed(&mut ann, "USE own; CREATE TABLE t (a int); INSERT t VALUES (7)");
    assert_eq!(ann.text("SELECT USER_NAME()"), "ann");
    assert_eq!(ann.int("SELECT IS_MEMBER('db_owner')"), 1);
    succeed(
        &mut ann,
        "CREATE USER bob FOR LOGIN bob; GRANT SELECT ON t TO bob; USE master",
    );
    let mut bob = fixture.client_as("bob", PASSWORD, "own");
    assert_eq!(bob.int("SELECT a FROM t"), 7);
    all_fail(
        &mut ann,
        &[
            (916, "USE d"),
            (3701, "DROP DATABASE d"),
            (5011, "ALTER DATABASE d SET READ_ONLY"),
            (5011, "ALTER DATABASE d MODIFY NAME = e"),
            (15247, "EXEC sp_renamedb 'd', 'e'"),
            (3110, "RESTORE DATABASE d FROM DISK = 'd.bak' WITH REPLACE"),
            (3110, "RESTORE DATABASE new FROM DISK = 'd.bak'"),
            (1801, "CREATE DATABASE d"),
        ],
    );
    drop((client, ann, bob));
    let fixture = fixture.restarted();
    let mut ann = fixture.client_as("ann", PASSWORD, "own");
    assert_eq!(ann.int("SELECT a FROM t"), 7);
    drop(ann);
    fixture.stop();
}

#[test]
fn impersonate_is_of_the_login_that_it_names() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = logins(&fixture);
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'bob'");
    succeed(&mut client, "GRANT IMPERSONATE ON LOGIN::bob TO ann");
    assert_eq!(ann.text("EXECUTE AS LOGIN = 'bob'; SELECT SUSER_NAME(); REVERT"), "bob");
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'sa'");
    succeed(&mut client, "DENY IMPERSONATE ON LOGIN::bob TO ann");
    fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'bob'");
    drop((client, ann));
    fixture.stop();
}

#[test]
fn no_login_has_the_name_of_a_role() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for name in ["[public]", "SysAdmin", "serveradmin"] {
        fails(
            &mut client,
            15025,
            &format!("CREATE LOGIN {name} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    succeed(&mut client, &format!("CREATE LOGIN clerk WITH PASSWORD = '{PASSWORD}'"));
    fails(&mut client, 15025, "ALTER LOGIN clerk WITH NAME = securityadmin");
    drop(client);
    fixture.stop();
}
