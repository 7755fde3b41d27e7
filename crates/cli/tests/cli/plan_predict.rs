//! `selenite plan observe` and `selenite plan predict`, on snapshots of real servers and a calibration that stays.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/plan")
        .join(name)
}

fn plan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selenite"))
        .arg("plan")
        .args(arguments)
        .current_dir(folder)
        .env("SELENITE_CONFIG", "/dev/null")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn fails(output: &Output, status: i32, text: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert!(stderr.contains(text), "{stderr}");
}

fn path(name: &str) -> String {
    testdata(name).to_str().unwrap().to_owned()
}

#[test]
fn two_snapshots_and_a_calibration_give_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (snapshots, calibration) = (path("postgresql-17/snapshots.csv"), path("calibration.json"));
    let observed = plan(
        folder.path(),
        &[
            "observe",
            "postgresql",
            &snapshots,
            "--cores",
            "4",
            "--busy-cores",
            "1.5",
        ],
    );
    let text = stdout(&observed);
    assert!(
        text.contains("pages read at random") && text.contains("selenite plan predict"),
        "{text}"
    );
    let predicted = plan(
        folder.path(),
        &[
            "predict",
            "observation.json",
            "--calibration",
            &calibration,
            "--tls",
            "1.3",
            "--html",
            "plan.html",
            "--json",
            "plan.json",
        ],
    );
    let text = stdout(&predicted);
    for words in [
        "AES_256 and TLS_1_3 take",
        "Response time",
        "Encrypting the database once",
        "The formula of reads alone",
        "the calibration is of another machine",
        "PostgreSQL spends another amount",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let page = std::fs::read_to_string(folder.path().join("plan.html")).unwrap();
    assert!(
        page.contains("What makes up the cost") && !page.contains("<script"),
        "{page}"
    );
    let json = std::fs::read_to_string(folder.path().join("plan.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cores = &json["added_cores"];
    assert!(cores["low"].as_f64() < cores["value"].as_f64() && cores["value"].as_f64() < cores["high"].as_f64());
}

#[test]
fn the_formula_of_the_weblog_is_beside_numbers_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let calibration = path("calibration.json");
    let numbers = ["--reads-mb", "25", "--cores", "4", "--calibration", &calibration];
    let of = |more: &[&str]| {
        let arguments: Vec<&str> = ["predict"].iter().chain(&numbers).chain(more).copied().collect();
        plan(folder.path(), &arguments)
    };
    assert!(stdout(&of(&["--decrypted-mb", "100"])).contains(": 6.25 % of the"));
    // Half of the reads; a cipher that costs more.
    let json = |more: &[&str]| -> f64 {
        let arguments: Vec<&str> = more.iter().chain(&["--json", "plan.json"]).copied().collect();
        stdout(&of(&arguments));
        let text = std::fs::read_to_string(folder.path().join("plan.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["added_cores"]["value"]
            .as_f64()
            .unwrap()
    };
    let all = json(&[]);
    assert!((json(&["--physical-reads", "0.5"]) / all - 0.5).abs() < 0.001);
    assert!(json(&["--cipher", "CHACHA20"]) > all);
    assert!(json(&["--without-aes-instructions"]) > all);
    fails(
        &of(&["--cipher", "AEGIS_256X4"]),
        5,
        "AEGIS_256X4 was not calibrated; known: ",
    );
    fails(&of(&["--page-size", "64KiB"]), 5, "beyond the calibrated range");
    fails(&of(&["--physical-reads=-1"]), 2, "no factor");
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let one = path("mariadb-10.11/snapshot-1.tsv");
    let two = path("mariadb-10.11/snapshot-2.tsv");
    stdout(&plan(folder.path(), &["observe", "mariadb", &one, &two]));
    fails(&plan(folder.path(), &["observe", "mariadb", &one]), 2, "snapshot");
    let postgresql = path("postgresql-17/snapshots.csv");
    fails(
        &plan(folder.path(), &["observe", "mariadb", &postgresql, &one]),
        2,
        "snapshots.csv",
    );
    fails(
        &plan(folder.path(), &["observe", "numbers", "--reads", "fast"]),
        2,
        "--reads",
    );
    fails(
        &plan(folder.path(), &["observe", "--print-query", "oracle"]),
        2,
        "no query is called oracle",
    );
    let query = stdout(&plan(folder.path(), &["observe", "--print-query", "postgresql-16"]));
    assert!(query.contains("pg_stat_io"));
    fails(
        &plan(
            folder.path(),
            &["predict", &one, "--calibration", &path("calibration.json")],
        ),
        5,
        "it is no observation",
    );
    fails(
        &plan(
            folder.path(),
            &["predict", "--reads-mb", "1", "--cores", "1", "--calibration", &one],
        ),
        5,
        "snapshot-1.tsv: calibration: ",
    );
}

#[test]
fn what_would_be_ignored_or_overwritten_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (snapshots, calibration) = (path("postgresql-17/snapshots.csv"), path("calibration.json"));
    let observe = ["observe", "postgresql", &snapshots, "--cores", "8"];
    stdout(&plan(folder.path(), &observe));
    let predict = |more: &[&str]| {
        let begin = ["predict", "observation.json", "--calibration", &calibration];
        plan(folder.path(), &[&begin[..], more].concat())
    };
    stdout(&predict(&["--cores", "16"]));
    fails(&predict(&["--cores", "eight"]), 2, "--cores: eight is not a number");
    fails(&predict(&["--cores", "1e300"]), 2, "--cores: ");
    fails(&predict(&["--reads", "400/s"]), 2, "--reads goes with numbers by hand");
    fails(&predict(&["--database-size", "40GiB"]), 2, "--database-size goes with");
    fails(&predict(&["--decrypted-mb", "0"]), 2, "--decrypted-mb");
    fails(&predict(&["--load", "0"]), 2, "--load: 0 is no factor");
    fails(&predict(&["--other-page-size", "1000"]), 2, "--other-page-size: ");
    let query = ["observe", "--print-query", "sqlite", "postgresql", &snapshots];
    fails(&plan(folder.path(), &query), 2, "--print-query prints a query");
    let before = std::fs::read(folder.path().join("observation.json")).unwrap();
    fails(&predict(&["--json", "observation.json"]), 2, "it would be overwritten");
    fails(&predict(&["--html", "none/plan.html"]), 2, "does not exist");
    std::fs::copy(&snapshots, folder.path().join("before.csv")).unwrap();
    let onto_itself = ["observe", "postgresql", "before.csv", "-o", "before.csv"];
    fails(&plan(folder.path(), &onto_itself), 2, "it would be overwritten");
    assert_eq!(std::fs::read(folder.path().join("observation.json")).unwrap(), before);
    // More than the machine has.
    let calibrated = ["--calibration", &calibration];
    let numbers = ["predict", "--reads", "100000000/s", "--cores", "4"];
    fails(
        &plan(folder.path(), &[&numbers[..], &calibrated].concat()),
        5,
        "cores busy",
    );
}

#[test]
fn notes_of_a_file_move_no_cursor_and_have_no_lines() {
    let folder = tempfile::tempdir().unwrap();
    let calibration = path("calibration.json");
    let observation = "{\"format\":1,\"engine\":\"sqlite\",\"notes\":[\"\\u001b[2J evil\\nAES_256 takes 0 %\"],\"page_size\":4096,\
        \"cores\":8,\"intervals\":[{\"seconds\":10,\"load\":{\"read-random\":{\"count\":100,\"kib\":400}}}]}";
    std::fs::write(folder.path().join("o.json"), observation).unwrap();
    let shown = stdout(&plan(
        folder.path(),
        &["predict", "o.json", "--calibration", &calibration],
    ));
    assert!(
        !shown.contains('\u{1b}') && !shown.lines().any(|line| line == "AES_256 takes 0 %"),
        "{shown}"
    );
    let unknown = observation.replacen("\"cores\"", "\"core\"", 1);
    std::fs::write(folder.path().join("o.json"), unknown).unwrap();
    fails(
        &plan(folder.path(), &["predict", "o.json", "--calibration", &calibration]),
        5,
        "unknown field `core`",
    );
}

#[test]
fn a_load_beyond_the_cores_is_refused_with_what_they_serve() {
    let folder = tempfile::tempdir().unwrap();
    let (snapshots, calibration) = (path("postgresql-17/snapshots.csv"), path("calibration.json"));
    let busy = ["observe", "postgresql", &snapshots, "--cores", "4", "--busy-cores", "2"];
    stdout(&plan(folder.path(), &busy));
    let predict = |more: &[&str]| {
        let begin = ["predict", "observation.json", "--calibration", &calibration];
        plan(folder.path(), &[&begin[..], more].concat())
    };
    for more in [["--load", "3"], ["--cores", "1"]] {
        fails(
            &predict(&more),
            5,
            "the machine is saturated: without encryption, this load takes",
        );
    }
    let shown = stdout(&predict(&["--load", "1.5"]));
    let assumed = "What if: the load times 1.5, so 3.00 cores busy";
    let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("observed: 2.00 cores busy") && shown.contains(assumed),
        "{shown}"
    );
    for selenites_own in ["frames of a commit", "Operations that cost less"] {
        assert!(!shown.contains(selenites_own), "{shown}");
    }
}

#[test]
fn a_calibration_that_is_missing_is_to_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let output = plan(folder.path(), &["predict", "--reads", "1/s", "--cores", "1"]);
    fails(&output, 6, "calibration.json: there is no calibration");
    fails(&output, 6, "next: selenite plan calibrate");
}

