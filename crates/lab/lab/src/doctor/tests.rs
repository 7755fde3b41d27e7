use std::fs;

use selenite_doctor::{Verdict, worst};

use super::*;
use crate::drive::WorkerCommand;

fn verdict(checks: &[Check], name: &str) -> Verdict {
    checks.iter().find(|check| check.name == name).unwrap().verdict
}

#[test]
fn a_machine_without_facts_fails_only_for_missing_tools() {
    let folder = tempfile::tempdir().unwrap();
    let checks = machine(&Source::at(folder.path()), folder.path(), 1);
    for check in &checks {
        assert!(check.verdict != Verdict::Problem || check.name == "fincore", "{check}");
        assert!(check.verdict == Verdict::Ok || check.advice.is_some(), "{check}");
    }
    assert_eq!(verdict(&checks, "AES instructions"), Verdict::Advice);
    assert_eq!(verdict(&checks, "frequency governor"), Verdict::Ok);
}

#[test]
fn steal_time_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("proc")).unwrap();
    let of = |stat: &str| {
        fs::write(folder.path().join("proc/stat"), stat).unwrap();
        verdict(
            &machine(&Source::at(folder.path()), folder.path(), 1),
            "time given to other machines",
        )
    };
    assert_eq!(of("cpu  500 0 0 490 0 0 0 10\n"), Verdict::Ok);
    assert_eq!(of("cpu  500 0 0 489 0 0 0 11\n"), Verdict::Advice);
}

#[test]
fn too_little_disk_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("not/yet");
    let disk = |bytes| verdict(&machine(&Source::at("/nowhere"), &missing, bytes), "free disk");
    assert_eq!(disk(1), Verdict::Ok);
    assert_eq!(disk(u64::MAX), Verdict::Problem);
}

#[test]
fn an_own_engine_that_does_not_start_is_a_failure_and_another_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("selenite-worker-broken"), "no program").unwrap();
    let engines_there = Engines::new(WorkerCommand::new("/nowhere/selenite"), vec![folder.path().to_owned()]);
    let checks = engines(&engines_there);
    assert_eq!(verdict(&checks, "engine sqlite"), Verdict::Problem);
    assert_eq!(verdict(&checks, "engine broken"), Verdict::Advice);
    assert_eq!(worst(&checks), Verdict::Problem);
    assert_eq!(worst(&[]), Verdict::Ok);
}

#[test]
fn a_program_that_is_not_a_worker_fails_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    for program in ["/bin/false", "/nowhere/worker"] {
        let checks = contract(&WorkerCommand::new(program), folder.path());
        assert_eq!(worst(&checks), Verdict::Problem, "{checks:?}");
    }
}
