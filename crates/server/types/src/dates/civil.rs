//! The Gregorian calendar.

use crate::Date;

impl Date {
    /// 0001-01-01.
    pub const MIN: Self = Self(0);
    /// 9999-12-31.
    pub const MAX: Self = Self(3_652_058);
    /// 1900-01-01, day 0 of datetime and smalldatetime, and the date of text with only a time.
    pub const BASE: Self = Self(693_595);

    /// The date of a year from 1 to 9999, a month from 1 to 12 and a day of that month; otherwise `None`.
    #[must_use]
    pub fn from_civil(year: i32, month: i32, day: i32) -> Option<Self> {
        let year = u32::try_from(year).ok().filter(|year| (1..=YEAR_MAX).contains(year))?;
        let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        let day = u32::try_from(day)
            .ok()
            .filter(|day| (1..=days_in_month(year, month)).contains(day))?;
        Some(Self(first_of_year(year) + days_before_month(year, month) + day - 1))
    }

    /// Year, month and day. A day number beyond the calendar is treated as its last day.
    #[must_use]
    pub fn civil(self) -> (i32, u32, u32) {
        let (year, day_index) = self.year_and_day_index();
        let month = (1..=12)
            .rev()
            .find(|month| days_before_month(year, *month) <= day_index)
            .unwrap_or(1);
        let day = day_index - days_before_month(year, month) + 1;
        (i32::try_from(year).unwrap_or(i32::MAX), month, day)
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.civil().0
    }

    /// The month, from 1.
    #[must_use]
    pub fn month(self) -> u32 {
        self.civil().1
    }

    /// The day of the month, from 1.
    #[must_use]
    pub fn day(self) -> u32 {
        self.civil().2
    }

    /// The day of the year, from 1.
    #[must_use]
    pub fn day_of_year(self) -> u32 {
        self.year_and_day_index().1 + 1
    }

    /// The number of days since Monday: 0 to 6.
    #[must_use]
    pub fn days_since_monday(self) -> u32 {
        // 0001-01-01 is a Monday.
        self.within().0 % 7
    }

    /// The last day of the month.
    #[must_use]
    pub fn end_of_month(self) -> Self {
        let (year, month, day) = self.civil();
        let year = u32::try_from(year).unwrap_or(1);
        // In this order: the first month has no preceding day.
        Self(self.within().0 + days_in_month(year, month) - day)
    }

    /// The date `days` later; `None` outside of the calendar.
    #[must_use]
    pub fn checked_add_days(self, days: i64) -> Option<Self> {
        let sum = i64::from(self.0).checked_add(days)?;
        let sum = u32::try_from(sum).ok()?;
        (sum <= Self::MAX.0).then_some(Self(sum))
    }

    /// The same day of the month `months` later, or that month's last day; `None` outside of the calendar.
    #[must_use]
    pub fn checked_add_months(self, months: i64) -> Option<Self> {
        let (year, month, day) = self.civil();
        let index = (i64::from(year) * 12 + i64::from(month) - 1).checked_add(months)?;
        let year = u32::try_from(index.div_euclid(12))
            .ok()
            .filter(|year| (1..=YEAR_MAX).contains(year))?;
        let month = u32::try_from(index.rem_euclid(12)).ok()? + 1;
        let day = day.min(days_in_month(year, month));
        Some(Self(first_of_year(year) + days_before_month(year, month) + day - 1))
    }

    fn within(self) -> Self {
        self.min(Self::MAX)
    }

    /// The year, and the index of the day in it.
    fn year_and_day_index(self) -> (u32, u32) {
        let days = self.within().0;
        // 146097 days are 400 years; in the remainder a century has 36524, four years 1461, a year 365. The last
        // century and the last year of their cycles are a day longer, hence the bounds.
        let (cycles, days) = (days / 146_097, days % 146_097);
        let centuries = (days / 36_524).min(3);
        let days = days - centuries * 36_524;
        let (fours, days) = (days / 1_461, days % 1_461);
        let years = (days / 365).min(3);
        (
            cycles * 400 + centuries * 100 + fours * 4 + years + 1,
            days - years * 365,
        )
    }
}

/// The number of days in a month from 1 to 12.
pub(crate) fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days from 0001-01-01 to January 1 of `year`, which is at least 1.
fn first_of_year(year: u32) -> u32 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

/// Days of `year` before day 1 of `month`.
fn days_before_month(year: u32, month: u32) -> u32 {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let index = usize::try_from(month - 1).unwrap_or(0).min(11);
    BEFORE[index] + u32::from(month > 2 && is_leap(year))
}

const YEAR_MAX: u32 = 9999;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_agrees_with_a_calendar_counted_day_by_day() {
        let (mut year, mut month, mut day) = (1_i32, 1_u32, 1_u32);
        for index in 0..=Date::MAX.0 {
            let date = Date(index);
            assert_eq!(date.civil(), (year, month, day), "day {index}");
            let back = Date::from_civil(year, i32::try_from(month).unwrap(), i32::try_from(day).unwrap());
            assert_eq!(back, Some(date));
            let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
            let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            day += 1;
            if day > length[usize::try_from(month).unwrap() - 1] {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    #[test]
    fn well_known_dates_have_their_day_numbers() {
        assert_eq!(Date::from_civil(1900, 1, 1), Some(Date::BASE));
        assert_eq!(Date::BASE.days_since_monday(), 0, "1900-01-01 was a Monday");
        assert_eq!(Date::from_civil(9999, 12, 31), Some(Date::MAX));
        assert_eq!(Date::from_civil(1970, 1, 1), Some(Date(719_162)));
        let day = Date::from_civil(2007, 10, 30).unwrap();
        assert_eq!(
            (day.year(), day.month(), day.day(), day.day_of_year()),
            (2007, 10, 30, 303)
        );
    }

    #[test]
    fn invalid_dates_are_none() {
        for (year, month, day) in [
            (0, 1, 1),
            (10_000, 1, 1),
            (-1, 1, 1),
            (2023, 2, 29),
            (2023, 0, 1),
            (2023, 13, 1),
            (2023, 4, 31),
            (2023, 4, 0),
            (i32::MAX, i32::MAX, i32::MAX),
            (i32::MIN, i32::MIN, i32::MIN),
        ] {
            assert_eq!(Date::from_civil(year, month, day), None, "{year}-{month}-{day}");
        }
        assert_eq!(Date::from_civil(2000, 2, 29).map(Date::day), Some(29));
        assert_eq!(Date::from_civil(1900, 2, 29), None);
    }

    #[test]
    fn a_day_number_beyond_the_calendar_is_treated_as_its_last_day() {
        assert_eq!(Date(u32::MAX).civil(), (9999, 12, 31));
        assert_eq!(Date(u32::MAX).checked_add_days(0), None);
        assert_eq!(Date(u32::MAX).end_of_month(), Date::MAX);
        assert_eq!(Date(14).end_of_month(), Date(30));
    }

    #[test]
    fn adding_months_clamps_to_the_end_of_the_month() {
        let start = Date::from_civil(2006, 8, 31).unwrap();
        assert_eq!(start.checked_add_months(1), Date::from_civil(2006, 9, 30));
        assert_eq!(start.checked_add_months(-6), Date::from_civil(2006, 2, 28));
        assert_eq!(start.checked_add_months(18), Date::from_civil(2008, 2, 29));
        assert_eq!(Date::MAX.checked_add_months(1), None);
        assert_eq!(Date::MIN.checked_add_months(-1), None);
        assert_eq!(Date::MIN.checked_add_months(i64::MAX), None);
    }
}
