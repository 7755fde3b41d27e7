//! The sessions that live.
//!
//! - `counters-without-locks`: a session's counters are written by its own threads without a lock,
//!   and read by any thread.
//! - `figures-outlive-sessions`: a thread that ends leaves its figures behind: sums over all
//!   sessions never decrease.
//! - `thread-reports-activity`: a session's current activity is reported by its thread ([`own`]),
//!   which knows its session.

mod activity;
mod cancel_handle;
pub(crate) mod own;
mod session_entry;
mod thread_figures;
mod traffic;
mod wait_stats;
mod wait_type;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use activity::{Activity, DatabaseLock, PresentWait, RequestText, SessionSight, TransactionSight};
pub use cancel_handle::{CancelHandle, CancelReason};
pub use session_entry::{SessionEntry, SessionFacts, Status};
pub use thread_figures::Figures;
use thread_figures::ThreadFigures;
pub use traffic::{Traffic, TrafficCounts};
pub use wait_stats::{WaitCounts, WaitStats};
pub use wait_type::WaitType;

use crate::config::SessionLimits;

/// The present sessions, by their spid.
pub struct Registry {
    sessions: Mutex<BTreeMap<u16, Arc<SessionEntry>>>,
    limits: SessionLimits,
    waits: Arc<WaitStats>,
    /// Of threads that ended.
    left_switches: AtomicU64,
    left_cpu_ns: AtomicU64,
}

/// Why there is no place for a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoPlace {
    /// The limit of sessions is reached.
    Server(usize),
    /// The limit of the login's sessions is reached.
    Login(usize),
}

/// A session's place in the registry. The session's thread releases it by dropping this.
pub(crate) struct Presence<'a> {
    registry: &'a Registry,
    entry: Arc<SessionEntry>,
    thread: Arc<ThreadFigures>,
}

impl Registry {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        let spid_count = usize::from(SPID_MAX - SPID_MIN) + 1;
        let administrators = limits.administrators.min(spid_count - 1);
        let max = limits.max.min(spid_count - administrators);
        Self {
            sessions: Mutex::default(),
            limits: SessionLimits {
                max,
                administrators,
                per_login: limits.per_login.min(max),
            },
            waits: Arc::default(),
            left_switches: AtomicU64::new(0),
            left_cpu_ns: AtomicU64::new(0),
        }
    }

    /// The limit of sessions.
    #[must_use]
    pub fn limits(&self) -> SessionLimits {
        self.limits
    }

    /// The waits of all sessions.
    #[must_use]
    pub fn waits(&self) -> &WaitStats {
        &self.waits
    }

    /// A place for a session of the calling thread, with the lowest free spid. An administrator who finds all taken
    /// gets one of those that are reserved for administrators.
    ///
    /// # Errors
    /// [`NoPlace`].
    pub(crate) fn enter(
        &self,
        facts: SessionFacts,
        traffic: Arc<Traffic>,
        cancel_handle: Arc<CancelHandle>,
    ) -> Result<Presence<'_>, NoPlace> {
        let mut sessions = self.lock();
        self.check_room(&sessions, &facts)?;
        let spid = (SPID_MIN..=SPID_MAX).find(|spid| !sessions.contains_key(spid));
        let spid = spid.ok_or(NoPlace::Server(self.limits.max))?;
        let thread = ThreadFigures::of_this_thread();
        let activity = Arc::new(Activity::new(spid, self.waits.clone()));
        let entry = SessionEntry::new(activity, facts, traffic, cancel_handle, thread.clone());
        let entry = Arc::new(entry);
        sessions.insert(spid, entry.clone());
        drop(sessions);
        own::enter(entry.activity());
        Ok(Presence {
            registry: self,
            entry,
            thread,
        })
    }

    fn check_room(&self, sessions: &BTreeMap<u16, Arc<SessionEntry>>, facts: &SessionFacts) -> Result<(), NoPlace> {
        let SessionLimits {
            max,
            per_login,
            administrators,
        } = self.limits;
        let own_count = sessions
            .values()
            .filter(|session| session.facts().sid == facts.sid)
            .count();
        if sessions.len() < max && own_count < per_login {
            return Ok(());
        }
        if facts.is_administrator && sessions.len() < max + administrators {
            return Ok(());
        }
        Err(match sessions.len() < max {
            true => NoPlace::Login(per_login),
            false => NoPlace::Server(max),
        })
    }

    /// All sessions, by rising spid.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<SessionEntry>> {
        self.lock().values().cloned().collect()
    }

    /// The session of that spid.
    #[must_use]
    pub fn session(&self, spid: u16) -> Option<Arc<SessionEntry>> {
        self.lock().get(&spid).cloned()
    }

    /// Ends a session: its wait for the network ends at once, and what it runs at its next
    /// [`crate::Interrupts::poll`]. False if no session has that spid.
    pub fn kill(&self, spid: u16) -> bool {
        match self.session(spid) {
            Some(session) => {
                session.cancel_handle().pull(CancelReason::Killed);
                true
            }
            None => false,
        }
    }

    /// How often the system has switched the sessions' threads, including those that ended.
    #[must_use]
    pub fn context_switches(&self) -> u64 {
        self.sum().switches
    }

    /// How long the sessions' threads had a processor, including those that ended.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.sum().cpu
    }

    fn sum(&self) -> Figures {
        // The lock is held throughout: a session that ends meanwhile would count twice, or not at all.
        let sessions = self.lock();
        let left = Figures {
            switches: self.left_switches.load(Ordering::Relaxed),
            cpu: Duration::from_nanos(self.left_cpu_ns.load(Ordering::Relaxed)),
        };
        sessions
            .values()
            .map(|session| session.figures())
            .fold(left, Figures::plus)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u16, Arc<SessionEntry>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Presence<'_> {
    pub(crate) fn entry(&self) -> &Arc<SessionEntry> {
        &self.entry
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        own::leave(self.entry.activity());
        self.thread.finish();
        let mut sessions = self.registry.lock();
        let figures = self.entry.figures();
        let cpu_ns = u64::try_from(figures.cpu.as_nanos()).unwrap_or(0);
        self.registry
            .left_switches
            .fetch_add(figures.switches, Ordering::Relaxed);
        self.registry.left_cpu_ns.fetch_add(cpu_ns, Ordering::Relaxed);
        sessions.remove(&self.entry.spid());
    }
}

/// SQL Server reserves the numbers below for itself.
const SPID_MIN: u16 = 51;
/// @@SPID is a smallint.
const SPID_MAX: u16 = 32767;

#[cfg(test)]
mod tests;
