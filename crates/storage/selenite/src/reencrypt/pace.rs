//! Batch sizes and pauses, such that other connections do not wait longer than allowed.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::Reencrypt;

/// The measurements of one batch.
#[derive(Clone, Copy, Default, Debug)]
pub struct BatchTiming {
    /// How many pages it re-encrypted.
    pub page_count: u64,
    /// From taking the write lock to the end of the transaction, without syncs.
    pub lock: Duration,
}

/// Decides the sizes of batches and the pauses between them.
pub struct Pace {
    lock_max: Duration,
    rate_max: Option<u64>,
    busy_share: u32,
    contention_batch_size: u32,
    page_bytes: u64,
    batch_size: u32,
    batch_size_max: u32,
    /// Microseconds.
    locks: Histogram<u64>,
    page_count: u64,
    started: Instant,
}

impl Pace {
    pub fn new(how: &Reencrypt, page_bytes: u32, is_wal: bool) -> Self {
        Self {
            lock_max: how.lock_max,
            rate_max: how.rate_max,
            contention_batch_size: if is_wal { CONTENTION_BATCH_SIZE } else { u32::MAX },
            busy_share: how.busy_share.clamp(1, 100),
            page_bytes: u64::from(page_bytes),
            batch_size: BATCH_SIZE_FIRST.min(how.batch_max).max(1),
            batch_size_max: how.batch_max.max(1),
            locks: Histogram::new(3).expect("three digits are what a histogram can have"),
            page_count: 0,
            started: Instant::now(),
        }
    }

    /// How many pages the next batch may have. Few while others write: their busy handler sleeps
    /// longer each time it finds the lock taken (sqliteDefaultBusyCallback in main.c: 1, 2, 5, 10
    /// ms and so on). Not in rollback mode, in which every commit waits for all readers, and most
    /// have to be retried.
    pub fn batch_size(&self, has_contention: bool) -> u32 {
        if has_contention {
            self.batch_size.min(self.contention_batch_size)
        } else {
            self.batch_size
        }
    }

    /// Records the measurements of a batch. The next one has half as many pages if this one came
    /// near the limit, and one eighth more if it stayed far below.
    pub fn note(&mut self, timing: BatchTiming) {
        if timing.page_count == 0 {
            return;
        }
        self.page_count += timing.page_count;
        let micros = u64::try_from(timing.lock.as_micros()).unwrap_or(u64::MAX);
        // The histogram grows as needed, up to an hour.
        let _ = self.locks.record(micros.min(3_600_000_000));
        if timing.lock * 10 > self.lock_max * 8 {
            self.batch_size = (self.batch_size / 2).max(1);
        } else if timing.lock * 10 < self.lock_max * 4 {
            self.batch_size = (self.batch_size + self.batch_size / 8 + 1).min(self.batch_size_max);
        }
    }

    /// How long to pause. `at_work` is the time worked since the last pause, if others use the
    /// database.
    pub fn rest(&self, at_work: Option<Duration>) -> Duration {
        // Scans, batches and checkpoints together.
        let for_others = at_work.unwrap_or_default() * (100 - self.busy_share) / self.busy_share;
        // After a suspend of the machine, `at_work` includes time in which nothing was done.
        let for_others = for_others.min(REST_MAX);
        for_others.max(self.behind_rate())
    }

    /// How much longer the pages so far should have taken, for the rate limit.
    fn behind_rate(&self) -> Duration {
        let Some(rate) = self.rate_max else {
            return Duration::ZERO;
        };
        let bytes = u128::from(self.page_count) * u128::from(self.page_bytes);
        let should = bytes * 1_000_000 / u128::from(rate.max(1));
        let should = Duration::from_micros(u64::try_from(should).unwrap_or(u64::MAX));
        should.saturating_sub(self.started.elapsed())
    }

    /// Bytes per second so far.
    pub fn rate(&self) -> u64 {
        let micros = self.started.elapsed().as_micros().max(1);
        let bytes = u128::from(self.page_count) * u128::from(self.page_bytes);
        u64::try_from(bytes * 1_000_000 / micros).unwrap_or(u64::MAX)
    }

    pub fn page_count(&self) -> u64 {
        self.page_count
    }

    pub fn batch_count(&self) -> u64 {
        self.locks.len()
    }

    pub fn lock_p99(&self) -> Duration {
        Duration::from_micros(self.locks.value_at_quantile(0.99))
    }
}

/// The size of the first batch: under a millisecond.
const BATCH_SIZE_FIRST: u32 = 32;
/// Nine times the longest regular piece of work, a checkpoint of 16 MiB and its sync, with a
/// factor of two.
const REST_MAX: Duration = Duration::from_secs(5);
/// The maximum size of a batch while others write: about a millisecond.
const CONTENTION_BATCH_SIZE: u32 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(page_count: u64, millis: u64) -> BatchTiming {
        let time = Duration::from_millis(millis);
        BatchTiming { page_count, lock: time }
    }

    #[test]
    fn batches_grow_while_they_are_short_and_are_halved_when_they_are_long() {
        let mut pace = Pace::new(&Reencrypt::default(), 4096, true);
        let first = pace.batch_size(false);
        for _ in 0..200 {
            pace.note(timing(10, 1));
        }
        assert_eq!(pace.batch_size(false), 1024);
        pace.note(timing(10, 17));
        assert_eq!(pace.batch_size(false), 512);
        pace.note(timing(10, 12));
        assert_eq!(pace.batch_size(false), 512);
        for _ in 0..20 {
            pace.note(timing(1, 1000));
        }
        assert_eq!((first, pace.batch_size(false), pace.batch_count()), (32, 1, 222));
        assert!(pace.lock_p99() >= Duration::from_millis(990));
    }

    #[test]
    fn it_rests_for_others_and_for_its_rate() {
        let mut pace = Pace::new(&Reencrypt::default(), 4096, true);
        pace.note(timing(10, 5));
        assert_eq!(pace.rest(None), Duration::ZERO);
        assert_eq!(pace.rest(Some(Duration::from_millis(5))), Duration::from_millis(45));
        assert_eq!(pace.rest(Some(Duration::from_secs(3600))), REST_MAX);
        let mut slow = Pace::new(
            &Reencrypt {
                rate_max: Some(4096),
                ..Reencrypt::default()
            },
            4096,
            true,
        );
        slow.note(timing(100, 5));
        assert!(slow.rest(None) > Duration::from_secs(90));
    }
}
