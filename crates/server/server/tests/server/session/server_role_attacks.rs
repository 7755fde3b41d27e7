//! Members of the server's roles try to become members of `sysadmin`.

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `mallory`, who is in a role. `boss` is an administrator, `deputy` may execute as `boss`,
/// `friend` as `deputy`; `clerk` may do nothing.
fn member_of(fixture: &Fixture, role: &str) -> [Client; 2] {
    let mut client = fixture.client();
    for login in ["mallory", "boss", "deputy", "friend", "clerk"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    succeed(
        &mut client,
        "ALTER SERVER ROLE sysadmin ADD MEMBER boss; GRANT IMPERSONATE ON LOGIN::boss TO deputy;
         GRANT IMPERSONATE ON LOGIN::deputy TO friend",
    );
    succeed(&mut client, &format!("ALTER SERVER ROLE {role} ADD MEMBER mallory"));
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE USER mallory FOR LOGIN mallory; ALTER ROLE db_owner ADD MEMBER mallory",
    );
    let mallory = fixture.client_as("mallory", PASSWORD, "master");
    [client, mallory]
}

/// What no role but `sysadmin` may.
fn tries_all(mallory: &mut Client) {
    all_fail(
        mallory,
        &[
            (15151, "ALTER SERVER ROLE sysadmin ADD MEMBER mallory"),
            (15151, "ALTER SERVER ROLE sysadmin ADD MEMBER clerk"),
            (15247, "EXEC sp_addsrvrolemember 'mallory', 'sysadmin'"),
            (15406, "EXECUTE AS LOGIN = 'sa'"),
            (15406, "EXECUTE AS LOGIN = 'boss'"),
            (15406, "EXECUTE AS LOGIN = 'friend'"),
            (15517, "EXECUTE AS USER = 'dbo'"),
            (15151, "GRANT IMPERSONATE ON LOGIN::sa TO clerk"),
            (15151, "GRANT IMPERSONATE ON LOGIN::deputy TO clerk"),
            (4613, "GRANT CONTROL SERVER TO clerk"),
            (40510, "GRANT ALTER ANY DATABASE TO clerk"),
            (3110, "RESTORE DATABASE d FROM DISK = 'd.bak' WITH REPLACE"),
            (5011, "ALTER DATABASE d SET READ_ONLY"),
            (5011, "ALTER DATABASE master MODIFY NAME = other"),
            (15247, "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Str0ng-and-long'"),
            (15247, "EXEC sp_accept_database 'd'"),
            (4834, "SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) AS f"),
        ],
    );
}

