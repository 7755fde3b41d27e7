//! `DB-selenite`: which process re-encrypts a database's pages, since when, and its progress. One
//! process at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use selenite_format::operation_report::Report;

use super::pace::Pace;
use crate::draft::beside;
use crate::error::io_error;
use crate::lock_holders::{holders, writers};
use crate::storage::{Claim, Disk, Storage};
use crate::{EngineError, conversion, keys};

/// The file, created and locked.
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
    /// Claims the database for an operation.
    ///
    /// # Errors
    /// [`EngineError::UnderWay`] with the process that has the claim; [`EngineError::Io`].
    pub fn begin(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        Self::begin_as(storage, path, false)
    }

    /// Claims it for an operation that copies the database while no other connection uses it.
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

    /// Sets the description of the operation.
    pub fn describe(&self, what: &str) {
        self.update(true, |report| what.clone_into(&mut report.what));
    }

    /// Reports progress.
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

    /// Reports the progress of a copy.
    pub fn copied(&self, done: u64, total: u64) {
        let began = self.shared.lock().unwrap_or_else(PoisonError::into_inner).began;
        let elapsed_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.update(false, |report| {
            report.done = done;
            report.total = total;
            report.rate = done.saturating_mul(1000) / elapsed_ms.max(1);
        });
    }

    /// Reports what it waits for, and the processes that the kernel's list of locks names. Returns
    /// that as a line of text.
    pub fn waiting(&self, what: &str) -> String {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = kind(&shared.report.waiting) == kind(what);
        if !is_same {
            what.clone_into(&mut shared.report.waiting);
            shared.report.waiting_since = keys::now();
        }
        // The holders are looked up only when a write is due: that reads a list of all locks of
        // the machine.
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
            writers(&self.path)
        } else {
            holders(&self.path)
        };
        let named: Vec<String> = found.iter().map(ToString::to_string).collect();
        if named.is_empty() {
            return what.to_owned();
        }
        format!("{what}: {}", named.join(", "))
    }

    /// Changes the report, and writes it if that is due. Errors are ignored: the report is only
    /// information, and the next write replaces it.
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

/// The text without the names of the processes waited for.
fn kind(waiting: &str) -> &str {
    waiting.split(':').next().unwrap_or_default()
}

/// The operation on a database now; `None` if there is none. The file of a process that was killed
/// is not trusted: its process id may belong to another process by now, but no process holds the
/// lock.
///
/// # Errors
/// [`EngineError::Io`], also if its path has something other than a regular file with one link.
pub fn report(storage: &dyn Storage, path: &Path) -> Result<Option<Report>, EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    let claimed = storage.read_claim(&file).map_err(io_error("read", &file))?;
    Ok(claimed.map(|text| Report::parse(text.as_bytes())))
}

/// Fails if another process has an operation on the database.
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
        // A process that only reads the report also has a lock, for a moment.
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

/// Whether a process has an operation on the database now.
pub(crate) fn is_held(path: &Path) -> bool {
    matches!(report(&Disk, path), Ok(Some(_)))
}

pub fn file_of(path: &Path) -> PathBuf {
    beside(path, "-selenite")
}

/// The prefix of [`Operation::waiting`]'s text while it waits for other processes.
const WAITING_FOR: &str = "waiting for";
const CLAIM_TRIES: u32 = 50;
const CLAIM_PAUSE: Duration = Duration::from_millis(2);
const WRITE_EVERY: Duration = Duration::from_millis(250);
