//! WITH GRANT OPTION, GRANT OPTION FOR, CASCADE and AS.

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, and `ann`, `bob` and `eve`, users of a database `d` with a table `t`; `bob` is in the role `team`.
fn users(fixture: &Fixture) -> [Client; 4] {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d CREATE TABLE t (id INT, a INT) INSERT INTO t VALUES (1, 7)",
    );
    for login in ["ann", "bob", "eve"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}' CREATE USER {login} FOR LOGIN {login}"),
        );
    }
    succeed(&mut client, "CREATE ROLE team ALTER ROLE team ADD MEMBER bob");
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|login| fixture.client_as(login, PASSWORD, "d"));
    [client, ann, bob, eve]
}

#[test]
fn who_has_a_permission_with_grant_option_grants_it_and_nothing_else() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob, mut eve] = users(&fixture);
    succeed(
        &mut client,
        "GRANT SELECT ON t TO ann WITH GRANT OPTION GRANT UPDATE ON t TO ann",
    );
    succeed(&mut ann, "GRANT SELECT ON t TO bob");
    assert_eq!(bob.int("SELECT a FROM t"), 7);
    all_fail(
        &mut ann,
        &[
            (15151, "GRANT UPDATE ON t TO bob"),
            (15151, "GRANT CONTROL ON t TO bob"),
            (15151, "DENY SELECT ON t TO bob"),
            (15151, "GRANT SELECT ON SCHEMA::dbo TO bob"),
            (4613, "GRANT SELECT TO bob"),
            (4624, "GRANT SELECT ON t TO ann"),
            (15151, "GRANT SELECT ON t TO bob AS dbo"),
            (15151, "GRANT SELECT ON t TO bob AS eve"),
        ],
    );
    all_fail(&mut bob, &[(15151, "GRANT SELECT ON t TO eve")]);
    // On a column, too.
    succeed(&mut ann, "GRANT SELECT (a) ON t TO eve WITH GRANT OPTION");
    assert_eq!(eve.int("SELECT a FROM t"), 7);
    all_fail(
        &mut eve,
        &[
            (230, "SELECT id FROM t"),
            (15151, "GRANT SELECT ON t TO bob"),
            (15151, "GRANT SELECT (id) ON t TO bob"),
        ],
    );
    succeed(&mut eve, "GRANT SELECT (a) ON t TO bob");
    let shown = "SELECT STRING_AGG(CONCAT(USER_NAME(grantor_principal_id), ' ', USER_NAME(grantee_principal_id), ' ',
                 state), '; ') WITHIN GROUP (ORDER BY grantor_principal_id, grantee_principal_id, minor_id)
                 FROM sys.database_permissions WHERE permission_name = 'SELECT'";
    assert_eq!(client.text(shown), "dbo ann W; ann bob G; ann eve W; eve bob G");
}

#[test]
fn an_option_is_taken_back_with_what_was_granted_by_it() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob, mut eve] = users(&fixture);
    let begin = |client: &mut Client, ann: &mut Client, bob: &mut Client| {
        succeed(client, "GRANT SELECT ON t TO ann WITH GRANT OPTION");
        succeed(ann, "GRANT SELECT ON t TO bob WITH GRANT OPTION");
        succeed(bob, "GRANT SELECT ON t TO eve");
    };
    begin(&mut client, &mut ann, &mut bob);
    all_fail(
        &mut client,
        &[
            (4611, "REVOKE SELECT ON t FROM ann"),
            (4611, "REVOKE GRANT OPTION FOR SELECT ON t FROM ann"),
            (4611, "DENY SELECT ON t TO ann"),
        ],
    );
    // What another has granted is not the owner's to take back without CASCADE.
    succeed(&mut client, "REVOKE SELECT ON t FROM eve");
    assert_eq!(eve.int("SELECT a FROM t"), 7);
    succeed(&mut client, "REVOKE GRANT OPTION FOR SELECT ON t FROM ann CASCADE");
    assert_eq!(ann.int("SELECT a FROM t"), 7);
    all_fail(&mut bob, &[(229, "SELECT a FROM t")]);
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    all_fail(&mut ann, &[(15151, "GRANT SELECT ON t TO bob")]);

    begin(&mut client, &mut ann, &mut bob);
    succeed(&mut client, "REVOKE SELECT ON t FROM ann CASCADE");
    for other in [&mut ann, &mut bob, &mut eve] {
        all_fail(other, &[(229, "SELECT a FROM t")]);
    }

    begin(&mut client, &mut ann, &mut bob);
    succeed(
        &mut client,
        "DENY SELECT ON t TO ann CASCADE GRANT SELECT ON SCHEMA::dbo TO team",
    );
    for other in [&mut ann, &mut bob, &mut eve] {
        all_fail(other, &[(229, "SELECT a FROM t")]);
    }
    let denied = "SELECT COUNT(*) FROM sys.database_permissions WHERE state = 'D' AND permission_name = 'SELECT'";
    assert_eq!(client.int(denied), 3);
}

