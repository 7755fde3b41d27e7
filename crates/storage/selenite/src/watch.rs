//! Progress reports of an operation, and its interruption.

use std::fmt;
use std::sync::Arc;

use crate::EngineError;

/// The phase of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The database is copied.
    Copying,
    /// Pages are read, and the changed ones are sent to a backup.
    BackingUp,
    /// Pages are fetched from a backup, and re-encrypted.
    Restoring,
    /// The copy is compared with its source, table by table.
    Comparing,
    /// Pages are authenticated.
    Verifying,
    /// SQLite's own integrity check.
    CheckingIntegrity,
    /// Pages are re-encrypted.
    Sealing,
    /// The final check of all pages and logs, and the waiting for others before it.
    Finishing,
    /// All pages are checked once more, and those re-encrypted that an old frame of the log
    /// restored.
    Checking,
}

/// The progress of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The present phase.
    pub phase: Phase,
    /// Bytes done; unknown during [`Phase::CheckingIntegrity`] and [`Phase::Finishing`].
    pub done: u64,
    /// The expected total in bytes.
    pub total: u64,
}

/// Receives progress reports. Calls come from several threads, often: they must be quick.
pub trait Observer: Send + Sync {
    /// Receives the progress.
    fn progress(&self, progress: Progress);

    /// Receives what the operation waits for, and for which processes.
    fn waiting(&self, _what: &str) {}

    /// Whether to stop.
    fn is_interrupted(&self) -> bool;
}

/// An observer, shared by the threads of an operation.
#[derive(Clone)]
pub struct Watch(Arc<dyn Observer>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// With this observer.
    #[must_use]
    pub fn new(observer: Arc<dyn Observer>) -> Self {
        Self(observer)
    }

    /// Without an observer.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Unobserved))
    }

    /// Passes on interruption, but no progress: for the second of two threads that do the same.
    pub(crate) fn quiet(other: &Self) -> Self {
        Self(Arc::new(Quiet(other.clone())))
    }

    pub(crate) fn report(&self, phase: Phase, done: u64, total: u64) {
        self.0.progress(Progress { phase, done, total });
    }

    pub(crate) fn waiting(&self, what: &str) {
        self.0.waiting(what);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }

    /// Fails if the operation was interrupted.
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if self.is_interrupted() {
            return Err(EngineError::Interrupted);
        }
        Ok(())
    }
}

struct Quiet(Watch);

impl Observer for Quiet {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}

struct Unobserved;

impl Observer for Unobserved {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
