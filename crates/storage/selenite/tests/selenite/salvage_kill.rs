//! A kill at any moment of a salvage leaves no file under the new name, or the complete one, and
//! the next run works.
//!
//! As in `kill.rs` the test starts itself as a child, which stops at a chosen step, and is killed
//! there.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite::Access;
use selenite::salvage::salvage;
use selenite_testing::own_process::test_command;

use crate::pausing::{Pausing, Steps, watch};
use crate::salvage::{LAYOUT, NOTES, pages, save, saved, sealed, spoil};
use crate::support::{Fixture, query};

/// Counts its steps, and stops at one of them.
struct StopAt {
    stop_at: u32,
    count: AtomicU32,
}

impl Steps for StopAt {
    fn step(&self, name: &str) {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
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
fn salvage_child() {
    let Ok(path) = std::env::var("SELENITE_TEST_SALVAGE") else {
        return;
    };
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        ..Access::default()
    };
    let steps = Arc::new(StopAt {
        stop_at: std::env::var("SELENITE_TEST_STOP_AT").unwrap().parse().unwrap(),
        count: AtomicU32::new(0),
    });
    let path = Path::new(&path);
    let to = path.with_file_name("saved.db");
    salvage(&Pausing(steps.clone()), path, &access, (&to, &[]), &watch(&steps)).unwrap();
    println!("done after {}", steps.count.load(Ordering::SeqCst));
}

/// Runs the child to the step at which it stops, and kills it; returns its output.
fn run_child(fixture: &Fixture, path: &Path, stop_at: u32) -> String {
    let mut child = test_command("salvage_kill::salvage_child")
        .env("SELENITE_TEST_SALVAGE", path)
        .env("SELENITE_TEST_KEY", fixture.spec("key"))
        .env("SELENITE_TEST_STOP_AT", stop_at.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find_map(|line| {
            ["stopped at ", "done after "]
                .iter()
                .find_map(|word| Some(line[line.find(word)?..].to_owned()))
        })
        .expect("the child says how far it is");
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_kill_during_a_salvage_leaves_no_file_or_the_complete_one() {
    const SEED: u64 = 0x5eed_0021;
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db", &LAYOUT, NOTES);
    spoil(&path, pages(&path, &fixture, "note", "leaf")[4]);
    let whole = std::fs::read(&path).unwrap();
    let said = run_child(&fixture, &path, u32::MAX);
    let count: u32 = said.strip_prefix("done after ").unwrap().parse().unwrap();
    println!("{count} steps, seed {SEED:#x}");
    let to = fixture.path("saved.db");
    let rows = saved(&fixture, "SELECT * FROM note");
    std::fs::remove_file(&to).unwrap();
    // The last steps are those around the rename: all of them, and some of the others.
    let mut state = SEED;
    let some = (0..12).map(|_| u32::try_from(random(&mut state) % u64::from(count)).unwrap());
    let stops: Vec<u32> = some.chain(count.saturating_sub(12)..count).collect();
    let mut finished = 0;
    for stop_at in stops {
        let said = run_child(&fixture, &path, stop_at);
        assert!(said.starts_with("stopped at "), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), whole, "{said}");
        if to.exists() {
            finished += 1;
            assert_eq!(
                query(&to, &fixture.access(), "SELECT * FROM note").unwrap(),
                rows,
                "{said}"
            );
        } else {
            let left: Vec<String> = fixture.names().into_iter().filter(|name| name != "app.db").collect();
            let salvaged = save(&fixture, &path);
            assert_eq!(saved(&fixture, "SELECT * FROM note"), rows, "{said}");
            // Another run could be using the leftovers: they are reported, and stay.
            let leftovers: Vec<&str> = salvaged
                .leftovers
                .iter()
                .map(|path| path.file_name().unwrap().to_str().unwrap())
                .collect();
            assert!(
                leftovers.iter().all(|name| left.iter().any(|left| left == name)),
                "{said}: {left:?}"
            );
            let drafts = left.iter().filter(|name| !name.ends_with("-journal")).count();
            assert_eq!(leftovers.len(), drafts, "{said}: {left:?}");
        }
        for name in fixture.names().iter().filter(|name| *name != "app.db") {
            std::fs::remove_file(fixture.path(name)).unwrap();
        }
    }
    assert!(finished > 0, "no kill came after the rename");
}
