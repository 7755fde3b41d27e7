//! `selenite lab`: a small study end to end, killed in between, and invalid input.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder with a small study.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("small.toml"), SMALL).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
        command.arg("lab").args(arguments).current_dir(self.folder.path());
        command
            .env("SELENITE_CONFIG", "/dev/null")
            // Cold files require real syncs, which eatmydata, used for other tests, would suppress.
            .env_remove("LD_PRELOAD")
            .env_remove("SELENITE_WORKERS");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.done(&["status", "small.lab.db", "--json"])).unwrap()
    }

    /// Starts the study, and kills it with SIGKILL before its sixth block.
    fn run_and_kill(&self) {
        let mut child = self
            .command(&["run", "small.toml", "--progress", "json"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_far = |line: &String| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            value["block"]["done"].as_u64().is_some_and(|done| done >= 5)
        };
        let found = lines.map(Result::unwrap).find(is_far);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.is_some(), "it ended before it was killed");
        // A worker that was just forked holds the lock until it has executed its program.
        assert!((0..1000).any(|_| self.status()["running"] == false), "it still runs");
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn summary(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_study_that_was_killed_goes_on_and_reports() {
    let lab = Lab::new();
    lab.run_and_kill();
    let status = lab.status();
    assert_eq!(
        (&status["state"], &status["running"]),
        (&"unfinished".into(), &false.into())
    );
    let before = status["blocks_done"].as_u64().unwrap();
    assert!(before >= 5, "a block that ended was lost: {status}");

    lab.done(&["resume", "small.lab.db", "--progress", "none"]);
    let status = lab.status();
    assert_eq!(status["state"], "complete");
    assert!(status["blocks_done"].as_u64().unwrap() > before);
    assert!(!lab.path("small.lab.copies").exists() && !lab.path("small.lab.db.copies").exists());

    let shown = lab.done(&["report", "small.lab.db", "--ascii"]);
    assert!(shown.contains("AES_256") && shown.is_ascii(), "{shown}");
    lab.done(&[
        "report",
        "small.lab.db",
        "--html",
        "r.html",
        "--json",
        "r.json",
        "--md",
        "r.md",
    ]);
    lab.done(&["export", "small.lab.db", "figures"]);
    assert!(std::fs::read_to_string(lab.path("r.html")).unwrap().contains("<svg"));
    let found = summary(&lab.path("r.json"));
    // The remaining blocks of the killed session ran in another one.
    assert!(found["study"]["sessions"].as_u64().unwrap() >= 5, "{}", found["study"]);
    let aes = &found["arms"].as_array().unwrap()[2];
    assert!(!aes["proof"].as_array().unwrap().is_empty(), "{aes}");
    let blocks = std::fs::read_to_string(lab.path("figures/blocks.csv")).unwrap();
    assert!(blocks.lines().count() > 60, "{blocks}");

    // Requested bytes are deterministic: a sealed page is read like any page.
    let bytes = [
        "gate",
        "r.json",
        "--metric",
        "read-chars",
        "--cells",
        "equal-os",
        "--fail-above",
    ];
    lab.done(&[&bytes[..], &["100%"]].concat());
    lab.refused(&[&bytes[..], &["-90%"]].concat(), 10);
    lab.refused(
        &["gate", "small.lab.db", "--fail-above", "3%", "--cells", "nothing"],
        12,
    );
    lab.done(&["compare", "small.lab.db", "r.json"]);
    assert!(lab.refused(&["resume", "small.lab.db"], 2).contains("--more SESSIONS"));
    assert!(lab.refused(&["run", "small.toml"], 2).contains("already exists"));
}

#[test]
fn a_finished_study_is_extended_and_says_so() {
    let lab = Lab::new();
    let run = ["run", "small.toml", "--set", "study.sessions=4", "--progress", "none"];
    let resume = |more: &'static str| ["resume", "small.lab.db", "--more", more, "--progress", "none"];
    lab.done(&run);
    let before = lab.status();
    assert_eq!(
        (&before["state"], &before["sessions_whole"]),
        (&"complete".into(), &4.into())
    );

    // A program that behaves the same, but whose file differs.
    let other = lab.path("selenite-other");
    std::fs::copy(env!("CARGO_BIN_EXE_selenite"), &other).unwrap();
    let mut file = std::fs::File::options().append(true).open(&other).unwrap();
    std::io::Write::write_all(&mut file, &[0]).unwrap();
    drop(file);
    let mut command = Command::new(&other);
    command.arg("lab").args(resume("1")).current_dir(lab.folder.path());
    let output = command.env("SELENITE_CONFIG", "/dev/null").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("program of `plain` (SHA-256)"),
        "{}",
        stderr(&output)
    );
    assert_eq!(lab.status(), before);
    lab.refused(&resume("0"), 2);

    lab.done(&resume("2"));
    let after = lab.status();
    assert_eq!(
        (&after["state"], &after["sessions_whole"]),
        (&"complete".into(), &6.into())
    );
    assert_eq!(after["extended"], serde_json::json!([2]));
    let shown = lab.done(&["report", "small.lab.db", "--ascii"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("extended once after its end, when its effects could be seen: from 4 sessions by 2 sessions"),
        "{shown}"
    );
    lab.done(&[
        "report",
        "small.lab.db",
        "--json",
        "r.json",
        "--md",
        "r.md",
        "--html",
        "r.html",
    ]);
    let extension = &summary(&lab.path("r.json"))["study"]["extensions"][0];
    assert_eq!((&extension["from"], &extension["sessions"]), (&4.into(), &2.into()));
    for name in ["r.md", "r.html"] {
        let text = std::fs::read_to_string(lab.path(name)).unwrap();
        assert!(
            text.contains("extended once") && text.contains("confidence sequence"),
            "{name}"
        );
    }
}

#[test]
fn connections_openings_and_indexes_are_measured_beside_suite_none() {
    let lab = Lab::new();
    std::fs::write(lab.path("each.toml"), EACH).unwrap();
    lab.done(&["run", "each.toml", "--progress", "none"]);
    lab.done(&[
        "report",
        "each.lab.db",
        "--json",
        "e.json",
        "--md",
        "e.md",
        "--html",
        "e.html",
    ]);
    let found = summary(&lab.path("e.json"));
    let arms = found["arms"].as_array().unwrap();
    let aes = arms.iter().find(|arm| arm["name"] == "AES_256").unwrap();
    assert_eq!((&aes["pool"], &aes["none"]), (&(2 << 20).into(), &"NONE".into()));
    assert!(
        aes["label"].as_str().unwrap().contains("page pool of 2.00 MiB"),
        "{aes}"
    );
    assert!(
        arms.iter()
            .any(|arm| arm["label"].as_str().unwrap().ends_with("age key"))
    );
    let cells = found["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let level = &cell["levels"]["AES_256"]["metrics"];
        assert!(level["database-bytes"].as_f64().unwrap() > 0.0, "{cell}");
        let writes = cell["work"] == "insert";
        assert_eq!(level["wal-bytes"].as_f64().unwrap() > 0.0, writes, "{level}");
        let effects = cell["effects"].as_array().unwrap();
        let cpu = |arm: &str| {
            effects
                .iter()
                .find(|effect| effect["arm"] == arm && effect["metric"] == "cpu")
                .unwrap()
        };
        assert_eq!(cpu("AES_256")["against_none"]["control"], "NONE", "{cell}");
        assert!(cpu("NONE").get("against_none").is_none() && cpu("plain2").get("against_none").is_none());
    }
    for (name, text) in [
        ("e.md", "against NONE"),
        ("e.md", "page pool of"),
        ("e.html", "Against NONE"),
    ] {
        assert!(
            std::fs::read_to_string(lab.path(name)).unwrap().contains(text),
            "{name}: {text}"
        );
    }
    // Compared with itself, a study costs no more.
    let gate = lab.run(&["gate", "each.lab.db", "--against", "e.json"]);
    assert_eq!(
        gate.status.code(),
        Some(11),
        "two sessions resolve nothing: {}",
        stderr(&gate)
    );
    lab.refused(&["gate", "each.lab.db", "--against", "e.json", "--fail-above", "3%"], 2);
    lab.refused(&["gate", "each.lab.db"], 2);
}

#[test]
fn a_master_that_was_changed_meanwhile_is_loaded_again() {
    let lab = Lab::new();
    lab.run_and_kill();
    let changed = walk(&lab.path("small.lab.db.copies/masters/plain2"));
    let connection = rusqlite::Connection::open(&changed).unwrap();
    connection
        .execute("UPDATE SomeData SET Id = Id + 1 WHERE rowid = 1", [])
        .unwrap();
    connection.close().unwrap();
    lab.done(&["resume", "small.lab.db", "--progress", "none"]);
    let status = lab.done(&["status", "small.lab.db"]);
    assert!(status.contains("`plain2` was changed"), "{status}");
}

/// The only database in a folder.
fn walk(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap();
    let found = entries.map(|entry| entry.unwrap().path());
    found
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "db"))
        .unwrap()
}

