//! `DB-selenite`: who is re-encrypting a database's pages, since when, and how far that is. One process at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use selenite_format::operation_report::Report;

use super::pace::Pace;
use crate::draft::beside;
use crate::error::io_error;
use crate::lock_holders::{holders, who_writes};
use crate::storage::{Claim, Disk, Storage};
use crate::{EngineError, conversion, keys};

/// The file, held.
pub struct Operation {
    path: PathBuf,
    claim: Box<dyn Claim>,
    shared: Mutex<Shared>,
}

struct Shared {
    report: Report,
    began: Instant,
    written: Option<Instant>,
}

impl Operation {
    /// Begins one.
    ///
    /// # Errors
    /// [`EngineError::UnderWay`] names the process that is at it; [`EngineError::Io`].
    pub fn begin(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        Self::begin_as(storage, path, false)
    }

    /// Begins one that copies the database while no other connection uses it.
    ///
    /// # Errors
    /// As [`Operation::begin`].
    pub fn begin_offline(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        Self::begin_as(storage, path, true)
    }

    fn begin_as(storage: &dyn Storage, path: &Path, is_offline: bool) -> Result<Self, EngineError> {
        let operation = Self {
            path: path.to_owned(),
            claim: take(storage, path)?,
            shared: Mutex::new(Shared {
                report: Report {
                    pid: std::process::id(),
                    since: keys::now(),
                    is_offline,
                    ..Report::default()
                },
                began: Instant::now(),
                written: None,
            }),
        };
        operation.update(true, |_| ());
        Ok(operation)
    }

    /// Says what is done.
    pub fn describe(&self, what: &str) {
        self.update(true, |report| what.clone_into(&mut report.what));
    }

    /// Says how far it is.
    pub fn progress(&self, done: u64, total: u64, pace: &Pace) {
        self.update(false, |report| {
            report.waiting.clear();
            report.waiting_since = 0;
            report.done = done;
            report.total = total;
            report.rate = pace.rate();
            report.lock_p99 = u64::try_from(pace.lock_p99().as_micros()).unwrap_or(u64::MAX);
        });
    }

    /// Says how far a copy is.
    pub fn copied(&self, done: u64, total: u64) {
        let began = self.shared.lock().unwrap_or_else(PoisonError::into_inner).began;
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.update(false, |report| {
            report.done = done;
            report.total = total;
            report.rate = done.saturating_mul(1000) / elapsed_ms.max(1);
        });
    }

    /// Says what it waits for, and by the kernel's list whom. Answers it in a line for people.
    pub fn waiting(&self, what: &str) -> String {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = kind(&shared.report.waiting) == kind(what);
        if !is_same {
            what.clone_into(&mut shared.report.waiting);
            shared.report.waiting_since = keys::now();
        }
        // Who it is is asked for now and then only: that reads a list of all locks of the machine.
        if shared.is_due() {
            shared.report.waiting = self.named(what);
            shared.write(self.claim.as_ref());
        }
        shared.report.waiting.clone()
    }

    fn named(&self, what: &str) -> String {
        if !what.starts_with(WAITING_FOR) || what.contains(':') {
            return what.to_owned();
        }
        let found = if what.ends_with("writers") {
            who_writes(&self.path)
        } else {
            holders(&self.path)
        };
        let named: Vec<String> = found.iter().map(ToString::to_string).collect();
        if named.is_empty() {
            return what.to_owned();
        }
        format!("{what}: {}", named.join(", "))
    }

    /// What it is written for is to be read by people: what can't be written now is written later.
    fn update(&self, now: bool, change: impl FnOnce(&mut Report)) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut shared.report);
        if now || shared.is_due() {
            shared.write(self.claim.as_ref());
        }
    }
}

impl Shared {
    fn is_due(&self) -> bool {
        self.written.is_none_or(|last| last.elapsed() >= WRITE_EVERY)
    }

    fn write(&mut self, claim: &dyn Claim) {
        self.written = Some(Instant::now());
        let _ = claim.write(&self.report.encode());
    }
}

/// Without the names of those who are waited for.
fn kind(waiting: &str) -> &str {
    waiting.split(':').next().unwrap_or_default()
}

/// What is being done to a database now; nothing if no one is at it. What a process that was killed has left is not
/// believed: its number may be another's by now, but no process holds the lock.
///
/// # Errors
/// [`EngineError::Io`], also where something else than a file of this one name is in its place.
pub fn report(storage: &dyn Storage, path: &Path) -> Result<Option<Report>, EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    let claimed = storage.read_claim(&file).map_err(io_error("read", &file))?;
    Ok(claimed.map(|text| Report::parse(text.as_bytes())))
}

/// Refuses to be the second that is at it.
///
/// # Errors
/// [`EngineError::UnderWay`]; [`EngineError::Io`].
pub fn refuse_second(storage: &dyn Storage, path: &Path) -> Result<(), EngineError> {
    match report(storage, path)? {
        Some(other) => Err(under_way(path, &other)),
        None => Ok(()),
    }
}

fn take(storage: &dyn Storage, path: &Path) -> Result<Box<dyn Claim>, EngineError> {
    let file = file_of(path);
    for _ in 0..CLAIM_TRIES {
        if let Some(claim) = storage.claim(&file).map_err(io_error("create", &file))? {
            return Ok(claim);
        }
        // Who only looks whether someone is at it has a lock, too, for a moment.
        refuse_second(storage, path)?;
        std::thread::sleep(CLAIM_PAUSE);
    }
    Err(under_way(path, &Report::default()))
}

fn under_way(path: &Path, other: &Report) -> EngineError {
    EngineError::UnderWay {
        path: path.to_owned(),
        pid: other.pid,
        since: other.since,
    }
}

/// Whether a process is at it now.
pub(crate) fn is_held(path: &Path) -> bool {
    matches!(report(&Disk, path), Ok(Some(_)))
}

pub fn file_of(path: &Path) -> PathBuf {
    beside(path, "-selenite")
}

/// The beginning of [`Operation::waiting`] while it waits for other processes.
const WAITING_FOR: &str = "waiting for";
const CLAIM_TRIES: u32 = 50;
const CLAIM_PAUSE: Duration = Duration::from_millis(2);
const WRITE_EVERY: Duration = Duration::from_millis(250);
