//! Roles that every database has: what each may, and what it may not.

use super::client::{Client, all_fail, fails, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator in a database `d` with a table `t`, and `ann`, who is in a role; `bob` is a user, `eve` a login.
fn member_of(fixture: &Fixture, role: &str) -> [Client; 2] {
    let mut client = fixture.client();
    for login in ["ann", "bob", "eve"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    for sql in [
        "CREATE DATABASE d",
        "USE d CREATE USER ann FOR LOGIN ann CREATE USER bob FOR LOGIN bob CREATE ROLE clerks",
        "CREATE TABLE t (a INT) INSERT INTO t VALUES (7)",
    ] {
        succeed(&mut client, sql);
    }
    succeed(&mut client, &format!("ALTER ROLE {role} ADD MEMBER ann"));
    let ann = fixture.client_as("ann", PASSWORD, "d");
    [client, ann]
}

#[test]
fn db_accessadmin_admits_users_and_takes_over_none() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = member_of(&fixture, "db_accessadmin");
    succeed(&mut ann, "CREATE USER eve FOR LOGIN eve DENY CONNECT TO eve");
    assert_eq!(numbers(&fixture.client_as("eve", PASSWORD, "d").login), [4060, 18456]);
    succeed(
        &mut ann,
        "REVOKE CONNECT FROM eve ALTER USER eve WITH NAME = eva DROP USER eva",
    );
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER bob");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER USER bob WITH LOGIN = eve"),
            (15151, "ALTER USER bob WITH NAME = bobby"),
            (15151, "ALTER ROLE clerks ADD MEMBER ann"),
            (15151, "ALTER ROLE db_owner ADD MEMBER ann"),
            (15151, "GRANT SELECT ON t TO bob"),
            (4613, "GRANT CONTROL TO bob"),
            (229, "SELECT a FROM t"),
            (15247, "CREATE ROLE mine"),
            (15247, "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse'"),
            (15517, "EXECUTE AS USER = 'bob'"),
        ],
    );
}

#[test]
fn db_securityadmin_gives_permissions_but_not_the_database() {
    let fixture = Fixture::new();
    let [_, mut ann] = member_of(&fixture, "db_securityadmin");
    let mut bob = fixture.client_as("bob", PASSWORD, "d");
    succeed(&mut ann, "GRANT SELECT ON t TO bob");
    succeed(&mut bob, "SELECT a FROM t");
    succeed(
        &mut ann,
        "DENY SELECT ON t TO public CREATE ROLE mine ALTER ROLE clerks ADD MEMBER bob",
    );
    all_fail(&mut bob, &[(229, "SELECT a FROM t")]);
    all_fail(
        &mut ann,
        &[
            (4624, "GRANT SELECT ON t TO ann"),
            (4613, "GRANT CONTROL TO bob"),
            (15151, "GRANT IMPERSONATE ON USER::dbo TO bob"),
            (15151, "ALTER ROLE db_owner ADD MEMBER bob"),
            (15151, "ALTER ROLE db_datareader ADD MEMBER bob"),
            (229, "SELECT a FROM t"),
            (15247, "CREATE USER eve FOR LOGIN eve"),
            (3701, "DROP TABLE t"),
        ],
    );
}

#[test]
fn db_securityadmin_joins_no_role_that_has_what_it_may_not_grant() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = member_of(&fixture, "db_securityadmin");
    for sql in [
        "CREATE ROLE bosses ALTER ROLE db_owner ADD MEMBER bosses",
        "CREATE ROLE controls GRANT CONTROL TO controls",
        "CREATE ROLE acts GRANT IMPERSONATE ON USER::dbo TO acts",
        "CREATE ROLE within ALTER ROLE bosses ADD MEMBER within",
        "CREATE ROLE leads CREATE ROLE led AUTHORIZATION leads ALTER ROLE bosses ADD MEMBER led",
        "CREATE ROLE owned AUTHORIZATION bob ALTER ROLE bosses ADD MEMBER owned",
    ] {
        succeed(&mut client, sql);
    }
    succeed(&mut ann, "CREATE ROLE mine ALTER ROLE mine ADD MEMBER ann");
    for role in ["bosses", "controls", "acts", "within", "leads", "led"] {
        for sql in [
            format!("ALTER ROLE {role} ADD MEMBER ann"),
            format!("ALTER ROLE {role} ADD MEMBER mine"),
            format!("EXEC sp_addrolemember '{role}', 'ann'"),
            format!("ALTER ROLE {role} WITH NAME = other"),
        ] {
            fails(&mut ann, 15151, &sql);
        }
    }
    succeed(&mut client, "ALTER ROLE leads ADD MEMBER ann");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER ROLE led ADD MEMBER ann"),
            (15517, "EXECUTE AS USER = 'dbo'"),
            (229, "SELECT a FROM t"),
        ],
    );
    // It takes members from them, and the owner of a role adds some.
    succeed(&mut client, "ALTER ROLE bosses ADD MEMBER bob");
    succeed(&mut ann, "ALTER ROLE bosses DROP MEMBER bob");
    let mut bob = fixture.client_as("bob", PASSWORD, "d");
    succeed(&mut bob, "ALTER ROLE owned ADD MEMBER bob");
    succeed(&mut bob, "SELECT a FROM t");
}

#[test]
fn db_backupoperator_makes_backups_below_their_folder_and_reads_nothing() {
    let fixture = Fixture::new();
    let [mut client, mut ann] = member_of(&fixture, "db_backupoperator");
    succeed(&mut ann, "BACKUP DATABASE d TO DISK = 'own/d.bak'");
    succeed(&mut ann, "CHECKPOINT");
    all_fail(
        &mut ann,
        &[
            (40510, "BACKUP DATABASE d TO DISK = '/tmp/selenite-test/d.bak'"),
            (40510, "BACKUP DATABASE d TO DISK = 'own/d.bak' WITH INIT"),
            (40510, "BACKUP DATABASE d TO DISK = 'own/d.bak' WITH FORMAT"),
            (262, "BACKUP DATABASE master TO DISK = 'own/m.bak'"),
            (
                262,
                "DECLARE @d SYSNAME = N'master' BACKUP DATABASE @d TO DISK = 'own/m.bak'",
            ),
            (3110, "RESTORE DATABASE d FROM DISK = 'own/d.bak' WITH REPLACE"),
            (262, "RESTORE HEADERONLY FROM DISK = 'own/d.bak'"),
            (229, "SELECT a FROM t"),
        ],
    );
    succeed(&mut client, "ALTER ROLE db_backupoperator DROP MEMBER ann");
    all_fail(&mut ann, &[(262, "BACKUP DATABASE d TO DISK = 'own/d.bak'")]);
    succeed(&mut client, "GRANT BACKUP DATABASE TO ann");
    succeed(&mut ann, "BACKUP DATABASE d TO DISK = 'own/d.bak'");
}
