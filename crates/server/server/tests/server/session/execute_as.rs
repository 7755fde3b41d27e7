//! EXECUTE AS and REVERT as statements.

use std::time::{Duration, Instant};

use selenite_tds::ProcedureId;

use super::client::{Client, all_fail, fails, numbers, succeed, text};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator in a database `d`, whose tables `t` and `hidden` have a row each, beside `ann`, who may read `t`,
/// and `bob`, who may not.
pub fn users(fixture: &Fixture) -> [Client; 3] {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    for sql in [
        "USE d CREATE TABLE t (a INT) INSERT INTO t VALUES (7)",
        "CREATE TABLE hidden (a INT) INSERT INTO hidden VALUES (42)",
    ] {
        succeed(&mut client, sql);
    }
    for login in ["ann", "bob"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}' CREATE USER {login} FOR LOGIN {login}"),
        );
    }
    succeed(&mut client, "GRANT SELECT ON t TO ann");
    let [ann, bob] = ["ann", "bob"].map(|login| fixture.client_as(login, PASSWORD, "d"));
    [client, ann, bob]
}

const WHO: &str = "SELECT CONCAT(USER_NAME(), ' ', SUSER_SNAME(), ' ', ORIGINAL_LOGIN(), ' ', CURRENT_USER, ' ',
                   IS_SRVROLEMEMBER('sysadmin'), IS_MEMBER('db_owner'))";

#[test]
fn a_user_has_what_that_user_may_and_nothing_on_the_server() {
    let fixture = Fixture::new();
    let [mut client, ..] = users(&fixture);
    assert_eq!(client.text(WHO), "dbo sa sa dbo 11");
    // A statement that was bound for the administrator.
    assert_eq!(client.int("SELECT a FROM hidden"), 42);
    succeed(&mut client, "EXECUTE AS USER = 'ann'");
    assert_eq!(client.text(WHO), "ann ann sa ann 00");
    assert_eq!(client.int("SELECT a FROM t"), 7);
    all_fail(
        &mut client,
        &[
            (229, "SELECT a FROM hidden"),
            (916, "USE master"),
            (916, "SELECT COUNT(*) FROM master.dbo.t"),
            (262, "CREATE DATABASE e"),
            (15247, "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse'"),
            (300, "SELECT COUNT(*) FROM sys.dm_os_wait_stats"),
            (6102, "KILL 99"),
            (15517, "EXECUTE AS USER = 'dbo'"),
            (15517, "EXECUTE AS USER = 'bob'"),
            (15406, "EXECUTE AS LOGIN = 'sa'"),
            (15406, "EXECUTE AS LOGIN = 'ann'"),
            (4834, "BULK INSERT t FROM '/etc/passwd'"),
            (15151, "ALTER LOGIN ann WITH DEFAULT_DATABASE = master"),
        ],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.tables"), 1);
    // It stays from one batch to the next, and in tempdb.
    succeed(
        &mut client,
        "CREATE TABLE #mine (a INT) INSERT INTO #mine VALUES (1) SELECT a FROM #mine",
    );
    succeed(&mut client, "REVERT");
    assert_eq!(client.text(WHO), "dbo sa sa dbo 11");
    assert_eq!(client.int("SELECT a FROM hidden"), 42);
    // Nothing is left to revert.
    succeed(&mut client, "REVERT REVERT");
    assert_eq!(client.int("SELECT a FROM hidden"), 42);
}

#[test]
fn sessions_show_whom_they_execute_as_beside_their_logins() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    let own = "SELECT CONCAT(login_name, ' ', original_login_name, ' ', SUSER_SNAME(security_id), ' ', \
               SUSER_SNAME(original_security_id)) FROM sys.dm_exec_sessions WHERE session_id = ";
    assert_eq!(client.text(&format!("{own} @@SPID")), "sa sa sa sa");
    assert_eq!(
        client.text(&format!("EXECUTE AS LOGIN = 'ann' {own} @@SPID REVERT")),
        "ann sa ann sa"
    );
    succeed(&mut client, "USE master GRANT IMPERSONATE ON LOGIN::bob TO ann");
    succeed(&mut ann, "EXECUTE AS LOGIN = 'bob'");
    let number = ann.int("SELECT CAST(@@SPID AS int)");
    assert_eq!(client.text(&format!("{own} {number}")), "bob ann bob ann");
}

