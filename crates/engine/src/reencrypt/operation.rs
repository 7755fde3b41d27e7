//! `DB-selenite`: who is sealing a database's pages anew, since when, and how far that is. One process at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::pace::Pace;
use crate::draft::beside;
use crate::error::io_error;
use crate::storage::{Claim, Disk, Storage};
use crate::{EngineError, conversion, keys};

/// An operation that is under way, as others see it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The process that is at it.
    pub pid: u32,
    /// Since when: seconds since 1970-01-01 UTC.
    pub since: u64,
    /// Whether it copies the database, which nobody else can use meanwhile.
    pub is_offline: bool,
    /// From which suite to which.
    pub what: String,
    /// What it waits for; empty while it works.
    pub waiting: String,
    /// Bytes of pages that are done.
    pub done: u64,
    /// Bytes of all pages.
    pub total: u64,
    /// Bytes a second.
    pub rate: u64,
    /// The 99th percentile of how long a batch kept writers waiting, in microseconds, without syncs.
    pub lock_p99: u64,
}

/// The file, held.
pub struct Operation {
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

    /// Begins one that copies the database while nobody else uses it.
    ///
    /// # Errors
    /// As [`Operation::begin`].
    pub fn begin_offline(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        Self::begin_as(storage, path, true)
    }

    fn begin_as(storage: &dyn Storage, path: &Path, is_offline: bool) -> Result<Self, EngineError> {
        let operation = Self {
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

    /// Says what it waits for.
    pub fn waiting(&self, what: &str) {
        self.update(false, |report| what.clone_into(&mut report.waiting));
    }

    /// What it is written for is to be read by people: what can't be written now is written later.
    fn update(&self, now: bool, change: impl FnOnce(&mut Report)) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut shared.report);
        if now || shared.written.is_none_or(|last| last.elapsed() >= WRITE_EVERY) {
            shared.written = Some(Instant::now());
            let _ = self.claim.write(&shared.report.to_text());
        }
    }
}

impl Report {
    fn to_text(&self) -> String {
        format!(
            "pid {}\nsince {}\noffline {}\nwhat {}\nwaiting {}\ndone {}\ntotal {}\nrate {}\nlock_p99_us {}\n",
            self.pid,
            self.since,
            u8::from(self.is_offline),
            self.what,
            self.waiting,
            self.done,
            self.total,
            self.rate,
            self.lock_p99
        )
    }

    fn parse(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let number = || value.parse().unwrap_or(0);
            match name {
                "pid" => report.pid = value.parse().unwrap_or(0),
                "since" => report.since = number(),
                "offline" => report.is_offline = value == "1",
                "what" => value.clone_into(&mut report.what),
                "waiting" => value.clone_into(&mut report.waiting),
                "done" => report.done = number(),
                "total" => report.total = number(),
                "rate" => report.rate = number(),
                "lock_p99_us" => report.lock_p99 = number(),
                _ => {}
            }
        }
        report
    }
}

/// What is being done to a database now; nothing if nobody is at it. What a process that was killed has left is not
/// believed: its number may be another's by now, but the lock is nobody's.
///
/// # Errors
/// [`EngineError::Io`], also where something else than a file of this one name is in its place.
pub fn report(storage: &dyn Storage, path: &Path) -> Result<Option<Report>, EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    let claimed = storage.read_claim(&file).map_err(io_error("read", &file))?;
    Ok(claimed.map(|text| Report::parse(&text)))
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
    for _ in 0..TRY_COUNT {
        if let Some(claim) = storage.claim(&file).map_err(io_error("create", &file))? {
            return Ok(claim);
        }
        // Who only looks whether somebody is at it has a lock, too, for a moment.
        refuse_second(storage, path)?;
        std::thread::sleep(TRY_AGAIN);
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

const TRY_COUNT: u32 = 50;
const TRY_AGAIN: Duration = Duration::from_millis(2);
const WRITE_EVERY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back_as_it_was_written() {
        let report = Report {
            pid: 7,
            since: 8,
            is_offline: true,
            what: "AES_256 to AEGIS_256X4".to_owned(),
            waiting: "waiting for who reads: process 9 reads".to_owned(),
            done: 1,
            total: 2,
            rate: 3,
            lock_p99: 4,
        };
        assert_eq!(Report::parse(&report.to_text()), report);
        assert_eq!(Report::parse("nothing\n\x00"), Report::default());
    }
}
