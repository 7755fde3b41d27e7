//! `DB-selenite`: who is sealing a database's pages anew, since when, and how far that is. One process at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use selenite_format::operation_report::Report;
use selenite_vfs::operation_file;

use super::pace::Pace;
use crate::draft::beside;
use crate::error::io_error;
use crate::lock_holders::{holders, who_writes};
use crate::storage::{Claim, Storage};
use crate::{EngineError, conversion, keys};

/// The file, held.
pub struct Operation {
    path: PathBuf,
    claim: Box<dyn Claim>,
    shared: Mutex<Shared>,
}

struct Shared {
    report: Report,
    written: Option<Instant>,
}

impl Operation {
    /// Begins one.
    ///
    /// # Errors
    /// [`EngineError::UnderWay`] names the process that is at it; [`EngineError::Io`].
    pub fn begin(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        let file = file_of(path);
        let claim = || storage.claim(&file).map_err(io_error("create", &file));
        let Some(claim) = patiently(claim)? else {
            let other = report(storage, path).ok().flatten().unwrap_or_default();
            return Err(EngineError::UnderWay {
                path: path.to_owned(),
                pid: other.pid,
                since: other.since,
            });
        };
        let operation = Self {
            path: path.to_owned(),
            claim,
            shared: Mutex::new(Shared {
                report: Report {
                    pid: std::process::id(),
                    since: keys::now(),
                    ..Report::default()
                },
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
        if !what.starts_with(FOR_SOMEBODY) || what.contains(':') {
            return what.to_owned();
        }
        let found = if what.ends_with("writes") {
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

/// Whoever looks at the file holds it shared for a moment, to find out whether anybody is at it: that is no other operation.
fn patiently<T>(mut claim: impl FnMut() -> Result<Option<T>, EngineError>) -> Result<Option<T>, EngineError> {
    for _ in 1..CLAIM_TRIES {
        if let Some(claimed) = claim()? {
            return Ok(Some(claimed));
        }
        std::thread::sleep(CLAIM_PAUSE);
    }
    claim()
}

/// What is being done to a database now; nothing if nobody is at it.
///
/// # Errors
/// [`EngineError::Io`]; of that kind, too, where something else than a report is in its place.
pub fn report(storage: &dyn Storage, path: &Path) -> Result<Option<Report>, EngineError> {
    let path = conversion::real_path(storage, path)?;
    operation_file::look(&path).map_err(io_error("read", &file_of(&path)))
}

pub fn file_of(path: &Path) -> PathBuf {
    beside(path, "-selenite")
}

/// With what [`Operation::waiting`] begins where it is for others.
const FOR_SOMEBODY: &str = "waiting for who";
const CLAIM_TRIES: u32 = 5;
const CLAIM_PAUSE: Duration = Duration::from_millis(5);
const WRITE_EVERY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_looks_keeps_nobody_from_beginning() {
        let mut looks = 0;
        let claimed = patiently(|| {
            looks += 1;
            Ok((looks == 3).then_some(looks))
        });
        assert_eq!(claimed.unwrap(), Some(3));
        let mut tries = 0;
        let refused = patiently::<()>(|| {
            tries += 1;
            Ok(None)
        });
        assert_eq!((refused.unwrap(), tries), (None, CLAIM_TRIES));
    }
}
