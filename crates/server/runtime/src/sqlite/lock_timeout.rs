//! LOCK_TIMEOUT: the limit of a statement's waits, for sessions of this server or other processes.
//!
//! Two sessions of one client thread can block each other without a cycle of waiting sessions: the client itself waits.
//! So every wait has a limit.

use std::time::{Duration, Instant};

use super::error::{is_busy, lock_timeout, tsql_error};
use crate::machine::{Failure, Stop};

/// The remaining time of one statement.
#[derive(Clone, Copy, Debug)]
pub struct LockTimeout {
    until: Instant,
}

impl LockTimeout {
    /// A timeout from now on.
    pub fn of(timeout: Duration) -> Self {
        Self {
            until: Instant::now() + timeout,
        }
    }

    /// The remaining time.
    pub fn left(self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Whether it has expired.
    pub fn is_over(self) -> bool {
        self.left().is_zero()
    }

    /// Retries SQLite's call until no other process holds the lock.
    ///
    /// # Errors
    /// 1222 when the time has expired; the reason to stop; SQLite's error.
    pub fn retry(
        self,
        mut poll: impl FnMut() -> Result<(), Stop>,
        mut call: impl FnMut() -> rusqlite::Result<()>,
    ) -> Result<(), Failure> {
        loop {
            match call() {
                Ok(()) => return Ok(()),
                Err(error) if is_busy(&error) => {
                    if self.is_over() {
                        return Err(lock_timeout().into());
                    }
                }
                Err(error) => return Err(tsql_error(&error).into()),
            }
            // SQLite's busy handler has already waited.
            poll()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;
    use selenite_compiler::SqlError;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn busy() -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None)
    }

    fn number(failure: Result<(), Failure>) -> Result<(), i32> {
        failure.map_err(|failure| match failure {
            Failure::Error(error) => error.number(),
            Failure::Stop(_) => 0,
        })
    }

    #[test]
    fn an_expired_timeout_calls_once() {
        let mut count = 0;
        let result = LockTimeout::of(Duration::ZERO).retry(
            || Ok(()),
            || {
                count += 1;
                Err(busy())
            },
        );
        assert_eq!((number(result), count), (Err(1222), 1));
    }

    #[test]
    fn calls_are_retried_until_the_lock_is_free_or_the_statement_is_cancelled() {
        let mut count = 0;
        let result = LockTimeout::of(LONG).retry(
            || Ok(()),
            || {
                count += 1;
                if count == 100 { Ok(()) } else { Err(busy()) }
            },
        );
        assert_eq!(number(result), Ok(()));
        let stopped = LockTimeout::of(LONG).retry(|| Err(Stop::Attention), || Err(busy()));
        assert_eq!(number(stopped), Err(0));
    }

    #[test]
    fn an_error_other_than_busy_is_not_retried() {
        let full = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None);
        let result = LockTimeout::of(LONG).retry(|| Ok(()), || Err(full()));
        let Err(Failure::Error(error)) = result else {
            panic!("{result:?}");
        };
        assert_eq!(SqlError::number(&error), 1105);
    }
}
