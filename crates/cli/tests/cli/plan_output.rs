//! What the planner's commands write: to which file, and with which version.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use selenite_plan::{Observation, Prediction};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plan");

fn plan(folder: &Path, arguments: &str) -> Output {
    let arguments = arguments.replace("TESTDATA", TESTDATA);
    Command::new(env!("CARGO_BIN_EXE_selenite"))
        .arg("plan")
        .args(arguments.split(' '))
        .current_dir(folder)
        .env("SELENITE_CONFIG", "/dev/null")
        .output()
        .unwrap()
}

fn succeeds(folder: &Path, arguments: &str) -> String {
    let output = plan(folder, arguments);
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(folder: &Path, arguments: &str, status: i32, text: &str) {
    let output = plan(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments}: {stderr}");
    assert!(stderr.contains(text), "{arguments}: {stderr}");
}

const OBSERVE: &str = "observe postgresql TESTDATA/postgresql-17/snapshots.csv --cores 4";
const PREDICT: &str = "predict observation.json --calibration TESTDATA/calibration.json";

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}

#[test]
fn an_output_that_is_a_link_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("precious"), "mine").unwrap();
    for (name, command) in [
        ("observation.json", OBSERVE.to_owned()),
        ("plan.html", format!("{PREDICT} --html plan.html")),
        ("plan.json", format!("{PREDICT} --json plan.json")),
    ] {
        symlink("precious", at(name)).unwrap();
        succeeds(folder.path(), &command);
        assert_eq!(std::fs::read_to_string(at("precious")).unwrap(), "mine", "{command}");
        assert!(at(name).symlink_metadata().unwrap().is_file(), "{command}");
    }
    let written = ["observation.json", "plan.html", "plan.json", "precious"].map(PathBuf::from);
    assert_eq!(names(folder.path()), written);
}

#[test]
fn an_output_that_cannot_be_one_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("study.toml"), "mine").unwrap();
    succeeds(folder.path(), OBSERVE);
    for command in [
        format!("{OBSERVE} --output inner"),
        format!("{PREDICT} --html inner"),
        format!("{PREDICT} --json ."),
        "calibrate --seconds 600 --output inner".to_owned(),
        "validate --output inner".to_owned(),
    ] {
        fails(folder.path(), &command, 2, "is a folder");
    }
    for name in ["plan.out", "./plan.out"] {
        let command = format!("{PREDICT} --html plan.out --json {name}");
        fails(folder.path(), &command, 2, "--html and --json");
    }
    fails(
        folder.path(),
        "validate study.toml --output study.toml",
        2,
        "it would be overwritten",
    );
    fails(folder.path(), "calibrate --output no/such/file", 2, "does not exist");
    let study = folder.path().join("study.toml");
    assert_eq!(std::fs::read_to_string(study).unwrap(), "mine");
    assert_eq!(
        names(folder.path()),
        ["inner", "observation.json", "study.toml"].map(PathBuf::from)
    );
    assert_eq!(names(&inner).len(), 0);
}

#[test]
fn an_output_can_be_a_descriptor() {
    let folder = tempfile::tempdir().unwrap();
    succeeds(folder.path(), OBSERVE);
    let shown = succeeds(folder.path(), &format!("{PREDICT} --json /dev/fd/1"));
    assert!(shown.starts_with("{\n  \"format\": 1,"), "{shown}");
    assert!(shown.contains("90 % intervals"), "{shown}");
    assert_eq!(names(folder.path()), [Path::new("observation.json")]);
}

#[test]
fn files_have_a_version_and_a_newer_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    succeeds(folder.path(), OBSERVE);
    succeeds(folder.path(), &format!("{PREDICT} --json plan.json"));
    let text = std::fs::read_to_string(at("observation.json")).unwrap();
    let observation = Observation::parse(&text).unwrap();
    assert_eq!(observation.cores, Some(4.0));
    let prediction = Prediction::parse(&std::fs::read_to_string(at("plan.json")).unwrap()).unwrap();
    assert_eq!(prediction.cores, 4.0);
    let newer = text
        .replacen("\"format\": 1", "\"format\": 2", 1)
        .replacen("\"notes\"", "\"remarks\"", 1);
    assert_ne!(newer, text);
    std::fs::write(at("observation.json"), newer).unwrap();
    fails(
        folder.path(),
        PREDICT,
        5,
        "it is of version 2, and this program reads version 1",
    );
    std::fs::write(at("observation.json"), text.replacen("\"format\"", "\"version\"", 1)).unwrap();
    fails(folder.path(), PREDICT, 5, "it has no version");
}
