//! Re-encryption with real processes: four that write, and one that re-encrypts and is killed
//! again and again. Every acknowledged commit has a number, and none may be missing.
//!
//! `SELENITE_KILLS` sets the number of kills (50 in CI); `SELENITE_SEED` repeats the random
//! choices, as far as timing allows.

mod child;
mod conversions;
mod inside;
mod lock_place;
mod quiet;
mod rollback;
mod stopped;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{self, Receiver};

use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{Access, Database, EngineError, Layout, PageSize, Watch};
use selenite_testing::{KeyFile, Random};

use child::{Role, start};

const WRITERS: u64 = 4;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    pub(crate) key: KeyFile,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        selenite::install().unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            key: KeyFile::new(1),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("app.db")
    }

    pub(crate) fn access(&self) -> Access {
        access(&self.key.spec())
    }

    /// A database with some hundred pages in this journal mode, some of them free.
    pub(crate) fn fill(&self, layout: &Layout, mode: &str, rows: u64) {
        let database = Database::create(&Disk, &self.path(), &self.access(), layout).unwrap();
        let sql = format!(
            "PRAGMA journal_mode = {mode};
             CREATE TABLE t(writer INTEGER, number INTEGER, body BLOB, PRIMARY KEY(writer, number));
             WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {rows})
             INSERT INTO t SELECT 100, x, randomblob(300) FROM c;
             CREATE TABLE gone AS SELECT * FROM t;
             DROP TABLE gone;"
        );
        database.run(&sql, &mut quiet::Nothing).unwrap();
    }
}

pub(crate) fn access(spec: &str) -> Access {
    Access {
        identity: Some(spec.parse().unwrap()),
        allow_plain: true,
        busy_wait: std::time::Duration::from_secs(60),
        ..Access::default()
    }
}

/// The epochs of all pages of the file and all frames of the log, from the unencrypted part of
/// their trailers.
pub(crate) fn epochs(path: &Path, page_size: usize) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let wal = path.with_extension("db-wal");
    for (file, first, stride) in [(path, 65536, page_size), (&wal, 32 + 24, page_size + 24)] {
        let bytes = std::fs::read(file).unwrap_or_default();
        let mut at = first + page_size - 48;
        while at + 48 <= bytes.len() {
            found.insert(u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()));
            at += stride;
        }
    }
    found
}

/// A process, and its output.
struct ChildProcess {
    child: Child,
    lines: Receiver<String>,
}

/// Its output is read all the time: otherwise it would block when the pipe is full.
fn listen_to(mut child: Child) -> ChildProcess {
    let output = BufReader::new(child.stdout.take().unwrap());
    let (said, lines) = mpsc::channel();
    std::thread::spawn(move || {
        output
            .lines()
            .map_while(Result::ok)
            .try_for_each(|line| said.send(line))
    });
    ChildProcess { child, lines }
}

impl ChildProcess {
    /// Kills it after this number of steps, unless it ends before; returns whether it was killed.
    fn kill_after(mut self, count: usize) -> bool {
        let said = self.lines.iter().filter(|line| line.starts_with("step"));
        let heard = said.take(count).count();
        self.child.kill().unwrap();
        let output = self.child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked"), "{text}");
        heard == count
    }

    /// Ends a writer, and returns the number of its last commit.
    fn stop(mut self) -> u64 {
        drop(self.child.stdin.take());
        let last = self
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("commit ")?.parse().ok())
            .last();
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        last.unwrap_or(0)
    }
}

#[test]
fn no_commit_is_missing_after_any_kill_with_a_log() {
    kill_and_look("wal", Random::seed_or(20_261_121));
}

#[test]
fn no_commit_is_missing_after_any_kill_with_a_journal() {
    kill_and_look("delete", Random::seed_or(20_261_122));
}

fn kill_and_look(mode: &str, seed: u64) {
    let kills: u64 = std::env::var("SELENITE_KILLS").map_or(50, |text| text.parse().unwrap());
    let mut random = Random::new(seed);
    println!("{mode}: seed {seed}, {} kills", kills / 2);
    let fixture = Fixture::new();
    let layout = Layout {
        page_size: PageSize::try_from(1024).unwrap(),
        ..Layout::default()
    };
    fixture.fill(&layout, mode, 1500);
    let spec = fixture.key.spec();
    let writers: Vec<ChildProcess> = (0..WRITERS)
        .map(|writer| listen_to(start(&fixture.path(), &spec, Role::Writer(writer))))
        .collect();
    let (mut killed, mut ended) = (0, 0);
    while killed < kills / 2 {
        let steps = usize::try_from(1 + random.below(60)).unwrap();
        if listen_to(start(&fixture.path(), &spec, Role::Sealer)).kill_after(steps) {
            killed += 1;
        } else {
            ended += 1;
        }
    }
    let last: Vec<u64> = writers.into_iter().map(ChildProcess::stop).collect();
    let seal = |goal| {
        let how = Reencrypt {
            goal,
            ..Reencrypt::default()
        };
        reencrypt(&Disk, &fixture.path(), &fixture.access(), &how, &Watch::none())
    };
    let done = match seal(Goal::NewKey) {
        // The last process that was killed has begun it.
        Err(EngineError::Begun { .. }) => seal(Goal::GoOn).unwrap(),
        done => done.unwrap(),
    };
    check(&fixture, &last);
    assert_eq!(epochs(&fixture.path(), 1024), BTreeSet::from([done.epoch]), "{mode}");
    println!(
        "{mode}: {killed} killed, {ended} came to their end, epoch {}, commits {last:?}",
        done.epoch
    );
    assert!(last.iter().all(|&number| number > 0));
}

/// Checks that every acknowledged commit is in the database.
fn check(fixture: &Fixture, last: &[u64]) {
    let database = Database::open(&Disk, &fixture.path(), &fixture.access()).unwrap();
    for (writer, &last) in last.iter().enumerate() {
        let mut rows = quiet::Numbers::default();
        let sql = format!("SELECT count(*), max(number) FROM t WHERE writer = {writer} AND number <= {last}");
        database.run(&sql, &mut rows).unwrap();
        let last = i64::try_from(last).unwrap();
        assert_eq!(rows.0, [last, last], "writer {writer}");
    }
    let mut rows = quiet::Texts::default();
    database.run("PRAGMA integrity_check", &mut rows).unwrap();
    assert_eq!(rows.0, ["ok"]);
    drop(database);
    let report = selenite::verify::physical(&Disk, &fixture.path(), &fixture.access(), &Watch::none()).unwrap();
    assert!(report.is_good(), "{:?}", report.bad);
}

#[test]
fn child() {
    child::play();
}
