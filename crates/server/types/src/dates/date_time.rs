//! Date and time as one count of units.

use crate::{
    Date, DateTime2, TimeOfDay,
    dates::time_of_day::{UNITS_PER_DAY, unit_of_scale},
};

impl DateTime2 {
    /// 0001-01-01 00:00:00.
    pub const MIN: Self = Self {
        date: Date::MIN,
        time: TimeOfDay::MIDNIGHT,
    };
    /// 9999-12-31 23:59:59.9999999.
    pub const MAX: Self = Self {
        date: Date::MAX,
        time: TimeOfDay::MAX,
    };
    /// 1900-01-01 00:00:00.
    pub const BASE: Self = Self {
        date: Date::BASE,
        time: TimeOfDay::MIDNIGHT,
    };

    /// Midnight of a day.
    #[must_use]
    pub fn at_midnight(date: Date) -> Self {
        Self {
            date,
            time: TimeOfDay::MIDNIGHT,
        }
    }

    /// Units of 100 ns since 0001-01-01.
    #[must_use]
    pub fn units(self) -> i64 {
        let units = u64::from(self.date.min(Date::MAX).0) * UNITS_PER_DAY + self.time.within();
        // At most 3652059 days, which is 3.2e18.
        i64::try_from(units).unwrap_or(i64::MAX)
    }

    /// The date and time `units` of 100 ns after 0001-01-01; `None` outside of the calendar.
    #[must_use]
    pub fn from_units(units: i64) -> Option<Self> {
        let units = u64::try_from(units).ok()?;
        let date = Date(u32::try_from(units / UNITS_PER_DAY).ok()?);
        (date <= Date::MAX).then_some(Self {
            date,
            time: TimeOfDay(units % UNITS_PER_DAY),
        })
    }

    /// The date and time `units` of 100 ns later; `None` outside of the calendar.
    #[must_use]
    pub fn checked_add_units(self, units: i64) -> Option<Self> {
        Self::from_units(self.units().checked_add(units)?)
    }

    /// Rounds half up to `scale` fractional second digits; `None` outside of the calendar.
    #[must_use]
    pub fn rounded(self, scale: u8) -> Option<Self> {
        let step = i64::try_from(unit_of_scale(scale)).ok()?;
        Self::from_units((self.units() + step / 2) / step * step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_round_trip() {
        for moment in [DateTime2::MIN, DateTime2::BASE, DateTime2::MAX] {
            assert_eq!(DateTime2::from_units(moment.units()), Some(moment));
        }
        assert_eq!(DateTime2::from_units(-1), None);
        assert_eq!(DateTime2::from_units(DateTime2::MAX.units() + 1), None);
        assert_eq!(DateTime2::from_units(i64::MAX), None);
    }

    #[test]
    fn rounding_carries_into_the_next_day_and_stops_at_the_last() {
        let late = DateTime2 {
            date: Date::BASE,
            time: TimeOfDay::MAX,
        };
        assert_eq!(late.rounded(0), Some(DateTime2::at_midnight(Date(Date::BASE.0 + 1))));
        assert_eq!(DateTime2::MAX.rounded(0), None);
        assert_eq!(DateTime2::MAX.rounded(7), Some(DateTime2::MAX));
    }
}
