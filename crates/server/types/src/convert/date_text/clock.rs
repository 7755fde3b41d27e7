//! Parses a time of day.

use crate::{
    convert::date_text::{
        TextFault,
        scanner::{Half, Scanner},
    },
    dates::UNITS_PER_SECOND,
};

/// Parses `h[:m[:s[.fraction or :thousandths]]] [AM or PM]` to units of 100 ns since midnight.
///
/// An hour alone requires AM or PM. With `with_seconds` seconds are required, as after the T of ISO 8601.
pub(crate) fn read_clock(scanner: &mut Scanner<'_>, is_old: bool, with_seconds: bool) -> Result<u64, TextFault> {
    let hour = read_two_digits(scanner)?;
    let (mut minute, mut second, mut fraction) = (None, None, 0);
    if read_colon(scanner) {
        minute = Some(read_two_digits(scanner)?);
        if scanner.peek() == Some(b'.') && is_old {
            scanner.advance();
            fraction = read_fraction(scanner, is_old)?;
        } else if read_colon(scanner) {
            second = Some(read_two_digits(scanner)?);
            fraction = read_beyond_second(scanner, is_old)?;
        }
    }
    if with_seconds && second.is_none() {
        return Err(TextFault::Syntax);
    }
    let before_half = scanner.place();
    scanner.skip_spaces();
    let half = scanner.read_half();
    if half.is_none() {
        scanner.go_back(before_half);
        if minute.is_none() {
            return Err(TextFault::Syntax);
        }
    }
    let (minute, second) = (minute.unwrap_or(0), second.unwrap_or(0));
    if minute > 59 || second > 59 {
        return Err(TextFault::Range);
    }
    let hour = hour_of_day(hour, half).ok_or(TextFault::Range)?;
    let seconds = u64::from(hour) * 3600 + u64::from(minute) * 60 + u64::from(second);
    Ok(seconds * UNITS_PER_SECOND + fraction)
}

/// AM allows hours to 12, which is midnight; PM allows 1 to 23, as SQL Server does.
fn hour_of_day(hour: u32, half: Option<Half>) -> Option<u32> {
    match half {
        Some(Half::Am) if hour > 12 => None,
        Some(Half::Am) if hour == 12 => Some(0),
        Some(Half::Pm) if hour == 0 => None,
        Some(Half::Pm) if hour < 12 => Some(hour + 12),
        Some(Half::Am | Half::Pm) | None => (hour < 24).then_some(hour),
    }
}

/// Parses the fraction after the seconds: digits after a point are decimal digits, up to three after a colon are
/// thousandths.
fn read_beyond_second(scanner: &mut Scanner<'_>, is_old: bool) -> Result<u64, TextFault> {
    match scanner.peek() {
        Some(b'.') => {
            scanner.advance();
            if !is_old {
                // The newer types allow blanks here, as in the documentation's example.
                scanner.skip_spaces();
            }
            read_fraction(scanner, is_old)
        }
        Some(b':') => {
            scanner.advance();
            let thousandths = scanner.read_number();
            if !(1..=3).contains(&thousandths.digits) {
                return Err(TextFault::Syntax);
            }
            Ok(u64::from(thousandths.value) * (UNITS_PER_SECOND / 1000))
        }
        _ => Ok(0),
    }
}

/// Parses up to three digits for the old types, nine for the newer ones, which round half up at the seventh.
fn read_fraction(scanner: &mut Scanner<'_>, is_old: bool) -> Result<u64, TextFault> {
    let digits_max = if is_old { 3 } else { 9 };
    let fraction = scanner.read_number();
    if !(1..=digits_max).contains(&fraction.digits) {
        return Err(TextFault::Syntax);
    }
    // Nine digits are nanoseconds.
    let missing = u32::try_from(9 - fraction.digits).unwrap_or(0);
    let billionths = u64::from(fraction.value) * 10_u64.pow(missing);
    Ok((billionths + 50) / 100)
}

fn read_two_digits(scanner: &mut Scanner<'_>) -> Result<u32, TextFault> {
    let number = scanner.read_number();
    if (1..=2).contains(&number.digits) {
        Ok(number.value)
    } else {
        Err(TextFault::Syntax)
    }
}

/// Consumes a colon with surrounding blanks; otherwise leaves the position unchanged.
fn read_colon(scanner: &mut Scanner<'_>) -> bool {
    let start = scanner.place();
    scanner.skip_spaces();
    if scanner.peek() != Some(b':') {
        scanner.go_back(start);
        return false;
    }
    scanner.advance();
    scanner.skip_spaces();
    true
}
