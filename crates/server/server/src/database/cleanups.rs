//! What sessions are requested to drop: DBCC DROPCLEANBUFFERS and FREEPROCCACHE, and
//! bound statements when a database is renamed.
//!
//! - `session-drops-its-own`: a session's connections and bound statements belong to its thread
//!   alone. So other threads only request that they be dropped, and the session drops them before
//!   its next statement on tables. A session that waits for its client keeps the memory until then,
//!   and reads nothing from it any more.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often each command was run, by any session.
#[derive(Default)]
pub struct Cleanups {
    pages: AtomicU64,
    plans: AtomicU64,
}

impl Cleanups {
    /// Page caches are to be emptied.
    pub fn drop_pages(&self) {
        self.pages.fetch_add(1, Ordering::AcqRel);
    }

    /// Bound statements are to be dropped.
    pub fn drop_plans(&self) {
        self.plans.fetch_add(1, Ordering::AcqRel);
    }

    /// How often page caches were requested to be emptied.
    pub fn pages(&self) -> u64 {
        self.pages.load(Ordering::Acquire)
    }

    /// How often bound statements were requested to be dropped.
    pub fn plans(&self) -> u64 {
        self.plans.load(Ordering::Acquire)
    }
}
