//! ALTER AUTHORIZATION.

use super::client::{all_fail, fails, succeed};
use super::execute_as::users;
use super::fixture::Fixture;

#[test]
fn a_schema_is_given_to_whom_the_session_may_be() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(&mut client, "CREATE TABLE s.t (a INT) INSERT s.t VALUES (5)");
    succeed(
        &mut client,
        "CREATE PROCEDURE s.p WITH EXECUTE AS OWNER AS SELECT a FROM dbo.hidden",
    );
    succeed(&mut client, "CREATE PROCEDURE s.q AS SELECT a FROM dbo.hidden");
    succeed(&mut client, "GRANT SELECT ON SCHEMA::s TO bob");
    assert_eq!(bob.int("SELECT a FROM s.t"), 5);
    fails(&mut ann, 229, "SELECT a FROM s.t");
    fails(&mut ann, 15151, "ALTER AUTHORIZATION ON SCHEMA::s TO ann");
    succeed(&mut client, "ALTER AUTHORIZATION ON SCHEMA::s TO ann");
    assert_eq!(ann.int("SELECT a FROM s.t"), 5);
    assert_eq!(
        client.text("SELECT USER_NAME(principal_id) FROM sys.schemas WHERE name = 's'"),
        "ann"
    );
    // Permissions on it have gone, and procedures are another owner's.
    fails(&mut bob, 229, "SELECT a FROM s.t");
    fails(&mut ann, 15517, "EXEC s.p");
    fails(&mut ann, 229, "EXEC s.q");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER AUTHORIZATION ON SCHEMA::s TO dbo"),
            (15151, "ALTER AUTHORIZATION ON SCHEMA::s TO bob"),
            (15151, "ALTER AUTHORIZATION ON SCHEMA::s TO db_owner"),
            (15151, "ALTER AUTHORIZATION ON SCHEMA::dbo TO ann"),
            (15151, "ALTER AUTHORIZATION ON SCHEMA::none TO ann"),
        ],
    );
    succeed(&mut client, "GRANT IMPERSONATE ON USER::bob TO ann");
    succeed(&mut ann, "ALTER AUTHORIZATION ON SCHEMA :: s TO bob");
    assert_eq!(bob.int("SELECT a FROM s.t"), 5);
    fails(&mut ann, 229, "SELECT a FROM s.t");
    succeed(
        &mut client,
        "BEGIN TRAN ALTER AUTHORIZATION ON SCHEMA::s TO dbo ROLLBACK",
    );
    assert_eq!(bob.int("SELECT a FROM s.t"), 5);
    all_fail(
        &mut client,
        &[
            (15150, "ALTER AUTHORIZATION ON SCHEMA::dbo TO bob"),
            (15151, "ALTER AUTHORIZATION ON SCHEMA::s TO public"),
            (40_510, "ALTER AUTHORIZATION ON SCHEMA::s TO SCHEMA OWNER"),
            (102, "ALTER AUTHORIZATION ON SCHEMA::s"),
        ],
    );
}

#[test]
fn permissions_on_what_is_in_a_schema_go_when_it_gets_another_owner() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    for sql in [
        "CREATE SCHEMA s",
        "CREATE TABLE s.t (a INT, b INT) INSERT s.t VALUES (5, 6) CREATE TYPE s.whole FROM INT",
        "CREATE PROCEDURE s.p AS SELECT a FROM s.t",
        "GRANT SELECT ON s.t (a) TO bob GRANT EXECUTE ON s.p TO bob GRANT REFERENCES ON TYPE::s.whole TO bob
         GRANT SELECT ON t TO bob GRANT CONTROL ON SCHEMA::s TO ann",
    ] {
        succeed(&mut client, sql);
    }
    succeed(&mut ann, "GRANT INSERT ON s.t TO bob");
    assert_eq!(bob.int("EXEC s.p"), 5);
    // One that it has is no other owner.
    succeed(&mut client, "ALTER AUTHORIZATION ON SCHEMA::s TO dbo");
    assert_eq!(bob.int("SELECT a FROM s.t"), 5);
    succeed(&mut client, "ALTER AUTHORIZATION ON SCHEMA::s TO ann");
    all_fail(
        &mut bob,
        &[
            (229, "SELECT a FROM s.t"),
            (229, "INSERT s.t VALUES (1, 2)"),
            (229, "EXEC s.p"),
        ],
    );
    let left = "SELECT STRING_AGG(CONCAT(OBJECT_NAME(major_id), ' ', permission_name), ' ')
                FROM sys.database_permissions WHERE permission_name <> 'CONNECT' AND grantee_principal_id = USER_ID('bob')";
    assert_eq!(client.text(left), "t SELECT");
}

