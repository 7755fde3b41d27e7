//! How long ago something was, where clocks may have jumped.

/// The time from a moment to now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    /// So many seconds.
    Seconds(u64),
    /// The moment is in the future, by so many seconds: a clock is wrong, or was.
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

    /// The seconds, of a moment that was.
    #[must_use]
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Future(_) => None,
        }
    }

    /// Whether it is more than so many days; 0 days are no limit.
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
/// Two machines' clocks may differ by a minute, and no one is to hear of it.
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
