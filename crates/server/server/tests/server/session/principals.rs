//! Logins, users and roles: who is admitted where, and who may do what.

use selenite_tds::PacketSize;
use selenite_types::Value;

use super::client::{Client, all_fail, numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

/// The administrator, beside a database `d` with some objects, a login `ann` with a user `ann` there, and a login
/// `bob` without.
fn administrator(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for login in ["ann", "bob"] {
        succeed(
            &mut client,
            &format!("CREATE LOGIN {login} WITH PASSWORD = '{PASSWORD}'"),
        );
    }
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE USER ann FOR LOGIN ann
         CREATE TABLE t (id INT IDENTITY PRIMARY KEY, a INT)
         INSERT INTO t (a) VALUES (1), (2), (3)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    succeed(&mut client, "CREATE PROCEDURE p AS SELECT COUNT(*) AS n FROM t");
    client
}

#[test]
fn a_login_is_made_let_in_changed_and_dropped() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}', DEFAULT_DATABASE = [tempdb], CHECK_POLICY = ON"),
    );
    let mut ann = fixture.client_as("ann", PASSWORD, "");
    assert_eq!(ann.login.errors(), []);
    assert_eq!(ann.text("SELECT DB_NAME()"), "tempdb");
    assert_eq!(
        ann.text("SELECT SUSER_SNAME() + N'/' + ORIGINAL_LOGIN() + N'/' + SYSTEM_USER"),
        "ann/ann/ann"
    );
    all_fail(&mut client, &[(15434, "DROP LOGIN ann")]);

    // Her own password, with the old one.
    all_fail(
        &mut ann,
        &[
            (15151, "ALTER LOGIN ann WITH PASSWORD = 'An0ther-one'"),
            (
                15151,
                "ALTER LOGIN ann WITH PASSWORD = 'An0ther-one' OLD_PASSWORD = 'wrong'",
            ),
            (
                15116,
                "ALTER LOGIN ann WITH PASSWORD = 'Sh0rt-' OLD_PASSWORD = 'Corr3ct-horse'",
            ),
            (15151, "ALTER LOGIN ann DISABLE"),
            (15151, "ALTER LOGIN ann WITH NAME = anna"),
            (15151, "ALTER LOGIN sa WITH PASSWORD = 'An0ther-one' OLD_PASSWORD = 'x'"),
        ],
    );
    succeed(
        &mut ann,
        "ALTER LOGIN ann WITH PASSWORD = 'An0ther-one' OLD_PASSWORD = 'Corr3ct-horse'",
    );
    drop(ann);
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "").login), [18456]);
    assert_eq!(fixture.client_as("ann", "An0ther-one", "").login.errors(), []);

    succeed(&mut client, "ALTER LOGIN ann DISABLE");
    assert_eq!(numbers(&fixture.client_as("ann", "An0ther-one", "").login), [18470]);
    succeed(
        &mut client,
        "ALTER LOGIN ann ENABLE ALTER LOGIN ann WITH NAME = anna, DEFAULT_DATABASE = master",
    );
    let mut anna = fixture.client_as("anna", "An0ther-one", "");
    assert_eq!(anna.text("SELECT DB_NAME() + N' ' + SUSER_NAME()"), "master anna");
    drop(anna);
    succeed(&mut client, "ALTER LOGIN anna WITH PASSWORD = 'Thr1d-one' UNLOCK");
    let rows = succeed(
        &mut client,
        "SELECT name, is_disabled, is_policy_checked, is_expiration_checked, password_hash FROM sys.sql_logins WHERE name = 'anna'",
    );
    assert_eq!(
        rows.rows(),
        [[
            Value::Text("anna".into()),
            Value::Bit(false),
            Value::Bit(true),
            Value::Bit(false),
            Value::Null
        ]]
    );
    // The sessions above may not be gone yet.
    while numbers(&client.batch("DROP LOGIN anna")) == [15434] {}
    assert_eq!(numbers(&fixture.client_as("anna", "Thr1d-one", "").login), [18456]);
    all_fail(&mut client, &[(15151, "DROP LOGIN anna")]);
}

