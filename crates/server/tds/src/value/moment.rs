//! The encoding of dates and times (MS-TDS 2.2.5.5.1.8 and 2.2.5.5.1.9).

use selenite_types::{Date, DateTime2, DateTimeOffset, TimeOfDay};

/// 1900-01-01, day 0 of datetime.
const DAY_1900: u32 = 693_595;
/// 1753-01-01, the first day of datetime.
const DAY_1753: u32 = 639_905;
/// 9999-12-31.
const DAY_MAX: u32 = 3_652_058;
/// Units of 100 ns in a day.
const UNITS_PER_DAY: u64 = 864_000_000_000;
/// Three-hundredths of a second in a day.
const TICKS_PER_DAY: u32 = 25_920_000;
const UNITS_PER_MINUTE: u64 = 600_000_000;
const MINUTES_PER_DAY: u16 = 1440;
/// 14 hours, the maximum time zone offset.
const OFFSET_MAX: u16 = 840;

pub(crate) fn is_date(date: Date) -> bool {
    date.0 <= DAY_MAX
}

pub(crate) fn is_time(time: TimeOfDay) -> bool {
    time.0 < UNITS_PER_DAY
}

pub(crate) fn is_moment(moment: DateTime2) -> bool {
    is_date(moment.date) && is_time(moment.time)
}

pub(crate) fn is_moment_with_offset(moment: DateTimeOffset) -> bool {
    is_moment(moment.utc) && moment.offset_minutes.unsigned_abs() <= OFFSET_MAX
}

/// Encodes datetime: days since 1900 and ticks. `None` if out of range.
pub(crate) fn to_datetime(moment: DateTime2) -> Option<(i32, u32)> {
    if !is_moment(moment) {
        return None;
    }
    // 100,000 units of 100 ns are three ticks; rounds to the nearest tick.
    let ticks = u32::try_from((moment.time.0 * 3 + 50_000) / 100_000).ok()?;
    let (day, ticks) = match ticks {
        TICKS_PER_DAY => (moment.date.0 + 1, 0),
        ticks => (moment.date.0, ticks),
    };
    if !(DAY_1753..=DAY_MAX).contains(&day) {
        return None;
    }
    let days = i32::try_from(day).ok()? - i32::try_from(DAY_1900).ok()?;
    Some((days, ticks))
}

/// Decodes datetime to the millisecond, as SQL Server prints ticks (.000, .003, .007).
pub(crate) fn from_datetime(days: i32, ticks: u32) -> Option<DateTime2> {
    let day = u32::try_from(days.checked_add(i32::try_from(DAY_1900).ok()?)?).ok()?;
    if !(DAY_1753..=DAY_MAX).contains(&day) || ticks >= TICKS_PER_DAY {
        return None;
    }
    let milliseconds = (u64::from(ticks) * 20 + 3) / 6;
    Some(DateTime2 {
        date: Date(day),
        time: TimeOfDay(milliseconds * 10_000),
    })
}

/// Encodes smalldatetime: days since 1900 and minutes. `None` if out of range.
pub(crate) fn to_smalldatetime(moment: DateTime2) -> Option<(u16, u16)> {
    if !is_moment(moment) {
        return None;
    }
    let minutes = u16::try_from((moment.time.0 + UNITS_PER_MINUTE / 2) / UNITS_PER_MINUTE).ok()?;
    let (day, minutes) = match minutes {
        MINUTES_PER_DAY => (moment.date.0 + 1, 0),
        minutes => (moment.date.0, minutes),
    };
    let days = u16::try_from(day.checked_sub(DAY_1900)?).ok()?;
    Some((days, minutes))
}

/// Decodes smalldatetime.
pub(crate) fn from_smalldatetime(days: u16, minutes: u16) -> Option<DateTime2> {
    (minutes < MINUTES_PER_DAY).then(|| DateTime2 {
        date: Date(DAY_1900 + u32::from(days)),
        time: TimeOfDay(u64::from(minutes) * UNITS_PER_MINUTE),
    })
}

