//! The contract, kept by the example `stock` and broken by the example `faulty`.

use std::path::PathBuf;
use std::process::Command;

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
fn what_is_no_worker_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for program in ["/bin/true", "/no/such/program"] {
        let findings = check(&|| Command::new(program), folder.path());
        assert_eq!(failed(&findings), ["conversation"], "{program}: {findings:?}");
    }
}