#[test]
fn a_password_that_must_be_changed_is_changed_at_the_login() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}' MUST_CHANGE, CHECK_EXPIRATION = ON, CHECK_POLICY = ON"),
    );
    assert_eq!(numbers(&fixture.client_as("ann", PASSWORD, "").login), [18488]);
    let address = fixture.running.address();
    let changed = Client::of(
        address,
        ("ann", PASSWORD),
        ("", Some("Br4nd-new1")),
        PacketSize::DEFAULT,
    )
    .unwrap();
    assert_eq!(changed.login.errors(), []);
    assert_eq!(fixture.client_as("ann", "Br4nd-new1", "").login.errors(), []);
    succeed(&mut client, "CREATE LOGIN bob WITH PASSWORD = 'x', CHECK_POLICY = OFF");
    assert_eq!(fixture.client_as("bob", "x", "").login.errors(), []);
}

#[test]
fn logins_and_users_that_can_not_be_are_refused_by_number() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    all_fail(
        &mut client,
        &[
            (15025, "CREATE LOGIN ANN WITH PASSWORD = 'Corr3ct-horse'"),
            (15116, "CREATE LOGIN x WITH PASSWORD = 'Aa1'"),
            (15118, "CREATE LOGIN x WITH PASSWORD = 'aaaaaaaaaa'"),
            (
                15010,
                "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse', DEFAULT_DATABASE = nothing",
            ),
            (
                15122,
                "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse', CHECK_EXPIRATION = ON, CHECK_POLICY = OFF",
            ),
            (15099, "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse' MUST_CHANGE"),
            (15006, "CREATE LOGIN [a\\b] WITH PASSWORD = 'Corr3ct-horse'"),
            (40510, "CREATE LOGIN [a\\b] FROM WINDOWS"),
            (40510, "CREATE LOGIN x WITH PASSWORD = 0x0200 HASHED"),
            (15405, "DROP LOGIN sa"),
            (15151, "DROP LOGIN nobody"),
            (15151, "ALTER LOGIN nobody DISABLE"),
            (15405, "ALTER SERVER ROLE sysadmin DROP MEMBER sa"),
            (15151, "ALTER SERVER ROLE sysadmin ADD MEMBER nobody"),
            (40510, "ALTER SERVER ROLE serveradmin ADD MEMBER ann"),
            (15151, "ALTER SERVER ROLE nothing ADD MEMBER ann"),
            (15023, "CREATE USER ann"),
            (15063, "CREATE USER other FOR LOGIN ann"),
            (15007, "CREATE USER x FOR LOGIN nobody"),
            (15007, "CREATE USER nobody"),
            (15023, "CREATE USER guest"),
            (15405, "CREATE USER x FOR LOGIN sa"),
            (40510, "CREATE USER x WITHOUT LOGIN"),
            (33233, "CREATE USER x WITH PASSWORD = 'Corr3ct-horse'"),
            (15151, "DROP USER nobody"),
            (15150, "DROP USER dbo"),
            (15151, "ALTER ROLE nothing ADD MEMBER ann"),
            (15151, "ALTER ROLE db_datareader ADD MEMBER nobody"),
            (15405, "ALTER ROLE db_datareader DROP MEMBER dbo"),
            (15405, "ALTER ROLE db_datareader ADD MEMBER db_owner"),
            (15409, "EXEC sp_addrolemember 'nothing', 'ann'"),
            (15410, "EXEC sp_addrolemember 'db_owner', 'nobody'"),
            (15402, "EXEC sp_addsrvrolemember 'ann', 'nothing'"),
        ],
    );
}

#[test]
fn a_login_without_a_user_is_let_into_no_database() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    assert_eq!(numbers(&fixture.client_as("bob", PASSWORD, "d").login), [4060, 18456]);
    let mut bob = fixture.client_as("bob", PASSWORD, "");
    assert_eq!(bob.login.errors(), []);
    let answer = bob.batch("USE d");
    assert_eq!(numbers(&answer), [916]);
    assert_eq!(
        answer.said()[0].text,
        "The server principal \"bob\" is not able to access the database \"d\" under the current security context."
    );
    assert_eq!(bob.text("SELECT DB_NAME() + N' ' + CURRENT_USER"), "master guest");
    assert_eq!(bob.int("SELECT HAS_DBACCESS('d')"), 0);
    assert_eq!(bob.int("SELECT HAS_DBACCESS('master')"), 1);
    all_fail(&mut bob, &[(262, "CREATE TABLE x (a INT)"), (916, "USE model")]);
    succeed(&mut bob, "CREATE TABLE #own (a INT) INSERT INTO #own VALUES (5)");
    assert_eq!(bob.int("SELECT a FROM #own"), 5);

    succeed(&mut client, "CREATE USER robert FOR LOGIN bob");
    assert_eq!(bob.int("SELECT HAS_DBACCESS('d')"), 1);
    succeed(&mut bob, "USE d");
    assert_eq!(bob.text("SELECT USER_NAME() + N' ' + SUSER_NAME()"), "robert bob");
    assert_eq!(fixture.client_as("bob", PASSWORD, "d").login.errors(), []);
    // A session whose user is dropped can do nothing more.
    succeed(&mut client, "DROP USER robert");
    all_fail(&mut bob, &[(916, "SELECT a FROM t")]);
    succeed(&mut bob, "USE master");
    all_fail(&mut bob, &[(916, "USE d")]);
}

