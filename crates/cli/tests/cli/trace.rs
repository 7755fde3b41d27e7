//! `selenite trace` and `selenite plan observe trace`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::Signal;
use selenite_plan::{Observation, Operation};
use selenite_tds::PacketSize;

use crate::fixture::Fixture;
use crate::serve;
use crate::tds_client::{Client, succeed as run_batch};

fn selenite(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("SELENITE_CONFIG", "/dev/null");
    command.env("SELENITE_IDENTITY", "key.txt");
    command.output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = selenite(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with an identity and a database of 500 pages; its recipient.
fn prepare(folder: &Path) -> String {
    succeed(folder, &["keygen", "-o", "key.txt"]);
    let rows = "CREATE TABLE t(n INTEGER PRIMARY KEY, b); \
        WITH r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 500) \
        INSERT INTO t SELECT n, 'MARKER' || hex(randomblob(1500)) FROM r";
    succeed(folder, &["exec", "--create", "app.db", rows]);
    let key = std::fs::read_to_string(folder.join("key.txt")).unwrap();
    let line = key.lines().find_map(|line| line.strip_prefix("# public key: "));
    line.unwrap().to_owned()
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_trace = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("app.trace.");
    let mut found: Vec<PathBuf> = entries.filter(is_trace).collect();
    found.sort();
    found
}

#[test]
fn a_program_is_traced_without_contents_and_its_trace_observed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recipient = prepare(folder);
    let program = env!("CARGO_BIN_EXE_selenite");
    let sql = "SELECT sum(length(b)) FROM t; UPDATE t SET b = b || 'x' WHERE n <= 10";
    let traced = [
        "trace",
        "--recipient",
        &recipient,
        "--output",
        "app.trace",
        "--",
        program,
    ];
    let shown = succeed(folder, &[&traced[..], &["exec", "app.db", sql]].concat());
    assert!(shown.contains("1503"), "{shown}");

    let found = traces(folder);
    let [trace] = found.as_slice() else {
        panic!("{found:?}");
    };
    let bytes = std::fs::read(trace).unwrap();
    for text in ["MARKER", "app.db", "exec"] {
        let has_text = bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!has_text, "{text}");
    }
    let name = trace.to_str().unwrap();
    succeed(
        folder,
        &["plan", "observe", "trace", name, "--cores", "2", "-o", "o.json"],
    );
    let text = std::fs::read_to_string(folder.join("o.json")).unwrap();
    let observation = Observation::parse(&text).unwrap();
    let done = |operation| observation.load_per_second().amount(operation).count * observation.seconds();
    // Each row has a page; reads of several pages and reads that follow the one before are in sequence.
    assert!(
        done(Operation::ReadSequential) + done(Operation::ReadRandom) > 450.0,
        "{text}"
    );
    assert!(done(Operation::ReadSequential) > 300.0, "{text}");
    assert!(done(Operation::RollbackWrite) >= 10.0, "{text}");
    assert_eq!(observation.page_size, 4096);
}

#[test]
fn a_trace_opens_for_its_recipient_only_and_is_authentic() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recipient = prepare(folder);
    let program = env!("CARGO_BIN_EXE_selenite");
    let traced = [
        "trace",
        "--recipient",
        &recipient,
        "--output",
        "app.trace",
        "--",
        program,
    ];
    succeed(
        folder,
        &[&traced[..], &["exec", "app.db", "SELECT count(*) FROM t"]].concat(),
    );
    let trace = traces(folder).remove(0);
    let name = trace.to_str().unwrap();
    succeed(folder, &["keygen", "-o", "other.txt"]);
    let other = selenite(folder, &["-i", "other.txt", "plan", "observe", "trace", name]);
    assert_eq!(other.status.code(), Some(4), "{}", stderr(&other));
    let closed = format!("{name}: the identity given does not open this trace");
    assert!(stderr(&other).contains(&closed), "{}", stderr(&other));

    let bytes = std::fs::read(&trace).unwrap();
    let mut altered = bytes.clone();
    let last = altered.len() - 20;
    altered[last] ^= 1;
    std::fs::write(&trace, &altered).unwrap();
    let refused = selenite(folder, &["plan", "observe", "trace", name]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("not authentic"), "{}", stderr(&refused));

    std::fs::write(&trace, &bytes).unwrap();
    std::fs::copy(&trace, folder.join("copy")).unwrap();
    let twice = selenite(folder, &["plan", "observe", "trace", name, "copy"]);
    assert_eq!(twice.status.code(), Some(2), "{}", stderr(&twice));
    assert!(
        stderr(&twice).contains("copy: this trace is given twice"),
        "{}",
        stderr(&twice)
    );

    // A section that was cut by a kill is left out: here there is no other.
    std::fs::write(&trace, &bytes[..bytes.len() - 1]).unwrap();
    let cut = selenite(folder, &["plan", "observe", "trace", name]);
    assert!(
        !cut.status.success() && stderr(&cut).contains(&format!("{name}: no page")),
        "{}",
        stderr(&cut)
    );
    std::fs::write(&trace, "selenite-trace-1").unwrap();
    let refused = selenite(folder, &["plan", "observe", "trace", name]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
}

