//! What a session does just now, as others see it.
//!
//! - `session-writes-others-read`: the session's thread writes it (`own.rs`); any thread reads it.
//!   What is written for each request takes a lock that is never held for longer than a copy.
//! - `last-request-while-idle`: a session that waits for a request is reported with its last
//!   request.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use selenite_compiler::Session;
use selenite_compiler::program::Program;
use selenite_tsql::ast::IsolationLevel;

use super::wait_stats::WaitStats;
use super::wait_type::WaitType;

/// What a session does.
pub struct Activity {
    spid: u16,
    stats: Arc<WaitStats>,
    /// The place of its wait in [`WaitType::ALL`], from 1 up; 0 while it does not wait.
    wait: AtomicU8,
    /// Like `wait`, for the last wait.
    last_wait: AtomicU8,
    /// When it began to wait: see [`WaitStats::moment`].
    wait_begun: AtomicU64,
    blocked_by: AtomicU16,
    reads: AtomicU64,
    writes: AtomicU64,
    present: Mutex<CurrentActivity>,
}

#[derive(Default)]
struct CurrentActivity {
    request: Option<RequestText>,
    /// Whether `request` is that of the request that runs.
    is_told: bool,
    command: Option<&'static str>,
    state: Option<Arc<SessionSight>>,
    transaction: Option<TransactionSight>,
    locks: Vec<DatabaseLock>,
}

/// A client's request.
#[derive(Clone, Debug)]
pub struct RequestText {
    /// What runs.
    pub program: Arc<Program>,
    /// The text of the client, if it is not that of the program, which has parameters in place of constants.
    pub text: Option<Arc<str>>,
    /// Whether it is a call, not a batch.
    pub is_call: bool,
}

impl RequestText {
    /// The text that the client sent.
    #[must_use]
    pub fn source(&self) -> &str {
        self.text.as_deref().unwrap_or_else(|| self.program.source())
    }
}

/// A session's options and place, as they were when its request began, or after it ended.
#[derive(Clone, Debug)]
pub struct SessionSight {
    /// Options and counters.
    pub session: Session,
    /// The database in use.
    pub database_id: i32,
    /// Whom it executes as: a login's security id and name.
    pub login: (Vec<u8>, Arc<str>),
    /// SET TRANSACTION ISOLATION LEVEL.
    pub isolation: IsolationLevel,
}

/// A transaction that a client began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionSight {
    /// The number by which the client knows it.
    pub id: u64,
    /// Its name; empty if it has none.
    pub name: String,
    /// When it began.
    pub begun: SystemTime,
}

/// The right to write to a database, had or waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatabaseLock {
    /// Of which database.
    pub database_id: i32,
    /// Whether it has it.
    pub is_granted: bool,
    /// Since when it has it, or waits.
    pub since: SystemTime,
}

/// A wait that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PresentWait {
    /// What for.
    pub kind: WaitType,
    /// How long by now.
    pub length: Duration,
    /// The session that has what is waited for, if one has.
    pub blocked_by: Option<u16>,
}

impl Activity {
    pub(super) fn new(spid: u16, stats: Arc<WaitStats>) -> Self {
        Self {
            spid,
            stats,
            wait: AtomicU8::new(0),
            last_wait: AtomicU8::new(0),
            wait_begun: AtomicU64::new(0),
            blocked_by: AtomicU16::new(0),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            present: Mutex::default(),
        }
    }

    /// @@SPID.
    #[must_use]
    pub fn spid(&self) -> u16 {
        self.spid
    }

    /// What it waits for, if it does.
    #[must_use]
    pub fn wait(&self) -> Option<PresentWait> {
        let kind = kind_at(self.wait.load(Ordering::Acquire))?;
        let begun = self.wait_begun.load(Ordering::Relaxed);
        let length = self.stats.moment(Instant::now()).saturating_sub(begun);
        let blocked_by = self.blocked_by.load(Ordering::Relaxed);
        Some(PresentWait {
            kind,
            length: Duration::from_nanos(length),
            blocked_by: (blocked_by != 0).then_some(blocked_by),
        })
    }

