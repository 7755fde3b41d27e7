//! The child processes of the tests.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Observer, Progress, Watch};
use selenite_testing::own_process::test_command;

use super::access;
use super::quiet::{Nothing, Texts};

const CHILD: &str = "SELENITE_TEST_REENCRYPT";

#[derive(Clone, Copy)]
pub enum Role {
    /// Commits numbered rows, and prints each number, until its input ends.
    Writer(u64),
    /// Runs SQL from its input, line by line.
    Client,
    /// Re-encrypts all pages under a new key, or continues that.
    Sealer,
}

pub fn start(path: &Path, spec: &str, role: Role) -> std::process::Child {
    let role = match role {
        Role::Writer(number) => number.to_string(),
        Role::Client => "client".to_owned(),
        Role::Sealer => "sealer".to_owned(),
    };
    test_command("reencrypt::child")
        .env(CHILD, [path.to_str().unwrap(), spec, &role].join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub fn play() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let [path, spec, role] = words[..] else {
        panic!("three words")
    };
    selenite::install().unwrap();
    match role.parse() {
        Ok(writer) => write(Path::new(path), spec, writer),
        Err(_) if role == "client" => obey(Path::new(path), spec),
        Err(_) => seal(Path::new(path), spec),
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    // The reader may have ended.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn write(path: &Path, spec: &str, writer: u64) {
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = is_over.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        flag.store(true, Ordering::SeqCst);
    });
    let database = Database::open(&Disk, path, &access(spec)).unwrap();
    let mut number = 0;
    while !is_over.load(Ordering::SeqCst) {
        let next = number + 1;
        let sql = format!("INSERT INTO t VALUES({writer}, {next}, randomblob(20))");
        match database.run(&sql, &mut Nothing) {
            Ok(()) => {
                number = next;
                say(&format!("commit {number}"));
            }
            Err(EngineError::Busy { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn obey(path: &Path, spec: &str) {
    let database = Database::open(&Disk, path, &access(spec)).unwrap();
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).unwrap() > 0 {
        let mut rows = Texts::default();
        match database.run(line.trim_end(), &mut rows) {
            Ok(()) => say(&format!("did {}", rows.0.join(" "))),
            Err(error) => say(&format!("did not: {error}")),
        }
        line.clear();
    }
}

struct Telling;

impl Observer for Telling {
    fn progress(&self, progress: Progress) {
        say(&format!("step {progress:?}"));
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn seal(path: &Path, spec: &str) {
    let how = |goal| Reencrypt {
        goal,
        // A high share, so that the kills hit all phases soon.
        busy_share: 60,
        ..Reencrypt::default()
    };
    say("step begins");
    let watch = Watch::new(Arc::new(Telling));
    let seal = |goal| reencrypt(&Disk, path, &access(spec), &how(goal), &watch);
    let sealed = match seal(Goal::NewKey) {
        // A process that was killed has begun it.
        Err(EngineError::Begun { .. }) => seal(Goal::GoOn),
        sealed => sealed,
    };
    match sealed {
        Ok(_) => {}
        Err(error) => assert_eq!(error.class(), Class::Busy, "{error}"),
    }
}
