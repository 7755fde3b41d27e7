//! The time of day where the server is.

use std::sync::atomic::{AtomicI16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use selenite_types::Moment;

/// The current time, and the offset of local time from UTC, which SQLite gets from the system.
pub(crate) struct LocalClock {
    /// None if SQLite has no memory left: then local time is UTC.
    connection: Mutex<Option<Connection>>,
    offset_minutes: AtomicI16,
    /// Seconds since 1970 at which the offset is to be read again.
    ask_next: AtomicU64,
}

impl LocalClock {
    pub fn new() -> Self {
        Self {
            connection: Mutex::new(Connection::open_in_memory().ok()),
            offset_minutes: AtomicI16::new(0),
            ask_next: AtomicU64::new(0),
        }
    }

    /// The moment.
    pub fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = since.as_secs();
        if seconds >= self.ask_next.load(Ordering::Relaxed) {
            self.ask(seconds);
        }
        Moment {
            unix_ns: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            offset_minutes: self.offset_minutes.load(Ordering::Relaxed),
        }
    }

    fn ask(&self, seconds: u64) {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let minutes = connection
            .as_ref()
            .and_then(|connection| connection.query_row(OFFSET, [], |row| row.get::<_, i16>(0)).ok());
        if let Some(minutes) = minutes {
            self.offset_minutes.store(minutes, Ordering::Relaxed);
        }
        // Clocks are changed at the beginning of a minute.
        self.ask_next.store(seconds - seconds % 60 + 60, Ordering::Relaxed);
    }
}

/// Both are of the same moment: within a statement SQLite's `now` does not change.
const OFFSET: &str = "SELECT (strftime('%s', 'now', 'localtime') - strftime('%s', 'now')) / 60";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_is_within_fourteen_hours_of_utc() {
        let clock = LocalClock::new();
        let (first, second) = (clock.now(), clock.now());
        assert!(first.offset_minutes.abs() <= 14 * 60);
        assert!(second.unix_ns >= first.unix_ns);
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        assert!(u128::from(first.unix_ns).abs_diff(before) < 10_000_000_000);
    }
}