#[test]
fn a_login_has_what_that_login_may_wherever_it_may() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    succeed(&mut client, "CREATE DATABASE e EXECUTE AS LOGIN = 'ann'");
    assert_eq!(client.text(WHO), "ann ann sa ann 00");
    all_fail(
        &mut client,
        &[
            (229, "SELECT a FROM hidden"),
            (916, "USE e"),
            (15517, "EXECUTE AS USER = 'dbo'"),
            (15406, "EXECUTE AS LOGIN = 'bob'"),
            (15406, "EXECUTE AS LOGIN = 'nothing'"),
        ],
    );
    succeed(&mut client, "USE master");
    all_fail(&mut client, &[(15199, "REVERT")]);
    succeed(&mut client, "USE d REVERT");
    assert_eq!(client.text(WHO), "dbo sa sa dbo 11");
    succeed(&mut client, "USE e");
    all_fail(
        &mut client,
        &[(916, "EXECUTE AS LOGIN = 'ann'"), (15517, "EXECUTE AS USER = 'ann'")],
    );
    // Everyone may be oneself.
    succeed(
        &mut ann,
        "EXECUTE AS LOGIN = 'ann' EXECUTE AS USER = 'ann' REVERT REVERT",
    );
    all_fail(
        &mut ann,
        &[(15406, "EXECUTE AS LOGIN = 'sa'"), (15517, "EXECUTE AS USER = 'bob'")],
    );
}

#[test]
fn contexts_nest_and_each_is_judged_by_the_one_around_it() {
    let fixture = Fixture::new();
    let [mut client, _, mut bob] = users(&fixture);
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER bob");
    succeed(&mut bob, "EXECUTE AS USER = 'dbo'");
    assert_eq!(bob.int("SELECT a FROM hidden"), 42);
    assert_eq!(bob.text(WHO), "dbo sa bob dbo 01");
    // The owner of the database has no rights on the server, though its login is an administrator.
    all_fail(
        &mut bob,
        &[
            (262, "CREATE DATABASE e"),
            (15406, "EXECUTE AS LOGIN = 'sa'"),
            (916, "USE master"),
            (5011, "ALTER DATABASE d SET READ_ONLY"),
        ],
    );
    succeed(&mut bob, "EXECUTE AS USER = 'ann'");
    all_fail(
        &mut bob,
        &[(229, "SELECT a FROM hidden"), (15517, "EXECUTE AS USER = 'dbo'")],
    );
    succeed(&mut bob, "REVERT");
    assert_eq!(bob.int("SELECT a FROM hidden"), 42);
    succeed(&mut bob, "REVERT");
    assert_eq!(bob.text(WHO), "bob bob bob bob 01");
}

#[test]
fn a_context_is_reverted_by_its_cookie_alone_or_never() {
    let fixture = Fixture::new();
    let [mut client, ..] = users(&fixture);
    let batch = "DECLARE @c VARBINARY(100), @wrong VARBINARY(100) = 0x01
                 EXECUTE AS USER = 'ann' WITH COOKIE INTO @c
                 BEGIN TRY REVERT END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
                 BEGIN TRY REVERT WITH COOKIE = @wrong END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
                 SELECT USER_NAME()
                 REVERT WITH COOKIE = @c
                 SELECT USER_NAME(), DATALENGTH(@c)";
    let rows = format!("{:?}", succeed(&mut client, batch).rows());
    assert_eq!(
        rows,
        "[[Int(15591)], [Int(15591)], [Text(\"ann\")], [Text(\"dbo\"), Int(100)]]"
    );
    all_fail(
        &mut client,
        &[
            (40510, "DECLARE @c INT EXECUTE AS USER = 'ann' WITH COOKIE INTO @c"),
            (15590, "EXEC ('EXECUTE AS USER = ''ann'' WITH NO REVERT')"),
        ],
    );
    assert_eq!(client.text("SELECT USER_NAME()"), "dbo");
    succeed(&mut client, "EXECUTE AS USER = 'ann' WITH NO REVERT");
    all_fail(&mut client, &[(15196, "REVERT"), (229, "SELECT a FROM hidden")]);
}

