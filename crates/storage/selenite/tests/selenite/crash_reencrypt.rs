//! Crashes during a re-encryption: on, off, under a new key, in another suite, in WAL and in
//! rollback mode, with others writing in between. After each crash the database is sound, no
//! acknowledged commit is missing, and the operation can be completed, with nothing left of the
//! old epoch.

mod conversion;
mod full_disk;
mod in_place;
mod keys;
mod offline;
mod sim_storage;
mod unsynced;

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::{Access, EngineError, Observer, Progress, Suite, Watch};
use selenite_testing::ledger::check_integrity;
use selenite_testing::own_process;
use selenite_testing::own_process::test_command;
use selenite_testing::{Disk, Image, KeyFile, Ledger, Opening, Scenario, Summary, run};
use selenite_vfs::injected_bugs::{Bug, inject};
use sim_storage::SimStorage;

const PATH: &str = "/reencrypt/main.db";
const PREFIX_SIZE: usize = 65536;
const PAGE_SIZE: usize = 1024;
/// Epoch and session, which remain in the trailer of a page whose key was dropped.
const MARK_SIZE: usize = 20;

/// A conversion from one suite to another.
struct Conversion {
    name: &'static str,
    mode: &'static str,
    from: &'static str,
    goal: Goal,
}

const CONVERSIONS: [Conversion; 6] = [
    Conversion {
        name: "another suite, wal",
        mode: "wal",
        from: "AES_256",
        goal: Goal::Suite(Suite::Aegis256X4),
    },
    Conversion {
        name: "new key, wal",
        mode: "wal",
        from: "AES_256",
        goal: Goal::NewKey,
    },
    Conversion {
        name: "new key, persist",
        mode: "persist",
        from: "CHACHA20",
        goal: Goal::NewKey,
    },
    Conversion {
        name: "on, wal",
        mode: "wal",
        from: "NONE",
        goal: Goal::Suite(Suite::Aes256),
    },
    Conversion {
        name: "on, delete",
        mode: "delete",
        from: "NONE",
        goal: Goal::Suite(Suite::Aes256),
    },
    Conversion {
        name: "off, wal",
        mode: "wal",
        from: "AES_256",
        goal: Goal::Off,
    },
];

struct Fixture {
    key: KeyFile,
    ledger: Ledger,
    /// The setting of the connections that write in between.
    synchronous: &'static str,
}

impl Fixture {
    fn new() -> Self {
        Self {
            key: KeyFile::new(1),
            ledger: Ledger::SMALL,
            synchronous: "extra",
        }
    }

    fn opening(&self) -> Opening {
        Opening::encrypted(PATH, &self.key).with("plain", "allow")
    }

