//! `selenite reencrypt` and `selenite compromised`.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::fixture::{Fixture, NOTES, run};

/// Some hundred pages, so that a re-encryption takes a while.
pub fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let rows = "INSERT INTO note SELECT id + 1000, randomblob(3000) FROM note";
    fixture.plain("app.db", &format!("{NOTES} {rows}; PRAGMA journal_mode = WAL"));
    fixture.run(&["-i", "key.txt", "encrypt", "app.db"]).done();
    fixture
}

pub fn seal(fixture: &Fixture, arguments: &[&str]) -> crate::fixture::Ran {
    fixture.run(&[&["-i", "key.txt", "reencrypt", "app.db"], arguments].concat())
}

pub fn count(fixture: &Fixture) -> String {
    let counted = fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT count(*) FROM note", "--json"]);
    counted.done().out
}

pub fn state(fixture: &Fixture) -> serde_json::Value {
    seal(fixture, &["--status", "--json"]).done().json()
}

/// Starts a re-encryption that is too slow to complete, and waits until its state is visible to others.
pub fn start_slowly(fixture: &Fixture) -> Child {
    let slow = [
        "-i",
        "key.txt",
        "reencrypt",
        "app.db",
        "--new-key",
        "--max-rate",
        "200kB/s",
    ];
    let child = fixture
        .command(&slow)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_seen(fixture);
    child
}

/// Waits until the re-encryption is visible to others.
pub fn wait_until_seen(fixture: &Fixture) {
    while state(fixture)["running"]["done"].as_u64().unwrap_or(0) == 0 {
        std::thread::yield_now();
    }
}

#[test]
fn changes_of_key_and_suite_are_reported_and_keep_rows() {
    let fixture = fixture();
    let before = count(&fixture);
    let told = seal(&fixture, &["--new-key"]).done();
    assert!(
        told.out.contains("AES_256, key epoch 2; the old key was destroyed"),
        "{told:?}"
    );
    assert!(
        told.out.contains("at most by 99 % of batches") && told.out.contains("final check"),
        "{told:?}"
    );
    seal(
        &fixture,
        &["--cipher", "AEGIS_256X4", "--max-rate", "1GB/s", "--max-lock-ms", "5"],
    )
    .done();
    assert_eq!(
        (state(&fixture)["state"].as_str().unwrap(), count(&fixture)),
        ("steady", before)
    );
    let status = fixture.run(&["status", "app.db", "--json"]).done().json();
    assert_eq!(status["superblock"]["suite"], "AEGIS_256X4", "{status}");
    fixture.run(&["-i", "key.txt", "verify", "app.db"]).done();
    assert_eq!(
        fixture.names().iter().filter(|name| name.contains("-selenite")).count(),
        0
    );
}

#[test]
fn off_needs_the_extension_still_and_on_encrypts_again() {
    let fixture = fixture();
    let off = seal(&fixture, &["--off"]).done();
    assert!(
        off.err.contains("still needs the extension") && off.err.contains("selenite decrypt"),
        "{off:?}"
    );
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"])
        .failed(3, "NONE");
    assert!(
        std::fs::read(fixture.path("app.db"))
            .unwrap()
            .windows(14)
            .any(|bytes| bytes == b"a secret of ou")
    );
    for refused in [
        &["verify", "app.db"][..],
        &["exec", "app.db", "SELECT 1"],
        &["decrypt", "app.db"],
    ] {
        let ran = fixture
            .run(&[&["-i", "key.txt"], refused].concat())
            .failed(3, "its only suite is NONE");
        assert!(ran.err.contains("SELENITE_PLAIN=allow"), "{ran:?}");
    }
    let mut allowed = fixture.command(&["-i", "key.txt", "verify", "app.db"]);
    run(allowed.env("SELENITE_PLAIN", "allow")).done();
    seal(&fixture, &["--new-key"]).failed(2, "unencrypted");
    seal(&fixture, &["--pause"]).failed(2, "no re-encryption is in progress");
    seal(&fixture, &["--on"]).done();
    assert!(count(&fixture).contains("1000"));
    assert!(
        !std::fs::read(fixture.path("app.db"))
            .unwrap()
            .windows(14)
            .any(|bytes| bytes == b"a secret of ou")
    );
}

