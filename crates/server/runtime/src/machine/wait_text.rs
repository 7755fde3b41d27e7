//! Parses WAITFOR's times.

use selenite_compiler::SqlError;
use selenite_types::{DateTime2, Value};

/// Milliseconds of a duration or time of day below 24 hours: `hh:mm`, `hh:mm:ss`, `hh:mm:ss.mmm`, or the time of a
/// datetime.
///
/// Errors: 148 for any other text.
pub(super) fn milliseconds(value: &Value) -> Result<u64, SqlError> {
    if let Value::Text(text) = value {
        return parse(text.trim()).ok_or_else(|| SqlError::wait_time(text));
    }
    if let Value::DateTime(DateTime2 { time, .. }) | Value::Time(time) = value {
        return Ok(time.0 / TICKS_OF_MILLISECOND);
    }
    Err(SqlError::wait_time(""))
}

fn parse(text: &str) -> Option<u64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let hours = below(parts.next()?, 24)?;
    let minutes = below(parts.next()?, 60)?;
    let seconds = match parts.next() {
        Some(seconds) => below(seconds, 60)?,
        None if fraction.is_none() => 0,
        None => return None,
    };
    let milliseconds = match (parts.next(), fraction) {
        (None, None) => 0,
        (None, Some(fraction)) => thousandths(fraction)?,
        (Some(milliseconds), None) => below(milliseconds, 1000)?,
        (Some(_), Some(_)) => return None,
    };
    let whole = parts.next().is_none();
    whole.then_some(((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds)
}

fn below(digits: &str, limit: u64) -> Option<u64> {
    let plain = !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number < limit)
}

/// `5` is 500 milliseconds, `05` is 50.
fn thousandths(digits: &str) -> Option<u64> {
    let number = below(digits, 1000)?;
    Some(match digits.len() {
        1 => number * 100,
        2 => number * 10,
        _ => number,
    })
}

/// Values are in units of 100 ns.
const TICKS_OF_MILLISECOND: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<u64, i32> {
        milliseconds(&Value::Text(text.into())).map_err(|error| error.number())
    }

    #[test]
    fn a_time_has_hours_minutes_and_optional_seconds() {
        assert_eq!(of("00:00:01"), Ok(1000));
        assert_eq!(of("02:00"), Ok(7_200_000));
        assert_eq!(of("00:00:00.5"), Ok(500));
        assert_eq!(of("00:00:00.005"), Ok(5));
        assert_eq!(of("0:0:1:250"), Ok(1250));
        assert_eq!(of("23:59:59.999"), Ok(86_399_999));
    }

    #[test]
    fn a_date_or_a_time_beyond_a_day_is_error_148() {
        for text in [
            "",
            "5",
            "24:00",
            "00:60",
            "00:00:60",
            "2020-01-01 00:00:01",
            "00:00:01.1234",
            "-1:00",
            "a:b",
        ] {
            assert_eq!(of(text), Err(148), "{text}");
        }
        let error = milliseconds(&Value::Text("x".into())).unwrap_err();
        assert_eq!(
            error.text(),
            "Incorrect time syntax in time string 'x' used with WAITFOR."
        );
    }
}
