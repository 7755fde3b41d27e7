//! A failed attempt at a new backup, and the time of the next.
//!
//! - beginnings-are-reused: *A destination is not filled with unfinished archives.* What a failed
//!   attempt has sent is resumed; another archive is begun only if that is not possible.
//! - pauses-grow: *A database is not read over and over.* The pause before the next attempt grows
//!   with each failure.

use std::time::{Duration, Instant};

use selenite_backup::{ArchiveName, BackupError, Destination};

use super::Backoff;
use crate::EngineError;

/// The failure of an attempt.
pub struct Failed {
    why: String,
    /// The archive to be resumed (`beginnings-are-reused`).
    unfinished: Option<ArchiveName>,
    pause: Backoff,
    next: Instant,
}

impl Failed {
    /// Records that an attempt with the archive `begun` failed, after `before` had failed.
    pub fn after(
        before: Option<Self>,
        (error, destination): (&EngineError, &dyn Destination),
        begun: Option<ArchiveName>,
    ) -> Self {
        let (mut pause, kept) = before.map_or_else(
            || (Backoff::new(PAUSE_MAX), None),
            |before| (before.pause, before.unfinished),
        );
        let is_lost = matches!(
            error,
            EngineError::Backup(
                BackupError::WrittenByOther { .. } | BackupError::Removed { .. } | BackupError::ArchiveRemoved { .. }
            )
        );
        Self {
            why: why(error, destination),
            unfinished: begun.or(kept).filter(|_| !is_lost),
            next: Instant::now() + pause.next(),
            pause,
        }
    }

    /// Whether it is time for the next attempt.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Why it failed.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The archive that the next attempt resumes.
    pub fn unfinished(&self) -> Option<ArchiveName> {
        self.unfinished.clone()
    }
}

/// Leaves out the object's name, which differs each time, so that the same error is reported once.
fn why(error: &EngineError, destination: &dyn Destination) -> String {
    let EngineError::Backup(BackupError::Store(error)) = error else {
        return error.to_string();
    };
    format!("can't {} at {}: {}", error.verb, destination.place(), error.what)
}

/// 5 minutes: a full destination rarely has room again, and each attempt reads the whole database.
const PAUSE_MAX: Duration = Duration::from_secs(300);
