//! Time limits, and the number of retries.

use std::time::Duration;

/// Time limits, and the number of retries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryPolicy {
    /// The time limit of a connection.
    pub connect: Duration,
    /// The time limit of one attempt, from its first byte to the last of its response.
    pub request: Duration,
    /// The maximum number of attempts.
    pub tries_max: u32,
    /// No attempt begins later than this after the first.
    pub total: Duration,
    /// The maximum pause before the second attempt; it doubles for each further one.
    pub pause_first: Duration,
    /// The maximum of all pauses.
    pub pause_max: Duration,
}

impl Default for RetryPolicy {
    /// 10 s for a connection and 120 s for an attempt; eight attempts within five minutes, up to 200 ms apart at
    /// first and 30 s at last.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(120),
            tries_max: 8,
            total: Duration::from_secs(300),
            pause_first: Duration::from_millis(200),
            pause_max: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// The pause after `tries` attempts, at least one: half of the doubled pause, and a share of
    /// the other half given by `jitter`, so that many clients that failed together do not retry
    /// together. Longer if the server requested it, within the limit.
    #[must_use]
    pub fn pause(&self, tries: u32, jitter: u16, asked: Option<Duration>) -> Duration {
        let doubled = self
            .pause_first
            .saturating_mul(1 << (tries - 1).min(20))
            .min(self.pause_max);
        let thrown = doubled / 2 + (doubled / 2).mul_f64(f64::from(jitter) / f64::from(u16::MAX));
        thrown.max(asked.unwrap_or_default().min(self.pause_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_with_jitter() {
        let policy = RetryPolicy::default();
        let wait = |tries, jitter| policy.pause(tries, jitter, None).as_millis();
        assert_eq!([wait(1, 0), wait(1, u16::MAX)], [100, 200]);
        assert_eq!([wait(4, 0), wait(4, u16::MAX)], [800, 1600]);
        assert_eq!([wait(9, u16::MAX), wait(u32::MAX, u16::MAX)], [30_000, 30_000]);
        for tries in 1..40 {
            assert!(wait(tries, 0) * 2 == wait(tries, u16::MAX));
        }
    }

    #[test]
    fn a_server_may_request_a_longer_pause_within_the_limit() {
        let policy = RetryPolicy::default();
        let wait = |seconds| policy.pause(1, 0, Some(Duration::from_secs(seconds)));
        assert_eq!(
            [wait(0).as_millis(), wait(5).as_millis(), wait(9999).as_millis()],
            [100, 5000, 30_000]
        );
    }
}