#[test]
fn the_member_of_a_role_grants_what_the_role_may_as_the_role() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob, mut eve] = users(&fixture);
    succeed(&mut client, "GRANT SELECT ON t TO team WITH GRANT OPTION");
    all_fail(
        &mut bob,
        &[
            (15151, "GRANT SELECT ON t TO eve"),
            (15151, "GRANT UPDATE ON t TO eve AS team"),
        ],
    );
    all_fail(&mut ann, &[(15151, "GRANT SELECT ON t TO eve AS team")]);
    succeed(&mut bob, "GRANT SELECT ON t TO eve AS team");
    assert_eq!(eve.int("SELECT a FROM t"), 7);
    succeed(&mut client, "ALTER ROLE team DROP MEMBER bob");
    all_fail(&mut client, &[(15284, "DROP ROLE team")]);
    succeed(&mut client, "ALTER ROLE team ADD MEMBER bob");
    succeed(&mut bob, "REVOKE SELECT ON t FROM eve AS team");
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    succeed(
        &mut client,
        "GRANT SELECT ON t TO ann WITH GRANT OPTION GRANT SELECT ON t TO eve AS ann",
    );
    all_fail(&mut client, &[(15284, "DROP USER ann")]);
    succeed(&mut ann, "REVOKE SELECT ON t FROM eve");
    succeed(&mut client, "DROP USER ann");
}

#[test]
fn what_was_granted_by_control_goes_with_it() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob, mut eve] = users(&fixture);
    for on in ["ON t", "ON SCHEMA::dbo", ""] {
        succeed(&mut client, &format!("GRANT CONTROL {on} TO ann"));
        succeed(
            &mut ann,
            "GRANT SELECT ON t TO bob WITH GRANT OPTION; DENY UPDATE ON t TO bob",
        );
        succeed(&mut bob, "GRANT SELECT ON t TO eve");
        let grantor = "SELECT USER_NAME(grantor_principal_id) FROM sys.database_permissions
                       WHERE grantee_principal_id = USER_ID('bob') AND permission_name = 'SELECT'";
        assert_eq!(client.text(grantor), "ann", "{on}");
        all_fail(&mut client, &[(4611, &format!("REVOKE CONTROL {on} FROM ann"))]);
        assert_eq!(eve.int("SELECT a FROM t"), 7);
        succeed(&mut client, &format!("REVOKE CONTROL {on} FROM ann CASCADE"));
        all_fail(&mut bob, &[(229, "SELECT a FROM t")]);
        all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
        // What was denied stays.
        succeed(&mut client, "GRANT SELECT, UPDATE ON SCHEMA::dbo TO bob");
        all_fail(&mut bob, &[(229, "UPDATE t SET a = 7")]);
        succeed(
            &mut client,
            "REVOKE SELECT, UPDATE ON SCHEMA::dbo FROM bob; REVOKE UPDATE ON t FROM bob",
        );
    }
    // By the CONTROL of a role it is the role's.
    succeed(&mut client, "GRANT CONTROL ON t TO team");
    succeed(&mut bob, "GRANT SELECT ON t TO eve");
    succeed(&mut client, "ALTER ROLE team DROP MEMBER bob");
    assert_eq!(eve.int("SELECT a FROM t"), 7);
    all_fail(&mut client, &[(15284, "DROP ROLE team")]);
    succeed(&mut client, "REVOKE CONTROL ON t FROM team CASCADE");
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    // Who has CONTROL takes back what it has granted, and what the owner has.
    succeed(&mut client, "GRANT CONTROL ON t TO ann; GRANT SELECT ON t TO eve");
    succeed(&mut ann, "REVOKE SELECT ON t FROM eve");
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    succeed(&mut ann, "GRANT SELECT ON t TO eve");
    succeed(&mut ann, "REVOKE SELECT ON t FROM eve");
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    // One who was granted CONTROL by another, and the owner of the database.
    succeed(&mut ann, "GRANT CONTROL ON t TO bob");
    succeed(&mut bob, "GRANT SELECT ON t TO eve");
    succeed(&mut client, "REVOKE CONTROL ON t FROM ann CASCADE");
    all_fail(&mut eve, &[(229, "SELECT a FROM t")]);
    succeed(
        &mut client,
        "GRANT CONTROL ON t TO ann; ALTER ROLE db_owner ADD MEMBER ann",
    );
    succeed(&mut ann, "GRANT SELECT ON t TO eve");
    succeed(&mut client, "REVOKE CONTROL ON t FROM ann");
    assert_eq!(eve.int("SELECT a FROM t"), 7);
}