#[test]
fn securityadmin_reaches_no_login_of_an_administrator() {
    let fixture = Fixture::new();
    let [mut client, mut mallory] = member_of(&fixture, "securityadmin");
    tries_all(&mut mallory);
    for login in ["sa", "boss", "deputy", "friend"] {
        for action in [
            "WITH PASSWORD = 'Other-l0ng-one'",
            "WITH PASSWORD = 'Other-l0ng-one' UNLOCK",
            "WITH NAME = other",
            "WITH DEFAULT_DATABASE = d",
            "WITH CHECK_POLICY = OFF",
            "ENABLE",
            "DISABLE",
        ] {
            fails(&mut mallory, 15151, &format!("ALTER LOGIN {login} {action}"));
        }
        fails(&mut mallory, 15151, &format!("DROP LOGIN {login}"));
    }
    let sid = "CREATE LOGIN twin WITH PASSWORD = 'Str0ng-and-long', SID = 0x241C11948AEEB749B0D22646DB1A19F2";
    fails(&mut mallory, 15247, sid);
    fails(&mut mallory, 15247, "ALTER LOGIN mallory ADD CREDENTIAL c");
    fails(&mut mallory, 15247, "ALTER LOGIN clerk ADD CREDENTIAL c");
    // What it is for.
    succeed(
        &mut mallory,
        "ALTER LOGIN clerk WITH PASSWORD = 'Other-l0ng-one'; ALTER LOGIN clerk DISABLE; ALTER LOGIN clerk ENABLE;
         GRANT VIEW SERVER STATE TO clerk; REVOKE VIEW SERVER STATE FROM clerk; DROP LOGIN clerk",
    );
    fails(&mut mallory, 4624, "GRANT ALTER ANY CONNECTION TO mallory");
    // A login that becomes an administrator is out of reach from then on, and one that is none any more is not.
    succeed(
        &mut client,
        "USE master; CREATE LOGIN late WITH PASSWORD = 'Str0ng-and-long'",
    );
    succeed(&mut client, "ALTER SERVER ROLE sysadmin ADD MEMBER late");
    fails(&mut mallory, 15151, "ALTER LOGIN late WITH PASSWORD = 'Other-l0ng-one'");
    succeed(&mut client, "ALTER SERVER ROLE sysadmin DROP MEMBER late");
    succeed(&mut mallory, "ALTER LOGIN late WITH PASSWORD = 'Other-l0ng-one'");
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn what_runs_as_a_user_has_no_rights_of_its_login_on_the_server() {
    let fixture = Fixture::new();
    let [client, mut mallory] = member_of(&fixture, "securityadmin");
    succeed(&mut mallory, "USE d");
    let sql = "CREATE LOGIN made WITH PASSWORD = 'Str0ng-and-long'";
    assert_eq!(
        numbers(&mallory.batch(&format!("EXECUTE AS USER = 'mallory'; {sql}"))),
        [15247]
    );
    succeed(&mut mallory, "REVERT");
    succeed(
        &mut mallory,
        &format!("CREATE PROCEDURE p WITH EXECUTE AS OWNER AS {sql}"),
    );
    assert_eq!(numbers(&mallory.batch("EXEC p")), [15247]);
    let role = "CREATE PROCEDURE q WITH EXECUTE AS OWNER AS ALTER SERVER ROLE sysadmin ADD MEMBER mallory";
    succeed(&mut mallory, role);
    assert_eq!(numbers(&mallory.batch("EXEC q")), [15151]);
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn other_roles_do_not_lead_up() {
    for role in ["processadmin", "dbcreator"] {
        let fixture = Fixture::new();
        let [client, mut mallory] = member_of(&fixture, role);
        tries_all(&mut mallory);
        all_fail(
            &mut mallory,
            &[
                (15151, "ALTER LOGIN clerk WITH PASSWORD = 'Other-l0ng-one'"),
                (15247, "CREATE LOGIN made WITH PASSWORD = 'Str0ng-and-long'"),
                (15151, "DROP LOGIN clerk"),
                (4613, "GRANT VIEW SERVER STATE TO clerk"),
                (15151, "ALTER SERVER ROLE securityadmin ADD MEMBER mallory"),
            ],
        );
        // One's own password alone, with the old one.
        let own = format!("ALTER LOGIN mallory WITH PASSWORD = 'Other-l0ng-one' OLD_PASSWORD = '{PASSWORD}'");
        succeed(&mut mallory, &own);
        drop((client, mallory));
        fixture.stop();
    }
}

#[test]
fn bulkadmin_reads_the_folders_of_the_configuration_alone() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("in");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "7\n").unwrap();
    std::fs::write(place.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(place.path().join("secret.txt"), folder.join("link.txt")).unwrap();
    let allowed = folder.clone();
    let fixture = Fixture::with(move |config| config.bulk_folders = vec![allowed.clone()]);
    let [client, mut mallory] = member_of(&fixture, "bulkadmin");
    succeed(&mut mallory, "USE d; CREATE TABLE t (a varchar(100))");
    let secret = place.path().join("secret.txt").display().to_string();
    for name in ["/etc/passwd", "../secret.txt", "link.txt", secret.as_str()] {
        fails(&mut mallory, 4860, &format!("BULK INSERT t FROM '{name}'"));
        let sql = format!("SELECT * FROM OPENROWSET(BULK '{name}', SINGLE_CLOB) AS f");
        fails(&mut mallory, 4860, &sql);
    }
    succeed(&mut mallory, "BULK INSERT t FROM 'a.txt' WITH (ROWTERMINATOR = '0x0a')");
    assert_eq!(mallory.text("SELECT a FROM t"), "7");
    // Rows still need INSERT.
    fails(&mut mallory, 15151, "ALTER SERVER ROLE sysadmin ADD MEMBER mallory");
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn who_sees_the_state_of_the_server_sees_no_passwords() {
    let fixture = Fixture::new();
    let [mut client, mut mallory] = member_of(&fixture, "processadmin");
    let texts = "SELECT COUNT(t.text) FROM sys.dm_exec_connections c
         CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) t WHERE c.session_id <> @@SPID AND t.text LIKE '%-marked%'
         AND t.text NOT LIKE '%LIKE%'";
    succeed(&mut client, "SELECT 'one-marked-word'");
    assert_eq!(mallory.int(texts), 1);
    succeed(&mut client, "ALTER LOGIN boss WITH PASSWORD = 'S0me-marked-word'");
    assert_eq!(mallory.int(texts), 0);
    let mut other = fixture.client();
    assert_eq!(other.int(texts), 1);
    // What it executes may be any statement, unless it is there as a whole.
    succeed(&mut client, "EXEC ('SELECT ''one-marked-word''')");
    assert_eq!(mallory.int(texts), 1);
    for put_together in [
        "EXEC ('SELECT ''one-marked-word''' + '')",
        "DECLARE @t nvarchar(99) = 'SELECT ''one-marked-word''' EXEC sp_executesql @t",
    ] {
        succeed(&mut client, put_together);
        assert_eq!((mallory.int(texts), other.int(texts)), (0, 1), "{put_together}");
    }
    drop((client, mallory, other));
    fixture.stop();
}

#[test]
fn a_session_of_a_login_that_is_gone_is_not_taken_for_a_later_login() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let mut other = fixture.client();
    succeed(&mut client, "CREATE LOGIN ghost WITH PASSWORD = 'Corr3ct-horse'");
    succeed(&mut client, "EXECUTE AS LOGIN = 'ghost'");
    let deep = "EXEC sp_executesql N'EXECUTE AS LOGIN = ''later''; SELECT SUSER_NAME()'";
    succeed(
        &mut other,
        "DROP LOGIN ghost; CREATE LOGIN later WITH PASSWORD = 'Corr3ct-horse'; GRANT VIEW SERVER STATE TO later;
         CREATE DATABASE d",
    );
    succeed(&mut other, "USE d; CREATE USER later FOR LOGIN later");
    assert_eq!(numbers(&client.batch(deep)), [15406]);
    assert_eq!(client.text("SELECT ISNULL(SUSER_NAME(), '-')"), "-");
    assert_eq!(client.int("SELECT ISNULL(SUSER_ID(), -1)"), -1);
    let seen = "SELECT COUNT(*) FROM sys.server_principals WHERE name = 'later'";
    assert_eq!(client.int(seen), 0);
    assert_eq!(
        client.int("SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')"),
        0
    );
    assert_eq!(client.int("SELECT HAS_DBACCESS('d')"), 0);
    drop((client, other));
    fixture.stop();
}

