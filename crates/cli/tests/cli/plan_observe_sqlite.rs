//! `selenite plan observe sqlite`, with snapshots that an application made.

use std::path::Path;
use std::process::{Command, Output};

use selenite_plan::observation::Engine;
use selenite_plan::{Observation, Operation};

use crate::fixture::Fixture;

fn observe(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
    command.args(["plan", "observe"]).args(arguments).current_dir(folder);
    command.env("SELENITE_CONFIG", "/dev/null");
    command.output().unwrap()
}

#[test]
fn snapshots_of_an_application_become_an_observation() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plan/sqlite/snapshots.csv");
    let output = observe(folder.path(), &["sqlite", snapshots, "--cores", "4"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("observation.json")).unwrap();
    let observation = Observation::parse(&text).unwrap();
    assert_eq!((observation.engine, observation.cores), (Engine::Sqlite, Some(4.0)));
    let commits = observation.load_per_second().amount(Operation::Commit).count;
    assert!((commits - 50.0).abs() < 0.01, "{commits}");
}

#[test]
fn the_query_makes_a_snapshot() {
    let (fixture, _) = Fixture::encrypted();
    let query = fixture.run(&["plan", "observe", "--print-query", "sqlite"]).done();
    let ran = fixture.run(&["-i", "key.txt", "exec", "app.db", &query.out]).done();
    let roles: Vec<&str> = ran.out.lines().filter_map(|line| line.split('\t').nth(2)).collect();
    assert_eq!(roles, ["database", "wal", "journal"]);
}