#[test]
fn the_programs_exit_status_is_that_of_the_command_and_mistakes_start_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recipient = prepare(folder);
    let traced = |rest: &[&str]| {
        let begin = ["trace", "--recipient", &recipient, "--output", "app.trace"];
        selenite(folder, &[&begin[..], rest].concat())
    };
    assert_eq!(traced(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(traced(&["--", "./no-such-program"]).status.code(), Some(6));
    assert_eq!(
        traced(&["--output", "none/app.trace", "--", "true"]).status.code(),
        Some(2)
    );
    let bad = selenite(
        folder,
        &["trace", "--recipient", "age1x", "--", "sh", "-c", "touch started"],
    );
    assert!(!bad.status.success());
    assert!(!folder.join("started").exists());
    assert_eq!(traces(folder), Vec::<PathBuf>::new());
}

/// The replay of a trace, as JSON.
fn replayed(folder: &Path, trace: &str, options: &[&str]) -> serde_json::Value {
    let replay = [
        "plan",
        "replay",
        trace,
        "--seconds",
        "1",
        "--suite",
        "AES_256",
        "--json",
        "r.json",
    ];
    let shown = succeed(folder, &[&replay[..], options].concat());
    assert!(shown.contains("+ AES_256"), "{shown}");
    serde_json::from_str(&std::fs::read_to_string(folder.join("r.json")).unwrap()).unwrap()
}

#[test]
fn a_replay_does_what_the_trace_has_and_leaves_its_result_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recipient = prepare(folder);
    let program = env!("CARGO_BIN_EXE_selenite");
    let traced = ["trace", "--recipient", &recipient, "--output", "app.trace", "--"];
    let sql = "UPDATE t SET b = b || 'x' WHERE n = 7; UPDATE t SET b = b || 'x' WHERE n = 400; SELECT sum(n) FROM t";
    succeed(folder, &[&traced[..], &[program, "exec", "app.db", sql]].concat());
    let found = traces(folder);
    let before = std::fs::read_dir(folder).unwrap().count();
    std::fs::write(
        folder.join("calibration.json"),
        include_str!("../../../../testdata/plan/calibration.json"),
    )
    .unwrap();
    let trace = found[0].to_str().unwrap();
    let report = replayed(folder, trace, &["--calibration", "calibration.json"]);
    let total = |name: &str| report["totals"][name].as_u64().unwrap();
    assert_eq!(total("commits"), 2, "{report}");
    assert!(total("pages_read") >= 400 && total("pages_written") >= 2, "{report}");
    for arm in [
        &report["plain_ns"],
        &report["floor_ns"],
        &report["suites_ns"]["AES_256"],
    ] {
        assert_eq!(arm["sessions"].as_array().unwrap().len(), 6, "{report}");
    }
    assert!(report["predicted_ns"]["AES_256"]["high"].is_number(), "{report}");
    assert_eq!(report["tls_ns"], serde_json::json!({}));
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), before + 2);

    // A calibration that lacks an operation is no reason to lose what was measured.
    let mut calibration: serde_json::Value =
        serde_json::from_str(include_str!("../../../../testdata/plan/calibration.json")).unwrap();
    let costs = calibration["ciphers"]["AES_256"].as_object_mut().unwrap();
    assert!(costs.remove("rollback-write").is_some());
    std::fs::write(folder.join("calibration.json"), calibration.to_string()).unwrap();
    let report = replayed(folder, trace, &["--calibration", "calibration.json"]);
    assert_eq!(report["predicted_ns"], serde_json::json!({}));
    let notes = report["notes"].to_string();
    assert!(notes.contains("no prediction") && notes.contains("rollback"), "{notes}");

    let refused = |arguments: &[&str], status| {
        let output = selenite(folder, &[&["plan", "replay"], arguments].concat());
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    };
    refused(&[trace, "--json", trace], 2);
    refused(&[trace, "--suite", "NONE"], 2);
    refused(&[trace, "--pool-size", "5X"], 2);
    refused(&["r.json"], 5);
    refused(&[], 2);
}

#[test]
fn a_servers_trace_has_the_packets_of_its_clients() {
    let mut fixture = Fixture::new();
    let recipient = fixture.recipient("key.txt");
    fixture.variables = vec![
        ("SELENITE_TRACE", fixture.path("app.trace").to_str().unwrap().to_owned()),
        ("SELENITE_TRACE_RECIPIENT", recipient),
        (
            "SELENITE_IDENTITY",
            fixture.path("key.txt").to_str().unwrap().to_owned(),
        ),
    ];
    let (served, port) = serve::start(&fixture, &["--encryption", "optional"]);
    let password = served.lines[0]
        .strip_prefix("password of login sa: ")
        .unwrap()
        .trim_end();
    let mut clients =
        [(); 2].map(|()| Client::new(([127, 0, 0, 1], port).into(), password, PacketSize::DEFAULT).unwrap());
    for client in &mut clients {
        run_batch(client, "SELECT 1");
        run_batch(client, "SELECT REPLICATE('x', 8000)");
    }
    drop(clients);
    assert_eq!(served.end(Signal::TERM).0, 0);
    let folder = fixture.path("");
    let found = traces(&folder);
    let trace = found[0].to_str().unwrap();
    succeed(
        &folder,
        &["plan", "observe", "trace", trace, "--cores", "2", "-o", "o.json"],
    );
    let text = std::fs::read_to_string(folder.join("o.json")).unwrap();
    let observation = Observation::parse(&text).unwrap();
    let done = |operation| observation.load_per_second().amount(operation).count * observation.seconds();
    assert_eq!(done(Operation::Handshake).round(), 2.0, "{text}");
    // Each batch is a message; the second answer has two packets.
    assert!(done(Operation::Packet).round() >= 10.0, "{text}");
    let report = replayed(&folder, trace, &[]);
    for version in ["TLS_1_2", "TLS_1_3"] {
        // The difference of a few packets is smaller than what another process may cost.
        let sessions = report["tls_ns"][version]["sessions"].as_array().unwrap();
        assert!(
            !sessions.is_empty() && sessions.iter().all(|ns| ns.as_f64().is_some()),
            "{report}"
        );
    }
}