const SELECT: &str = "SELECT COUNT(*) AS n FROM t";
const INSERT: &str = "INSERT INTO t (a) VALUES (9)";
const UPDATE: &str = "UPDATE t SET a = 5 WHERE id = 1";
const DELETE: &str = "DELETE FROM t WHERE a = 9";
const CREATE: &str = "CREATE TABLE mine (a INT)";
const EXECUTE: &str = "EXEC p";

#[test]
fn who_is_in_no_role_may_touch_nothing_and_a_reader_may_read() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let answer = ann.batch(SELECT);
    assert_eq!(
        answer.said()[0].text,
        "The SELECT permission was denied on the object 't', database 'd', schema 'dbo'."
    );
    assert_eq!((answer.said()[0].severity, answer.said()[0].state), (14, 5));
    let changes = [(229, INSERT), (229, UPDATE), (229, DELETE), (262, CREATE)];
    all_fail(&mut ann, &changes);
    let definitions = [
        (1088, "TRUNCATE TABLE t"),
        (3701, "DROP TABLE t"),
        (1088, "ALTER TABLE t ADD b INT"),
    ];
    all_fail(&mut ann, &definitions);
    all_fail(&mut ann, &[(229, "SELECT a FROM v"), (229, EXECUTE)]);
    let denied = ann.batch(INSERT);
    assert_eq!(
        denied.said()[0].text,
        "The INSERT permission was denied on the object 't', database 'd', schema 'dbo'."
    );

    succeed(&mut client, "ALTER ROLE db_datareader ADD MEMBER ann");
    succeed(&mut ann, SELECT);
    succeed(&mut ann, "SELECT a FROM v");
    all_fail(&mut ann, &changes);
    all_fail(&mut ann, &[(262, "SELECT a INTO copy FROM t"), (229, EXECUTE)]);
    succeed(&mut ann, "SELECT a INTO #copy FROM t");
    let roles = "SELECT IS_MEMBER('db_datareader') + 2 * IS_MEMBER('db_datawriter')";
    assert_eq!(ann.int(roles), 1);
    succeed(&mut client, "ALTER ROLE db_denydatareader ADD MEMBER ann");
    all_fail(&mut ann, &[(229, SELECT)]);
}

#[test]
fn a_writer_may_write_and_reads_only_as_a_reader() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "EXEC sp_addrolemember 'db_datawriter', 'ann'");
    succeed(&mut ann, INSERT);
    succeed(&mut ann, "UPDATE t SET a = 7");
    let reading = [
        (229, SELECT),
        (229, UPDATE),
        (229, DELETE),
        (229, "INSERT INTO t (a) SELECT a FROM t"),
        (229, "INSERT INTO t (a) OUTPUT inserted.id VALUES (5)"),
        (229, "INSERT TOP (SELECT MAX(a) FROM t) INTO t (a) VALUES (1), (2)"),
        (229, "UPDATE TOP (SELECT MAX(a) FROM t) t SET a = 7"),
        (229, "DELETE TOP (SELECT MAX(a) FROM t) t"),
        (1088, "TRUNCATE TABLE t"),
    ];
    all_fail(&mut ann, &reading);
    let both = "EXEC sp_addrolemember @membername = 'ann', @rolename = 'db_datareader'";
    succeed(&mut client, both);
    for sql in [SELECT, INSERT, UPDATE, DELETE] {
        succeed(&mut ann, sql);
    }
    all_fail(
        &mut ann,
        &[(229, EXECUTE), (262, CREATE), (1088, "SET IDENTITY_INSERT t ON")],
    );
    succeed(&mut client, "ALTER ROLE db_denydatawriter ADD MEMBER ann");
    all_fail(&mut ann, &[(229, INSERT)]);
    succeed(&mut ann, SELECT);
    succeed(&mut client, "EXEC sp_droprolemember 'db_datareader', 'ann'");
    all_fail(&mut ann, &[(229, SELECT)]);
}

