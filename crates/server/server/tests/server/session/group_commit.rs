//! Sessions that commit at the same time share syncs, and none loses what was acknowledged to it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use selenite_tds::{Done, PacketSize};
use selenite_testing::own_process::test_command;

use super::client::Client;
use super::fixture::{Fixture, in_sqlite};

const TABLE: &str = "USE d CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL)";

fn made(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    assert_eq!(client.batch("CREATE DATABASE d").errors(), []);
    assert_eq!(client.batch(TABLE).errors(), []);
    client
}

#[test]
fn sessions_that_commit_at_the_same_time_share_syncs() {
    const SESSIONS: i32 = 16;
    const COMMITS: i32 = 20;
    /// Of so many times one shows it: that they meet is up to the machine.
    const ROUNDS: i32 = 20;
    let fixture = Fixture::new();
    let mut first = made(&fixture);
    let shares = |round: i32| {
        let before = fixture.database_registry.sync_figures("d").unwrap();
        commit_side_by_side(&fixture, SESSIONS, COMMITS, round * SESSIONS * COMMITS);
        let after = fixture.database_registry.sync_figures("d").unwrap();
        let commits = after.commit_count - before.commit_count;
        let syncs = after.sync_count - before.sync_count;
        assert_eq!(commits, u64::try_from(SESSIONS * COMMITS).unwrap());
        assert_eq!(first.int("SELECT COUNT(*) FROM t"), (round + 1) * SESSIONS * COMMITS);
        assert!(syncs <= commits, "{syncs} syncs of {commits} commits");
        syncs < commits
    };
    assert!((0..ROUNDS).any(shares), "each commit had a sync of its own");
}

/// Each session inserts rows of its own, from that key on.
fn commit_side_by_side(fixture: &Fixture, sessions: i32, commits: i32, first_key: i32) {
    std::thread::scope(|scope| {
        for session in 0..sessions {
            let mut client = fixture.client();
            client.batch("USE d");
            scope.spawn(move || {
                for number in 0..commits {
                    let key = first_key + session * commits + number;
                    let text = match number % 2 {
                        0 => format!("INSERT INTO t VALUES ({key}, {session})"),
                        _ => format!("BEGIN TRAN INSERT INTO t VALUES ({key}, {session}) COMMIT"),
                    };
                    assert_eq!(client.batch(&text).errors(), []);
                }
            });
        }
    });
}

#[test]
fn who_fails_takes_nothing_of_the_others_along() {
    const SESSIONS: i32 = 8;
    const ROUNDS: i32 = 15;
    let fixture = Fixture::new();
    let mut first = made(&fixture);
    assert_eq!(first.batch("INSERT INTO t VALUES (-1, 0)").errors(), []);
    std::thread::scope(|scope| {
        for session in 0..SESSIONS {
            let mut client = fixture.client();
            client.batch("USE d");
            scope.spawn(move || {
                for number in 0..ROUNDS {
                    let key = session * ROUNDS + number;
                    if session % 2 == 0 {
                        // Its first row is undone with its second.
                        let text = format!("INSERT INTO t VALUES ({}, 0), (-1, 0)", 10_000 + key);
                        assert_eq!(client.batch(&text).errors(), [(2627, 1)]);
                    }
                    let text = format!("INSERT INTO t VALUES ({key}, {session})");
                    assert_eq!(client.batch(&text).errors(), []);
                }
            });
        }
    });
    assert_eq!(
        first.int("SELECT COUNT(*) FROM t WHERE a BETWEEN 0 AND 9999"),
        SESSIONS * ROUNDS
    );
    assert_eq!(first.int("SELECT COUNT(*) FROM t WHERE a >= 10000"), 0);
}

#[test]
fn what_only_reads_syncs_nothing() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let before = fixture.database_registry.sync_figures("d").unwrap();
    client.batch("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN SELECT COUNT(*) FROM t COMMIT");
    client.batch("BEGIN TRAN INSERT INTO t VALUES (1, 1) ROLLBACK");
    assert_eq!(fixture.database_registry.sync_figures("d").unwrap(), before);
    client.batch("CREATE TABLE u (a INT)");
    let after = fixture.database_registry.sync_figures("d").unwrap();
    assert_eq!(after.commit_count, before.commit_count + 1);
}

