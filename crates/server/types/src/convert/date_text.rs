//! Parses text as a date, a time, or both.
//!
//! - `two-grammars`: datetime and smalldatetime (the old types) and the four newer types have
//!   different grammars. Only the old ones allow a time before the date, mixed separators, or a
//!   fraction after the minutes; only the newer ones allow more than three fractional second
//!   digits, an offset, `Z` after any time, or tabs.
//! - `rules-hold-the-settings`: [`Rules`] contains the effect of DATEFORMAT and CONVERT's style.
//! - `two-digit-years-from-1950`: a two-digit year is 1950 to 2049: SQL Server's default cutoff,
//!   which is not configurable here.

mod clock;
mod day;
mod rules;
mod scanner;

pub(crate) use rules::{Rules, StyleFault};

use crate::{
    Date,
    convert::date_text::{clock::read_clock, day::read_day, scanner::Scanner},
};

/// The parsed parts of a date and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TextMoment {
    /// The date, if present.
    pub date: Option<Date>,
    /// Units of 100 ns since midnight: a whole day if rounding beyond the seventh digit reached midnight.
    pub units: u64,
    /// The offset in minutes east of UTC, if present.
    pub offset_minutes: Option<i16>,
}

/// Why text is not a date or time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextFault {
    /// The text does not match the grammar.
    Syntax,
    /// The date or time does not exist.
    Range,
    /// The date has another form than the style requires.
    OtherStyle,
}

/// Parses `text` completely. Surrounding blanks are ignored, and empty text is 1900-01-01.
pub(crate) fn read_moment(text: &str, rules: &Rules) -> Result<TextMoment, TextFault> {
    let mut scanner = Scanner::new(text, !rules.is_old);
    let mut moment = TextMoment {
        date: None,
        units: 0,
        offset_minutes: None,
    };
    if scanner.at_end() {
        return Ok(moment);
    }
    let clock = if scanner.starts_time() {
        read_time_first(&mut scanner, rules, &mut moment)?
    } else if matches!(scanner.peek(), Some(b'T' | b't')) && scanner.digit_follows() {
        return Err(if rules.is_old {
            TextFault::Range
        } else {
            TextFault::Syntax
        });
    } else {
        let day = read_day(&mut scanner, rules)?;
        moment.date = Some(day.date);
        read_clock_after(&mut scanner, rules, day.is_iso, &mut moment)?
    };
    if clock != Clock::None {
        read_offset(&mut scanner, rules, clock, &mut moment)?;
    }
    scanner.skip_spaces();
    if scanner.at_end() {
        Ok(moment)
    } else {
        Err(tail_fault(&scanner, rules))
    }
}

/// The state of the time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// No time yet, or a complete one including `Z`.
    None,
    Plain,
    /// After the `T` of ISO 8601.
    AfterT,
}

fn read_time_first(scanner: &mut Scanner<'_>, rules: &Rules, moment: &mut TextMoment) -> Result<Clock, TextFault> {
    if !rules.shared_forms {
        return Err(TextFault::Syntax);
    }
    moment.units = read_clock(scanner, rules.is_old, false)?;
    scanner.skip_spaces();
    if !scanner.at_end() && !matches!(scanner.peek(), Some(b'+' | b'-')) && !scanner.peeks_z() {
        if !rules.is_old {
            return Err(TextFault::Syntax);
        }
        moment.date = Some(read_day(scanner, rules)?.date);
    }
    Ok(Clock::Plain)
}

fn read_clock_after(
    scanner: &mut Scanner<'_>,
    rules: &Rules,
    is_iso: bool,
    moment: &mut TextMoment,
) -> Result<Clock, TextFault> {
    let spaced = scanner.skip_spaces();
    if scanner.at_end() {
        return Ok(Clock::None);
    }
    if matches!(scanner.peek(), Some(b'T' | b't')) {
        if !is_iso || !rules.iso_t || (spaced && rules.is_old) {
            return Err(TextFault::Syntax);
        }
        scanner.advance();
        moment.units = read_clock(scanner, rules.is_old, true)?;
        if scanner.peeks_z() {
            return read_z(scanner, rules, moment);
        }
        return Ok(Clock::AfterT);
    }
    if scanner.peeks_z() && !spaced {
        return if is_iso {
            read_z(scanner, rules, moment)
        } else {
            Err(TextFault::Syntax)
        };
    }
    if !scanner.starts_time() {
        return Err(if spaced {
            tail_fault(scanner, rules)
        } else {
            TextFault::Syntax
        });
    }
    if !rules.spaced_clock {
        return Err(TextFault::Syntax);
    }
    moment.units = read_clock(scanner, rules.is_old, false)?;
    Ok(Clock::Plain)
}

fn read_z(scanner: &mut Scanner<'_>, rules: &Rules, moment: &mut TextMoment) -> Result<Clock, TextFault> {
    if !rules.iso_z {
        return Err(TextFault::Syntax);
    }
    scanner.advance();
    moment.offset_minutes = Some(0);
    Ok(Clock::None)
}

fn read_offset(
    scanner: &mut Scanner<'_>,
    rules: &Rules,
    clock: Clock,
    moment: &mut TextMoment,
) -> Result<(), TextFault> {
    let spaced = scanner.skip_spaces();
    let (z, sign) = (
        scanner.peeks_z(),
        scanner.peek().filter(|byte| matches!(byte, b'+' | b'-')),
    );
    if (z || sign.is_some()) && clock == Clock::AfterT && spaced {
        // After a time with T, `Z` or an offset follows without blanks.
        return Err(TextFault::Syntax);
    }
    if z {
        if rules.is_old {
            return Err(TextFault::Syntax);
        }
        scanner.advance();
        moment.offset_minutes = Some(0);
    } else if let Some(sign) = sign {
        if rules.is_old {
            return Err(if sign == b'-' {
                TextFault::Range
            } else {
                TextFault::Syntax
            });
        }
        scanner.advance();
        moment.offset_minutes = Some(read_offset_digits(scanner, sign == b'-')?);
    }
    Ok(())
}

/// `h:mm` or `hh:mm`, up to 14 hours.
fn read_offset_digits(scanner: &mut Scanner<'_>, is_negative: bool) -> Result<i16, TextFault> {
    scanner.skip_spaces();
    let hours = scanner.read_number();
    if !(1..=2).contains(&hours.digits) || scanner.peek() != Some(b':') {
        return Err(TextFault::Syntax);
    }
    scanner.advance();
    let minutes = scanner.read_number();
    let total = hours.value * 60 + minutes.value;
    if minutes.digits != 2 || minutes.value > 59 || total > 840 {
        return Err(TextFault::Syntax);
    }
    let total = i16::try_from(total).map_err(|_| TextFault::Syntax)?;
    Ok(if is_negative { -total } else { total })
}

/// The old types report a trailing number, AM or PM as out of range, and anything else as a syntax error.
fn tail_fault(scanner: &Scanner<'_>, rules: &Rules) -> TextFault {
    if rules.is_old && scanner.is_lone_number() {
        TextFault::Range
    } else {
        TextFault::Syntax
    }
}

#[cfg(test)]
mod tests;