#[test]
fn what_a_text_begins_ends_with_it_and_it_takes_nothing_back() {
    let fixture = Fixture::new();
    let [mut client, ..] = users(&fixture);
    succeed(&mut client, "EXEC ('EXECUTE AS USER = ''ann''')");
    assert_eq!(client.text("SELECT USER_NAME()"), "dbo");
    let calls = [
        "EXECUTE AS USER = 'ann' SELECT 1 / 0",
        "EXECUTE AS USER = 'ann' RAISERROR ('x', 16, 1) RETURN",
        "EXECUTE AS USER = 'ann' SELECT a FROM hidden",
        "SET XACT_ABORT ON EXECUTE AS USER = 'ann' SELECT CAST('x' AS INT)",
    ];
    for call in calls {
        client.call(ProcedureId::ExecuteSql, vec![text(call)]);
        assert_eq!(client.text("SELECT USER_NAME()"), "dbo", "{call}");
    }
    succeed(&mut client, "EXECUTE AS USER = 'ann'");
    succeed(&mut client, "EXEC ('REVERT') EXEC sp_executesql N'REVERT REVERT'");
    assert_eq!(client.text("SELECT USER_NAME()"), "ann");
    succeed(&mut client, "REVERT");
}

#[test]
fn a_session_is_not_set_back_while_it_is_another() {
    let fixture = Fixture::new();
    let [mut client, ..] = users(&fixture);
    succeed(&mut client, "EXECUTE AS USER = 'ann' REVERT");
    assert!(numbers(&client.batch_after_reset("SELECT 1 AS a")).is_empty());
    succeed(&mut client, "USE d EXECUTE AS USER = 'ann'");
    assert_eq!(numbers(&client.batch_after_reset("SELECT 1 AS a")), [18059]);
    assert!(client.try_ask("SELECT 1").is_err() || client.answer().is_err());
}

#[test]
fn a_user_that_is_dropped_has_no_rights_any_more() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    succeed(&mut ann, "EXECUTE AS USER = 'ann'");
    assert_eq!(ann.int("SELECT a FROM t"), 7);
    succeed(&mut client, "REVOKE SELECT ON t FROM ann");
    all_fail(&mut ann, &[(229, "SELECT a FROM t")]);
    succeed(&mut client, "DROP USER bob");
    succeed(&mut client, "GRANT SELECT ON t TO public DROP USER ann");
    all_fail(&mut ann, &[(916, "SELECT a FROM t")]);
    // The number of a user that was dropped is given again.
    let login = format!("CREATE LOGIN eve WITH PASSWORD = '{PASSWORD}'");
    succeed(
        &mut client,
        &format!("{login} CREATE USER eve FOR LOGIN eve GRANT SELECT ON hidden TO eve"),
    );
    all_fail(&mut ann, &[(916, "SELECT a FROM hidden")]);
}

#[test]
fn impersonate_is_granted_on_a_user_and_denied() {
    let fixture = Fixture::new();
    let [mut client, mut ann, mut bob] = users(&fixture);
    succeed(
        &mut client,
        "GRANT SELECT ON hidden TO bob GRANT IMPERSONATE ON USER::bob TO ann",
    );
    succeed(&mut ann, "EXECUTE AS USER = 'bob'");
    assert_eq!(ann.int("SELECT a FROM hidden"), 42);
    all_fail(&mut ann, &[(15517, "EXECUTE AS USER = 'dbo'")]);
    succeed(&mut ann, "REVERT");
    all_fail(
        &mut ann,
        &[(15517, "EXECUTE AS USER = 'dbo'"), (229, "SELECT a FROM hidden")],
    );
    let shown = "SELECT CONCAT(class_desc, ' ', USER_NAME(major_id), ' ', RTRIM(type)) FROM sys.database_permissions
                 WHERE permission_name = 'IMPERSONATE'";
    assert_eq!(client.text(shown), "DATABASE_PRINCIPAL bob IM");
    succeed(&mut client, "DENY IMPERSONATE ON USER::bob TO ann");
    all_fail(&mut ann, &[(15517, "EXECUTE AS USER = 'bob'")]);
    // Who gives permissions does not become who owns everything.
    succeed(&mut client, "ALTER ROLE db_securityadmin ADD MEMBER bob");
    all_fail(
        &mut bob,
        &[
            (15151, "GRANT IMPERSONATE ON USER::dbo TO ann"),
            (4613, "GRANT CONTROL TO ann"),
            (15151, "GRANT SELECT ON hidden TO ann AS dbo"),
            (4606, "GRANT SELECT ON USER::ann TO public"),
        ],
    );
}