#[test]
fn a_commit_waits_for_no_disk_where_the_database_says_so() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let count = |fixture: &Fixture| fixture.database_registry.sync_figures("d").unwrap().commit_count;
    let delayed = "BEGIN TRAN INSERT INTO t VALUES (@@SPID + @@ROWCOUNT, 1) COMMIT WITH (DELAYED_DURABILITY = ON)";
    let mut before = count(&fixture);
    assert_eq!(client.batch(delayed).errors(), []);
    assert_eq!(count(&fixture), before + 1, "the database allows no delay");
    client.batch("DELETE FROM t");
    assert_eq!(
        client
            .batch("ALTER DATABASE d SET DELAYED_DURABILITY = ALLOWED")
            .errors(),
        []
    );
    before = count(&fixture);
    assert_eq!(client.batch(delayed).errors(), []);
    assert_eq!(count(&fixture), before);
    assert_eq!(client.batch("INSERT INTO t VALUES (1000, 1)").errors(), []);
    assert_eq!(count(&fixture), before + 1);
    assert_eq!(
        client
            .batch("ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED")
            .errors(),
        []
    );
    before = count(&fixture);
    assert_eq!(client.batch("INSERT INTO t VALUES (1001, 1)").errors(), []);
    assert_eq!(count(&fixture), before);
    assert_eq!(
        client
            .batch("ALTER DATABASE d SET DELAYED_DURABILITY = SOMETIMES")
            .errors(),
        [(102, 1)]
    );
    assert_eq!(
        client
            .batch("ALTER DATABASE nowhere SET DELAYED_DURABILITY = FORCED")
            .errors(),
        [(5011, 1)]
    );
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    client.batch("USE d INSERT INTO t VALUES (1002, 1)");
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE a > 999"), 3);
    assert_eq!(count(&fixture), 0);
}

/// What the other process says: address, password and place of the server that is killed.
const MARK: &str = "server to be killed: ";
/// Set in the other process, which runs the same test.
const ROLE: &str = "SELENITE_TEST_SERVER_TO_BE_KILLED";

/// The other process: a server, until it is killed, or the process that would kill it is gone.
fn serve_until_killed() {
    let fixture = Fixture::new();
    made(&fixture);
    let place = fixture.data_folder();
    println!(
        "{MARK}{} {} {}",
        fixture.running.address(),
        fixture.password(),
        place.parent().unwrap().display()
    );
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    const SESSIONS: i32 = 6;
    if std::env::var_os(ROLE).is_some() {
        return serve_until_killed();
    }
    let place = tempfile::tempdir().unwrap();
    let mut server = test_command("session::group_commit::a_server_that_is_killed_loses_nothing_that_it_acknowledged")
        .env(ROLE, "1")
        .env("TMPDIR", place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let line = lines
        .map(Result::unwrap)
        .find_map(|line| line.split_once(MARK).map(|(_, rest)| rest.to_owned()))
        .unwrap();
    let mut words = line.splitn(3, ' ');
    let (address, password, folder) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    let address = address.parse().unwrap();
    let acknowledged: Vec<i32> = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|session| {
                let mut client = Client::new(address, password, PacketSize::DEFAULT).unwrap();
                client.batch("USE d");
                scope.spawn(move || insert_until_it_ends(&mut client, session))
            })
            .collect();
        // Some are in the middle of a commit.
        let mut watcher = Client::new(address, password, PacketSize::DEFAULT).unwrap();
        watcher.batch("USE d");
        while watcher.int("SELECT COUNT(*) FROM t") < 60 {}
        server.kill().unwrap();
        server.wait().unwrap();
        sessions
            .into_iter()
            .flat_map(|session| session.join().unwrap())
            .collect()
    });
    let connection = in_sqlite(Path::new(folder), "d");
    let mut statement = connection.prepare("SELECT a FROM t").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, i32>(0)).unwrap();
    let rows: std::collections::HashSet<i32> = rows.collect::<Result<_, _>>().unwrap();
    let lost: Vec<&i32> = acknowledged.iter().filter(|key| !rows.contains(key)).collect();
    assert_eq!(lost, Vec::<&i32>::new());
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
    // What was not acknowledged may be there, one of each session at most.
    assert!(rows.len() <= acknowledged.len() + usize::try_from(SESSIONS).unwrap());
}

/// The keys of rows that were acknowledged until the server was killed.
fn insert_until_it_ends(client: &mut Client, session: i32) -> Vec<i32> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let key = session * 1_000_000 + number;
        let sent = selenite_tds::client::batch(
            &super::client::HEADERS,
            &format!("INSERT INTO t VALUES ({key}, 0)"),
            PacketSize::DEFAULT,
            selenite_tds::Reset::None,
        );
        if client.send(&sent.unwrap()).is_err() {
            break;
        }
        let Ok(answer) = client.answer() else { break };
        let done = answer.dones();
        if done.last().is_some_and(|done| done.status & Done::COUNT != 0) {
            acknowledged.push(key);
        }
    }
    acknowledged
}
