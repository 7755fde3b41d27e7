//! Sessions and file descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use selenite_testing::own_process;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// As little as a shell's default, and little enough to be used up.
const DESCRIPTORS: u64 = 320;

#[test]
fn a_login_that_takes_all_it_gets_keeps_no_administrator_out() {
    own_process!();
    // As low as it may become by itself: the server would raise it.
    let maximum = Some(DESCRIPTORS);
    let current = Some(DESCRIPTORS / 2);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let fixture = Fixture::new();
    assert_eq!(getrlimit(Resource::Nofile).current, maximum);
    let limits = fixture.running.instance().registry().limits();
    assert!((2..64).contains(&limits.max), "{limits:?}");
    let mut administrator = fixture.client();
    for number in 0..4 {
        succeed(&mut administrator, &format!("CREATE DATABASE d{number}"));
    }
    for login in ["one", "other"] {
        let create = format!("CREATE LOGIN {login} WITH PASSWORD = 'Pass-word-1', CHECK_POLICY = OFF");
        succeed(&mut administrator, &create);
        for number in 0..4 {
            let user = format!("USE d{number} CREATE USER {login} FOR LOGIN {login} USE master");
            succeed(&mut administrator, &user);
        }
    }
    drop(administrator);
    let sessions: Vec<Client> = ["one", "other"]
        .iter()
        .flat_map(|login| take_all(&fixture, login))
        .collect();
    assert!(sessions.len() >= limits.max / 2, "{}", sessions.len());
    let mut administrator = fixture.client();
    for number in 0..4 {
        succeed(
            &mut administrator,
            &format!("USE d{number} CREATE TABLE t (a INT) INSERT t VALUES (1) SELECT * FROM t DROP TABLE t"),
        );
    }
    let found = administrator.int("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = 1");
    assert_eq!(usize::try_from(found).unwrap(), sessions.len() + 1);
    // He makes room.
    succeed(&mut administrator, "KILL 51");
    drop(sessions);
    while fixture.running.instance().registry().sessions().len() > 1 {
        std::thread::yield_now();
    }
    assert_eq!(fixture.client_as("one", "Pass-word-1", "d0").login.errors(), []);
}

#[test]
fn a_session_without_free_descriptors_gets_an_error() {
    own_process!();
    let maximum = Some(DESCRIPTORS);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    )
    .unwrap();
    let fixture = Fixture::new();
    let mut administrator = fixture.client();
    succeed(&mut administrator, "CREATE DATABASE d");
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    let answer = administrator.batch("USE d");
    assert_eq!(numbers(&answer), [4060], "{answer:?}");
    assert!(answer.said()[0].text.contains("too many files"), "{answer:?}");
    drop(files);
    succeed(&mut administrator, "USE d CREATE TABLE t (a INT)");
}

/// Sessions of a login until no more are admitted, each in as many databases as it gets.
fn take_all(fixture: &Fixture, login: &str) -> Vec<Client> {
    let mut sessions = Vec::new();
    loop {
        assert!(sessions.len() < 1000);
        let mut client = fixture.client_as(login, "Pass-word-1", "");
        let refused = numbers(&client.login);
        if refused == [17809] {
            return sessions;
        }
        assert_eq!(refused, [0_i32; 0]);
        // A temporary table keeps the database open when the session has left it.
        for number in 0..4 {
            let told = numbers(&client.batch(&format!("USE d{number} CREATE TABLE #t{number} (a INT)")));
            assert!(told.is_empty() || told == [4060], "{told:?}");
        }
        sessions.push(client);
    }
}
