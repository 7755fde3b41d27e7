//! The time of day.

use crate::TimeOfDay;

/// Units of 100 ns in a second.
pub(crate) const UNITS_PER_SECOND: u64 = 10_000_000;
/// Units of 100 ns in a day.
pub(crate) const UNITS_PER_DAY: u64 = 864_000_000_000;

impl TimeOfDay {
    /// 00:00:00.
    pub const MIDNIGHT: Self = Self(0);
    /// 23:59:59.9999999.
    pub const MAX: Self = Self(UNITS_PER_DAY - 1);

    /// The time of an hour up to 23, a minute and a second up to 59, and a fraction below a second; otherwise `None`.
    #[must_use]
    pub fn from_clock(hour: u32, minute: u32, second: u32, units: u32) -> Option<Self> {
        let fits = hour < 24 && minute < 60 && second < 60 && u64::from(units) < UNITS_PER_SECOND;
        fits.then(|| {
            let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
            Self(seconds * UNITS_PER_SECOND + u64::from(units))
        })
    }

    /// The hour, 0 to 23.
    #[must_use]
    pub fn hour(self) -> u32 {
        small(self.seconds() / 3600)
    }

    /// The minute, 0 to 59.
    #[must_use]
    pub fn minute(self) -> u32 {
        small(self.seconds() / 60 % 60)
    }

    /// The second, 0 to 59.
    #[must_use]
    pub fn second(self) -> u32 {
        small(self.seconds() % 60)
    }

    /// The fraction of the second in units of 100 ns.
    #[must_use]
    pub fn fraction(self) -> u32 {
        small(self.within() % UNITS_PER_SECOND)
    }

    /// Rounds half up to `scale` fractional second digits; true if the result wrapped to the next day's midnight.
    #[must_use]
    pub fn rounded(self, scale: u8) -> (Self, bool) {
        let step = unit_of_scale(scale);
        let rounded = (self.within() + step / 2) / step * step;
        if rounded >= UNITS_PER_DAY {
            (Self::MIDNIGHT, true)
        } else {
            (Self(rounded), false)
        }
    }

    /// The units, limited to less than a day.
    pub(crate) fn within(self) -> u64 {
        self.0.min(UNITS_PER_DAY - 1)
    }

    fn seconds(self) -> u64 {
        self.within() / UNITS_PER_SECOND
    }
}

/// The number of 100 ns units in the last of `scale` fractional second digits.
pub(crate) fn unit_of_scale(scale: u8) -> u64 {
    10_u64.pow(u32::from(7_u8.saturating_sub(scale)))
}

/// A number below 10^9.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_decomposes_to_its_parts() {
        let time = TimeOfDay::from_clock(23, 59, 58, 1_234_567).unwrap();
        assert_eq!(
            (time.hour(), time.minute(), time.second(), time.fraction()),
            (23, 59, 58, 1_234_567)
        );
        assert_eq!(TimeOfDay::from_clock(23, 59, 59, 9_999_999), Some(TimeOfDay::MAX));
    }

    #[test]
    fn invalid_times_are_none() {
        for (hour, minute, second, units) in [(24, 0, 0, 0), (0, 60, 0, 0), (0, 0, 60, 0), (0, 0, 0, 10_000_000)] {
            assert_eq!(TimeOfDay::from_clock(hour, minute, second, units), None);
        }
    }

    #[test]
    fn rounding_is_half_up_and_wraps_at_midnight() {
        let time = TimeOfDay::from_clock(12, 34, 54, 1_237_000).unwrap();
        assert_eq!(
            time.rounded(3),
            (TimeOfDay::from_clock(12, 34, 54, 1_240_000).unwrap(), false)
        );
        assert_eq!(time.rounded(7), (time, false));
        assert_eq!(
            TimeOfDay::from_clock(0, 0, 0, 5_000_000).unwrap().rounded(0).0,
            TimeOfDay(10_000_000)
        );
        assert_eq!(TimeOfDay::MAX.rounded(6), (TimeOfDay::MIDNIGHT, true));
    }

    #[test]
    fn more_than_a_day_is_treated_as_its_last_unit() {
        let late = TimeOfDay(u64::MAX);
        assert_eq!(
            (late.hour(), late.minute(), late.second(), late.fraction()),
            (23, 59, 59, 9_999_999)
        );
    }
}