#[test]
fn a_role_is_given_by_its_owner() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(&mut client, "CREATE ROLE r ALTER ROLE db_owner ADD MEMBER r");
    succeed(&mut client, "ALTER ROLE db_securityadmin ADD MEMBER bob");
    fails(&mut bob, 15151, "ALTER AUTHORIZATION ON ROLE::r TO bob");
    fails(&mut ann, 15151, "ALTER AUTHORIZATION ON ROLE::r TO ann");
    succeed(
        &mut client,
        "CREATE ROLE plain ALTER AUTHORIZATION ON ROLE::plain TO ann",
    );
    succeed(&mut ann, "ALTER ROLE plain ADD MEMBER bob");
    fails(&mut ann, 15151, "ALTER AUTHORIZATION ON ROLE::plain TO dbo");
    assert_eq!(
        client.text("SELECT USER_NAME(owning_principal_id) FROM sys.database_principals WHERE name = 'plain'"),
        "ann"
    );
    fails(&mut client, 15150, "ALTER AUTHORIZATION ON ROLE::db_owner TO ann");
    fails(&mut client, 15421, "DROP USER ann");
}

#[test]
fn a_role_of_the_server_is_given_by_its_owner_and_not_the_way_up() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(&mut client, "USE master CREATE SERVER ROLE r CREATE SERVER ROLE up");
    succeed(
        &mut client,
        "GRANT CONTROL SERVER TO up GRANT ALTER ANY SERVER ROLE TO bob",
    );
    fails(&mut bob, 15151, "ALTER AUTHORIZATION ON SERVER ROLE::r TO bob");
    succeed(&mut client, "ALTER AUTHORIZATION ON SERVER ROLE::r TO ann");
    succeed(&mut ann, "ALTER SERVER ROLE r ADD MEMBER bob");
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER AUTHORIZATION ON SERVER ROLE::r TO sa"),
            (15151, "ALTER AUTHORIZATION ON SERVER ROLE::up TO ann"),
            (15151, "ALTER AUTHORIZATION ON SERVER ROLE::none TO ann"),
            (15150, "ALTER AUTHORIZATION ON SERVER ROLE::processadmin TO ann"),
        ],
    );
    succeed(&mut client, "GRANT IMPERSONATE ON LOGIN::bob TO ann");
    succeed(&mut ann, "ALTER AUTHORIZATION ON SERVER ROLE::r TO bob");
    fails(&mut ann, 15151, "ALTER SERVER ROLE r DROP MEMBER bob");
    fails(&mut client, 15141, "DROP LOGIN bob");
}

#[test]
fn a_key_is_given_with_what_its_owner_may() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(
        &mut client,
        "CREATE SYMMETRIC KEY k WITH ALGORITHM = AES_256 ENCRYPTION BY PASSWORD = 'Corr3ct-horse' \
         GRANT VIEW DEFINITION ON SYMMETRIC KEY::k TO bob",
    );
    assert_eq!(bob.int("SELECT COUNT(KEY_ID('k'))"), 1);
    fails(&mut ann, 15151, "ALTER AUTHORIZATION ON SYMMETRIC KEY::k TO ann");
    fails(&mut bob, 15151, "ALTER AUTHORIZATION ON SYMMETRIC KEY::k TO bob");
    succeed(&mut client, "ALTER AUTHORIZATION ON SYMMETRIC KEY::k TO ann");
    assert_eq!(bob.int("SELECT COUNT(KEY_ID('k'))"), 0);
    fails(&mut ann, 15151, "ALTER AUTHORIZATION ON SYMMETRIC KEY::k TO dbo");
    succeed(
        &mut client,
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Corr3ct-horse' CREATE CERTIFICATE c WITH SUBJECT = 'c' CREATE ROLE r",
    );
    fails(&mut client, 15345, "ALTER AUTHORIZATION ON CERTIFICATE::c TO r");
    succeed(&mut client, "ALTER AUTHORIZATION ON CERTIFICATE::c TO ann");
    succeed(&mut ann, "DROP SYMMETRIC KEY k");
}

#[test]
fn databases_and_objects_keep_their_owners() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    succeed(&mut client, "CREATE TYPE money2 FROM DECIMAL(9, 2)");
    succeed(
        &mut client,
        "ALTER AUTHORIZATION ON DATABASE::d TO sa ALTER AUTHORIZATION ON t TO SCHEMA OWNER \
         ALTER AUTHORIZATION ON OBJECT::dbo.t TO SCHEMA OWNER ALTER AUTHORIZATION ON TYPE::money2 TO SCHEMA OWNER",
    );
    all_fail(
        &mut client,
        &[
            (40_510, "ALTER AUTHORIZATION ON DATABASE::d TO ann"),
            (40_510, "ALTER AUTHORIZATION ON t TO ann"),
            (40_510, "ALTER AUTHORIZATION ON ASSEMBLY::c TO ann"),
            (15151, "ALTER AUTHORIZATION ON CERTIFICATE::c TO ann"),
            (15151, "ALTER AUTHORIZATION ON DATABASE::d TO none"),
            (15151, "ALTER AUTHORIZATION ON DATABASE::none TO sa"),
            (15109, "ALTER AUTHORIZATION ON DATABASE::tempdb TO sa"),
        ],
    );
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER AUTHORIZATION ON DATABASE::d TO sa"),
            (15151, "ALTER AUTHORIZATION ON t TO SCHEMA OWNER"),
            (15151, "ALTER AUTHORIZATION ON TYPE::money2 TO SCHEMA OWNER"),
        ],
    );
}