/// The query of SSMS for its list of databases.
#[test]
fn a_login_is_named_by_its_security_identifier() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    assert_eq!(
        client.text("SELECT SUSER_SNAME(owner_sid) FROM sys.databases WHERE name = 'd'"),
        "sa"
    );
    assert_eq!(
        client.text("SELECT SUSER_SNAME(sid) FROM sys.server_principals WHERE name = 'ann'"),
        "ann"
    );
    assert_eq!(
        client.text("SELECT SUSER_SNAME(sid) FROM sys.database_principals WHERE name = 'ann'"),
        "ann"
    );
    assert_eq!(client.value("SELECT SUSER_SNAME(0x02)"), Value::Null);
    assert_eq!(
        client.text("SELECT ISNULL(SUSER_SNAME(NULL), 'none') + SUSER_SNAME()"),
        "nonesa"
    );
}

#[test]
fn rights_on_a_view_are_enough_for_what_is_behind_it() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    succeed(
        &mut client,
        "CREATE VIEW few AS SELECT a FROM t WHERE a < 100 WITH CHECK OPTION",
    );
    succeed(
        &mut client,
        "CREATE VIEW state AS SELECT session_id FROM sys.dm_exec_connections",
    );
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let denied = ann.batch("INSERT v VALUES (9)");
    let text = "The INSERT permission was denied on the object 'v', database 'd', schema 'dbo'.";
    assert_eq!(denied.said()[0].text, text);
    succeed(&mut client, "ALTER ROLE db_datawriter ADD MEMBER ann");
    for sql in [
        "INSERT v VALUES (9)",
        "INSERT few VALUES (9)",
        "UPDATE v SET a = 7",
        "DELETE v",
        "INSERT d.dbo.v VALUES (1)",
    ] {
        succeed(&mut ann, sql);
    }
    for sql in [
        "INSERT v SELECT a FROM v",
        "INSERT v OUTPUT inserted.a VALUES (1)",
        "UPDATE v SET a = a + 1",
        "UPDATE v SET a = 1 WHERE a = 2",
        "DELETE v WHERE a = 1",
        "DELETE v OUTPUT deleted.a",
        "UPDATE q SET a = 1 FROM v AS q",
        // How many rows change reveals what the count is.
        "INSERT TOP (SELECT MAX(a) FROM v) v VALUES (1), (2)",
        "UPDATE TOP (SELECT MAX(a) FROM v) v SET a = 1",
        "DELETE TOP (SELECT MAX(a) FROM v) v",
        "WITH x AS (SELECT a FROM v) INSERT x VALUES (1)",
        "SELECT a FROM v",
    ] {
        let denied = ann.batch(sql);
        let text = "The SELECT permission was denied on the object 'v', database 'd', schema 'dbo'.";
        assert_eq!(denied.said()[0].text, text, "{sql}");
    }
    all_fail(
        &mut ann,
        &[
            (229, "INSERT v SELECT a FROM t"),
            (229, "WITH x AS (SELECT a FROM t) INSERT x VALUES (1)"),
        ],
    );
    succeed(&mut client, "ALTER ROLE db_datareader ADD MEMBER ann");
    succeed(
        &mut ann,
        "INSERT v SELECT a FROM v WHERE a = 1; WITH x AS (SELECT a FROM v) INSERT x VALUES (1)",
    );
    // What the server shows of others is not the view's owner's to give.
    all_fail(&mut ann, &[(300, "SELECT session_id FROM state")]);
}

#[test]
fn who_may_define_may_not_touch_rows_and_an_owner_may_do_both() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut client, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    succeed(&mut ann, CREATE);
    succeed(
        &mut ann,
        "CREATE INDEX ix ON mine (a) ALTER TABLE mine ADD b INT DROP TABLE mine",
    );
    all_fail(&mut ann, &[(229, INSERT), (229, EXECUTE), (15247, "CREATE USER bob")]);

    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
    for sql in [SELECT, INSERT, DELETE, EXECUTE, "CREATE USER bob", "DROP USER bob"] {
        succeed(&mut ann, sql);
    }
    succeed(&mut ann, "TRUNCATE TABLE t");
    let roles = succeed(
        &mut client,
        "SELECT r.name FROM sys.database_role_members AS m JOIN sys.database_principals AS r ON r.principal_id = m.role_principal_id
         JOIN sys.database_principals AS u ON u.principal_id = m.member_principal_id WHERE u.name = 'ann' ORDER BY r.name",
    );
    let named = |name: &str| vec![Value::Text(name.into())];
    assert_eq!(roles.rows(), [named("db_ddladmin"), named("db_owner")]);
    let fixture = fixture.restarted();
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    succeed(&mut ann, SELECT);
}

