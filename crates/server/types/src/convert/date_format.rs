//! SET DATEFORMAT.

/// The order of day, month and year in an ambiguous date.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateFormat {
    /// Month, day, year: the default of us_english.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
    /// Year, day, month: only used by datetime and smalldatetime.
    Ydm,
    /// Month, year, day.
    Myd,
    /// Day, year, month.
    Dym,
}

impl DateFormat {
    /// The format with this name, ignoring case; `None` (error 2741) for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|(format, _)| *format)
    }

    /// The name: three lower-case letters.
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