    /// What it waited for last, or waits for.
    #[must_use]
    pub fn last_wait(&self) -> Option<WaitType> {
        kind_at(self.last_wait.load(Ordering::Relaxed))
    }

    /// How often its thread has read and written files of databases: as of the last statement on tables, or the last
    /// request.
    #[must_use]
    pub fn file_accesses(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.writes.load(Ordering::Relaxed))
    }

    /// Its client's last request.
    #[must_use]
    pub fn request(&self) -> Option<RequestText> {
        self.present().request.clone()
    }

    /// The kind of statement that runs, by SQL Server's name; none of what is scalar.
    #[must_use]
    pub fn command(&self) -> Option<&'static str> {
        self.present().command
    }

    /// Its options.
    #[must_use]
    pub fn state(&self) -> Option<Arc<SessionSight>> {
        self.present().state.clone()
    }

    /// The transaction that its client began, if one is open.
    #[must_use]
    pub fn transaction(&self) -> Option<TransactionSight> {
        self.present().transaction.clone()
    }

    /// The databases that it writes to, or waits to.
    #[must_use]
    pub fn locks(&self) -> Vec<DatabaseLock> {
        self.present().locks.clone()
    }

    pub(super) fn begin_wait(&self, kind: WaitType, begun: Instant) {
        let place = place_of(kind);
        self.wait_begun.store(self.stats.moment(begun), Ordering::Relaxed);
        self.blocked_by.store(0, Ordering::Relaxed);
        self.last_wait.store(place, Ordering::Relaxed);
        self.wait.store(place, Ordering::Release);
    }

    pub(super) fn block(&self, by: u16) {
        self.blocked_by.store(by, Ordering::Relaxed);
    }

    pub(super) fn end_wait(&self, kind: WaitType, begun: Instant) {
        self.wait.store(0, Ordering::Release);
        self.stats.record(kind, 1, begun.elapsed());
    }

    /// Copies what its thread counts. Called by that thread.
    pub(super) fn note_files(&self) {
        let counts = selenite::thread_io();
        self.reads.store(counts.reads, Ordering::Relaxed);
        self.writes.store(counts.writes, Ordering::Relaxed);
    }

    /// A request has arrived, of which nothing is known yet.
    pub(super) fn wake(&self) {
        self.present().is_told = false;
    }

    /// The first program that a request runs is the client's own. Returns whether this was it.
    pub(super) fn note_program(&self, program: &Arc<Program>, text: Option<Arc<str>>, is_call: bool) -> bool {
        let mut present = self.present();
        if std::mem::replace(&mut present.is_told, true) {
            return false;
        }
        let request = RequestText {
            program: program.clone(),
            text,
            is_call,
        };
        let before = present.request.replace(request);
        drop(present);
        // It may be the last one to have a long program.
        drop(before);
        true
    }

    pub(super) fn note_state(&self, state: SessionSight) {
        self.present().state = Some(Arc::new(state));
    }

    pub(super) fn note_command(&self, command: Option<&'static str>) {
        self.present().command = command;
    }

    pub(super) fn note_transaction(&self, transaction: Option<TransactionSight>) {
        self.present().transaction = transaction;
    }

    /// Waits for the right to write to a database, or has it.
    pub(super) fn note_lock(&self, database_id: i32, is_granted: bool) {
        let lock = DatabaseLock {
            database_id,
            is_granted,
            since: SystemTime::now(),
        };
        let mut present = self.present();
        match present.locks.iter_mut().find(|known| known.database_id == database_id) {
            Some(known) => *known = lock,
            None => present.locks.push(lock),
        }
    }

    pub(super) fn forget_lock(&self, database_id: i32) {
        self.present().locks.retain(|lock| lock.database_id != database_id);
    }

    fn present(&self) -> MutexGuard<'_, CurrentActivity> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place_of(kind: WaitType) -> u8 {
    // There are five.
    u8::try_from(kind.index() + 1).unwrap_or(0)
}

fn kind_at(place: u8) -> Option<WaitType> {
    WaitType::ALL.get(usize::from(place.checked_sub(1)?)).copied()
}
