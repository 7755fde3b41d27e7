//! `selenite plan validate` on a study of seconds. Nothing here depends on how fast the machine is.

use std::path::Path;
use std::process::{Command, Output};

use selenite_lab::calibrate::fingerprint;
use selenite_lab::host::Source;
use selenite_plan::Calibration;
use selenite_plan::league::Predictions;

const STUDY: &str = r#"
[study]
name = "tiny"
title = "A little of what is predicted"
seed = 7
sessions = 2
pairs = 2
target_half_width = "1%"
budget = "5m"
limit = "3%"
block_timeout = "1m"

[layout]
page_size = 4096
cache = "64KiB"
journal_mode = "wal"
synchronous = "normal"

[data]
kind = "cards"
rows = 300

[data.scan]
kind = "scan"
size = "1MiB"

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"
pool = "0B"

[[cells]]
name = "like"
data = "scan"
work = { kind = "like" }
cache = "os"

[[cells]]
name = "two"
processes = 2
work = { kind = "hummer", loops = 60 }
mixes = ["4/3/3"]
cache = "os"
"#;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
    command
        .args(["plan", "validate", "tiny.toml", "--progress", "none"])
        .args(arguments);
    command.current_dir(folder).env("SELENITE_CONFIG", "/dev/null");
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A calibration of this machine with the costs of another.
fn write_calibration(folder: &Path) {
    let text = include_str!("../../../../testdata/plan/calibration.json");
    let mut calibration = Calibration::parse(text).unwrap();
    calibration.fingerprint = fingerprint(&Source::default());
    std::fs::write(folder.join("calibration.json"), calibration.text().unwrap()).unwrap();
}

#[test]
fn predictions_are_hashed_before_studies_run_and_compared_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_calibration(folder);
    std::fs::write(folder.join("tiny.toml"), STUDY).unwrap();
    let output = run(folder, &[]);
    assert!(output.status.success(), "{}", stderr(&output));

    let predictions = std::fs::read_to_string(folder.join("league/predictions.json")).unwrap();
    let parsed: Predictions = serde_json::from_str(&predictions).unwrap();
    assert_eq!((parsed.workloads.len(), parsed.forecasts.len()), (2, 2));
    let counted = |index: usize| {
        let intervals = &parsed.workloads[index].observation.intervals;
        assert_eq!(intervals.len(), 4);
        intervals[0].load.0.values().map(|amount| amount.count).sum::<f64>()
    };
    // Every page of the scan is read in each block; loops of both processes read and write.
    assert!(counted(0) > 200.0, "{}", counted(0));
    assert!(counted(1) > 120.0, "{}", counted(1));
    assert!(parsed.forecasts.iter().all(|forecast| !forecast.has_pool));

    let document = std::fs::read_to_string(folder.join("FORECASTS.md")).unwrap();
    assert!(document.contains("2 predictions of 2 workloads."), "{document}");
    assert!(
        document.contains("| tiny | LIKE scan, OS cache | AES_256 |"),
        "{document}"
    );
    let names: Vec<String> = std::fs::read_dir(folder.join("league"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["predictions.json", "tiny.lab.db"].contains(&name.as_str()))
        .collect();
    assert_eq!(names, Vec::<String>::new());

    // What is done is not done again.
    std::fs::remove_file(folder.join("FORECASTS.md")).unwrap();
    let again = run(folder, &[]);
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(std::fs::read_to_string(folder.join("FORECASTS.md")).unwrap(), document);

    // Predictions that were edited, other studies and another calibration are refused before anything runs.
    let file = folder.join("league/predictions.json");
    let refused = |arguments: &[&str], what: &str| {
        let output = run(folder, arguments);
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    };
    for (from, to) in [
        ("\"label\": \"LIKE scan, OS cache\"", "\"label\": \"other\""),
        ("\"seconds\": 0.", "\"seconds\": 1."),
        ("\"arm\": \"AES_256\"", "\"arm\": \"AES\""),
    ] {
        let altered = predictions.replacen(from, to, 1);
        assert_ne!(altered, predictions, "{from}");
        std::fs::write(&file, altered).unwrap();
        refused(&[], "use another folder");
    }
    std::fs::write(&file, &predictions).unwrap();
    refused(&["--sessions", "3"], "for other studies");
    std::fs::write(folder.join("tiny.toml"), STUDY.replace("loops = 60", "loops = 61")).unwrap();
    refused(&[], "for other studies");
    std::fs::write(folder.join("tiny.toml"), STUDY).unwrap();
    let costs = std::fs::read_to_string(folder.join("calibration.json")).unwrap();
    std::fs::write(folder.join("calibration.json"), costs.replacen("2026", "2025", 1)).unwrap();
    refused(&[], "with another calibration");
    std::fs::write(folder.join("calibration.json"), costs).unwrap();
    refused(&["tiny.toml"], "two studies are called `tiny`");
    for output in ["calibration.json", "league/x.md", "none/x.md"] {
        let output = run(folder, &["--output", output]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), predictions);
}

#[test]
fn a_calibration_of_another_machine_and_work_that_is_not_counted_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("tiny.toml"), STUDY).unwrap();
    let text = include_str!("../../../../testdata/plan/calibration.json");
    std::fs::write(folder.join("calibration.json"), text).unwrap();
    let refused = run(folder, &[]);
    assert_eq!(refused.status.code(), Some(5));
    assert!(
        stderr(&refused).contains("does not fit this machine"),
        "{}",
        stderr(&refused)
    );

    write_calibration(folder);
    let text = STUDY.replace("{ kind = \"like\" }", "{ kind = \"backup\" }");
    std::fs::write(folder.join("tiny.toml"), text).unwrap();
    let refused = run(folder, &[]);
    assert_eq!(refused.status.code(), Some(5));
    assert!(stderr(&refused).contains("cell `like`"), "{}", stderr(&refused));
    assert!(!folder.join("league/predictions.json").exists());
}
