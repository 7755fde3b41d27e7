//! SET DATEFORMAT.

/// The order of day, month and year where their digits do not decide it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateFormat {
    /// Month, day, year: us_english's own.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
    /// Year, day, month: datetime and smalldatetime alone know it.
    Ydm,
    /// Month, year, day.
    Myd,
    /// Day, year, month.
    Dym,
}

impl DateFormat {
    /// The format of a name, in whatever case; none if there is no such format, which is error 2741.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|(format, _)| *format)
    }

    /// Three letters of lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(format, _)| *format == self)
            .map_or("", |(_, name)| name)
    }

    pub(crate) fn month_before_day(self) -> bool {
        matches!(self, Self::Mdy | Self::Ymd | Self::Myd)
    }
}

const NAMES: [(DateFormat, &str); 6] = [
    (DateFormat::Mdy, "mdy"),
    (DateFormat::Dmy, "dmy"),
    (DateFormat::Ymd, "ymd"),
    (DateFormat::Ydm, "ydm"),
    (DateFormat::Myd, "myd"),
    (DateFormat::Dym, "dym"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_its_name() {
        for (format, name) in NAMES {
            assert_eq!((DateFormat::from_name(name), format.name()), (Some(format), name));
        }
        assert_eq!(DateFormat::from_name("DMY"), Some(DateFormat::Dmy));
        assert_eq!(DateFormat::from_name("my"), None);
    }
}
