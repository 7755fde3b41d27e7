//! A kill at any moment leaves either the complete old database or the complete new one.
//!
//! The test starts itself as a child that converts a database. At a step that the parent chose,
//! the child reports that and stops, and the parent kills it there: this does not depend on time.
//! In addition, children that do not stop are killed some microseconds after they began: between
//! steps, during SQLite's writes.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use selenite::storage::Disk;
use selenite::{Access, Cell, Encrypt, FileContent, Target, Watch, decrypt, encrypt, inspect, verify};
use selenite_testing::own_process::test_command;

use crate::pausing::{Pausing, Steps, watch};
use crate::power::Power;
use crate::support::{Fixture, query, query_plain};

const NOTES: &str = "PRAGMA page_size = 1024;
    CREATE TABLE note (id INTEGER PRIMARY KEY, text, extra);
    CREATE INDEX note_by_text ON note (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO note SELECT i, 'note ' || i, randomblob(60) FROM n;";

const DUMP: &str = "SELECT * FROM note ORDER BY id";

/// Counts its steps, and stops at one of them.
struct StopAt {
    stop_at: u32,
    count: AtomicU32,
}

impl Steps for StopAt {
    fn step(&self, name: &str) {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        if name == "create" {
            println!("begun");
        }
        if count == self.stop_at {
            println!("stopped at {name}");
            // Until the parent kills this process; the end of its input means that the parent has
            // ended.
            let _ = std::io::stdin().read(&mut [0]);
            std::process::exit(9);
        }
    }
}

/// The child process. Does nothing when it is run as a test.
#[test]
fn child() {
    let Ok(path) = std::env::var("SELENITE_TEST_PATH") else {
        return;
    };
    let stop_at: u32 = std::env::var("SELENITE_TEST_STOP_AT").unwrap().parse().unwrap();
    let key = std::env::var("SELENITE_TEST_KEY").unwrap();
    let is_encryption = std::env::var("SELENITE_TEST_ENCRYPT").is_ok();
    let access = Access {
        identity: Some(key.parse().unwrap()),
        ..Access::default()
    };
    let steps = Arc::new(StopAt {
        stop_at,
        count: AtomicU32::new(0),
    });
    let storage = Pausing(steps.clone());
    if is_encryption {
        encrypt(&storage, Path::new(&path), &access, &Encrypt::default(), &watch(&steps)).unwrap();
    } else {
        decrypt(&storage, Path::new(&path), &access, &Target::InPlace, &watch(&steps)).unwrap();
    }
    println!("done after {}", steps.count.load(Ordering::SeqCst));
}

/// Runs the child, and kills it where it stops; returns its output.
fn run_child(fixture: &Fixture, path: &Path, is_encryption: bool, stop_at: u32) -> String {
    let (mut child, mut lines) = start_child(fixture, path, is_encryption, stop_at);
    let said = wait_for(&mut lines, &["stopped at ", "done after "]);
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// The rest of the line from one of the words on. libtest may write before it on the same line.
fn wait_for(lines: &mut Lines, words: &[&str]) -> String {
    lines
        .map(Result::unwrap)
        .find_map(|line| words.iter().find_map(|word| Some(line[line.find(word)?..].to_owned())))
        .expect("the child says how far it is")
}

fn start_child(fixture: &Fixture, path: &Path, is_encryption: bool, stop_at: u32) -> (Child, Lines) {
    let mut command = test_command("kill::child");
    command
        .env("SELENITE_TEST_PATH", path)
        .env("SELENITE_TEST_KEY", fixture.spec("key"))
        .env("SELENITE_TEST_STOP_AT", stop_at.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    if is_encryption {
        command.env("SELENITE_TEST_ENCRYPT", "1");
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn step_count(is_encryption: bool, mode: &str) -> u32 {
    let fixture = Fixture::new();
    let path = prepare(&fixture, is_encryption, mode).0;
    let said = run_child(&fixture, &path, is_encryption, u32::MAX);
    said.strip_prefix("done after ").unwrap().parse().unwrap()
}

fn prepare(fixture: &Fixture, is_encryption: bool, mode: &str) -> (std::path::PathBuf, Vec<Vec<Cell>>) {
    let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
    let rows = query_plain(&path, DUMP);
    if !is_encryption {
        encrypt(&Disk, &path, &fixture.access(), &Encrypt::default(), &Watch::none()).unwrap();
    }
    (path, rows)
}

/// Checks that the file is one of the two databases, complete; and that a second run succeeds.
fn check(fixture: &Fixture, path: &Path, rows: &[Vec<Cell>], said: &str) {
    let access = fixture.access();
    let is_sealed = match inspect(&Disk, path).unwrap() {
        FileContent::Sealed { .. } => true,
        FileContent::Plain => false,
        FileContent::Empty | FileContent::Foreign => panic!("{said}: no database"),
    };
    if is_sealed {
        assert_eq!(query(path, &access, DUMP).unwrap(), rows, "{said}");
        let report = verify::verify(&Disk, path, &access, &verify::Verify::default(), &Watch::none()).unwrap();
        assert!(
            report.physical.is_good() && report.faults == Some(Vec::new()),
            "{said}: {report:?}"
        );
        decrypt(&Disk, path, &access, &Target::InPlace, &Watch::none()).unwrap();
    } else {
        assert_eq!(query_plain(path, DUMP), rows, "{said}");
        assert_eq!(
            query_plain(path, "PRAGMA integrity_check"),
            [[Cell::Text("ok".into())]],
            "{said}"
        );
        encrypt(&Disk, path, &access, &Encrypt::default(), &Watch::none()).unwrap();
    }
    assert_eq!(fixture.names(), ["app.db"], "{said}: the next run removes what is left");
}

/// xorshift: the seed is printed, and repeats the same steps.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn kill_everywhere(is_encryption: bool, mode: &str, seed: u64) {
    let count = step_count(is_encryption, mode);
    println!("{count} steps, seed {seed}");
    // The last steps are those around the rename: all of them, and some of the others.
    let mut stops: Vec<u32> = (count.saturating_sub(LAST_STEPS)..count).collect();
    let mut state = seed;
    for _ in 0..12 {
        stops.push(u32::try_from(random(&mut state) % u64::from(count)).unwrap());
    }
    for stop_at in stops {
        let fixture = Fixture::new();
        let (path, rows) = prepare(&fixture, is_encryption, mode);
        let said = run_child(&fixture, &path, is_encryption, stop_at);
        check(&fixture, &path, &rows, &said);
    }
    kill_between_steps(is_encryption, mode, state);
}

fn kill_between_steps(is_encryption: bool, mode: &str, mut state: u64) {
    let fixture = Fixture::new();
    let (path, _) = prepare(&fixture, is_encryption, mode);
    let (mut child, mut lines) = start_child(&fixture, &path, is_encryption, u32::MAX);
    wait_for(&mut lines, &["begun"]);
    let begun = Instant::now();
    wait_for(&mut lines, &["done after "]);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    child.wait().unwrap();
    for _ in 0..12 {
        let fixture = Fixture::new();
        let (path, rows) = prepare(&fixture, is_encryption, mode);
        let (mut child, mut lines) = start_child(&fixture, &path, is_encryption, u32::MAX);
        wait_for(&mut lines, &["begun"]);
        let begun = Instant::now();
        let wanted = Duration::from_micros(random(&mut state) % whole);
        while begun.elapsed() < wanted {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        check(
            &fixture,
            &path,
            &rows,
            &format!("killed after {wanted:?} of {whole} us"),
        );
    }
}

#[test]
fn a_kill_while_encrypting_leaves_one_whole_database() {
    kill_everywhere(true, "DELETE", 0x5eed_0001);
}

#[test]
fn a_kill_while_encrypting_a_database_in_wal_mode_leaves_one_whole_database() {
    kill_everywhere(true, "WAL", 0x5eed_0002);
}

#[test]
fn a_kill_while_decrypting_leaves_one_whole_database() {
    kill_everywhere(false, "WAL", 0x5eed_0003);
}

/// As many, at the end.
const LAST_STEPS: u32 = 14;
/// More than there are from the last look at the name on.
const STEPS_AROUND_RENAME: u32 = 6;

fn count_of_notes(connection: &Connection) -> Result<i64, Option<ErrorCode>> {
    let count = connection.query_row("SELECT count(*) FROM note", [], |row| row.get(0));
    count.map_err(|error| error.sqlite_error_code())
}

/// It was open before, without a lock: an unencrypted file in any program, an encrypted one in an application that does
/// not go on in the other file.
#[test]
fn no_connection_reads_on_in_a_file_that_lost_its_name_wherever_a_kill_came() {
    for is_encryption in [true, false] {
        let count = step_count(is_encryption, "DELETE");
        let mut renamed = 0;
        for stop_at in count.saturating_sub(STEPS_AROUND_RENAME)..count {
            let fixture = Fixture::new();
            let (path, _) = prepare(&fixture, is_encryption, "DELETE");
            let before = std::fs::metadata(&path).unwrap().ino();
            let open = || match is_encryption {
                true => Connection::open(&path).unwrap(),
                false => Connection::open(fixture.access().uri(&path).as_str()).unwrap(),
            };
            let (idle, never_used) = (open(), open());
            assert_eq!(count_of_notes(&idle), Ok(3000));
            let said = run_child(&fixture, &path, is_encryption, stop_at);
            if std::fs::metadata(&path).unwrap().ino() == before {
                continue;
            }
            let refused = match is_encryption {
                true => ErrorCode::NotADatabase,
                false => ErrorCode::SystemIoFailure,
            };
            for connection in [&idle, &never_used, &idle] {
                assert_eq!(count_of_notes(connection), Err(Some(refused)), "{said}");
            }
            renamed += 1;
        }
        assert!(renamed > 1, "{renamed}");
    }
}

/// It is marked as one that lost its name.
#[test]
fn a_file_that_kept_its_name_is_read_again_by_all_once_the_extension_has_opened_it() {
    for mode in ["DELETE", "WAL"] {
        let count = step_count(true, mode);
        let mut marked = 0;
        for stop_at in count.saturating_sub(STEPS_AROUND_RENAME)..count {
            let fixture = Fixture::new();
            let (path, rows) = prepare(&fixture, true, mode);
            if run_child(&fixture, &path, true, stop_at) != "stopped at rename" {
                continue;
            }
            marked += 1;
            let stock = || count_of_notes(&Connection::open(&path).unwrap());
            assert_eq!(stock(), Err(Some(ErrorCode::NotADatabase)), "{mode}");
            assert_eq!(query_plain(&path, DUMP), rows, "{mode}");
            assert_eq!(stock(), Ok(3000), "{mode}");
            // Without a log, it is in rollback mode.
            assert_eq!(std::fs::read(&path).unwrap()[18..20], [1, 1], "{mode}");
        }
        assert_eq!(marked, 1, "{mode}");
    }
}

/// The mark is taken back if the rename fails.
#[test]
fn an_error_at_any_step_leaves_a_file_that_any_program_reads_or_the_encrypted_one() {
    for mode in ["DELETE", "WAL"] {
        let mut replaced = 0;
        for fails_at in 0.. {
            let fixture = Fixture::new();
            let (path, _) = prepare(&fixture, true, mode);
            let power = Power::failing_at(fails_at);
            let ended = encrypt(&power, &path, &fixture.access(), &Encrypt::default(), &Watch::none());
            if matches!(inspect(&Disk, &path).unwrap(), FileContent::Plain) {
                assert!(ended.is_err(), "{mode}, {fails_at}");
                let found = count_of_notes(&Connection::open(&path).unwrap());
                assert_eq!(found, Ok(3000), "{mode}, {fails_at}");
            } else {
                replaced += 1;
            }
            if power.step_count() < fails_at {
                break;
            }
        }
        assert!(replaced > 1, "{replaced}");
    }
}
