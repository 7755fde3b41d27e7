//! datetime and smalldatetime in SQL Server's units.

use crate::{
    Date, DateTime2, TimeOfDay,
    dates::time_of_day::{UNITS_PER_DAY, UNITS_PER_SECOND},
};

/// A datetime as encoded on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTimeTicks {
    /// Days since 1900-01-01, negative before.
    pub days: i32,
    /// Ticks of 1/300 second since midnight: below 25,920,000.
    pub ticks: u32,
}

/// A smalldatetime as encoded on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DateTimeMinutes {
    /// Days since 1900-01-01.
    pub days: u16,
    /// Minutes since midnight: below 1440.
    pub minutes: u16,
}

impl DateTimeTicks {
    /// 1753-01-01 00:00:00.000.
    pub const MIN: Self = Self {
        days: -53_690,
        ticks: 0,
    };
    /// 9999-12-31 23:59:59.997.
    pub const MAX: Self = Self {
        days: 2_958_463,
        ticks: TICKS_PER_DAY - 1,
    };

    /// Rounds half up to the nearest tick; `None` outside of datetime's range.
    #[must_use]
    pub fn nearest(moment: DateTime2) -> Option<Self> {
        let days = i32::try_from(i64::from(moment.date.0) - i64::from(Date::BASE.0)).ok()?;
        let ticks = (moment.time.within() * 3 + UNITS_PER_THREE_TICKS / 2) / UNITS_PER_THREE_TICKS;
        let ticks = u32::try_from(ticks).ok()?;
        let rounded = if ticks >= TICKS_PER_DAY {
            Self {
                days: days.checked_add(1)?,
                ticks: 0,
            }
        } else {
            Self { days, ticks }
        };
        rounded.in_range().then_some(rounded)
    }

    /// The datetime in milliseconds, as in [`crate::Value::DateTime`]. `None` outside of datetime's range.
    #[must_use]
    pub fn date_time(self) -> Option<DateTime2> {
        // A tick is 10/3 ms: one rounds to 3, two to 7.
        let thousandths = (u64::from(self.ticks) * 10 + 1) / 3;
        self.at(thousandths * (UNITS_PER_SECOND / 1000))
    }

    /// The datetime to the nearest 100 ns, as converted to a finer type. `None` outside of datetime's range.
    #[must_use]
    pub fn exact(self) -> Option<DateTime2> {
        self.at((u64::from(self.ticks) * UNITS_PER_THREE_TICKS + 1) / 3)
    }

    fn at(self, units: u64) -> Option<DateTime2> {
        if !self.in_range() {
            return None;
        }
        let date = Date::BASE.checked_add_days(i64::from(self.days))?;
        Some(DateTime2 {
            date,
            time: TimeOfDay(units),
        })
    }

    fn in_range(self) -> bool {
        self.ticks < TICKS_PER_DAY && (Self::MIN..=Self::MAX).contains(&self)
    }
}

impl DateTimeMinutes {
    /// Rounds to the nearest minute at datetime's precision: 29.997 seconds round down and 30 up. `None` if out of
    /// range.
    #[must_use]
    pub fn nearest(moment: DateTime2) -> Option<Self> {
        let ticks = DateTimeTicks::nearest(moment)?;
        let minutes = (ticks.ticks + TICKS_PER_MINUTE / 2) / TICKS_PER_MINUTE;
        let (days, minutes) = if minutes >= 1440 {
            (ticks.days + 1, 0)
        } else {
            (ticks.days, minutes)
        };
        Some(Self {
            days: u16::try_from(days).ok()?,
            minutes: u16::try_from(minutes).ok()?,
        })
    }

    /// The smalldatetime; `None` if `minutes` exceeds a day.
    #[must_use]
    pub fn date_time(self) -> Option<DateTime2> {
        let units = u64::from(self.minutes) * 60 * UNITS_PER_SECOND;
        let date = Date::BASE.checked_add_days(i64::from(self.days))?;
        (units < UNITS_PER_DAY).then_some(DateTime2 {
            date,
            time: TimeOfDay(units),
        })
    }
}

