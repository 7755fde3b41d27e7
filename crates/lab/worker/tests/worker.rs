//! The contract, kept by the example `stock` and broken by the example `faulty`.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use selenite_worker::contract::{Finding, check};

/// Cargo builds the examples of a package before its tests, into the folder beside theirs.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing: cargo build -p selenite-worker --examples",
        path.display()
    );
    path
}

fn findings(name: &str, argument: &str) -> Vec<Finding> {
    let folder = tempfile::tempdir().unwrap();
    let path = example(name);
    let findings = check(
        &|| {
            let mut command = Command::new(&path);
            command.arg(argument);
            command
        },
        folder.path(),
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    findings
}

fn failed(findings: &[Finding]) -> Vec<&str> {
    let failed = findings.iter().filter(|finding| !finding.passed);
    failed.map(|finding| finding.name.as_str()).collect()
}

#[test]
fn sqlite_keeps_the_contract() {
    let findings = findings("stock", "");
    assert_eq!(failed(&findings), Vec::<&str>::new(), "{findings:?}");
    assert!(findings.len() > 25, "{}", findings.len());
}

#[test]
fn every_fault_is_found() {
    for (fault, name) in [
        ("digest", "plain: scan: load"),
        ("answer", "plain: scan: like"),
        ("encrypted", "plain: scan: open, and what the file holds"),
        ("protocol", "hello"),
        ("rubbish", "conversation"),
        ("no-error", "run without open is an error"),
        ("exit", "the end of the input ends it"),
    ] {
        let findings = findings("faulty", fault);
        assert!(failed(&findings).contains(&name), "{fault}: {findings:?}");
    }
}

#[test]
fn a_program_that_is_not_a_worker_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    for program in ["/bin/true", "/no/such/program"] {
        let findings = check(&|| Command::new(program), folder.path());
        assert_eq!(failed(&findings), ["conversation"], "{program}: {findings:?}");
    }
}

/// The example in docs/WORKERS.md is a worker's real output, except for times and counters.
#[test]
fn the_documented_conversation_is_real() {
    let text = include_str!("../../../../docs/WORKERS.md");
    let lines = |mark: &str| -> Vec<&str> { text.lines().filter_map(|line| line.strip_prefix(mark)).collect() };
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(example("stock"))
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = format!("{}\n", lines("> ").join("\n"));
    child.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.lines().count(), lines("< ").len());
    for (said, documented) in said.lines().zip(lines("< ")) {
        let (said, documented) = (steady(said), steady(documented));
        assert_eq!(said, documented);
    }
}

/// An answer without the fields that differ from run to run, or between versions of SQLite.
fn steady(line: &str) -> serde_json::Value {
    let mut answer: serde_json::Value = serde_json::from_str(line).unwrap();
    let Some(fields) = answer.get_mut("ok").and_then(serde_json::Value::as_object_mut) else {
        return answer;
    };
    if fields.contains_key("sqlite_version") {
        fields.retain(|name, _| !name.starts_with("sqlite_") && name != "library");
    }
    if fields.contains_key("elapsed_ns") {
        fields.retain(|name, _| ["answer", "operations", "altered", "pages", "latencies"].contains(&name.as_str()));
    }
    answer
}