    fn connect(&self, mode: &str) -> rusqlite::Result<Connection> {
        let connection = self.opening().connect()?;
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = {mode}; PRAGMA synchronous = {}; PRAGMA wal_autocheckpoint = 7",
            self.synchronous
        ))?;
        Ok(connection)
    }

    fn access(&self) -> Access {
        Access {
            identity: Some(self.key.spec().parse().unwrap()),
            allow_plain: true,
            busy_wait: Duration::ZERO,
            ..Access::default()
        }
    }

    /// A database with eight commits, free pages, and a log or a journal that was kept.
    fn origin(&self, conversion: &Conversion) -> Image {
        selenite_testing::sim::install();
        let disk = Disk::new();
        let _entered = disk.enter();
        let opening = self.opening().with("cipher", conversion.from).with("page_size", "1024");
        let connection = opening.connect().unwrap();
        connection
            .execute_batch(&format!("PRAGMA journal_mode = {}", conversion.mode))
            .unwrap();
        self.ledger.create(&connection, &["main"]).unwrap();
        for tx in 2..=8 {
            self.ledger.commit(&connection, &["main"], tx).unwrap();
        }
        disk.image()
    }

    fn reencrypt(&self, goal: Goal, watch: &Watch) -> Result<(), EngineError> {
        let how = Reencrypt {
            goal,
            batch_max: 5,
            save_every: 10 * 1024,
            ..Reencrypt::default()
        };
        reencrypt(&SimStorage::of_thread(), Path::new(PATH), &self.access(), &how, watch).map(drop)
    }

    fn is_of_first_epoch(&self) -> Result<bool, String> {
        let status = selenite::status(&SimStorage::of_thread(), Path::new(PATH), &self.access());
        let sealed = status
            .map_err(|error| error.to_string())?
            .sealed
            .ok_or("not encrypted")?;
        Ok(sealed.epochs.iter().any(|epoch| epoch.epoch == 1))
    }

    /// The database is sound and has all acknowledged commits; and the operation can be completed.
    fn check(&self, old: &HashSet<Vec<u8>>, acknowledged: u64) -> Result<(), String> {
        {
            let connection = self.opening().connect().map_err(|error| format!("open: {error}"))?;
            self.ledger.check_recovered(&connection, &["main"], acknowledged)?;
        }
        let state = selenite::status(&SimStorage::of_thread(), Path::new(PATH), &self.access())
            .map_err(|error| format!("status: {error}"))?
            .sealed
            .ok_or("not encrypted")?
            .state_word();
        if state != "steady" {
            self.reencrypt(Goal::GoOn, &Watch::none())
                .map_err(|error| format!("{state}, going on: {error}"))?;
        } else if self.reencrypt(Goal::GoOn, &Watch::none()).is_ok() {
            return Err("steady, and there was something to go on with".to_owned());
        }
        check_twin()?;
        {
            // The check before has committed once more.
            let connection = self
                .opening()
                .connect()
                .map_err(|error| format!("open again: {error}"))?;
            let count = self.ledger.check(&connection, "main")?;
            check_integrity(&connection)?;
            if count <= acknowledged {
                return Err(format!("{count} commits after {acknowledged} were acknowledged"));
            }
        }
        if state == "steady" && self.is_of_first_epoch()? {
            // The operation had not begun.
            return Ok(());
        }
        find_old(old)
    }
}

/// Neither superblock lists a key that was dropped.
fn check_twin() -> Result<(), String> {
    let bytes = Disk::of_thread().ok().and_then(|disk| disk.bytes(PATH));
    let bytes = bytes.ok_or("no database")?;
    if selenite_format::keeps_dropped(&bytes[..PREFIX_SIZE / 2], &bytes[PREFIX_SIZE / 2..PREFIX_SIZE]) {
        return Err("a superblock still lists a key that was dropped".to_owned());
    }
    Ok(())
}

/// The marks of all pages of the file and all frames of its log.
fn marks(image: &Image) -> HashSet<Vec<u8>> {
    let mut marks = HashSet::new();
    for (path, (_, content)) in &image.files {
        let (first, stride) = match path.strip_prefix(PATH) {
            Some("") => (PREFIX_SIZE, PAGE_SIZE),
            Some("-wal") => (32 + 24, PAGE_SIZE + 24),
            _ => continue,
        };
        let bytes = content.to_vec();
        let mut at = first + PAGE_SIZE - 48;
        while at + MARK_SIZE <= bytes.len() {
            marks.insert(bytes[at..at + MARK_SIZE].to_vec());
            at += stride;
        }
    }
    marks
}

/// Searches for them in every remaining file, at every offset.
fn find_old(old: &HashSet<Vec<u8>>) -> Result<(), String> {
    let disk = Disk::of_thread().map_err(|code| code.to_string())?;
    // Hashing what stands at each offset takes most of the time of these tests.
    let pair = |mark: &[u8]| usize::from(u16::from_le_bytes([mark[0], mark[1]]));
    let mut begins = vec![false; 1 << 16];
    old.iter().for_each(|mark| begins[pair(mark)] = true);
    for (path, (_, content)) in &disk.image().files {
        let bytes = content.to_vec();
        let found = bytes
            .windows(MARK_SIZE)
            .position(|window| begins[pair(window)] && old.contains(window));
        if let Some(at) = found {
            return Err(format!(
                "{path} holds a page of the old epoch, whose trailer is at {at}"
            ));
        }
    }
    Ok(())
}