/// A tick is 33333.3 units of 100 ns.
const UNITS_PER_THREE_TICKS: u64 = 100_000;
/// Ticks in a day.
pub(crate) const TICKS_PER_DAY: u32 = 25_920_000;
const TICKS_PER_MINUTE: u32 = 18_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: (i32, i32, i32), hour: u32, minute: u32, second: u32, thousandths: u32) -> DateTime2 {
        DateTime2 {
            date: Date::from_civil(day.0, day.1, day.2).unwrap(),
            time: TimeOfDay::from_clock(hour, minute, second, thousandths * 10_000).unwrap(),
        }
    }

    #[test]
    fn milliseconds_round_as_documented() {
        let day = (1998, 1, 1);
        for (given, stored) in [
            (995, 997),
            (996, 997),
            (997, 997),
            (998, 997),
            (992, 993),
            (993, 993),
            (994, 993),
        ] {
            let ticks = DateTimeTicks::nearest(at(day, 23, 59, 59, given)).unwrap();
            assert_eq!(ticks.date_time(), Some(at(day, 23, 59, 59, stored)), "{given}");
        }
        for given in [990, 991] {
            let ticks = DateTimeTicks::nearest(at(day, 23, 59, 59, given)).unwrap();
            assert_eq!(ticks.date_time(), Some(at(day, 23, 59, 59, 990)), "{given}");
        }
        let next = DateTimeTicks::nearest(at(day, 23, 59, 59, 999)).unwrap();
        assert_eq!(next.date_time(), Some(at((1998, 1, 2), 0, 0, 0, 0)));
    }

    #[test]
    fn every_tick_of_a_second_round_trips_through_milliseconds_and_through_its_exact_form() {
        for ticks in (0..900).chain(TICKS_PER_DAY - 900..TICKS_PER_DAY) {
            let datetime = DateTimeTicks { days: 40_000, ticks };
            let shown = datetime.date_time().unwrap();
            assert!([0, 30_000, 70_000].contains(&(shown.time.0 % 100_000)), "{shown:?}");
            assert_eq!(DateTimeTicks::nearest(shown), Some(datetime));
            assert_eq!(DateTimeTicks::nearest(datetime.exact().unwrap()), Some(datetime));
        }
        let third = DateTimeTicks { days: 0, ticks: 100 }.exact().unwrap();
        assert_eq!(third.time, TimeOfDay(3_333_333));
        assert_eq!(
            DateTimeTicks { days: 0, ticks: 2 }.exact().unwrap().time,
            TimeOfDay(66_667)
        );
    }

    #[test]
    fn datetime_has_the_documented_range() {
        assert_eq!(DateTimeTicks::MIN.date_time(), Some(at((1753, 1, 1), 0, 0, 0, 0)));
        assert_eq!(
            DateTimeTicks::MAX.date_time(),
            Some(at((9999, 12, 31), 23, 59, 59, 997))
        );
        assert_eq!(DateTimeTicks::nearest(at((1752, 12, 31), 23, 59, 59, 0)), None);
        assert_eq!(DateTimeTicks::nearest(at((9999, 12, 31), 23, 59, 59, 999)), None);
        assert_eq!(
            DateTimeTicks {
                days: 0,
                ticks: TICKS_PER_DAY
            }
            .date_time(),
            None
        );
        assert_eq!(
            DateTimeTicks {
                days: i32::MIN,
                ticks: 0
            }
            .exact(),
            None
        );
        assert_eq!(
            DateTimeTicks {
                days: i32::MAX,
                ticks: u32::MAX
            }
            .date_time(),
            None
        );
    }

    #[test]
    fn smalldatetime_rounds_to_the_nearest_minute() {
        let minutes = |second, thousandths| {
            DateTimeMinutes::nearest(at((1955, 12, 13), 12, 43, second, thousandths))
                .unwrap()
                .minutes
        };
        assert_eq!(minutes(29, 998), 12 * 60 + 43);
        assert_eq!(minutes(29, 999), 12 * 60 + 44);
        let last = DateTimeMinutes {
            days: u16::MAX,
            minutes: 1439,
        };
        assert_eq!(last.date_time(), Some(at((2079, 6, 6), 23, 59, 0, 0)));
        assert_eq!(DateTimeMinutes::nearest(at((2079, 6, 6), 23, 59, 30, 0)), None);
        assert_eq!(DateTimeMinutes::nearest(at((1899, 12, 31), 23, 59, 29, 0)), None);
        let first = DateTimeMinutes { days: 0, minutes: 0 };
        assert_eq!(DateTimeMinutes::nearest(at((1899, 12, 31), 23, 59, 30, 0)), Some(first));
        assert_eq!(DateTimeMinutes { days: 0, minutes: 1440 }.date_time(), None);
    }
}