#[test]
fn what_is_the_administrators_is_refused_to_all_others() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let cases = [
        (262, "CREATE DATABASE x"),
        (3701, "DROP DATABASE d"),
        (5011, "ALTER DATABASE d SET ENCRYPTION ON"),
        (15247, "CREATE LOGIN x WITH PASSWORD = 'Corr3ct-horse'"),
        (15151, "DROP LOGIN bob"),
        (15151, "ALTER LOGIN bob WITH PASSWORD = 'Corr3ct-horse'"),
        (15151, "ALTER SERVER ROLE sysadmin ADD MEMBER ann"),
        (15247, "EXEC sp_addsrvrolemember 'ann', 'sysadmin'"),
        (15247, "USE master CREATE CERTIFICATE c WITH SUBJECT = 'x'"),
        (15247, "CREATE MASTER KEY"),
        (40510, "USE d BACKUP DATABASE d TO DISK = '/tmp/d.bak'"),
        (3110, "RESTORE DATABASE d FROM DISK = 'd.bak'"),
        (262, "RESTORE HEADERONLY FROM DISK = 'd.bak'"),
        (6102, "KILL 51"),
        (2571, "DBCC DROPCLEANBUFFERS"),
        (15247, "SHUTDOWN"),
    ];
    all_fail(&mut ann, &cases);
    assert_eq!(ann.int("SELECT IS_SRVROLEMEMBER('sysadmin')"), 0);
    let logins = succeed(&mut ann, "SELECT name FROM sys.sql_logins ORDER BY name").rows();
    assert_eq!(logins, [[Value::Text("ann".into())], [Value::Text("sa".into())]]);

    succeed(&mut client, "EXEC sp_addsrvrolemember 'ann', 'sysadmin'");
    assert_eq!(ann.int("SELECT IS_SRVROLEMEMBER('sysadmin')"), 1);
    assert_eq!(ann.text("SELECT CURRENT_USER"), "dbo");
    succeed(&mut ann, "CREATE DATABASE x");
    succeed(
        &mut ann,
        "CREATE LOGIN cid WITH PASSWORD = 'Corr3ct-horse' BACKUP DATABASE d TO DISK = 'd.bak'",
    );
    succeed(&mut client, "ALTER SERVER ROLE sysadmin DROP MEMBER ann");
    all_fail(
        &mut ann,
        &[
            (262, "CREATE DATABASE y"),
            (3110, "RESTORE DATABASE d FROM DISK = 'd.bak'"),
        ],
    );
    assert_eq!(ann.text("SELECT CURRENT_USER"), "ann");
}

#[test]
fn users_are_part_of_a_transaction_and_of_a_backup() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    succeed(
        &mut client,
        "BEGIN TRANSACTION CREATE USER bob ALTER ROLE db_datareader ADD MEMBER bob ROLLBACK",
    );
    let mut bob = fixture.client_as("bob", PASSWORD, "");
    all_fail(&mut bob, &[(916, "USE d")]);
    succeed(
        &mut client,
        "BEGIN TRANSACTION CREATE USER bob ALTER ROLE db_datareader ADD MEMBER bob COMMIT",
    );
    succeed(&mut bob, "USE d");
    succeed(&mut bob, "SELECT a FROM t");
    succeed(&mut client, "USE master");
    succeed(&mut client, "BACKUP DATABASE d TO DISK = 'd.bak'");
    succeed(&mut client, "RESTORE DATABASE e FROM DISK = 'd.bak'");
    succeed(&mut bob, "USE e");
    succeed(&mut bob, "SELECT a FROM t");
    all_fail(&mut bob, &[(229, "DELETE FROM t")]);
}

