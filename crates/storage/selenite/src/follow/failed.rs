//! A new backup that failed, and when the next is tried.
//!
//! - beginnings-are-reused: *A destination is not filled with beginnings.* What was sent of one
//!   that failed is gone on with; another is begun only where that will not do.
//! - pauses-grow: *A database is not read over and over.* Each time that it fails the pause before
//!   the next is longer.

use std::time::{Duration, Instant};

use selenite_backup::{ArchiveName, BackupError, Destination};

use super::Backoff;
use crate::EngineError;

/// What is known of it.
pub struct Failed {
    why: String,
    /// Enforces `beginnings-are-reused`.
    unfinished: Option<ArchiveName>,
    pause: Backoff,
    next: Instant,
}

impl Failed {
    /// One that was begun as `begun` failed, after `before` had.
    pub fn behind(
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
            EngineError::Backup(BackupError::Taken { .. } | BackupError::Removed { .. } | BackupError::Gone { .. })
        );
        Self {
            why: why(error, destination),
            unfinished: begun.or(kept).filter(|_| !is_lost),
            next: Instant::now() + pause.next(),
            pause,
        }
    }

    /// Whether it is time for the next.
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.next
    }

    /// Why it failed.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// What the next goes on with.
    pub fn unfinished(&self) -> Option<ArchiveName> {
        self.unfinished.clone()
    }
}

/// Without the object's name, which is another each time: what is the same is to be said once.
fn why(error: &EngineError, destination: &dyn Destination) -> String {
    let EngineError::Backup(BackupError::Store(error)) = error else {
        return error.to_string();
    };
    format!("can't {} at {}: {}", error.verb, destination.place(), error.what)
}

/// A destination that is full has room again seldom, and is asked by reading all of the database.
const PAUSE_MAX: Duration = Duration::from_secs(300);
