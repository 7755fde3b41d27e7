//! The dateparts of T-SQL.

/// A datepart: the first argument of DATEPART.
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

impl DatePart {
    /// The part with this name or abbreviation, ignoring case; `None` (error 155) for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let row = NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
        Some(row.0)
    }

    /// The part's full name, as in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(part, _)| *part == self)
            .and_then(|(_, names)| names.first())
            .copied()
            .unwrap_or_default()
    }
}

const NAMES: &[(DatePart, &[&str])] = &[
    (DatePart::Year, &["year", "yy", "yyyy"]),
    (DatePart::Quarter, &["quarter", "qq", "q"]),
    (DatePart::Month, &["month", "mm", "m"]),
    (DatePart::DayOfYear, &["dayofyear", "dy", "y"]),
    (DatePart::Day, &["day", "dd", "d"]),
    (DatePart::Week, &["week", "wk", "ww"]),
    (DatePart::Weekday, &["weekday", "dw", "w"]),
    (DatePart::Hour, &["hour", "hh"]),
    (DatePart::Minute, &["minute", "mi", "n"]),
    (DatePart::Second, &["second", "ss", "s"]),
    (DatePart::Millisecond, &["millisecond", "ms"]),
    (DatePart::Microsecond, &["microsecond", "mcs"]),
    (DatePart::Nanosecond, &["nanosecond", "ns"]),
    (DatePart::TzOffset, &["tzoffset", "tz"]),
    (DatePart::IsoWeek, &["iso_week", "isowk", "isoww"]),
];

/// The first day of a week, SET DATEFIRST: 1 is Monday, 7 (the default of us_english) Sunday.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DateFirst(u8);

impl DateFirst {
    /// The day with this number, 1 to 7; otherwise `None`.
    #[must_use]
    pub fn new(number: u8) -> Option<Self> {
        (1..=7).contains(&number).then_some(Self(number))
    }

    /// The number, 1 to 7.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Default for DateFirst {
    fn default() -> Self {
        Self(7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_abbreviation_names_one_part() {
        let mut seen = Vec::new();
        for (part, names) in NAMES {
            for name in *names {
                assert_eq!(DatePart::from_name(name), Some(*part));
                assert_eq!(DatePart::from_name(&name.to_uppercase()), Some(*part));
                assert!(!seen.contains(name), "{name} twice");
                seen.push(*name);
            }
            assert_eq!(DatePart::from_name(part.name()), Some(*part));
        }
        assert_eq!(DatePart::from_name("minutes"), None);
        assert_eq!(DatePart::from_name(""), None);
    }

    #[test]
    fn a_week_begins_on_one_of_seven_days() {
        assert_eq!(DateFirst::new(0), None);
        assert_eq!(DateFirst::new(8), None);
        assert_eq!(DateFirst::new(1).map(DateFirst::number), Some(1));
        assert_eq!(DateFirst::default().number(), 7);
    }
}
