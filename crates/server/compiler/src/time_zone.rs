//! AT TIME ZONE: the time zones of Windows by the rules of the IANA database, which is in the program.

mod names;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone as Rules};
use names::ZONES;
use selenite_types::{DateTime2, DateTimeOffset};

/// A time zone.
pub(crate) struct TimeZone {
    rules: Rules,
}

impl TimeZone {
    /// The zone with a name of Windows, in any case.
    pub fn find(name: &str) -> Option<Self> {
        let (_, iana) = ZONES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        let rules = Rules::get(iana).ok()?;
        Some(Self { rules })
    }

    /// The names of all zones.
    #[cfg(test)]
    fn names() -> impl Iterator<Item = &'static str> {
        ZONES.iter().map(|(name, _)| *name)
    }

    /// The instant of a local time. A time that the clock skips is moved forward by what it skips; one that it shows
    /// twice is the second, in standard time. `None` outside of the calendar.
    pub fn at_local(&self, local: DateTime2) -> Option<DateTimeOffset> {
        let civil = civil_of(local)?;
        let (offset, moved) = match self.rules.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset.seconds(), 0),
            AmbiguousOffset::Fold { after, .. } => (after.seconds(), 0),
            AmbiguousOffset::Gap { before, after } => (after.seconds(), after.seconds() - before.seconds()),
        };
        let minutes = i16::try_from(offset.div_euclid(60)).ok()?;
        let local = local.checked_add_units(i64::from(moved) * UNITS_PER_SECOND)?;
        DateTimeOffset::from_local(local, minutes)
    }

    /// The same instant in this zone; `None` outside of the calendar.
    pub fn at_instant(&self, utc: DateTime2) -> Option<DateTimeOffset> {
        let seconds = utc.units().div_euclid(UNITS_PER_SECOND) - UNIX_EPOCH_SECONDS;
        let timestamp = Timestamp::from_second(seconds).ok()?;
        let offset = self.rules.to_offset(timestamp).seconds();
        let moment = DateTimeOffset {
            utc,
            offset_minutes: i16::try_from(offset.div_euclid(60)).ok()?,
        };
        moment.checked_local().map(|_| moment)
    }
}

fn civil_of(local: DateTime2) -> Option<DateTime> {
    let (year, month, day) = local.date.civil();
    let small = |number: u32| i8::try_from(number).ok();
    DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(local.time.hour())?,
        small(local.time.minute())?,
        small(local.time.second())?,
        0,
    )
    .ok()
}

const UNITS_PER_SECOND: i64 = 10_000_000;

/// 1970-01-01 in seconds since 0001-01-01.
const UNIX_EPOCH_SECONDS: i64 = 719_162 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_has_rules() {
        let mut names: Vec<&str> = TimeZone::names().collect();
        for name in &names {
            assert!(TimeZone::find(name).is_some(), "{name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(TimeZone::find("Europe/Berlin").is_none());
    }
}
