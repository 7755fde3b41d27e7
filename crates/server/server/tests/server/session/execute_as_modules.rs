//! WITH EXECUTE AS of procedures and triggers.

use super::client::{all_fail, succeed};
use super::execute_as::users;
use super::fixture::Fixture;

#[test]
fn a_procedure_runs_as_whom_it_says_and_its_caller_comes_back() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    for sql in [
        "CREATE PROCEDURE as_owner WITH EXECUTE AS OWNER AS EXEC ('SELECT a FROM hidden')",
        "CREATE PROCEDURE as_self WITH EXECUTE AS SELF AS EXEC ('SELECT a FROM hidden')",
        "CREATE PROCEDURE as_caller WITH EXECUTE AS CALLER AS EXEC ('SELECT a FROM hidden')",
        "CREATE PROCEDURE as_bob WITH EXECUTE AS 'bob' AS SELECT CONCAT(USER_NAME(), ' ', ORIGINAL_LOGIN())",
        "CREATE PROCEDURE as_bob_reads WITH EXECUTE AS 'bob' AS EXEC ('SELECT a FROM t')",
        "CREATE PROCEDURE back WITH EXECUTE AS OWNER AS EXECUTE AS CALLER SELECT USER_NAME() REVERT SELECT USER_NAME()
         REVERT SELECT USER_NAME()",
        "CREATE PROCEDURE leaves WITH EXECUTE AS OWNER AS EXECUTE AS USER = 'bob' SELECT 1 / 0",
        "CREATE PROCEDURE nests WITH EXECUTE AS 'bob' AS EXEC as_owner",
        "GRANT EXECUTE ON SCHEMA::dbo TO ann",
    ] {
        succeed(&mut client, sql);
    }
    assert_eq!(ann.int("EXEC as_owner"), 42);
    assert_eq!(ann.int("EXEC as_self"), 42);
    assert_eq!(ann.text("EXEC as_bob"), "bob ann");
    all_fail(&mut ann, &[(229, "EXEC as_caller"), (229, "EXEC as_bob_reads")]);
    let rows = format!("{:?}", succeed(&mut ann, "EXEC back").rows());
    assert_eq!(rows, "[[Text(\"ann\")], [Text(\"dbo\")], [Text(\"dbo\")]]");
    all_fail(&mut ann, &[(8134, "EXEC leaves"), (229, "SELECT a FROM hidden")]);
    assert_eq!(ann.text("SELECT USER_NAME()"), "ann");
    // One procedure of the same owner calls another.
    assert_eq!(ann.int("EXEC nests"), 42);
    // The context of a module is no reason to read what it does not say.
    all_fail(&mut ann, &[(229, "EXEC as_owner SELECT a FROM hidden")]);
    assert_eq!(ann.text("SELECT USER_NAME()"), "ann");
    let shown = "SELECT STRING_AGG(CONCAT(OBJECT_NAME(object_id), ' ', execute_as_principal_id), '; ')
                 WITHIN GROUP (ORDER BY object_id) FROM sys.sql_modules WHERE execute_as_principal_id IS NOT NULL";
    let bob = client.int("SELECT USER_ID('bob')");
    assert_eq!(
        client.text(shown),
        format!("as_owner -2; as_self 1; as_bob {bob}; as_bob_reads {bob}; back -2; leaves -2; nests {bob}")
    );
}

#[test]
fn who_may_not_execute_as_a_user_makes_no_procedure_that_does() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(
        &mut client,
        "GRANT CREATE PROCEDURE TO ann GRANT ALTER ON SCHEMA::dbo TO ann GRANT EXECUTE TO ann",
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE safe WITH EXECUTE AS OWNER AS SELECT 1 AS a",
    );
    let reads = "AS EXEC ('SELECT a FROM hidden')";
    for (number, sql) in [
        (15151, "CREATE PROCEDURE p WITH EXECUTE AS OWNER"),
        (15151, "CREATE PROCEDURE p WITH EXECUTE AS 'dbo'"),
        (15151, "CREATE PROCEDURE p WITH EXECUTE AS 'bob'"),
        (15151, "CREATE PROCEDURE p WITH EXECUTE AS 'nothing'"),
        (15151, "CREATE PROCEDURE p WITH EXECUTE AS 'db_owner'"),
        (15151, "ALTER PROCEDURE safe WITH EXECUTE AS OWNER"),
        (40510, "CREATE PROCEDURE #p WITH EXECUTE AS OWNER"),
        (15151, "CREATE TRIGGER g ON hidden WITH EXECUTE AS OWNER AFTER INSERT"),
    ] {
        all_fail(&mut ann, &[(number, &format!("{sql} {reads}"))]);
    }
    succeed(&mut ann, &format!("CREATE PROCEDURE p WITH EXECUTE AS SELF {reads}"));
    all_fail(&mut ann, &[(229, "EXEC p")]);
    // An alteration without the clause takes the context away.
    succeed(&mut ann, &format!("ALTER PROCEDURE safe {reads}"));
    all_fail(&mut ann, &[(229, "EXEC safe")]);
    // Moved into a schema of another owner it does not become that owner.
    succeed(&mut client, "CREATE SCHEMA s AUTHORIZATION bob");
    succeed(
        &mut client,
        "GRANT CREATE PROCEDURE TO bob GRANT ALTER ON SCHEMA::dbo TO bob GRANT EXECUTE TO bob",
    );
    succeed(
        &mut bob,
        &format!("CREATE PROCEDURE s.mine WITH EXECUTE AS OWNER {reads}"),
    );
    all_fail(&mut bob, &[(229, "EXEC s.mine")]);
    succeed(&mut bob, "ALTER SCHEMA dbo TRANSFER s.mine");
    all_fail(&mut bob, &[(15517, "EXEC dbo.mine")]);
    // A principal that procedures execute as stays: its number would be another's.
    succeed(&mut client, "DROP SCHEMA s");
    all_fail(&mut client, &[(15136, "DROP USER bob")]);
    succeed(&mut client, "DROP PROCEDURE mine DROP USER bob");
}

#[test]
fn a_trigger_runs_as_whom_it_says() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE log (who NVARCHAR(50), a INT) GRANT INSERT ON t TO ann",
    );
    let body = "AS INSERT INTO log VALUES (USER_NAME(), 0) EXEC ('UPDATE log SET a = (SELECT MAX(a) FROM hidden)')";
    succeed(
        &mut client,
        &format!("CREATE TRIGGER g ON t WITH EXECUTE AS OWNER AFTER INSERT {body}"),
    );
    succeed(&mut ann, "INSERT INTO t VALUES (8)");
    assert_eq!(client.text("SELECT CONCAT(who, ' ', a) FROM log"), "dbo 42");
    assert_eq!(ann.text("SELECT USER_NAME()"), "ann");
    succeed(&mut client, &format!("ALTER TRIGGER g ON t AFTER INSERT {body}"));
    all_fail(&mut ann, &[(229, "INSERT INTO t VALUES (9)")]);
}
