//! Someone who looks on: is told how far an operation is, and may stop it.

use std::fmt;
use std::sync::Arc;

use crate::EngineError;

/// What an operation is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The database is copied.
    Copying,
    /// Pages are read, and what changed is sent to a backup.
    BackingUp,
    /// Pages come from a backup, and are re-encrypted.
    Restoring,
    /// The copy is compared with it, table by table.
    Comparing,
    /// Pages are authenticated.
    Verifying,
    /// SQLite's own integrity check.
    CheckingIntegrity,
    /// Pages are re-encrypted.
    Sealing,
    /// The last look at everything, and who is waited for before it.
    Finishing,
    /// All pages are looked at once more, and those re-encrypted that an old frame of the log brought back.
    Checking,
}

/// How far an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Bytes done; of [`Phase::CheckingIntegrity`] and [`Phase::Finishing`] nothing is known.
    pub done: u64,
    /// Bytes in all, as far as can be said beforehand.
    pub total: u64,
}

/// Someone who looks on. Calls come from several threads, often: they must be quick.
pub trait Observer: Send + Sync {
    /// Hears how far it is.
    fn progress(&self, progress: Progress);

    /// Hears what it waits for, and whom.
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
    /// Has `observer` look on.
    #[must_use]
    pub fn new(observer: Arc<dyn Observer>) -> Self {
        Self(observer)
    }

    /// No one looks on.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Unobserved))
    }

    /// May stop the operation, and hears nothing: for the second of two threads that do the same.
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

    /// Stops the operation if it was asked to.
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
