//! `selenite compromised` after earlier changes that are incomplete, and after interrupted runs of
//! its own; interrupted changes of keys.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use selenite::Database;
use selenite::storage::Disk;

use crate::fixture::{Fixture, Ignored, Ran};
use crate::reencrypt::{count, fixture, seal, start_slowly, state, wait_until_seen};

/// Adds another identity. Returns the first digits of its slot.
fn add(fixture: &Fixture, name: &str) -> String {
    if !fixture.path(name).exists() {
        fixture.run(&["keygen", "-o", name]).done();
    }
    // By the file of the identity, so that the slot gets an origin mark.
    fixture.run(&["-i", "key.txt", "keys", "add", "app.db", name]).done();
    opens(fixture, name).done();
    let listed = fixture.run(&["keys", "list", "app.db", "--json"]).done().json();
    let slots = listed["slots"].as_array().unwrap();
    slots.last().unwrap()["id"].as_str().unwrap()[..8].to_owned()
}

fn opens(fixture: &Fixture, name: &str) -> Ran {
    fixture.run(&["-i", name, "exec", "app.db", "SELECT count(*) FROM note"])
}

fn compromised(fixture: &Fixture, arguments: &[&str]) -> Ran {
    fixture.run(&[&["-i", "key.txt", "compromised", "app.db"], arguments].concat())
}

/// Starts a run, and ends it in its third step by a signal.
fn stop_in_last_step(fixture: &Fixture, slot: &str, signal: Signal) -> std::process::Output {
    let slow = ["-i", "key.txt", "compromised", "app.db", slot, "--max-rate", "200kB/s"];
    let child = fixture
        .command(&slow)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_seen(fixture);
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

/// A re-encryption that was killed.
fn stop_a_new_key(fixture: &Fixture) {
    let mut child = start_slowly(fixture);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(state(fixture)["state"], "changing key or suite");
}

#[test]
fn a_change_that_was_begun_before_is_not_taken_for_the_third_step() {
    let fixture = fixture();
    let slot = add(&fixture, "other.txt");
    let before = count(&fixture);
    stop_a_new_key(&fixture);
    compromised(&fixture, &["ffffffff"]).failed(2, "no key slot");
    opens(&fixture, "other.txt").done();
    let told = compromised(&fixture, &[&slot]).done().out;
    for step in [
        "1 of 3",
        "removed key slot",
        "2 of 3",
        "new master key",
        "3 of 3",
        "key epoch 3",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
    opens(&fixture, "other.txt").failed(4, "");
    assert_eq!(
        (state(&fixture)["state"].as_str().unwrap(), count(&fixture)),
        ("steady", before)
    );
}

#[test]
fn two_key_holders_in_a_row_are_both_revoked() {
    let fixture = fixture();
    let first = add(&fixture, "other.txt");
    let second = add(&fixture, "third.txt");
    stop_in_last_step(&fixture, &first, Signal::KILL);
    let told = compromised(&fixture, &[&second]).done().out;
    assert!(
        told.contains("removed key slot") && told.contains("key epoch 3"),
        "{told}"
    );
    opens(&fixture, "other.txt").failed(4, "");
    opens(&fixture, "third.txt").failed(4, "");
    opens(&fixture, "key.txt").done();
}

#[test]
fn stopped_in_its_last_step_it_says_how_to_go_on_and_does_no_more_than_is_left() {
    let fixture = fixture();
    let slot = add(&fixture, "other.txt");
    let stopped = stop_in_last_step(&fixture, &slot, Signal::INT);
    let err = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert_eq!(stopped.status.code(), Some(130), "{err}");
    assert!(
        err.contains(&format!("selenite compromised app.db {slot} --go-on")),
        "{err}"
    );
    // A removed slot cannot be distinguished from a mistyped one.
    compromised(&fixture, &[&slot]).failed(2, "--go-on");
    let told = compromised(&fixture, &[&slot, "--go-on"]).done().out;
    assert!(told.contains("already done") && told.contains("key epoch 2"), "{told}");
    opens(&fixture, "other.txt").failed(4, "");
}

#[test]
fn a_slot_that_would_be_lost_stops_it_before_anything_is_changed() {
    let fixture = fixture();
    let slot = add(&fixture, "other.txt");
    std::fs::write(fixture.path("phrase.txt"), "correct horse battery staple\n").unwrap();
    fixture
        .run(&["-i", "key.txt", "keys", "add", "app.db", "passphrase:phrase.txt"])
        .done();
    compromised(&fixture, &[&slot]).failed(1, "(passphrase)");
    opens(&fixture, "other.txt").done();
    let told = compromised(&fixture, &[&slot, "-r", "passphrase:phrase.txt"])
        .done()
        .out;
    assert!(told.contains("key epoch 2"), "{told}");
    opens(&fixture, "other.txt").failed(4, "");
    opens(&fixture, "passphrase:phrase.txt").done();
}

#[test]
fn a_new_key_does_not_continue_an_earlier_one() {
    let fixture = fixture();
    stop_a_new_key(&fixture);
    let refused = seal(&fixture, &["--new-key"]).failed(2, "in progress");
    assert!(
        refused.err.contains("epoch 2") && refused.err.contains("--resume"),
        "{refused:?}"
    );
    let told = seal(&fixture, &["--cipher", "AES_256"]).done().out;
    assert!(told.contains("continued") && told.contains("key epoch 2"), "{told}");
    let told = seal(&fixture, &["--new-key"]).done().out;
    assert!(!told.contains("continued") && told.contains("key epoch 3"), "{told}");
}

/// Starts a command that has to wait for a writer, and interrupts it once it handles signals.
fn interrupt_waiting(fixture: &Fixture, arguments: &[&str]) -> Ran {
    let writer = Database::open(&Disk, &fixture.path("app.db"), &fixture.access()).unwrap();
    writer.run("BEGIN IMMEDIATE", &mut Ignored).unwrap();
    let child = fixture
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !catches_interrupts(child.id()) {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// From proc_pid_status(5): SigCgt, of which SIGINT is the second bit.
fn catches_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0))
}

#[test]
fn an_interrupted_change_of_keys_changes_nothing_and_says_so() {
    let fixture = fixture();
    let slot = add(&fixture, "other.txt");
    fixture.run(&["keygen", "-o", "third.txt"]).done();
    let third = fixture.recipient("third.txt");
    let before = std::fs::read(fixture.path("app.db")).unwrap();
    for command in [
        &["keys", "add", "app.db", &third][..],
        &["keys", "remove", "app.db", &slot],
        &["keys", "replace", "app.db", &slot, &third],
        &["keys", "renew", "app.db"],
        &["keys", "repair", "app.db"],
        &["compromised", "app.db", &slot],
    ] {
        let ran = interrupt_waiting(&fixture, &[&["-i", "key.txt"], command].concat());
        let ran = ran.failed(130, "interrupted");
        assert!(ran.err.contains("run the same command again"), "{ran:?}");
        assert_eq!(ran.out, "", "{command:?}");
    }
    assert!(std::fs::read(fixture.path("app.db")).unwrap() == before);
    compromised(&fixture, &[&slot]).done();
    opens(&fixture, "other.txt").failed(4, "");
}
