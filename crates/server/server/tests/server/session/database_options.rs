//! ALTER DATABASE SET: what is carried out, what the views tell, and what is refused.

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// A database `d` with a table `t`, and no user in it.
fn database(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d CREATE TABLE t (a int) INSERT t VALUES (1)");
    succeed(&mut client, "USE master");
    client
}

#[test]
fn what_was_set_is_shown_and_outlives_the_server() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for text in [
        "RECOVERY SIMPLE, PAGE_VERIFY CHECKSUM",
        "READ_COMMITTED_SNAPSHOT ON",
        "ALLOW_SNAPSHOT_ISOLATION ON, COMPATIBILITY_LEVEL = 150",
        "ANSI_NULLS OFF, QUOTED_IDENTIFIER OFF, AUTO_CLOSE ON, AUTO_SHRINK OFF WITH NO_WAIT",
        "QUERY_STORE = OFF",
        "READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
    ] {
        succeed(&mut client, &format!("ALTER DATABASE d SET {text}"));
    }
    let shown = "SELECT CONCAT(compatibility_level, ' ', is_read_committed_snapshot_on, snapshot_isolation_state, \
                 is_ansi_nulls_on, is_quoted_identifier_on, is_auto_close_on, is_ansi_padding_on, ' ', user_access_desc, \
                 ' ', state_desc, ' ', DATABASEPROPERTYEX('d', 'IsAnsiNullsEnabled'), ' ', \
                 DATABASEPROPERTYEX('d', 'IsAutoClose')) FROM sys.databases WHERE name = 'd'";
    let expected = selenite_types::Value::Text("150 110011 MULTI_USER ONLINE 0 1".into());
    assert_eq!(client.value(shown), expected);
    drop(client);
    let fixture = fixture.restarted();
    assert_eq!(fixture.client().value(shown), expected);
}

#[test]
fn a_read_only_database_is_read_and_not_changed() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(&mut client, "ALTER DATABASE d SET READ_ONLY WITH NO_WAIT");
    succeed(&mut client, "USE d CREATE TABLE #t (a int) INSERT #t SELECT a FROM t");
    for text in [
        "INSERT t VALUES (2)",
        "DELETE t",
        "CREATE TABLE u (a int)",
        "BEGIN TRAN UPDATE t SET a = 3",
    ] {
        assert_eq!(numbers(&client.batch(text)), [3906], "{text}");
    }
    succeed(&mut client, "ROLLBACK");
    assert_eq!(client.int("SELECT a FROM t"), 1);
    assert_eq!(
        client.int("SELECT CAST(is_read_only AS int) FROM sys.databases WHERE name = 'd'"),
        1
    );
    succeed(&mut client, "ALTER DATABASE CURRENT SET READ_WRITE");
    succeed(&mut client, "INSERT t VALUES (2)");
}

#[test]
fn a_database_of_one_user_ends_or_refuses_the_others() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    let mut other = fixture.client();
    succeed(&mut other, "USE d BEGIN TRAN INSERT t VALUES (2)");
    let refused = client.batch("ALTER DATABASE d SET SINGLE_USER WITH NO_WAIT");
    assert_eq!(numbers(&refused), [5070, 5069]);
    let refused = client.batch("SET LOCK_TIMEOUT 20 ALTER DATABASE d SET SINGLE_USER");
    assert_eq!(numbers(&refused), [5061, 5069]);
    succeed(
        &mut client,
        "USE d ALTER DATABASE d SET SINGLE_USER WITH ROLLBACK IMMEDIATE",
    );
    assert!(other.try_ask("SELECT 1").is_err() || other.answer().is_err());
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
    let mut third = fixture.client();
    assert_eq!(numbers(&third.batch("USE d")), [924]);
    succeed(&mut client, "ALTER DATABASE d SET MULTI_USER");
    succeed(&mut third, "USE d");
    assert_eq!(third.int("SELECT COUNT(*) FROM t"), 1);
}

#[test]
fn a_restricted_database_is_for_its_owners() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN low WITH PASSWORD = 'Gruen-Tisch-3' CREATE LOGIN own WITH PASSWORD = 'Gruen-Tisch-3'",
    );
    succeed(
        &mut client,
        "USE d CREATE USER low CREATE USER own ALTER ROLE db_owner ADD MEMBER own",
    );
    succeed(&mut client, "ALTER DATABASE d SET RESTRICTED_USER");
    let mut low = fixture.client_as("low", "Gruen-Tisch-3", "master");
    assert_eq!(numbers(&low.batch("USE d")), [923]);
    succeed(
        &mut fixture.client_as("own", "Gruen-Tisch-3", "master"),
        "USE d SELECT a FROM t",
    );
    assert_eq!(numbers(&low.batch("ALTER DATABASE d SET MULTI_USER")), [5011]);
}

#[test]
fn an_offline_database_is_closed_until_it_is_online() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    succeed(&mut client, "USE d");
    assert_eq!(
        numbers(&client.batch("ALTER DATABASE d SET OFFLINE WITH ROLLBACK IMMEDIATE")),
        [5070, 5069]
    );
    succeed(
        &mut client,
        "USE master ALTER DATABASE d SET OFFLINE WITH ROLLBACK IMMEDIATE",
    );
    assert_eq!(numbers(&client.batch("USE d")), [942]);
    assert_eq!(numbers(&client.batch("SELECT a FROM d.dbo.t")), [942]);
    let state = "SELECT CONCAT(state, state_desc, DATABASEPROPERTYEX('d', 'Status'), HAS_DBACCESS('d')) FROM sys.databases \
                 WHERE name = 'd'";
    assert_eq!(
        client.value(state),
        selenite_types::Value::Text("6OFFLINEOFFLINE0".into())
    );
    succeed(&mut client, "ALTER DATABASE d SET ONLINE");
    succeed(&mut client, "USE d SELECT a FROM t");
}

#[test]
fn what_means_nothing_here_is_refused_by_name() {
    let fixture = Fixture::new();
    let mut client = database(&fixture);
    for (number, text) in [
        (40510, "ALTER DATABASE d SET RECOVERY FULL"),
        (40510, "ALTER DATABASE d SET QUERY_STORE = ON"),
        (
            40510,
            "ALTER DATABASE d SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE)",
        ),
        (40510, "ALTER DATABASE d SET TARGET_RECOVERY_TIME = 60 SECONDS"),
        (40510, "ALTER DATABASE d SET TRUSTWORTHY ON"),
        (15048, "ALTER DATABASE d SET COMPATIBILITY_LEVEL = 90"),
        (102, "ALTER DATABASE d SET NO_SUCH_OPTION ON"),
        (5058, "ALTER DATABASE master SET SINGLE_USER"),
        (5011, "ALTER DATABASE nowhere SET MULTI_USER"),
        (226, "BEGIN TRAN ALTER DATABASE d SET MULTI_USER"),
        (40510, "ROLLBACK CREATE DATABASE e COLLATE Latin1_General_BIN2"),
        (40510, "CREATE DATABASE e WITH TRUSTWORTHY ON"),
    ] {
        assert_eq!(numbers(&client.batch(text)), [number], "{text}");
    }
}