/// Calls back in the thread in which the operation runs, which is its only one.
struct Bound {
    thread: std::thread::ThreadId,
}

thread_local! {
    static CALL: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

impl Observer for Bound {
    fn progress(&self, _: Progress) {
        assert_eq!(std::thread::current().id(), self.thread);
        CALL.with_borrow(|call| {
            if let Some(call) = call {
                call();
            }
        });
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

/// The last commit of the writer.
const COMMITS: u64 = 12;

fn crash(conversion: &Conversion, points: usize) -> Summary {
    let fixture = Arc::new(Fixture::new());
    let origin = fixture.origin(conversion);
    let old = marks(&origin);
    assert!(!old.is_empty());
    let check = |acknowledged| fixture.check(&old, acknowledged);
    let scenario = Scenario::new(conversion.name, &check).from(origin).with_points(points);
    run(&scenario, |run| {
        run.acknowledge(8);
        for &(position, tx) in play(&fixture, conversion).commits.borrow().iter() {
            run.acknowledge_at(position, tx);
        }
        Ok(())
    })
}

/// A commit before the operation, some in between, and the rest afterwards.
fn play(fixture: &Arc<Fixture>, conversion: &Conversion) -> Writer {
    let writer = Writer {
        fixture: fixture.clone(),
        mode: conversion.mode,
        commits: Rc::default(),
    };
    writer.commit();
    let inner = writer.clone();
    CALL.set(Some(Box::new(move || {
        if inner.last() + 1 < COMMITS {
            inner.commit();
        }
    })));
    let thread = std::thread::current().id();
    let done = fixture.reencrypt(conversion.goal, &Watch::new(Arc::new(Bound { thread })));
    CALL.set(None);
    assert!(done.is_ok(), "{}: {}", conversion.name, done.unwrap_err());
    assert!(writer.last() > 9, "no write in between");
    while writer.last() < COMMITS {
        writer.commit();
    }
    writer
}

/// Another connection, which commits at intervals, and records when.
#[derive(Clone)]
struct Writer {
    fixture: Arc<Fixture>,
    mode: &'static str,
    commits: Rc<RefCell<Vec<(usize, u64)>>>,
}

impl Writer {
    fn last(&self) -> u64 {
        self.commits.borrow().last().map_or(8, |&(_, tx)| tx)
    }

    fn commit(&self) {
        let tx = self.last() + 1;
        let Ok(connection) = self.fixture.connect(self.mode) else {
            return;
        };
        if self.fixture.ledger.commit(&connection, &["main"], tx).is_ok() {
            let position = Disk::of_thread().unwrap().position();
            self.commits.borrow_mut().push((position, tx));
        }
    }
}

#[test]
fn a_crash_loses_no_commit_and_the_operation_can_be_completed() {
    own_process!();
    for conversion in &CONVERSIONS {
        crash(conversion, 2400).assert_sound(1000);
    }
}

/// Planted bugs affect the whole process: this runs in a process of its own.
#[test]
fn planted_bugs_are_found() {
    own_process!();
    for bug in [Bug::KeyDroppedBeforeScan, Bug::CursorBeforeSync] {
        let found = test_command("crash_reencrypt::child")
            .env(PLANTED, format!("{bug:?}"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&found.stdout);
        let count: usize = text
            .lines()
            .filter_map(|line| line.strip_prefix("found ")?.parse::<usize>().ok())
            .sum();
        assert!(
            count > 0,
            "no run found {bug:?}: {text}{}",
            String::from_utf8_lossy(&found.stderr)
        );
        println!("{bug:?}: {count} crash images were not sound");
    }
}

#[test]
fn child() {
    let Ok(bug) = std::env::var(PLANTED) else { return };
    let bugs = [Bug::KeyDroppedBeforeScan, Bug::CursorBeforeSync];
    inject(bugs.into_iter().find(|known| format!("{known:?}") == bug));
    for conversion in CONVERSIONS.iter().filter(|conversion| conversion.mode == "wal") {
        println!("found {}", crash(conversion, 600).failures.len());
    }
}

const PLANTED: &str = "SELENITE_TEST_PLANTED";
