//! The audit log.

use rusqlite::Connection;

use super::client::{numbers, succeed};
use super::fixture::Fixture;

/// Event, outcome, error, login, session, database and object of each line.
fn events(fixture: &Fixture) -> Vec<[String; 7]> {
    let text = std::fs::read_to_string(fixture.data_folder().join("audit.jsonl")).unwrap();
    let sqlite = Connection::open_in_memory().unwrap();
    let members = ["event", "outcome", "error", "login", "session", "database", "object"];
    let event = |line: &str| {
        members.map(|member| {
            let sql = "SELECT COALESCE(CAST(json_extract(?1, '$.' || ?2) AS TEXT), '')";
            sqlite.query_row(sql, [line, member], |row| row.get(0)).unwrap()
        })
    };
    text.lines().map(event).collect()
}

#[test]
fn logins_and_changes_of_principals_keys_and_databases_are_logged_without_secrets() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for statement in [
        "CREATE LOGIN one WITH PASSWORD = 'Pass-word-1'",
        "CREATE DATABASE d",
        "USE d CREATE USER one FOR LOGIN one",
        "EXEC sp_addrolemember 'db_datareader', 'one'",
        "CREATE SCHEMA s AUTHORIZATION one",
        "GRANT SELECT, INSERT ON SCHEMA::dbo TO one, public",
        "USE master DENY VIEW SERVER STATE TO one",
        "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'Master-Key-1'",
        "CREATE CERTIFICATE c WITH SUBJECT = 's'",
        "BACKUP DATABASE d TO DISK = 'd.bak'",
        "SELECT 'not-logged'",
    ] {
        succeed(&mut client, statement);
    }
    assert_eq!(numbers(&client.batch("DROP DATABASE nothing")), [3701]);
    assert_eq!(numbers(&fixture.client_as("one", "Wrong-word-1", "").login), [18456]);
    let mut one = fixture.client_as("one", "Pass-word-1", "d");
    assert_eq!(
        numbers(&one.batch("ALTER SERVER ROLE sysadmin ADD MEMBER one")),
        [15151]
    );
    succeed(&mut client, "KILL 52");
    while fixture.running.instance().registry().sessions().len() > 1 {
        std::thread::yield_now();
    }
    drop(client);
    while !fixture.running.instance().registry().sessions().is_empty() {
        std::thread::yield_now();
    }
    let fixture = fixture.restarted();
    let told = events(&fixture);
    let mut told: Vec<String> = told
        .iter()
        .map(|event| event.join("|").trim_end_matches('|').to_owned())
        .collect();
    // Two sessions write them: the killed one may be first.
    if let Some(kill_and_logout) = told.get_mut(16..18) {
        kill_and_logout.sort();
    }
    let expected = [
        "START|ok",
        "LOGIN|ok||sa|51|master",
        "CREATE LOGIN|ok||sa|51|master|one",
        "CREATE DATABASE|ok||sa|51|master|d",
        "CREATE USER|ok||sa|51|d|one",
        "sp_addrolemember|ok||sa|51|d|db_datareader, one",
        "CREATE SCHEMA|ok||sa|51|d|s, one",
        "GRANT|ok||sa|51|d|SELECT, INSERT ON SCHEMA::dbo TO one, public",
        "DENY|ok||sa|51|master|VIEW SERVER STATE TO one",
        "CREATE MASTER KEY|ok||sa|51|master",
        "CREATE CERTIFICATE|ok||sa|51|master|c",
        "BACKUP|ok||sa|51|master|d",
        "DROP DATABASE|failed|3701|sa|51|master|nothing",
        "LOGIN|failed|18456|one",
        "LOGIN|ok||one|52|d",
        "ALTER SERVER ROLE|failed|15151|one|52|d|sysadmin, ADD MEMBER one",
        "KILL|ok||sa|51|master|52",
        "LOGOUT|ok||one|52",
        "LOGOUT|ok||sa|51",
        "STOP|ok",
        "START|ok",
    ];
    assert_eq!(told, expected);
    let text = std::fs::read_to_string(fixture.data_folder().join("audit.jsonl")).unwrap();
    for secret in ["Pass-word-1", "Wrong-word-1", "Master-Key-1", "not-logged"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[test]
fn an_event_names_its_login_and_whom_that_executes_as() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for statement in [
        "CREATE DATABASE d CREATE LOGIN one WITH PASSWORD = 'Pass-word-1' CREATE LOGIN two WITH PASSWORD = 'Pass-word-2'",
        "USE d CREATE USER two ALTER ROLE db_owner ADD MEMBER two",
        "EXECUTE AS USER = 'two' CREATE ROLE r1 REVERT CREATE ROLE r2",
    ] {
        succeed(&mut client, statement);
    }
    succeed(&mut client, "USE master EXECUTE AS LOGIN = 'one'");
    assert_eq!(numbers(&client.batch("CREATE DATABASE e")), [262]);
    let text = std::fs::read_to_string(fixture.data_folder().join("audit.jsonl")).unwrap();
    let line = |word: &str| text.lines().find(|line| line.contains(word)).unwrap();
    assert!(line("\"r1\"").contains("\"login\":\"sa\",\"executes_as\":\"two\""));
    assert!(!line("\"r2\"").contains("executes_as"));
    assert!(line("\"e\"").contains("\"login\":\"sa\",\"executes_as\":\"one\""));
}

#[test]
fn nobody_logs_in_while_the_audit_log_cannot_be_written_if_that_is_said() {
    for refuses_logins in [false, true] {
        let fixture = Fixture::with(move |config| config.audit.refuses_logins = refuses_logins);
        let mut present = fixture.client();
        let path = fixture.data_folder().join("audit.jsonl");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let refused = numbers(&fixture.client_as("sa", fixture.password(), "").login);
        assert_eq!(refused == [18456], refuses_logins, "{refused:?}");
        succeed(&mut present, "CREATE DATABASE d");
        std::fs::remove_dir(&path).unwrap();
        drop(fixture.client());
        let events: Vec<String> = events(&fixture).into_iter().map(|[event, ..]| event).collect();
        assert!(events.contains(&"LOGIN".to_owned()), "{events:?}");
    }
}

#[test]
fn a_session_that_is_refused_without_end_does_not_fill_the_log() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let refused = "EXEC sp_addrolemember 'no_such_role', 'nobody' DROP DATABASE nothing ".repeat(500);
    assert_eq!(numbers(&client.batch(&refused)).len(), 1000);
    // What is done is written all the same.
    succeed(&mut client, "CREATE LOGIN one WITH PASSWORD = 'Pass-word-1'");
    drop(client);
    while !fixture.running.instance().registry().sessions().is_empty() {
        std::thread::yield_now();
    }
    let told = events(&fixture);
    let of = |event: &str| told.iter().filter(|told| told[0] == event).count();
    let minutes = of("REFUSED CALLS");
    assert!((1..10).contains(&minutes), "{minutes}");
    let single = of("sp_addrolemember") + of("DROP DATABASE");
    assert!((60..=60 * minutes).contains(&single), "{single}");
    assert_eq!(of("CREATE LOGIN"), 1);
    let text = std::fs::read_to_string(fixture.data_folder().join("audit.jsonl")).unwrap();
    let sqlite = Connection::open_in_memory().unwrap();
    let counted: i64 = text
        .lines()
        .map(|line| {
            let sql = "SELECT COALESCE(json_extract(?1, '$.count'), 0)";
            sqlite.query_row(sql, [line], |row| row.get::<_, i64>(0)).unwrap()
        })
        .sum();
    assert_eq!(i64::try_from(single).unwrap() + counted, 1000);
}
