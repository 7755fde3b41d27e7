use std::fs;

use super::*;
use crate::drive::WorkerCommand;

fn state(checks: &[Check], name: &str) -> CheckResult {
    checks.iter().find(|check| check.name == name).unwrap().state
}

#[test]
fn a_machine_without_facts_fails_only_for_missing_tools() {
    let folder = tempfile::tempdir().unwrap();
    let checks = machine(&Source::at(folder.path()), folder.path(), 1);
    for check in &checks {
        assert!(check.state != CheckResult::Fail || check.name == "fincore", "{check}");
        assert!(check.state == CheckResult::Ok || check.advice.is_some(), "{check}");
    }
    assert_eq!(state(&checks, "AES instructions"), CheckResult::Warn);
    assert_eq!(state(&checks, "frequency governor"), CheckResult::Ok);
}

#[test]
fn steal_time_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("proc")).unwrap();
    let of = |stat: &str| {
        fs::write(folder.path().join("proc/stat"), stat).unwrap();
        state(
            &machine(&Source::at(folder.path()), folder.path(), 1),
            "time given to other machines",
        )
    };
    assert_eq!(of("cpu  500 0 0 490 0 0 0 10\n"), CheckResult::Ok);
    assert_eq!(of("cpu  500 0 0 489 0 0 0 11\n"), CheckResult::Warn);
}

#[test]
fn too_little_disk_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("not/yet");
    let disk = |bytes| state(&machine(&Source::at("/nowhere"), &missing, bytes), "free disk");
    assert_eq!(disk(1), CheckResult::Ok);
    assert_eq!(disk(u64::MAX), CheckResult::Fail);
}

#[test]
fn an_own_engine_that_does_not_start_is_a_failure_and_another_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("selenite-worker-broken"), "no program").unwrap();
    let engines_there = Engines::new(WorkerCommand::new("/nowhere/selenite"), vec![folder.path().to_owned()]);
    let checks = engines(&engines_there);
    assert_eq!(state(&checks, "engine sqlite"), CheckResult::Fail);
    assert_eq!(state(&checks, "engine broken"), CheckResult::Warn);
    assert_eq!(worst(&checks), CheckResult::Fail);
    assert_eq!(worst(&[]), CheckResult::Ok);
}

#[test]
fn a_program_that_is_not_a_worker_fails_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    for program in ["/bin/false", "/nowhere/worker"] {
        let checks = contract(&WorkerCommand::new(program), folder.path());
        assert_eq!(worst(&checks), CheckResult::Fail, "{checks:?}");
    }
}
