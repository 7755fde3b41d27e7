//! A server that is killed while it makes, removes and restores databases: each is there whole afterwards, or its
//! name is free.
//!
//! The server is a process of its own: this test's program, run once more for one test of it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use selenite_tds::PacketSize;
use selenite_testing::own_process::test_command;
use selenite_types::Value;

use super::client::Client;
use super::encryption::run;
use super::fixture::{in_sqlite, launch, place_of_key};

const PLACE: &str = "SELENITE_KILLED_PLACE";
const KILLS: u64 = 24;
/// What a CREATE DATABASE takes, and some.
const LONGEST: u64 = 30_000;

/// Not a test by itself: the server of the one below.
#[test]
fn a_server_for_the_kills() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let place = PathBuf::from(place);
    let mut password = String::new();
    let (running, _hall) = launch(&place, &mut password);
    if !password.is_empty() {
        std::fs::write(place.join("password"), &password).unwrap();
    }
    println!("\nlistening {}", running.address());
    std::io::stdout().flush().unwrap();
    // Until the kill, or the end of the process that would kill it.
    let _ = std::io::stdin().lines().next();
}

struct Killed {
    child: Child,
    client: Client,
}

fn start(place: &Path) -> Killed {
    let mut child = test_command("session::killed::a_server_for_the_kills")
        .env(PLACE, place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map(Result::unwrap)
        .find_map(|line| Some(line.strip_prefix("listening ")?.to_owned()));
    let address: SocketAddr = told.unwrap().parse().unwrap();
    let password = std::fs::read_to_string(place.join("password")).unwrap();
    let client = Client::new(address, &password, PacketSize::DEFAULT).unwrap();
    Killed { child, client }
}

impl Killed {
    /// Sends a batch, and kills the server some time after it.
    fn kill_behind(mut self, batch: &str, after: Duration) {
        self.client.ask(batch);
        let asked = Instant::now();
        while asked.elapsed() < after {
            std::hint::spin_loop();
        }
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_database_is_whole_or_its_name_is_free_after_any_kill() {
    let place = place_of_key(7);
    let mut server = start(place.path());
    run(
        &mut server.client,
        &[
            "CREATE DATABASE kept",
            "USE kept",
            "CREATE TABLE t (a INT)",
            "INSERT t VALUES (1), (2), (3)",
            "USE master",
            "BACKUP DATABASE kept TO DISK = 'kept.bak'",
        ],
    );
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut random = u64::from(since.subsec_nanos());
    println!("seed {random}");
    let mut met = 0;
    for number in 0..KILLS {
        random = u64::wrapping_add(random, 0x9e37_79b9_7f4a_7c15);
        let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let batch = match number % 3 {
            0 => "CREATE DATABASE made",
            1 => "IF DB_ID('made') IS NULL CREATE DATABASE made DROP DATABASE made",
            _ => "RESTORE DATABASE restored FROM DISK = 'kept.bak' WITH REPLACE",
        };
        server.kill_behind(batch, Duration::from_micros((mixed >> 32) % LONGEST));
        met += unfinished(place.path());
        server = start(place.path());
        check(&mut server.client, &place.path().join("data"), mixed % 2 == 0);
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    println!("{met} of {KILLS} kills left something to put right");
}

/// How many databases a kill left on their way.
fn unfinished(place: &Path) -> i64 {
    let master = in_sqlite(place, "master");
    let sql = "SELECT count(*) FROM selenite_database WHERE unfinished <> ''";
    master.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn check(client: &mut Client, folder: &Path, drops_restored: bool) {
    let listed = client
        .batch("SELECT name FROM sys.databases WHERE database_id > 4")
        .rows();
    let names: BTreeSet<String> = listed
        .into_iter()
        .map(|row| match &row[0] {
            Value::Text(name) => name.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    assert!(!files.iter().any(|name| name.contains("selenite-tmp")), "{files:?}");
    let databases = files.iter().filter_map(|name| name.strip_suffix(".db"));
    let databases: BTreeSet<String> = databases.filter(|name| *name != "master").map(str::to_owned).collect();
    assert_eq!(names, databases);
    for name in &names {
        run(
            client,
            &[&format!("USE {name}"), "SELECT * FROM sys.objects", "USE master"],
        );
    }
    assert!(names.contains("kept"));
    if names.contains("restored") {
        run(client, &["USE restored"]);
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 3);
        run(client, &["USE master"]);
        if drops_restored {
            run(client, &["DROP DATABASE restored"]);
        }
    }
    // What is not there can be made.
    run(
        client,
        &["IF DB_ID('made') IS NULL CREATE DATABASE made", "DROP DATABASE made"],
    );
}
