//! The age of a moment, if clocks may be wrong.

/// The time from a moment to now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    /// This many seconds.
    Seconds(u64),
    /// The moment is this many seconds in the future: a clock is or was wrong.
    Future(u64),
}

impl Age {
    /// The time from `moment` to `now`, both in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn between(moment: u64, now: u64) -> Self {
        match moment.checked_sub(now) {
            None => Self::Seconds(now - moment),
            Some(0..=SKEW_SECONDS) => Self::Seconds(0),
            Some(ahead) => Self::Future(ahead),
        }
    }

    /// The seconds, if the moment is not in the future.
    #[must_use]
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Future(_) => None,
        }
    }

    /// Whether the age is more than `days` days; 0 means no limit.
    #[must_use]
    pub fn exceeds_days(self, days: u64) -> bool {
        days > 0
            && self
                .seconds()
                .is_some_and(|seconds| seconds > days.saturating_mul(DAY_SECONDS))
    }
}

/// A day.
pub const DAY_SECONDS: u64 = 86_400;
/// A minute: the clocks of two machines may differ by as much, which is not reported.
const SKEW_SECONDS: u64 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_in_the_future_has_no_age() {
        let now = 1_800_000_000;
        assert_eq!(Age::between(now - 5, now), Age::Seconds(5));
        assert_eq!(Age::between(now + 60, now), Age::Seconds(0));
        assert_eq!(Age::between(now + 61, now), Age::Future(61));
        assert_eq!(Age::between(u64::MAX, 0), Age::Future(u64::MAX));
        assert!(!Age::between(u64::MAX, now).exceeds_days(1));
    }

    #[test]
    fn a_limit_is_exceeded_one_second_after_its_last_day() {
        assert!(!Age::Seconds(30 * DAY_SECONDS).exceeds_days(30));
        assert!(Age::Seconds(30 * DAY_SECONDS + 1).exceeds_days(30));
        assert!(!Age::Seconds(u64::MAX).exceeds_days(0));
        assert!(!Age::Seconds(u64::MAX).exceeds_days(u64::MAX));
    }
}