#[test]
fn a_calibration_of_the_future_or_of_no_time_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(testdata("calibration.json")).unwrap();
    for (made, reason) in [("2999-01-01T00:00:00Z", "in the future"), ("yesterday", "not a time")] {
        let edited = text.replacen("2026-11-23T22:44:51Z", made, 1);
        assert_ne!(edited, text);
        std::fs::write(folder.path().join("calibration.json"), edited).unwrap();
        for arguments in [
            &["predict", "--reads", "1/s", "--cores", "1"][..],
            &["calibrate", "--check", "calibration.json"],
            &["validate"],
        ] {
            let output = plan(folder.path(), arguments);
            fails(&output, 5, reason);
            fails(&output, 5, "calibration.json: calibration, made: ");
        }
    }
}

#[test]
fn snapshots_of_a_system_that_did_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = "time,since,role,page_size,reads,bytes_read,writes,bytes_written,syncs,commits";
    let rows = |time: &str| {
        let roles = ["database", "wal", "journal"];
        roles
            .map(|role| format!("{time},1.5,{role},4096,0,0,0,0,0,0\n"))
            .concat()
    };
    let text = format!("{header}\n{}{}", rows("10"), rows("20"));
    std::fs::write(folder.path().join("idle.csv"), text).unwrap();
    let output = plan(folder.path(), &["observe", "sqlite", "idle.csv", "--cores", "4"]);
    fails(&output, 2, "nothing was observed");
    assert!(!folder.path().join("observation.json").exists());
}
