//! `selenite lab bisect`: versions that are the same program, and one with a planted slowdown: it
//! does not use AES instructions.

use std::path::Path;
use std::process::{Command, Output};

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    lab_of(Path::new(env!("CARGO_BIN_EXE_selenite")), folder, arguments)
}

fn lab_of(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.arg("lab").args(arguments).current_dir(folder);
    command
        .env("SELENITE_CONFIG", "/dev/null")
        .env_remove("SELENITE_WORKERS");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_version_that_is_slower_is_found_and_sets_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("versions.toml"), VERSIONS).unwrap();
    let run = lab(folder.path(), &["run", "versions.toml", "--progress", "none"]);
    assert!(run.status.success(), "{}", text(&run.stderr));

    let all = lab(folder.path(), &["bisect", "versions.lab.db", "--limit", "20%"]);
    let shown = text(&all.stdout);
    assert_eq!(all.status.code(), Some(10), "{shown}{}", text(&all.stderr));
    assert!(shown.contains("the change lies between v2 and v3"), "{shown}");
    assert!(shown.contains("v1 and v2 are the same program"), "{shown}");

    let json = lab(
        folder.path(),
        &["bisect", "versions.lab.db", "--limit", "20%", "--json"],
    );
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["steps"][1]["state"], "dearer", "{value}");
    assert_eq!(value["versions"].as_array().unwrap().len(), 3);

    // From the newest to the oldest it is no regression.
    let back = ["bisect", "versions.lab.db", "--limit", "20%", "--arms", "v3,v2"];
    let back = lab(folder.path(), &back);
    assert_eq!(back.status.code(), Some(0), "{}", text(&back.stdout));
    let wrong = lab(folder.path(), &["bisect", "versions.lab.db", "--arms", "v1,v9"]);
    assert_eq!(wrong.status.code(), Some(12));
    assert!(
        text(&wrong.stdout).contains("no encrypted arm `v9`"),
        "{}",
        text(&wrong.stdout)
    );
    assert_eq!(
        lab(folder.path(), &["bisect", "versions.lab.db", "--limit", "-3%"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(lab(folder.path(), &["bisect", "nothing.lab.db"]).status.code(), Some(2));
}

#[test]
fn a_preset_of_a_missing_engine_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    // Beside the program itself may be engines: `make engines`.
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("selenite");
    std::fs::copy(env!("CARGO_BIN_EXE_selenite"), &program).unwrap();
    for preset in ["percona-2019", "mdev-36024"] {
        let run = lab_of(&program, folder.path(), &["run", preset, "--progress", "none"]);
        assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
        assert!(text(&run.stderr).contains("mariadb"), "{}", text(&run.stderr));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_dry_run_says_what_a_precision_costs() {
    let folder = tempfile::tempdir().unwrap();
    let run = lab(
        folder.path(),
        &["run", "quick", "--dry-run", "--set", "study.sessions=1"],
    );
    let shown = text(&run.stdout);
    assert!(run.status.success(), "{shown}{}", text(&run.stderr));
    assert!(shown.contains("no effect: an interval needs two sessions"), "{shown}");
    for line in ["+-5 points: 5 sessions of 2 pairs", "+-1 points: ", "+-0.5 points: "] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains("inf") && !shown.contains("NaN"), "{shown}");
    let pilot = lab(folder.path(), &["run", "quick", "--pilot", "nothing.lab.db"]);
    assert_eq!(pilot.status.code(), Some(2), "{}", text(&pilot.stderr));
}

/// Two arms of the same version, and one that is slower.
const VERSIONS: &str = r#"
[study]
name = "versions"
seed = 5
sessions = 5
pairs = 4
target_half_width = "0.1%"
limit = "3%"

[layout]
cache = "64KiB"

[data]
kind = "scan"
size = "4MiB"

[arms.v1]
engine = "selenite"
cipher = "AES_256"

[arms.v2]
engine = "selenite"
cipher = "AES_256"

[arms.v3]
engine = "selenite"
cipher = "AES_256"
aes_instructions = false

[[cells]]
name = "equal-os"
work = { kind = "equal" }
cache = "os"
gating = true
"#;
