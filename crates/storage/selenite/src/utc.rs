//! Times as text.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Seconds since 1970-01-01 UTC as `2026-03-01T12:00:00Z`; a time after the year 9999 as its
/// number.
#[must_use]
pub fn utc(unix_seconds: u64) -> String {
    let known = i64::try_from(unix_seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let Some(known) = known else {
        return unix_seconds.to_string();
    };
    let (hour, minute, second) = known.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", known.date())
}

/// Parses a time in RFC 3339, or as `2026-03-01 12:00:00`, which is UTC, to seconds since
/// 1970-01-01 UTC. Seconds may be omitted: they are then 0.
#[must_use]
pub fn parse_utc(text: &str) -> Option<u64> {
    let (minute, rest) = text.split_at_checked(MINUTE_SIZE)?;
    if !rest.starts_with(':') {
        return parse_seconds(&format!("{minute}:00{rest}"));
    }
    parse_seconds(text)
}

fn parse_seconds(text: &str) -> Option<u64> {
    let (local, zone) = text.split_at_checked(LOCAL_SIZE)?;
    let is_form = local.bytes().zip(FORM.bytes()).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        b'T' => byte == b'T' || byte == b' ',
        _ => byte == form,
    });
    let is_zone = matches!(zone.as_bytes(), [] | [b'Z'] | [b'+' | b'-', _, _, b':', _, _]);
    if !is_form || !is_zone {
        return None;
    }
    let number = |range: std::ops::Range<usize>| local.get(range)?.parse::<u8>().ok();
    let year = local.get(..4)?.parse().ok()?;
    let date = Date::from_calendar_date(year, Month::try_from(number(5..7)?).ok()?, number(8..10)?).ok()?;
    let time = Time::from_hms(number(11..13)?, number(14..16)?, number(17..19)?).ok()?;
    let at = PrimitiveDateTime::new(date, time).assume_offset(offset(zone)?);
    at.unix_timestamp().try_into().ok()
}

/// The offset of a time zone as RFC 3339 writes it; that of UTC if there is none.
fn offset(zone: &str) -> Option<UtcOffset> {
    let Some((hours, minutes)) = zone.get(1..).and_then(|rest| rest.split_once(':')) else {
        return Some(UtcOffset::UTC);
    };
    let number = |digits: &str| {
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse::<i8>().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    // RFC 3339, 5.6: time-hour and time-minute.
    (hours < 24 && minutes < 60).then(|| UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok())?
}

const FORM: &str = "0000-00-00T00:00:00";
const LOCAL_SIZE: usize = FORM.len();
const MINUTE_SIZE: usize = "0000-00-00T00:00".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_writes_rfc_3339() {
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(u64::MAX), u64::MAX.to_string());
        assert_eq!(utc(999_999_999_999), "999999999999");
    }

    #[test]
    fn parse_utc_reads_rfc_3339_and_sqlite_times() {
        for (text, seconds) in [
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2000-02-29 00:00:00", 951_782_400),
            ("2000-02-29T01:30:00+01:30", 951_782_400),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00", 951_782_400),
            ("2000-02-29 00:00", 951_782_400),
            ("2000-02-29T00:01Z", 951_782_460),
            ("2000-02-29T01:30+01:30", 951_782_400),
            ("2000-02-28T22:15:00-01:45", 951_782_400),
        ] {
            assert_eq!(parse_utc(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "now",
            "2000-02-30T00:00:00Z",
            "2000-02-29",
            "2000-02-29T00",
            "2000-02-29T00:0",
            "2000-02-29T00:00:",
            "2000-02-29T00:00:0",
            "2000-02-29T25:00:00Z",
            "2000-02-29T00:00:00+1:30",
            "2000-02-29T00:00:00+24:00",
            "2000-02-29T00:00:00+01:60",
            "2000-02-29T00:00:00++1:30",
            "2000-02-29T00:00:00Zx",
            "951782400",
            "1969-12-31T23:59:59Z",
            "2000-02-2\u{669}T00:00:00",
        ] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
    }
}
