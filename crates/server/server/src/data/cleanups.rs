//! What sessions are told to drop: DBCC DROPCLEANBUFFERS and FREEPROCCACHE.
//!
//! D1. A session's connections and bound statements are its thread's alone. So others only say that they are to go, and the
//!     session drops them before its next statement on tables. One that waits for its client keeps the memory until then, and
//!     reads nothing from it any more.

use std::sync::atomic::{AtomicU64, Ordering};

use super::session_executor::SessionExecutor;

/// How often each was said, by any session.
#[derive(Default)]
pub struct Cleanups {
    pages: AtomicU64,
    plans: AtomicU64,
}

/// The same at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CleanupCounts {
    pages: u64,
    plans: u64,
}

impl Cleanups {
    /// Page caches are to be emptied.
    pub fn drop_pages(&self) {
        self.pages.fetch_add(1, Ordering::AcqRel);
    }

    /// Bound statements are to be forgotten.
    pub fn drop_plans(&self) {
        self.plans.fetch_add(1, Ordering::AcqRel);
    }

    /// How often by now.
    pub fn counts(&self) -> CleanupCounts {
        CleanupCounts {
            pages: self.pages.load(Ordering::Acquire),
            plans: self.plans.load(Ordering::Acquire),
        }
    }
}

impl SessionExecutor<'_> {
    /// Drops what it was told to since the last time.
    pub(super) fn heed_cleanups(&mut self) {
        let counts = self.database_registry.cleanups.counts();
        let before = std::mem::replace(&mut self.heeded, counts);
        if counts.pages != before.pages {
            for used in self.open.values() {
                // SQLite frees what it can, and has no other answer (sqlite.org/c3ref/db_release_memory.html).
                let _ = used.database.connection.release_memory();
            }
        }
        if counts.plans != before.plans {
            self.bound.clear();
        }
    }
}
