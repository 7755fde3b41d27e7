//! `selenite lab-worker`, as driven by the lab.

use std::process::Command;

use selenite_worker::contract::check;

#[test]
fn the_worker_keeps_the_contract_in_every_suite() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
        command.arg("lab-worker").env("SELENITE_CONFIG", "/dev/null");
        command
    };
    let findings = check(&start, folder.path());
    let failed: Vec<_> = findings.iter().filter(|finding| !finding.passed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for suite in selenite::Suite::ALL {
        let name = format!("{suite}: another key does not open it");
        assert!(findings.iter().any(|finding| finding.name == name), "{name}");
    }
}

#[test]
fn the_help_does_not_show_it() {
    let help = Command::new(env!("CARGO_BIN_EXE_selenite"))
        .arg("--help")
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("lab-worker"));
}
