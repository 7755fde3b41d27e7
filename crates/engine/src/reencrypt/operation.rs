//! `DB-selenite`: who is sealing a database's pages anew, since when, and how far that is. One process at a time.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::pace::Pace;
use crate::draft::beside;
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::{Claim, Disk, DiskClaim, Storage};
use crate::{EngineError, conversion, keys};

/// An operation that is under way, as others see it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The process that is at it.
    pub pid: u32,
    /// Since when: seconds since 1970-01-01 UTC.
    pub since: u64,
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
    written: Option<Instant>,
}

impl Operation {
    /// Begins one.
    ///
    /// # Errors
    /// [`EngineError::UnderWay`] names the process that is at it; [`EngineError::Io`].
    pub fn begin(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        let file = file_of(path);
        let Some(claim) = storage.claim(&file).map_err(io_error("create", &file))? else {
            let other = report(storage, path)?.unwrap_or_default();
            return Err(EngineError::UnderWay {
                path: path.to_owned(),
                pid: other.pid,
                since: other.since,
            });
        };
        let operation = Self {
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
            report.done = done;
            report.total = total;
            report.rate = pace.rate();
            report.lock_p99 = u64::try_from(pace.lock_p99().as_micros()).unwrap_or(u64::MAX);
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
            "pid {}\nsince {}\nwhat {}\nwaiting {}\ndone {}\ntotal {}\nrate {}\nlock_p99_us {}\n",
            self.pid, self.since, self.what, self.waiting, self.done, self.total, self.rate, self.lock_p99
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

/// What is being done to a database now; nothing if nobody is at it.
///
/// # Errors
/// [`EngineError::Io`]; [`EngineError::Usage`] where something else than a file is in its place.
pub fn report(storage: &dyn Storage, path: &Path) -> Result<Option<Report>, EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    // Beside a database anybody may have put anything; and nothing is waited for.
    let opened = match RawFile::open_in_folder(&file) {
        Ok(opened) => opened,
        Err(EngineError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = vec![0; REPORT_SIZE_MAX];
    let size = opened.read_at(&mut text, 0)?;
    let report = Report::parse(&String::from_utf8_lossy(&text[..size]));
    // Its process was killed: nobody is at it.
    let is_alive = Path::new("/proc").join(report.pid.to_string()).exists();
    Ok((report.pid != 0 && is_alive).then_some(report))
}

/// Whether a process is at it now. One of another container has a number that says nothing here: its lock does.
pub(crate) fn is_held(path: &Path) -> bool {
    let is_known = matches!(report(&Disk, path), Ok(Some(_)));
    is_known || conversion::real_path(&Disk, path).is_ok_and(|path| DiskClaim::is_held(&file_of(&path)))
}

pub fn file_of(path: &Path) -> PathBuf {
    beside(path, "-selenite")
}

const REPORT_SIZE_MAX: usize = 4096;
const WRITE_EVERY: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_back_as_it_was_written() {
        let report = Report {
            pid: 7,
            since: 8,
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
