//! `selenite lab`: a workload during a re-encryption of every page, by a substitute for the
//! administrator's program.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

struct Lab(tempfile::TempDir);

impl Lab {
    /// A folder with the study, and with a program that runs `script`.
    fn new(script: &str) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        let program = lab.path("administrator");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(
            lab.path("online.toml"),
            STUDY.replace("PROGRAM", program.to_str().unwrap()),
        )
        .unwrap();
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
        // As in `lab.rs`.
        command.env_remove("LD_PRELOAD");
        command.arg("lab").args(arguments).current_dir(self.0.path());
        command
            .env("SELENITE_CONFIG", "/dev/null")
            .env("SELENITE", env!("CARGO_BIN_EXE_selenite"));
        command.output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn throughput_is_measured_before_during_and_after_a_reencryption() {
    let lab = Lab::new(VACUUM);
    lab.done(&["run", "online.toml", "--progress", "none"]);
    let shown = lab.done(&["report", "online.lab.db", "--ascii"]);
    assert!(
        shown.contains("loops a second") && shown.contains("all pages re-encrypted in"),
        "{shown}"
    );
    lab.done(&[
        "report",
        "online.lab.db",
        "--json",
        "o.json",
        "--html",
        "o.html",
        "--md",
        "o.md",
    ]);
    let found: Value = serde_json::from_str(&std::fs::read_to_string(lab.path("o.json")).unwrap()).unwrap();
    let cells = found["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    cells.iter().for_each(check);
    for (name, text) in [
        ("o.html", "Throughput, beside before"),
        ("o.html", "Who re-encrypted the pages"),
        ("o.md", "while and after pages are re-encrypted"),
    ] {
        assert!(
            std::fs::read_to_string(lab.path(name)).unwrap().contains(text),
            "{name}: {text}"
        );
    }
    lab.done(&["export", "online.lab.db", "figures"]);
    let phases = std::fs::read_to_string(lab.path("figures/phases.csv")).unwrap();
    assert_eq!(phases.lines().count(), 1 + 2 * 4, "{phases}");
    // By default the gate uses the deciding metric.
    let gate = lab.run(&["gate", "online.lab.db", "--fail-above", "11%"]);
    assert_eq!(
        gate.status.code(),
        Some(11),
        "two sessions resolve nothing: {}",
        stderr(&gate)
    );
}

/// The default program of a study.
#[test]
fn selenite_itself_is_the_administrators_program() {
    let lab = Lab::new("exit 1");
    let study = std::fs::read_to_string(lab.path("online.toml")).unwrap();
    let named = study.find(", administrator").unwrap()..study.find("] }").unwrap() + 1;
    let study = study.replace(&study[named], "");
    std::fs::write(lab.path("own.toml"), study).unwrap();
    lab.done(&["run", "own.toml", "--progress", "none", "--set", "study.sessions=1"]);
    lab.done(&["report", "online.lab.db", "--json", "o.json"]);
    let found: Value = serde_json::from_str(&std::fs::read_to_string(lab.path("o.json")).unwrap()).unwrap();
    for cell in found["cells"].as_array().unwrap() {
        let sealing = &cell["phases"]["AES_256"]["sealing"];
        let said = sealing["said"].as_str().unwrap();
        assert!(said.contains("key epoch 2; the old key was destroyed"), "{said}");
        assert!(sealing["seconds"].as_f64().unwrap() > 0.0, "{sealing}");
    }
}

/// A cell has all phases of all arms, and only encrypted arms were re-encrypted.
fn check(cell: &Value) {
    for (arm, is_sealed) in [("plain", false), ("plain2", false), ("AES_256", true), ("NONE", false)] {
        let levels = &cell["phases"][arm];
        for rate in levels["loops_per_s"].as_array().unwrap() {
            assert!(rate.as_f64().unwrap() > 0.0, "{arm}: {levels}");
        }
        let sealing = &levels["sealing"];
        assert_eq!(
            sealing["pages_per_s"].as_f64().is_some_and(|rate| rate > 0.0),
            is_sealed,
            "{arm}: {levels}"
        );
    }
    let said = cell["phases"]["AES_256"]["sealing"]["said"].as_str().unwrap();
    assert!(
        said.contains("sealed by a stand-in: --new-key --max-rate 1GB/s"),
        "{said}"
    );
    let effects = cell["effects"].as_array().unwrap();
    for metric in ["slowdown", "tail-slowdown", "aftermath", "cpu"] {
        let of = |arm: &str| {
            effects
                .iter()
                .find(|effect| effect["arm"] == arm && effect["metric"] == metric)
        };
        assert!(of("AES_256").is_some() && of("plain2").is_some(), "{metric}");
    }
    let operations: Vec<&str> = cell["latencies"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|curve| curve["operation"].as_str())
        .collect();
    assert!(
        operations.contains(&"update, during") && operations.contains(&"insert, before"),
        "{operations:?}"
    );
}

#[test]
fn a_program_that_seals_nothing_or_fails_is_an_error() {
    for (script, status, told) in [
        ("exit 0", 5, "is reported as re-encrypted, but is not"),
        ("echo no room >&2; exit 3", 1, "no room"),
    ] {
        let output = Lab::new(script).run(&["run", "online.toml", "--progress", "none", "--set", "study.sessions=1"]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{script}: {text}");
        assert!(text.contains(told), "{script}: {text}");
    }
}

/// Rewrites every page, which re-encrypts it. Waits for writers.
const VACUUM: &str = r#"
until "$SELENITE" "$1" "$2" exec "$4" "VACUUM" 2>/dev/null; do :; done
echo "sealed by a stand-in: $5 $6 $7""#;

const STUDY: &str = r#"
[study]
name = "online"
title = "A workload while pages are re-encrypted"
seed = 7
sessions = 2
pairs = 2
limit = "11%"
budget = "10m"
block_timeout = "60s"

[data]
kind = "cards"
rows = 500

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"

[arms.NONE]
engine = "selenite"
cipher = "NONE"

[[cells]]
name = "online-1"
work = { kind = "online", mix = "4/3/3", phase = "150ms", administrator = "PROGRAM", options = ["--max-rate", "1GB/s"] }
cache = "os"
gating = true

[[cells]]
name = "online-2"
processes = 2
work = { kind = "online", mix = "4/3/3", phase = "150ms", administrator = "PROGRAM", options = ["--max-rate", "1GB/s"] }
cache = "os"
gating = true
"#;