/// The hummer measurement reads its parameters in every loop, so that they can be changed, and the
/// work can be stopped, while it runs.
#[test]
fn a_mix_is_changed_and_a_study_stopped_while_it_runs() {
    let lab = Lab::new();
    std::fs::write(lab.path("small.toml"), HUMMER).unwrap();
    let mut child = lab
        .command(&["run", "small.toml", "--progress", "json"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap_or_default());
    assert!(lines.any(|line| !line["block"].is_null()), "no block began");
    lab.done(&["control", "small.lab.db", "--mix", "0/0/10"]);
    let void = lines
        .find(|line| !line["void"].is_null())
        .expect("the block does not count");
    assert!(void["void"]["why"].as_str().unwrap().contains("altered"), "{void}");
    lab.done(&["control", "small.lab.db", "--stop"]);
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
    assert_eq!(lab.status()["state"], "stopped");
    lab.refused(&["control", "small.lab.db", "--stop"], 2);
}

#[test]
fn a_plain_arm_alone_shows_the_floor() {
    let lab = Lab::new();
    let arguments = [
        "aa",
        "small.toml",
        "--cell",
        "equal-*",
        "--set",
        "study.sessions=2",
        "--progress",
        "none",
    ];
    lab.done(&arguments);
    let shown = lab.done(&["report", "small.lab.db"]);
    assert!(shown.contains("plain2") || shown.contains("second copy"), "{shown}");
    lab.refused(&["gate", "small.lab.db", "--fail-above", "3%"], 12);
}

#[test]
fn presets_are_listed_written_and_planned() {
    let lab = Lab::new();
    let list = lab.done(&["init"]);
    for name in [
        "quick",
        "scan-like-eq",
        "dml-before-after",
        "hummer",
        "convert-scan",
        "integrity-check",
        "online",
    ] {
        assert!(list.contains(name), "{name}");
        lab.done(&["init", name]);
        let plan = lab.done(&["run", &format!("{name}.toml"), "--dry-run"]);
        assert!(plan.contains("blocks") && plan.contains("disk"), "{plan}");
    }
    assert!(!lab.path("quick.lab.db").exists(), "a dry run made a store");
    lab.refused(&["init", "quick"], 2);
    assert!(lab.refused(&["init", "qick"], 2).contains("quick"));
}

#[test]
fn bad_input_gets_an_error_and_no_number() {
    let lab = Lab::new();
    let unknown = SMALL.replace("pairs =", "pears =");
    std::fs::write(lab.path("bad.toml"), unknown).unwrap();
    let said = lab.refused(&["run", "bad.toml"], 2);
    assert!(said.contains("pears") && said.contains("pairs"), "{said}");

    // A program in another folder has no workers beside it.
    let program = lab.path("selenite");
    if std::fs::hard_link(env!("CARGO_BIN_EXE_selenite"), &program).is_err() {
        std::fs::copy(env!("CARGO_BIN_EXE_selenite"), &program).unwrap();
    }
    let output = Command::new(&program)
        .args([
            "lab",
            "run",
            "small.toml",
            "--set",
            "arms.it.engine=sqlcipher",
            "--set",
            "arms.it.cipher=aes256cbc",
        ])
        .current_dir(lab.folder.path())
        .env_remove("SELENITE_WORKERS")
        .output()
        .unwrap();
    let missing = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{missing}");
    assert!(
        missing.contains("sqlcipher") && missing.contains("make peers"),
        "{missing}"
    );
    assert!(!lab.path("small.lab.db").exists());

    let said = lab.refused(&["run", "small.toml", "--set", "data.size=64TiB"], 2);
    assert!(
        said.contains("--set data.size=64TiB: ") && !said.contains("line "),
        "{said}"
    );
    let plan = lab.done(&["run", "small.toml", "--dry-run", "--set", "data.size=64M"]);
    assert!(plan.contains("blocks"), "{plan}");
    // Forty copies of 64 GiB exceed the disk of any test machine.
    let arms: Vec<String> = (0..20)
        .flat_map(|n| {
            [
                format!("arms.a{n}.engine=selenite"),
                format!("arms.a{n}.cipher=AES_256"),
            ]
        })
        .collect();
    let mut arguments = vec!["run", "small.toml", "--set", "data.size=64GiB"];
    for arm in &arms {
        arguments.extend(["--set", arm]);
    }
    let said = lab.refused(&arguments, 6);
    assert!(said.contains("room") || said.contains("free"), "{said}");
    assert!(!lab.path("small.lab.db").exists());

    std::fs::write(lab.path("other.lab.db"), "not a store").unwrap();
    lab.refused(&["report", "other.lab.db"], 2);
    lab.refused(&["status", "nothing.lab.db"], 2);
    lab.refused(&["control", "nothing.lab.db", "--mix", "5/5/5"], 2);
}

/// Blocks of at least three seconds, in which a process mostly waits.
const HUMMER: &str = r#"
[study]
name = "small"
seed = 7
sessions = 5
pairs = 2

[data]
kind = "cards"
rows = 200

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"

[[cells]]
name = "hummer"
processes = 2
work = { kind = "hummer", loops = 31, pause_every = 10, pause = "1s" }
mixes = ["4/3/3"]
cache = "os"
gating = true
"#;

/// Two cells and one megabyte: a study takes seconds.
const SMALL: &str = r#"
[study]
name = "small"
title = "A study for tests"
seed = 7
sessions = 5
pairs = 2
budget = "10m"
block_timeout = "60s"

[data]
kind = "scan"
size = "1MiB"

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"

[[cells]]
name = "equal-os"
work = { kind = "equal" }
cache = "os"
gating = true

[[cells]]
name = "like-page"
work = { kind = "like", rehearsals = 1 }
cache = "page"
"#;

/// A cell for each kind of work with several connections, and one for inserts by two processes.
const EACH: &str = r#"
[study]
name = "each"
seed = 7
sessions = 2
pairs = 2
budget = "10m"
block_timeout = "60s"

[data]
kind = "scan"
size = "1MiB"

[data.indexed]
kind = "statements"
rows = 500
indexes = 2

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"
pool = "2MiB"

[arms.NONE]
engine = "selenite"
cipher = "NONE"
pool = "2MiB"

[arms.age]
engine = "selenite"
cipher = "AES_256"
settings = { key = "age" }

[[cells]]
name = "readers"
work = { kind = "readers", connections = 4 }
same_memory = true
cache = "os"
gating = true

[[cells]]
name = "readers-cold"
work = { kind = "readers", connections = 2 }
cache = "cold"

[[cells]]
name = "open"
work = { kind = "open", times = 5 }
cache = "os"

[[cells]]
name = "insert"
data = "indexed"
processes = 2
work = { kind = "insert", rows = 20 }
cache = "os"
"#;
