//! The counts of a database at each minute of the last hour.
//!
//! - minute-grid: marks are a minute apart, counted from the time at which the database was first
//!   opened. If nothing was read or written for several minutes, all of their marks have the same
//!   counts, and are entered afterwards.
//! - nothing-lost: the counts between two marks are the difference of the marks; the counts since
//!   the newest mark are the difference to the current counts.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Readings that are at most an hour old.
pub struct History<T> {
    /// In ascending order of time; never empty.
    marks: VecDeque<T>,
    newest: Instant,
}

/// A period up to the present, and the counts at its start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Since<T> {
    /// Its length.
    pub length: Duration,
    /// The counts at its start.
    pub from: T,
}

impl<T: Copy> History<T> {
    /// A history that starts with these counts.
    pub fn new(now: Instant, counts: T) -> Self {
        Self {
            marks: VecDeque::from([counts]),
            newest: now,
        }
    }

    /// When the next mark is due.
    pub fn due(&self) -> Instant {
        self.newest + MINUTE
    }

    /// Enters all marks that are due, with the current counts, and returns when the next one is
    /// due.
    pub fn advance(&mut self, now: Instant, counts: impl FnOnce() -> T) -> Instant {
        let minutes = now.saturating_duration_since(self.newest).as_secs() / MINUTE.as_secs();
        if minutes > 0 {
            let counts = counts();
            for _ in 0..minutes.min(MARK_COUNT_MAX) {
                self.marks.push_back(counts);
            }
            let surplus = self.marks.len().saturating_sub(MARKS_KEPT);
            self.marks.drain(..surplus);
            self.newest += Duration::from_secs(minutes * MINUTE.as_secs());
        }
        self.due()
    }

    /// The period since the newest mark that is at least a second old; `None` if there is none.
    pub fn present(&self, now: Instant) -> Option<Since<T>> {
        self.times(now).rev().find(|since| since.length >= LENGTH_MIN)
    }

    /// The last hour, or the period since the database was first opened, if that is shorter.
    pub fn hour(&self, now: Instant) -> Option<Since<T>> {
        self.times(now)
            .find(|since| (LENGTH_MIN..=HOUR).contains(&since.length))
    }

    /// The periods since each mark, the oldest first.
    fn times(&self, now: Instant) -> impl DoubleEndedIterator<Item = Since<T>> {
        let newest = now.saturating_duration_since(self.newest);
        let count = self.marks.len();
        self.marks.iter().enumerate().map(move |(index, from)| {
            let minutes = u32::try_from(count - 1 - index).unwrap_or(u32::MAX);
            Since {
                length: newest + MINUTE * minutes,
                from: *from,
            }
        })
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// Rates over a shorter period would be those of a few calls.
const LENGTH_MIN: Duration = Duration::from_secs(1);
/// The marks of an hour, and the one at its start.
const MARKS_KEPT: usize = 61;
const MARK_COUNT_MAX: u64 = 61;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_hour_that_is_not_over_has_its_true_length() {
        let began = Instant::now();
        let mut history = History::new(began, 0);
        assert_eq!(history.present(began + Duration::from_millis(999)), None);
        let now = began + Duration::from_secs(5);
        assert_eq!(history.present(now), history.hour(now));
        assert_eq!(history.hour(now).unwrap().length, Duration::from_secs(5));
        let now = began + Duration::from_millis(60_500);
        assert_eq!(history.advance(now, || 7), began + 2 * MINUTE);
        // The newest mark is half a second old.
        assert_eq!(history.present(now).unwrap().from, 0);
        let now = began + Duration::from_secs(70);
        assert_eq!(history.present(now).unwrap().from, 7);
        assert_eq!(history.present(now).unwrap().length, Duration::from_secs(10));
        assert_eq!(history.hour(now).unwrap().length, Duration::from_secs(70));
    }

    #[test]
    fn an_idle_day_leaves_an_hour_of_equal_marks() {
        let began = Instant::now();
        let mut history = History::new(began, 0);
        let now = began + Duration::from_secs(86_403);
        history.advance(now, || 9);
        assert_eq!(history.marks, [9; MARKS_KEPT]);
        assert_eq!(history.hour(now).unwrap().length, Duration::from_secs(3543));
        assert_eq!(history.present(now).unwrap().length, Duration::from_secs(3));
    }

    proptest! {
        #[test]
        fn no_count_is_lost(steps in prop::collection::vec((0_u64..400_000, 0_u64..1000), 1..200)) {
            let began = Instant::now();
            let (mut history, mut now, mut count, mut events) = (History::new(began, 0), began, 0, Vec::new());
            for (milliseconds, number) in steps {
                now += Duration::from_millis(milliseconds);
                // As in a metered call: first the mark, then the call's own count.
                if now >= history.due() {
                    prop_assert!(history.advance(now, || count) > now);
                }
                count += number;
                events.push((now, number));
            }
            prop_assert!(history.marks.len() <= MARKS_KEPT);
            for since in [history.present(now), history.hour(now)].into_iter().flatten() {
                let start = now.checked_sub(since.length).unwrap();
                let counted: u64 = events.iter().filter(|(time, _)| *time >= start).map(|(_, number)| number).sum();
                prop_assert_eq!(count - since.from, counted);
            }
            prop_assert!(history.hour(now).is_none_or(|hour| hour.length <= HOUR));
            let age = now - began;
            if let Some(hour) = history.hour(now) {
                prop_assert!(hour.length >= age.min(HOUR - MINUTE));
            }
        }
    }
}
