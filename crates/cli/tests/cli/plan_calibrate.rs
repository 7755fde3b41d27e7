//! `selenite plan calibrate`, short: what it writes and leaves. Nothing here depends on how fast the machine is.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use selenite_plan::calibration::{Costs, TLS_1_2, TLS_1_3};
use selenite_plan::{Calibration, Cipher, Operation};

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
    command.args(["plan", "calibrate"]).args(arguments).current_dir(folder);
    command.env("SELENITE_CONFIG", "/dev/null");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_short_calibration_has_every_operation_and_leaves_its_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--seconds", "4", "--suite", "AES_256"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(names(folder.path()), ["calibration.json"]);
    let path = folder.path().join("calibration.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let calibration = Calibration::parse(&text).unwrap();

    let has = |costs: &Costs, operation: Operation| {
        let sizes = costs.get(&operation).map_or(0, Vec::len);
        let expected = if matches!(operation, Operation::LogRecord | Operation::Packet) {
            3
        } else {
            1 + usize::from(operation.has_size())
        };
        assert_eq!(sizes, expected, "{operation:?}");
    };
    let databases = calibration.costs(&Cipher::of(selenite::Suite::Aes256, true)).unwrap();
    for operation in Operation::ALL.into_iter().filter(|operation| !operation.is_network()) {
        has(databases, operation);
    }
    for version in [TLS_1_2, TLS_1_3] {
        let network = calibration.costs(&Cipher::tls(version, true)).unwrap();
        for operation in Operation::ALL.into_iter().filter(|operation| operation.is_network()) {
            has(network, operation);
        }
    }
    for operation in Operation::ALL {
        has(&calibration.plain, operation);
        let is_free = matches!(
            operation,
            Operation::LogRecord | Operation::Handshake | Operation::Commit
        );
        for measured in calibration.plain.get(&operation).unwrap() {
            assert!(is_free || measured.mean() > 0.0, "{operation:?}: {measured:?}");
            assert!(measured.sessions.len() >= 6, "{operation:?}");
        }
    }
    assert!(!calibration.conversion_ns_per_mib.is_empty());

    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    for word in [
        "AES_256",
        "in clear",
        "floor",
        "calibration.json: written",
        "selenite plan observe",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(stderr(&output).contains("session 1 of"), "{}", stderr(&output));

    let checked = run(folder.path(), &["--check", "calibration.json"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let elsewhere = Calibration {
        fingerprint: selenite_plan::calibration::Fingerprint {
            processors: 4097,
            ..calibration.fingerprint.clone()
        },
        ..calibration
    };
    std::fs::write(&path, elsewhere.text().unwrap()).unwrap();
    let checked = run(folder.path(), &["--check", "calibration.json"]);
    assert_eq!(checked.status.code(), Some(5));
    assert!(stderr(&checked).contains("4097"), "{}", stderr(&checked));
}

/// A calibration in its first session, and what it prints.
fn begun(folder: &Path, output: &str) -> (Child, Box<dyn Iterator<Item = String>>) {
    use std::io::BufRead as _;

    let mut child = command(folder, &["--seconds", "600", "--output", output])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert!(lines.any(|line| line.contains("session 1 of")));
    (child, Box::new(lines))
}

#[test]
fn an_interrupted_calibration_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, mut lines) = begun(folder.path(), "calibration.json");
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(lines.any(|line| line.contains("interrupted")), "{signal:?}");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
        assert_eq!(names(folder.path()), Vec::<String>::new(), "{signal:?}");
    }
}

#[test]
fn the_folder_of_a_calibration_that_was_killed_is_removed_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, _lines) = begun(folder.path(), "calibration.json");
    child.kill().unwrap();
    child.wait().unwrap();
    let left = format!("calibration.json.{}.sessions", child.id());
    assert_eq!(names(folder.path()), [left.as_str()]);
    // One with another output leaves it.
    let (mut other, mut lines) = begun(folder.path(), "other.json");
    assert!(folder.path().join(&left).exists());
    kill_process(Pid::from_child(&other), Signal::INT).unwrap();
    lines.by_ref().for_each(drop);
    other.wait().unwrap();
    assert_eq!(names(folder.path()), [left.as_str()]);
    let (mut next, mut lines) = begun(folder.path(), "calibration.json");
    assert!(!folder.path().join(&left).exists());
    // Two at once leave each other alone.
    let running = format!("calibration.json.{}.sessions", next.id());
    let (mut beside, mut more) = begun(folder.path(), "calibration.json");
    assert!(folder.path().join(&running).exists());
    for (child, lines) in [(&mut next, &mut lines), (&mut beside, &mut more)] {
        kill_process(Pid::from_child(child), Signal::INT).unwrap();
        lines.for_each(drop);
        child.wait().unwrap();
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn what_is_no_calibration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(folder.path(), &["--check", "calibration.json"]);
    assert_eq!(missing.status.code(), Some(6), "{}", stderr(&missing));
    for text in ["", "{}", "{\"format\": 99}", "[1]"] {
        std::fs::write(folder.path().join("calibration.json"), text).unwrap();
        let refused = run(folder.path(), &["--check", "calibration.json"]);
        assert_eq!(refused.status.code(), Some(5), "{text:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("next: selenite plan calibrate"));
    }
    let none = run(folder.path(), &["--suite", "NONE"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
    let nowhere = run(folder.path(), &["--output", "no/such/file"]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", stderr(&nowhere));
    assert_eq!(names(folder.path()), ["calibration.json"]);
}