#[test]
fn who_alters_roles_does_not_exchange_one_that_leads_up_for_another() {
    let fixture = Fixture::new();
    let [mut client, mut mallory] = member_of(&fixture, "processadmin");
    succeed(
        &mut client,
        "USE master; GRANT ALTER ANY SERVER ROLE TO mallory; CREATE SERVER ROLE bosses; CREATE SERVER ROLE inner_bosses;
         GRANT IMPERSONATE ON LOGIN::sa TO bosses; ALTER SERVER ROLE bosses ADD MEMBER inner_bosses;
         CREATE SERVER ROLE controllers; GRANT CONTROL SERVER TO controllers; ALTER SERVER ROLE controllers ADD MEMBER clerk",
    );
    for role in ["bosses", "inner_bosses", "controllers"] {
        fails(
            &mut mallory,
            15151,
            &format!("ALTER SERVER ROLE {role} WITH NAME = other"),
        );
        fails(&mut mallory, 15151, &format!("DROP SERVER ROLE {role}"));
        fails(
            &mut mallory,
            15151,
            &format!("ALTER SERVER ROLE {role} DROP MEMBER clerk"),
        );
    }
    succeed(
        &mut mallory,
        "CREATE SERVER ROLE own; ALTER SERVER ROLE own WITH NAME = another; DROP SERVER ROLE another",
    );
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn who_alters_roles_gives_no_more_than_it_has() {
    let fixture = Fixture::new();
    let [mut client, mut mallory] = member_of(&fixture, "processadmin");
    succeed(
        &mut client,
        "USE master; GRANT ALTER ANY SERVER ROLE TO mallory; CREATE SERVER ROLE readers; CREATE SERVER ROLE watchers;
         CREATE SERVER ROLE owners; CREATE SERVER ROLE owned AUTHORIZATION owners; CREATE SERVER ROLE stoppers;
         ALTER SERVER ROLE bulkadmin ADD MEMBER readers; GRANT VIEW ANY DEFINITION TO watchers, owned;
         ALTER SERVER ROLE processadmin ADD MEMBER stoppers; GRANT VIEW SERVER STATE TO stoppers;
         ALTER SERVER ROLE readers ADD MEMBER clerk",
    );
    for role in ["readers", "watchers", "owners", "owned"] {
        fails(
            &mut mallory,
            15151,
            &format!("ALTER SERVER ROLE {role} ADD MEMBER mallory"),
        );
        fails(
            &mut mallory,
            15151,
            &format!("ALTER SERVER ROLE {role} WITH NAME = other"),
        );
        fails(
            &mut mallory,
            15151,
            &format!("CREATE SERVER ROLE new AUTHORIZATION {role}"),
        );
    }
    succeed(
        &mut mallory,
        "ALTER SERVER ROLE stoppers ADD MEMBER clerk; CREATE SERVER ROLE own; ALTER SERVER ROLE own ADD MEMBER clerk",
    );
    // The owner decides about its role, whatever an administrator has given to it.
    succeed(&mut client, "GRANT VIEW ANY DEFINITION TO own");
    succeed(&mut mallory, "ALTER SERVER ROLE own ADD MEMBER mallory");
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn securityadmin_denies_nothing_to_who_has_control() {
    let fixture = Fixture::new();
    let [mut client, mut mallory] = member_of(&fixture, "securityadmin");
    succeed(
        &mut client,
        "USE master; CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse'; GRANT CONTROL SERVER TO ann;
         CREATE SERVER ROLE staff; ALTER SERVER ROLE staff ADD MEMBER ann; CREATE SERVER ROLE clerks;
         ALTER SERVER ROLE clerks ADD MEMBER clerk; DENY VIEW SERVER STATE TO ann",
    );
    all_fail(
        &mut mallory,
        &[
            (15151, "DENY CONNECT SQL TO ann"),
            (15151, "DENY CONNECT SQL TO deputy"),
            (4613, "DENY CONNECT SQL TO staff"),
            (4613, "DENY CONNECT SQL TO public"),
            (15151, "DENY ALTER ANY CONNECTION TO ann"),
            (15151, "GRANT VIEW SERVER STATE TO ann"),
            (15151, "REVOKE VIEW SERVER STATE FROM ann"),
            (4624, "DENY CONNECT SQL TO sa"),
        ],
    );
    succeed(
        &mut mallory,
        "DENY CONNECT SQL TO clerks; REVOKE CONNECT SQL FROM clerks; DENY CONNECT SQL TO clerk",
    );
    drop(fixture.client_as("ann", PASSWORD, ""));
    drop((client, mallory));
    fixture.stop();
}

#[test]
fn no_grant_of_impersonate_becomes_a_way_up_by_itself() {
    let fixture = Fixture::new();
    let [mut client, mallory] = member_of(&fixture, "dbcreator");
    succeed(
        &mut client,
        "USE master; CREATE LOGIN rising WITH PASSWORD = 'Corr3ct-horse'; GRANT IMPERSONATE ON LOGIN::rising TO clerk",
    );
    all_fail(
        &mut client,
        &[
            (40510, "ALTER SERVER ROLE sysadmin ADD MEMBER rising"),
            (40510, "EXEC sp_addsrvrolemember 'rising', 'sysadmin'"),
        ],
    );
    // Denied it may be, and granted with open eyes.
    succeed(
        &mut client,
        "DENY IMPERSONATE ON LOGIN::rising TO clerk; ALTER SERVER ROLE sysadmin ADD MEMBER rising;
         GRANT IMPERSONATE ON LOGIN::rising TO clerk; ALTER SERVER ROLE sysadmin DROP MEMBER rising",
    );
    drop((client, mallory));
    fixture.stop();
}