#[test]
fn a_second_run_is_refused_and_an_interruption_names_the_next_command() {
    let fixture = fixture();
    let before = count(&fixture);
    let child = start_slowly(&fixture);
    seal(&fixture, &["--cipher", "CHACHA20"]).failed(7, &format!("process {}", child.id()));
    let told = seal(&fixture, &["--status"]).done().out;
    assert!(
        told.contains("changing key or suite") && told.contains("per second"),
        "{told}"
    );
    assert_eq!(count(&fixture), before);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        err.contains("interrupted before all pages") && err.contains("--resume"),
        "{err}"
    );
    assert!(state(&fixture)["running"].is_null());
    seal(&fixture, &["--off"]).failed(2, "a re-encryption to AES_256 is in progress");
    seal(&fixture, &["--resume"]).done();
    assert_eq!(
        (state(&fixture)["state"].as_str().unwrap(), count(&fixture)),
        ("steady", before)
    );
    seal(&fixture, &["--resume"]).failed(2, "no re-encryption is in progress");
}

#[test]
fn a_pause_of_another_is_asked_for_and_ended() {
    let fixture = fixture();
    let child = start_slowly(&fixture);
    seal(&fixture, &["--pause"]).done();
    while state(&fixture)["running"]["waiting"] != "paused" {
        std::thread::yield_now();
    }
    assert_eq!(state(&fixture)["paused"], true);
    let told = seal(&fixture, &["--resume"]).done().out;
    assert!(told.contains(&format!("process {} continues", child.id())), "{told}");
    assert_eq!(state(&fixture)["paused"], false);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

/// A kill leaves the file with the process id, which another process may get later.
#[test]
fn a_reencryption_killed_during_a_pause_does_not_continue() {
    let fixture = fixture();
    let before = count(&fixture);
    let mut child = start_slowly(&fixture);
    seal(&fixture, &["--pause"]).done();
    while state(&fixture)["running"]["waiting"] != "paused" {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let claim = fixture.path("app.db-selenite");
    let text = std::fs::read_to_string(&claim).unwrap();
    let reused = text.replace(
        &format!("pid {}\n", child.id()),
        &format!("pid {}\n", std::process::id()),
    );
    assert_ne!(reused, text);
    std::fs::write(&claim, reused).unwrap();
    assert!(state(&fixture)["running"].is_null());
    let told = seal(&fixture, &["--resume"]).done().out;
    assert!(told.contains("key epoch 2"), "{told}");
    assert_eq!(
        (state(&fixture)["state"].as_str().unwrap(), count(&fixture)),
        ("steady", before)
    );
}

#[test]
fn an_offline_reencryption_names_a_running_online_one() {
    let fixture = fixture();
    let mut child = start_slowly(&fixture);
    let refused = seal(&fixture, &["--offline", "--new-key"]).failed(7, &format!("process {} has been", child.id()));
    assert!(refused.err.contains(" since 2"), "{refused:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    seal(&fixture, &["--offline", "--new-key"]).done();
    assert_eq!(state(&fixture)["state"], "steady");
}

#[test]
fn a_key_holder_is_revoked_in_three_steps() {
    let fixture = fixture();
    fixture
        .run(&["-i", "key.txt", "keys", "add", "app.db", "other.txt"])
        .done();
    let listed = fixture.run(&["keys", "list", "app.db", "--json"]).done().json();
    let slot = listed["slots"][1]["id"].as_str().unwrap().to_owned();
    fixture.run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"]).done();
    let told = fixture
        .run(&["-i", "key.txt", "compromised", "app.db", &slot[..8]])
        .done()
        .out;
    for step in [
        "1 of 3",
        "removed key slot",
        "2 of 3",
        "new master key",
        "3 of 3",
        "key epoch 2",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
    fixture
        .run(&["-i", "other.txt", "exec", "app.db", "SELECT 1"])
        .failed(4, "");
    assert!(count(&fixture).contains("1000"));
    // Called again with --go-on, it does the remaining steps.
    fixture
        .run(&["-i", "key.txt", "compromised", "app.db", &slot[..8]])
        .failed(2, "no key slot");
    let again = fixture
        .run(&["-i", "key.txt", "compromised", "app.db", &slot[..8], "--go-on"])
        .done()
        .out;
    assert!(
        again.contains("already removed") && again.contains("key epoch 3"),
        "{again}"
    );
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let fixture = fixture();
    for bad in [
        &["--new-key", "--off"][..],
        &[],
        &["--new-key", "--max-rate", "fast"],
        &["--new-key", "--max-rate", "5"],
        &["--cipher", "NONE"],
        &["--new-key", "--max-lock-ms", "0"],
    ] {
        assert_eq!(seal(&fixture, bad).status, 2, "{bad:?}");
    }
    fixture.plain("clear.db", NOTES);
    fixture
        .run(&["-i", "key.txt", "reencrypt", "clear.db", "--new-key"])
        .failed(3, "");
    fixture
        .run(&["-i", "key.txt", "reencrypt", "none.db", "--new-key"])
        .failed(6, "none.db");
}