#[test]
fn definitions_are_seen_by_who_has_some_right_on_them() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE c (id INT CONSTRAINT dd DEFAULT 5, b AS id + 1, CONSTRAINT cc CHECK (id > 1))",
    );
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let counts = "SELECT CONCAT((SELECT COUNT(*) FROM sys.tables), ' ', (SELECT COUNT(*) FROM sys.views), ' ',
         (SELECT COUNT(*) FROM sys.procedures), ' ', (SELECT COUNT(*) FROM sys.indexes), ' ',
         (SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS), ' ', (SELECT COUNT(*) FROM sys.partitions))";
    let known = "SELECT CONCAT(OBJECT_ID('t') / OBJECT_ID('t'), OBJECT_ID('v') / OBJECT_ID('v'), OBJECT_ID('p') / OBJECT_ID('p'),
         COL_LENGTH('t', 'a'))";
    let texts = "SELECT CONCAT((SELECT COUNT(definition) FROM sys.sql_modules), (SELECT COUNT(definition) FROM sys.check_constraints),
         (SELECT COUNT(definition) FROM sys.default_constraints), (SELECT COUNT(definition) FROM sys.computed_columns),
         (SELECT COUNT(VIEW_DEFINITION) FROM INFORMATION_SCHEMA.VIEWS), (SELECT COUNT(CHECK_CLAUSE) FROM
         INFORMATION_SCHEMA.CHECK_CONSTRAINTS), (SELECT COUNT(COLUMN_DEFAULT) FROM INFORMATION_SCHEMA.COLUMNS))";
    assert_eq!(client.text(counts), "2 1 1 2 5 2");
    assert_eq!(client.text(texts), "2111111");
    assert_eq!(ann.text(counts), "0 0 0 0 0 0");
    assert_eq!(ann.text(known), "");
    assert_eq!(ann.text(texts), "0000000");
    for role in ["db_datareader", "db_datawriter"] {
        succeed(&mut client, &format!("ALTER ROLE {role} ADD MEMBER ann"));
        assert_eq!(ann.text(counts), "2 1 0 2 5 2", "{role}");
        assert_eq!(ann.text(known), "114", "{role}");
        assert_eq!(ann.text(texts), "0000000", "{role}");
        all_fail(
            &mut ann,
            &[(15_197, "EXEC sp_helptext 'v'"), (15_009, "EXEC sp_helptext 'p'")],
        );
        succeed(&mut client, &format!("ALTER ROLE {role} DROP MEMBER ann"));
    }
    // What she makes for herself is hers to see.
    succeed(&mut ann, "CREATE TABLE #own (id INT)");
    assert_eq!(ann.text("SELECT name FROM tempdb.sys.tables"), "#own");
    succeed(&mut client, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    assert_eq!(ann.text(counts), "2 1 1 2 5 2");
    assert_eq!(ann.text(texts), "2111111");
    assert_eq!(succeed(&mut ann, "EXEC sp_helptext 'p'").rows().len(), 1);
}

#[test]
fn the_state_of_the_server_is_the_administrators_and_of_a_session_its_own() {
    let fixture = Fixture::new();
    let mut client = administrator(&fixture);
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    for view in ["sys.dm_exec_sessions", "sys.dm_exec_requests", "sys.sysprocesses"] {
        let own = format!("SELECT COUNT(*) FROM {view}");
        assert_eq!(ann.int(&own), 1, "{view}");
        assert_eq!(
            ann.int(&format!(
                "{own} WHERE {} = @@SPID",
                if view.ends_with('s') && view.contains("dm_") {
                    "session_id"
                } else {
                    "spid"
                }
            )),
            1
        );
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.dm_exec_sessions"), 2);
    all_fail(
        &mut ann,
        &[
            (300, "SELECT * FROM sys.dm_exec_connections"),
            (300, "SELECT * FROM sys.dm_os_wait_stats"),
            (300, "SELECT * FROM d.sys.dm_exec_connections, t"),
            (300, "SELECT * FROM sys.dm_io_virtual_file_stats(NULL, NULL)"),
            (262, "SELECT * FROM sys.dm_db_partition_stats"),
        ],
    );
    assert_eq!(ann.int("SELECT COUNT(*) FROM sys.master_files"), 0);
    assert!(ann.int("SELECT COUNT(*) FROM sys.database_files") > 0);
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.dm_exec_describe_first_result_set(N'SELECT 1 AS a', NULL, 0)"),
        1
    );
    succeed(&mut client, "ALTER ROLE db_owner ADD MEMBER ann");
    assert!(ann.int("SELECT COUNT(*) FROM sys.dm_db_partition_stats") > 0);
    all_fail(&mut ann, &[(300, "SELECT * FROM sys.dm_os_wait_stats")]);
}
