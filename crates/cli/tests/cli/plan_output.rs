//! What the planner's commands write: to which file, and with which version.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use selenite_plan::{Observation, Prediction};

use crate::fixture::Fixture;

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
fn an_output_can_be_a_descriptor_and_standard_output_has_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        OBSERVE.to_owned() + " --output -",
        format!("{PREDICT} --json -"),
        format!("{PREDICT} --json /dev/stdout"),
        format!("{PREDICT} --json /dev/fd/1"),
    ] {
        succeeds(folder.path(), OBSERVE);
        let output = plan(folder.path(), &command);
        let shown = String::from_utf8(output.stdout).unwrap();
        let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(json["format"], 1, "{command}");
        let beside = String::from_utf8(output.stderr).unwrap();
        assert!(
            beside.contains("90 % intervals") || beside.contains("PostgreSQL, "),
            "{command}: {beside}"
        );
    }
    let shown = succeeds(folder.path(), &format!("{PREDICT} --json /dev/null"));
    assert!(shown.contains("90 % intervals"), "{shown}");
    fails(
        folder.path(),
        &format!("{PREDICT} --html - --json /dev/stdout"),
        2,
        "--html and --json",
    );
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

#[test]
fn no_command_replaces_the_identitys_file() {
    let mut fixture = Fixture::new();
    let key = std::fs::read(fixture.path("key.txt")).unwrap();
    std::fs::hard_link(fixture.path("key.txt"), fixture.path("same.txt")).unwrap();
    std::fs::create_dir(fixture.path("studies")).unwrap();
    succeeds(&fixture.path("."), OBSERVE);
    let commands = [
        "plan observe numbers --reads 1/s --output FILE".to_owned(),
        "plan calibrate --seconds 1 --suite AES_256 --output FILE".to_owned(),
        format!("plan {PREDICT} --json FILE").replace("TESTDATA", TESTDATA),
        format!("plan {PREDICT} --html FILE").replace("TESTDATA", TESTDATA),
        "plan validate league --output FILE".to_owned(),
        "plan replay app.trace --json FILE".to_owned(),
        "lab report a.lab.db --json FILE".to_owned(),
        "lab report a.lab.db --html FILE".to_owned(),
        "lab report a.lab.db --md FILE".to_owned(),
        "lab observatory studies --output FILE".to_owned(),
    ];
    let refused = |fixture: &Fixture, command: &str, options: &[&str]| {
        let arguments: Vec<&str> = options.iter().copied().chain(command.split(' ')).collect();
        let ran = fixture.run(&arguments);
        assert_eq!(ran.status, 2, "{command}: {ran:?}");
        assert!(ran.err.contains("is the identity's file"), "{command}: {ran:?}");
        assert!(std::fs::read(fixture.path("key.txt")).unwrap() == key, "{command}");
    };
    for command in &commands {
        refused(&fixture, &command.replace("FILE", "key.txt"), &["-i", "key.txt"]);
    }
    refused(&fixture, &commands[0].replace("FILE", "same.txt"), &["-i", "key.txt"]);
    let identity = fixture.path("key.txt").to_str().unwrap().to_owned();
    fixture.variables = vec![("SELENITE_IDENTITY", format!("age:{identity}"))];
    refused(&fixture, &commands[0].replace("FILE", "key.txt"), &[]);
    let config = fixture.path("config.toml");
    std::fs::write(&config, format!("identity = \"{identity}\"\n")).unwrap();
    fixture.variables = vec![("SELENITE_CONFIG", config.to_str().unwrap().to_owned())];
    refused(&fixture, &commands[0].replace("FILE", "key.txt"), &[]);
}

#[test]
fn a_report_replaces_no_store_and_the_planner_none_of_its_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("league")).unwrap();
    symlink("league", at("link")).unwrap();
    for name in ["a.lab.db", "b.json", "league/c.json", "league/predictions.json"] {
        std::fs::write(at(name), "mine").unwrap();
    }
    let refused = |arguments: &[&str], text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
        command.args(arguments).current_dir(folder.path());
        let output = command.env("SELENITE_CONFIG", "/dev/null").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(text), "{arguments:?}: {stderr}");
    };
    for option in ["--html", "--json", "--md"] {
        refused(&["lab", "report", "a.lab.db", option, "a.lab.db"], "is an input");
        refused(
            &["lab", "report", "a.lab.db", "b.json", option, "b.json"],
            "is an input",
        );
    }
    refused(
        &["lab", "report", "a.lab.db", "--html", "x", "--md", "./x"],
        "--html and --md are the same file",
    );
    refused(
        &["lab", "observatory", "league", "--output", "league/c.json"],
        "is an input",
    );
    for output in [
        "league/predictions.json",
        "./league/predictions.json",
        "link/predictions.json",
    ] {
        refused(&["plan", "validate", "--output", output], "among the predictions");
    }
    for name in ["a.lab.db", "b.json", "league/c.json", "league/predictions.json"] {
        assert_eq!(std::fs::read_to_string(at(name)).unwrap(), "mine");
    }
}