/// What a principal may do follows from all of its roles.
#[test]
fn a_time_limit_ends_loops_that_find_out_what_many_roles_may() {
    let fixture = Fixture::new();
    let [mut client, ..] = users(&fixture);
    let role = |n: i32| {
        format!("CREATE ROLE r{n} GRANT SELECT, INSERT, UPDATE, DELETE ON t TO r{n} ALTER ROLE r{n} ADD MEMBER ann ")
    };
    for first in (0..200).step_by(50) {
        let roles: String = (first..first + 50).map(role).collect();
        succeed(&mut client, &format!("BEGIN TRAN {roles} COMMIT"));
    }
    let fixture = fixture.restarted_as(|config| config.limits.request_time = Duration::from_secs(1));
    for body in [
        "EXECUTE AS USER = 'ann' SET @x = HAS_PERMS_BY_NAME('t', 'OBJECT', 'SELECT') REVERT",
        "SET @x = HAS_PERMS_BY_NAME('t', 'OBJECT', 'SELECT')",
    ] {
        let mut ann = fixture.client_as("ann", PASSWORD, "d");
        let begun = Instant::now();
        fails(&mut ann, 8649, &format!("DECLARE @x INT WHILE 1 = 1 BEGIN {body} END"));
        assert!(
            begun.elapsed() < Duration::from_secs(8),
            "{body}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn a_text_is_executed_as_another_and_its_caller_stays_as_it_was() {
    let fixture = Fixture::new();
    let [mut client, mut ann, _] = users(&fixture);
    let text = |text: &str, who: &str| format!("EXEC ('{}') AS {who}", text.replace('\'', "''"));
    assert_eq!(client.text(&text(WHO, "USER = 'ann'")), "ann ann sa ann 00");
    assert_eq!(client.text(&text(WHO, "LOGIN = 'bob'")), "bob bob sa bob 00");
    assert_eq!(client.text(WHO), "dbo sa sa dbo 11");
    all_fail(
        &mut client,
        &[
            (229, &text("SELECT a FROM hidden", "USER = 'ann'")),
            (229, &text("REVERT SELECT a FROM hidden", "USER = 'ann'")),
            (229, &text("EXECUTE AS CALLER SELECT a FROM hidden", "USER = 'ann'")),
            (229, &text("EXEC ('REVERT SELECT a FROM hidden')", "USER = 'ann'")),
            (15517, &text("SELECT 1", "USER = 'none'")),
            (15406, &text("SELECT 1", "LOGIN = 'none'")),
            (102, &text("SELECT", "USER = 'ann'")),
        ],
    );
    // What failed has left nothing for the next text.
    assert_eq!(client.int("EXEC ('SELECT a FROM hidden')"), 42);
    all_fail(
        &mut ann,
        &[
            (15517, &text("SELECT 1", "USER = 'dbo'")),
            (15406, &text("SELECT 1", "LOGIN = 'sa'")),
        ],
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE sandbox @text nvarchar(max) AS EXEC (@text) AS USER = 'ann'",
    );
    all_fail(
        &mut client,
        &[
            (229, "EXEC sandbox N'EXECUTE AS CALLER SELECT a FROM hidden'"),
            (
                229,
                "EXEC sandbox N'EXEC (N''EXECUTE AS CALLER SELECT a FROM hidden'')'",
            ),
        ],
    );
    assert_eq!(client.int("EXEC sandbox N'SELECT a FROM t'"), 7);
    succeed(
        &mut client,
        "CREATE TABLE #w (a INT) INSERT #w EXEC ('SELECT a FROM t') AS USER = 'ann' SELECT a FROM #w",
    );
}
