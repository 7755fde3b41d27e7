//! The parts of a date that T-SQL names.

/// A part of a date or time: DATEPART's first argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DatePart {
    /// year, yy, yyyy.
    Year,
    /// quarter, qq, q.
    Quarter,
    /// month, mm, m.
    Month,
    /// dayofyear, dy, y.
    DayOfYear,
    /// day, dd, d.
    Day,
    /// week, wk, ww.
    Week,
    /// weekday, dw, w.
    Weekday,
    /// hour, hh.
    Hour,
    /// minute, mi, n.
    Minute,
    /// second, ss, s.
    Second,
    /// millisecond, ms.
    Millisecond,
    /// microsecond, mcs.
    Microsecond,
    /// nanosecond, ns.
    Nanosecond,
    /// tzoffset, tz.
    TzOffset,
    /// iso_week, isowk, isoww.
    IsoWeek,
}

/// The first day of a week, SET DATEFIRST: 1 is Monday, 7 (the default of us_english) Sunday.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DateFirst(u8);

impl DateFirst {
    /// Day `number` of 1 to 7; else none.
    pub fn new(number: u8) -> Option<Self> {
        (1..=7).contains(&number).then_some(Self(number))
    }

    /// 1 to 7.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Default for DateFirst {
    fn default() -> Self {
        Self(7)
    }
}
