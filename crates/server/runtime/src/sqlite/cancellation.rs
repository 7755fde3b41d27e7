//! Cancellation of statements on a connection.
//!
//! - `statement-fails-first`: SQLite rolls the whole transaction back when a statement that writes is interrupted,
//!   but only the statement when one of its functions fails (sqlite.org/lang_transaction.html). So a statement that
//!   writes many rows calls [`CHECK_CANCELLED_FUNCTION`] for each, which fails when the request is cancelled; one
//!   that writes a single row is not interrupted.
//! - `grace-ends`: a statement that does not call it within [`GRACE`], because of a long query in it, is interrupted
//!   after all.
//! - `session-ends-at-once`: a session that ends is interrupted at once: its transaction is rolled back anyway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, Result};
use selenite_compiler::SqlError;
use selenite_compiler::compiled::CHECK_CANCELLED_FUNCTION;

/// The scope that is cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancelled {
    /// The request: earlier changes of its transaction stay.
    Request,
    /// The session.
    Session,
}

/// Returns the cancelled scope, if any.
type Poll = dyn Fn() -> Option<Cancelled> + Send + Sync;

/// Cancels a connection's statements. It is used on the session's thread only; clones share their state.
#[derive(Clone)]
pub struct Cancellation {
    poll: Arc<Poll>,
    writing: Arc<Writing>,
}

/// The state of a statement that writes.
struct Writing {
    began: Instant,
    /// Whether a statement writes.
    is_on: AtomicBool,
    /// Whether cancellation is suspended.
    is_held: AtomicBool,
    /// The time of the first poll that found a cancellation, in milliseconds from `began`; [`NEVER`] if there is none.
    stop_ms: AtomicU64,
}

impl Cancellation {
    /// Cancels statements when `poll` returns a scope.
    pub fn new(poll: impl Fn() -> Option<Cancelled> + Send + Sync + 'static) -> Self {
        let writing = Arc::new(Writing {
            began: Instant::now(),
            is_on: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            stop_ms: AtomicU64::new(NEVER),
        });
        Self {
            poll: Arc::new(poll),
            writing,
        }
    }

    /// Whether the running statement is cancelled.
    pub fn is_requested(&self) -> bool {
        (self.poll)().is_some()
    }

    /// Registers the progress handler, which SQLite's VM calls every `steps` steps, and the SQL function.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn attend(&self, connection: &mut Connection, steps: i32) -> Result<()> {
        let handler = self.clone();
        connection.progress_handler(steps, Some(move || handler.interrupts_now()))?;
        let function = self.clone();
        connection.create_scalar_function(CHECK_CANCELLED_FUNCTION, 0, FunctionFlags::SQLITE_UTF8, move |_| {
            function.check_cancelled()
        })
    }

    /// Runs a statement that writes.
    ///
    /// # Errors
    /// That of `body`; 8624 if the request is already cancelled, which is not sent: the cancellation ends the request.
    pub fn write<R, E: From<SqlError>>(
        &self,
        body: impl FnOnce() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        if self.is_requested() {
            return Err(SqlError::internal("a statement that is to stop").into());
        }
        // A function of a user writes its table variables while another statement writes.
        let is_inner = self.writing.is_on.swap(true, Ordering::Relaxed);
        if !is_inner {
            self.writing.stop_ms.store(NEVER, Ordering::Relaxed);
        }
        let done = body();
        self.writing.is_on.store(is_inner, Ordering::Relaxed);
        done
    }

    /// Runs `body` without cancellation, because an interruption would roll back the whole transaction; the caller
    /// polls between steps.
    pub fn hold<R>(&self, body: impl FnOnce() -> R) -> R {
        self.writing.is_held.store(true, Ordering::Relaxed);
        let done = body();
        self.writing.is_held.store(false, Ordering::Relaxed);
        done
    }

    /// Whether SQLite is to interrupt the statement.
    fn interrupts_now(&self) -> bool {
        if self.writing.is_held.load(Ordering::Relaxed) {
            return false;
        }
        match (self.poll)() {
            None => false,
            Some(Cancelled::Session) => true,
            Some(Cancelled::Request) => !self.writing.may_fail_in_function(),
        }
    }

    /// The SQL function that a statement calls for each row.
    fn check_cancelled(&self) -> Result<bool> {
        match self.writing.stop_ms.load(Ordering::Relaxed) {
            NEVER => Ok(true),
            _ => Err(rusqlite::Error::UserFunctionError("the statement is to stop".into())),
        }
    }
}

impl Writing {
    /// Whether the statement has time left to fail in the function.
    fn may_fail_in_function(&self) -> bool {
        if !self.is_on.load(Ordering::Relaxed) {
            return false;
        }
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(NEVER - 1);
        match self.stop_ms.load(Ordering::Relaxed) {
            NEVER => {
                self.stop_ms.store(now_ms, Ordering::Relaxed);
                true
            }
            since_ms => Duration::from_millis(now_ms.saturating_sub(since_ms)) < GRACE,
        }
    }
}

const NEVER: u64 = u64::MAX;
/// 20 ms: with the 5 until the socket is polled, ATTENTION is answered within 50.
const GRACE: Duration = Duration::from_millis(20);
