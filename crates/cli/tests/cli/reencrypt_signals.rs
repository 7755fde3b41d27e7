//! `selenite reencrypt` interrupted by Ctrl-C or by a service manager, in every state: the current
//! batch ends, completed work is kept, and the message explains how to continue.

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use selenite::storage::Disk;
use selenite::{Access, Cell, Database, Rows};

use crate::fixture::Fixture;
use crate::reencrypt::{count, fixture, seal, start_slowly, state};

struct Nothing;

impl Rows for Nothing {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, _: Vec<Cell>) -> bool {
        true
    }

    fn end(&mut self) {}
}

/// A connection of this process to the database.
struct Holder(Database);

impl Holder {
    fn new(fixture: &Fixture) -> Self {
        selenite::install().unwrap();
        let access = Access {
            identity: Some(format!("age:{}", fixture.path("key.txt").display()).parse().unwrap()),
            busy_wait: Duration::from_secs(60),
            ..Access::default()
        };
        Self(Database::open(&Disk, &fixture.path("app.db"), &access).unwrap())
    }

    fn run(&self, sql: &str) {
        self.0.run(sql, &mut Nothing).unwrap();
    }
}

/// Waits until the state names what the command waits for.
fn wait_for(fixture: &Fixture, waiting: &str) {
    loop {
        let state = state(fixture);
        if state["running"]["waiting"].as_str().unwrap_or("").starts_with(waiting) {
            assert!(state["running"]["waiting_since"].as_u64().unwrap() >= state["running"]["since"].as_u64().unwrap());
            return;
        }
        std::thread::yield_now();
    }
}

fn stop(fixture: &Fixture, child: Child, signal: Signal, state_left: &str) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{signal:?} {err}");
    assert!(
        err.contains("interrupted before all pages") && err.contains("selenite reencrypt") && err.contains("--resume"),
        "{signal:?} {err}"
    );
    let left = state(fixture);
    assert!(left["running"].is_null(), "{left}");
    assert_eq!(left["state"], state_left, "{left}");
}

/// Another run completes the re-encryption.
fn go_on(fixture: &Fixture, before: &str) {
    seal(fixture, &["--resume"]).done();
    let end = state(fixture);
    assert_eq!(
        (end["state"].as_str().unwrap(), count(fixture).as_str()),
        ("steady", before)
    );
    fixture.run(&["-i", "key.txt", "verify", "app.db"]).done();
}

const SIGNALS: [Signal; 2] = [Signal::INT, Signal::TERM];
const SEALING: &str = "changing key or suite";

#[test]
fn while_it_seals_it_stops_behind_the_batch_and_keeps_the_cursor() {
    for signal in SIGNALS {
        let fixture = fixture();
        let before = count(&fixture);
        let child = start_slowly(&fixture);
        stop(&fixture, child, signal, SEALING);
        let left = state(&fixture);
        let done = left["pages_done"].as_u64().unwrap();
        assert!(done > 0 && done < left["pages"].as_u64().unwrap(), "{left}");
        go_on(&fixture, &before);
    }
}

#[test]
fn while_it_waits_for_a_writer_it_names_that_one_and_stops() {
    for signal in SIGNALS {
        let fixture = fixture();
        let before = count(&fixture);
        let holder = Holder::new(&fixture);
        let child = start_slowly(&fixture);
        holder.run("BEGIN IMMEDIATE");
        let named = format!("process {} writes", std::process::id());
        wait_for(&fixture, &format!("waiting for writers: {named}"));
        let told = seal(&fixture, &["--status"]).done().out;
        assert!(told.contains(&format!("{named}, since 20")), "{told}");
        stop(&fixture, child, signal, SEALING);
        // The next run reports the process that it would have to wait for.
        seal(&fixture, &["--resume"]).failed(7, &named);
        holder.run("ROLLBACK");
        go_on(&fixture, &before);
    }
}

#[test]
fn while_it_waits_for_a_reader_at_the_end_it_names_that_one_and_stops() {
    for signal in SIGNALS {
        let fixture = fixture();
        let before = count(&fixture);
        let holder = Holder::new(&fixture);
        holder.run("CREATE TABLE other(x); BEGIN; SELECT count(*) FROM note");
        let arguments = ["-i", "key.txt", "reencrypt", "app.db", "--new-key"];
        let mut command = fixture.command(&arguments);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let named = format!("process {} reads", std::process::id());
        wait_for(&fixture, &format!("waiting for readers: {named}"));
        stop(&fixture, child, signal, "finishing");
        holder.run("COMMIT");
        go_on(&fixture, &before);
    }
}

#[test]
fn while_it_is_paused_it_stops_and_going_on_ends_the_pause() {
    for signal in SIGNALS {
        let fixture = fixture();
        let before = count(&fixture);
        let child = start_slowly(&fixture);
        seal(&fixture, &["--pause"]).done();
        wait_for(&fixture, "paused");
        stop(&fixture, child, signal, SEALING);
        let left = state(&fixture);
        assert!(
            left["paused"] == true && left["pages_done"].as_u64().unwrap() > 0,
            "{left}"
        );
        go_on(&fixture, &before);
        assert_eq!(state(&fixture)["paused"], false);
    }
}