/// The size of a time with `scale` fractional digits (MS-TDS 2.2.5.5.1.8).
pub(crate) fn time_size(scale: u8) -> u8 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// Encodes a time in units of its last digit; only the first [`time_size`] bytes are sent.
pub(crate) fn encode_time(time: TimeOfDay, scale: u8) -> [u8; 8] {
    (time.0 / units(scale)).to_le_bytes()
}

/// Decodes a time; `None` if it exceeds a day.
pub(crate) fn parse_time(bytes: &[u8], scale: u8) -> Option<TimeOfDay> {
    let mut count = [0; 8];
    count.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let time = TimeOfDay(u64::from_le_bytes(count).checked_mul(units(scale))?);
    is_time(time).then_some(time)
}

pub(crate) fn encode_date(date: Date) -> [u8; 3] {
    let [a, b, c, _] = date.0.to_le_bytes();
    [a, b, c]
}

pub(crate) fn parse_date([a, b, c]: [u8; 3]) -> Option<Date> {
    let date = Date(u32::from_le_bytes([a, b, c, 0]));
    is_date(date).then_some(date)
}

/// Units of 100 ns in the last of `scale` fractional digits.
fn units(scale: u8) -> u64 {
    10_u64.pow(u32::from(7_u8.saturating_sub(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: u32, time: u64) -> DateTime2 {
        DateTime2 {
            date: Date(day),
            time: TimeOfDay(time),
        }
    }

    #[test]
    fn a_tick_of_datetime_is_a_millisecond_and_back() {
        for ticks in (0..TICKS_PER_DAY).step_by(7) {
            let moment = from_datetime(0, ticks).unwrap();
            assert_eq!(to_datetime(moment), Some((0, ticks)));
        }
        let milliseconds = [0, 1, 2, 3].map(|ticks| from_datetime(0, ticks).unwrap().time.0 / 10_000);
        assert_eq!(milliseconds, [0, 3, 7, 10]);
    }

    #[test]
    fn datetime_ends_where_sql_servers_does() {
        assert_eq!(to_datetime(at(DAY_1753, 0)), Some((-53_690, 0)));
        assert_eq!(to_datetime(at(DAY_1753 - 1, 0)), None);
        assert_eq!(to_datetime(at(DAY_MAX, 863_999_970_000)), Some((2_958_463, 25_919_999)));
        assert_eq!(to_datetime(at(DAY_MAX, 863_999_990_000)), None);
        assert_eq!(to_datetime(at(DAY_1900, 863_999_990_000)), Some((1, 0)));
        assert_eq!(from_datetime(-53_691, 0), None);
        assert_eq!(from_datetime(2_958_464, 0), None);
        assert_eq!(from_datetime(i32::MAX, 0), None);
        assert_eq!(from_datetime(0, TICKS_PER_DAY), None);
    }

    #[test]
    fn smalldatetime_ends_where_sql_servers_does() {
        assert_eq!(to_smalldatetime(at(DAY_1900 + 65_535, 0)), Some((65_535, 0)));
        assert_eq!(to_smalldatetime(at(DAY_1900 + 65_536, 0)), None);
        assert_eq!(to_smalldatetime(at(DAY_1900 - 1, 0)), None);
        assert_eq!(
            from_smalldatetime(65_535, 1439),
            Some(at(DAY_1900 + 65_535, 863_400_000_000))
        );
        assert_eq!(from_smalldatetime(0, 1440), None);
    }

    #[test]
    fn a_time_keeps_its_digits_at_every_scale() {
        for scale in 0..=7_u8 {
            let time = TimeOfDay(863_999_999_999 / units(scale) * units(scale));
            let bytes = encode_time(time, scale);
            let size = usize::from(time_size(scale));
            assert!(bytes[size..].iter().all(|byte| *byte == 0), "scale {scale}");
            assert_eq!(parse_time(&bytes[..size], scale), Some(time));
            assert_eq!(parse_time(&[0xFF; 8][..size], scale), None);
        }
    }
}
