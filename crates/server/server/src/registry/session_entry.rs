//! One session as others see it.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selenite_tds::{PacketSize, TdsVersion};

use super::activity::Activity;
use super::thread_figures::{Figures, OwnThread, ThreadFigures, cpu_of_this_thread};
use crate::registry::{CancelHandle, Traffic, TrafficCounts};

/// What others can see of a session, and do to it.
pub struct SessionEntry {
    activity: Arc<Activity>,
    facts: SessionFacts,
    traffic: Arc<Traffic>,
    cancel_handle: Arc<CancelHandle>,
    threads: Mutex<Vec<Arc<ThreadFigures>>>,
    is_running: AtomicBool,
    /// Milliseconds since 1970-01-01 UTC; 0 before the first.
    request_start: AtomicU64,
    request_end: AtomicU64,
    /// The session's CPU time when its request began.
    request_cpu_ns: AtomicU64,
    request_count: AtomicU64,
    attachment: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// What does not change while a session lives.
#[derive(Clone, Debug)]
pub struct SessionFacts {
    /// The login's name.
    pub login: String,
    /// Its security id.
    pub sid: [u8; 16],
    /// Whether it was an administrator when it logged in.
    pub is_administrator: bool,
    /// The client's machine, as the client calls it.
    pub host: String,
    /// The client's program, as it calls itself.
    pub program: String,
    /// The client's library, as it calls itself.
    pub library: String,
    /// The library's version.
    pub client_version: u32,
    /// The client's process, as the client reported it.
    pub client_process: u32,
    /// The client's address.
    pub peer: SocketAddr,
    /// The address that it connected to.
    pub local: SocketAddr,
    /// Whether all that follows the login is encrypted.
    pub is_encrypted: bool,
    /// What is spoken.
    pub tds_version: TdsVersion,
    /// The size of packets.
    pub packet_size: PacketSize,
    /// When it connected.
    pub connected: SystemTime,
}

/// What a session does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It serves a request.
    Running,
    /// It waits for one.
    Sleeping,
}

impl SessionEntry {
    pub(super) fn new(
        activity: Arc<Activity>,
        facts: SessionFacts,
        traffic: Arc<Traffic>,
        cancel_handle: Arc<CancelHandle>,
        thread: Arc<ThreadFigures>,
    ) -> Self {
        Self {
            activity,
            facts,
            traffic,
            cancel_handle,
            threads: Mutex::new(vec![thread]),
            is_running: AtomicBool::new(false),
            request_start: AtomicU64::new(0),
            request_end: AtomicU64::new(0),
            request_cpu_ns: AtomicU64::new(0),
            request_count: AtomicU64::new(0),
            attachment: OnceLock::new(),
        }
    }

    /// @@SPID: from 51 up.
    #[must_use]
    pub fn spid(&self) -> u16 {
        self.activity.spid()
    }

    /// What it does just now.
    #[must_use]
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// What does not change.
    #[must_use]
    pub fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    /// What went over the connection.
    #[must_use]
    pub fn traffic(&self) -> TrafficCounts {
        self.traffic.counts()
    }

    /// What it does.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.is_running.load(Ordering::Acquire) {
            true => Status::Running,
            false => Status::Sleeping,
        }
    }

    /// When its last request began, if it had one.
    #[must_use]
    pub fn request_start(&self) -> Option<SystemTime> {
        moment(&self.request_start)
    }

    /// When its last request that ended did so, if it had one.
    #[must_use]
    pub fn request_end(&self) -> Option<SystemTime> {
        moment(&self.request_end)
    }

    /// How many requests it had.
    #[must_use]
    pub fn request_count(&self) -> u64 {
        self.request_count.load(Ordering::Relaxed)
    }

    /// What its threads have cost.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads
            .iter()
            .map(|thread| thread.load())
            .fold(Figures::default(), Figures::plus)
    }

    /// The system's number of its thread.
    #[must_use]
    pub fn thread_id(&self) -> Option<i32> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.first().map(|thread| thread.id())
    }

    /// How long its threads had a processor since its last request began.
    #[must_use]
    pub fn request_cpu(&self) -> Duration {
        let before = Duration::from_nanos(self.request_cpu_ns.load(Ordering::Relaxed));
        self.figures().cpu.saturating_sub(before)
    }

    /// Whether it was ended, and has not noticed yet.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.cancel_handle.cancelled().is_some()
    }

    /// Puts something of the [`crate::Front`]'s beside it, for others to see. Only the first time counts.
    pub fn attach(&self, attachment: Arc<dyn Any + Send + Sync>) {
        let _ = self.attachment.set(attachment);
    }

    /// What the [`crate::Front`] has put beside it.
    #[must_use]
    pub fn attachment(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.attachment.get()
    }

    pub(crate) fn cancel_handle(&self) -> &CancelHandle {
        &self.cancel_handle
    }

    /// Counts the calling thread as one of this session's, until it drops the returned value.
    pub(crate) fn adopt_this_thread(&self) -> OwnThread {
        let thread = ThreadFigures::of_this_thread();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(thread.clone());
        OwnThread(thread)
    }

    /// A request has arrived. Called by the session's thread.
    pub(crate) fn wake(&self) {
        // The first thread is the one that calls this; most sessions have no other.
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let others = threads.iter().skip(1).map(|thread| thread.load().cpu);
        let cpu = cpu_of_this_thread() + others.sum::<Duration>();
        drop(threads);
        let cpu_ns = u64::try_from(cpu.as_nanos()).unwrap_or(0);
        self.request_cpu_ns.store(cpu_ns, Ordering::Relaxed);
        self.activity.wake();
        self.request_start.store(now_millis(), Ordering::Relaxed);
        self.request_count.fetch_add(1, Ordering::Relaxed);
        self.is_running.store(true, Ordering::Release);
    }

    /// It waits for a request.
    pub(crate) fn rest(&self) {
        if self.is_running.swap(false, Ordering::AcqRel) {
            self.request_end.store(now_millis(), Ordering::Relaxed);
            self.activity.note_files();
        }
    }
}

fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn moment(millis: &AtomicU64) -> Option<SystemTime> {
    match millis.load(Ordering::Relaxed) {
        0 => None,
        millis => Some(UNIX_EPOCH + Duration::from_millis(millis)),
    }
}
