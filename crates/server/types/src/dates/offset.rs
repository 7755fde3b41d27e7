//! Time zone offsets.

use crate::{DateTime2, DateTimeOffset, dates::DateError};

/// 14 hours in minutes, the maximum distance from UTC.
pub(crate) const OFFSET_MINUTES_MAX: i16 = 840;

impl DateTimeOffset {
    /// The instant with local time `local` at an offset; `None` if either is outside of the calendar, or the offset
    /// exceeds fourteen hours.
    #[must_use]
    pub fn from_local(local: DateTime2, offset_minutes: i16) -> Option<Self> {
        if offset_minutes.unsigned_abs() > OFFSET_MINUTES_MAX.unsigned_abs() {
            return None;
        }
        let utc = local.checked_add_units(-offset_units(offset_minutes))?;
        Some(Self { utc, offset_minutes })
    }

    /// The local time; `None` outside of the calendar.
    #[must_use]
    pub fn checked_local(self) -> Option<DateTime2> {
        self.utc.checked_add_units(offset_units(self.offset_minutes))
    }

    /// The local time, or UTC if it is outside of the calendar, which no function here produces.
    #[must_use]
    pub fn local(self) -> DateTime2 {
        self.checked_local().unwrap_or(self.utc)
    }
}

/// Parses an offset as SWITCHOFFSET and TODATETIMEOFFSET do: `+hh:mm` or `-hh:mm`.
///
/// Errors: 9812.
pub fn offset_from_text(text: &str, function: &'static str) -> Result<i16, DateError> {
    parse_offset(text).ok_or(DateError::Offset { function })
}

/// Checks an offset in minutes.
///
/// Errors: 9812.
pub fn offset_from_minutes(minutes: i64, function: &'static str) -> Result<i16, DateError> {
    let offset = i16::try_from(minutes).map_err(|_| DateError::Offset { function })?;
    if offset.unsigned_abs() > OFFSET_MINUTES_MAX.unsigned_abs() {
        return Err(DateError::Offset { function });
    }
    Ok(offset)
}

/// SWITCHOFFSET: the same instant with another offset.
///
/// Errors: 9813 if the local time would be outside of the calendar.
pub fn switch_offset(moment: DateTimeOffset, offset_minutes: i16) -> Result<DateTimeOffset, DateError> {
    let switched = DateTimeOffset {
        utc: moment.utc,
        offset_minutes,
    };
    match switched.checked_local() {
        Some(_) => Ok(switched),
        None => Err(DateError::OffsetOverflow {
            function: "switchoffset",
        }),
    }
}

/// TODATETIMEOFFSET: the instant with local time `local` at an offset.
///
/// Errors: 9813 if its UTC would be outside of the calendar.
pub fn to_date_time_offset(local: DateTime2, offset_minutes: i16) -> Result<DateTimeOffset, DateError> {
    DateTimeOffset::from_local(local, offset_minutes).ok_or(DateError::OffsetOverflow {
        function: "todatetimeoffset",
    })
}

/// `+hh:mm` or `-hh:mm` with one or two hour digits, up to fourteen hours.
fn parse_offset(text: &str) -> Option<i16> {
    let text = text.trim_matches(' ');
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !(1..=2).contains(&hours.len()) || minutes.len() != 2 || !digits(hours) || !digits(minutes) {
        return None;
    }
    let (hours, minutes) = (hours.parse::<i16>().ok()?, minutes.parse::<i16>().ok()?);
    let total = hours * 60 + minutes;
    (minutes < 60 && total <= OFFSET_MINUTES_MAX).then_some(sign * total)
}

fn offset_units(offset_minutes: i16) -> i64 {
    i64::from(offset_minutes) * 600_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Date, TimeOfDay};

    fn noon() -> DateTime2 {
        DateTime2 {
            date: Date::from_civil(1998, 9, 20).unwrap(),
            time: TimeOfDay::from_clock(7, 45, 50, 713_500).unwrap(),
        }
    }

    #[test]
    fn switchoffset_keeps_the_instant_and_changes_the_local_time() {
        // The documented example: 1998-09-20 7:45:50.71345 -5:00 at -08:00.
        let moment = DateTimeOffset::from_local(noon(), -300).unwrap();
        let switched = switch_offset(moment, -480).unwrap();
        assert_eq!(switched.utc, moment.utc);
        assert_eq!(switched.local().time.hour(), 4);
        let error = switch_offset(
            DateTimeOffset {
                utc: DateTime2::MAX,
                offset_minutes: 0,
            },
            1,
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "The timezone provided to builtin function switchoffset would cause the datetimeoffset to overflow \
             the range of valid date range in either UTC or local time."
        );
    }

    #[test]
    fn todatetimeoffset_keeps_the_local_time() {
        let moment = to_date_time_offset(noon(), 780).unwrap();
        assert_eq!(moment.local(), noon());
        assert_eq!(moment.utc.units() + 780 * 600_000_000, noon().units());
        assert_eq!(to_date_time_offset(DateTime2::MIN, 1).unwrap_err().number(), 9813);
        assert_eq!(to_date_time_offset(DateTime2::MAX, -1).unwrap_err().number(), 9813);
    }

    #[test]
    fn offsets_have_at_most_fourteen_hours() {
        for (text, minutes) in [
            ("+00:00", 0),
            ("-05:30", -330),
            ("+5:30", 330),
            ("+14:00", 840),
            ("-14:00", -840),
        ] {
            assert_eq!(offset_from_text(text, "switchoffset"), Ok(minutes), "{text}");
        }
        for text in [
            "",
            "+",
            "05:00",
            "+14:01",
            "+5:3",
            "+05:60",
            "+ 5:30",
            "-005:00",
            "+0x:00",
            "\u{e9}5:00",
            "+5",
        ] {
            let error = offset_from_text(text, "switchoffset").unwrap_err();
            assert_eq!(
                error.to_string(),
                "The timezone provided to builtin function switchoffset is invalid."
            );
        }
        assert_eq!(offset_from_minutes(-840, "todatetimeoffset"), Ok(-840));
        assert_eq!(offset_from_minutes(841, "todatetimeoffset").unwrap_err().number(), 9812);
        assert_eq!(
            offset_from_minutes(i64::MIN, "todatetimeoffset").unwrap_err().number(),
            9812
        );
    }
}
