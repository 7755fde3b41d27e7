//! The storage form of dates and times.

use crate::dates::unit_of_scale;
use crate::{Date, DateTime2, DateTimeOffset, TimeOfDay};

/// A buffer for the text: no date or time has more than 34 characters.
pub(super) struct ClockText {
    bytes: [u8; 34],
    length: usize,
}

impl ClockText {
    pub fn new() -> Self {
        Self {
            bytes: [0; 34],
            length: 0,
        }
    }

    /// `YYYY-MM-DD`
    pub fn date(mut self, date: Date) -> Self {
        let (year, month, day) = date.civil();
        self.digits(year.unsigned_abs(), 4);
        self.push(b'-');
        self.digits(month, 2);
        self.push(b'-');
        self.digits(day, 2);
        self
    }

    /// `HH:MM:SS`, and `.f..` with `scale` digits.
    pub fn time(mut self, time: TimeOfDay, scale: u8) -> Self {
        self.digits(time.hour(), 2);
        self.push(b':');
        self.digits(time.minute(), 2);
        self.push(b':');
        self.digits(time.second(), 2);
        if scale > 0 {
            self.push(b'.');
            self.digits(
                u32::try_from(u64::from(time.fraction()) / unit_of_scale(scale)).unwrap_or(0),
                usize::from(scale),
            );
        }
        self
    }

    /// A date, a space and a time.
    pub fn date_time(self, moment: DateTime2, scale: u8) -> Self {
        let mut text = self.date(moment.date);
        text.push(b' ');
        text.time(moment.time, scale)
    }

    /// The instant in UTC, a space and the offset.
    pub fn date_time_offset(self, moment: DateTimeOffset, scale: u8) -> Self {
        let mut text = self.date_time(moment.utc, scale);
        let minutes = u32::from(moment.offset_minutes.unsigned_abs());
        text.push(b' ');
        text.push(if moment.offset_minutes < 0 { b'-' } else { b'+' });
        text.digits(minutes / 60, 2);
        text.push(b':');
        text.digits(minutes % 60, 2);
        text
    }

    /// The text, which is ASCII.
    pub fn into_string(self) -> String {
        let written = self.bytes.get(..self.length).unwrap_or(&[]);
        std::str::from_utf8(written).unwrap_or_default().to_owned()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// Appends the last `count` digits of a number.
    fn digits(&mut self, number: u32, count: usize) {
        let Some(places) = self.bytes.get_mut(self.length..self.length + count) else {
            return;
        };
        let mut rest = number;
        for place in places.iter_mut().rev() {
            let [digit, ..] = (rest % 10).to_le_bytes();
            *place = b'0' + digit;
            rest /= 10;
        }
        self.length += count;
    }
}

/// Parses `YYYY-MM-DD`.
pub(super) fn parse_date(text: &[u8]) -> Option<Date> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else {
        return None;
    };
    let year = number(&[y1, y2, y3, y4])?;
    Date::from_civil(year, number(&[m1, m2])?, number(&[d1, d2])?)
}

/// Parses `HH:MM:SS[.f..]` with exactly `scale` digits.
pub(super) fn parse_time(text: &[u8], scale: u8) -> Option<TimeOfDay> {
    let ([h1, h2, b':', m1, m2, b':', s1, s2], fraction) = text.split_first_chunk::<8>()? else {
        return None;
    };
    let units = match fraction {
        [] if scale == 0 => 0,
        [b'.', digits @ ..] if scale > 0 && digits.len() == usize::from(scale) => {
            u64::from(number(digits)?.unsigned_abs()) * unit_of_scale(scale)
        }
        _ => return None,
    };
    let [hour, minute, second] = [[*h1, *h2], [*m1, *m2], [*s1, *s2]].map(|digits| number(&digits));
    let part = |part: Option<i32>| part.and_then(|part| u32::try_from(part).ok());
    TimeOfDay::from_clock(part(hour)?, part(minute)?, part(second)?, u32::try_from(units).ok()?)
}

/// Parses a date, a space and a time.
pub(super) fn parse_date_time(text: &[u8], scale: u8) -> Option<DateTime2> {
    let (date, rest) = text.split_at_checked(10)?;
    let (blank, time) = rest.split_first()?;
    let (date, time) = (parse_date(date)?, parse_time(time, scale)?);
    (*blank == b' ').then_some(DateTime2 { date, time })
}

/// Parses an instant in UTC and an offset of at most 14 hours.
pub(super) fn parse_date_time_offset(text: &[u8], scale: u8) -> Option<DateTimeOffset> {
    let (instant, [b' ', sign, h1, h2, b':', m1, m2]) = split_offset(text)? else {
        return None;
    };
    let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
    let total = i16::try_from(hours * 60 + minutes).ok()?;
    let offset_minutes = match sign {
        b'+' => total,
        // Each offset has one form: -00:00 is invalid.
        b'-' if total > 0 => -total,
        _ => return None,
    };
    let fits = minutes < 60 && total <= OFFSET_MINUTES_MAX;
    let utc = parse_date_time(instant, scale)?;
    fits.then_some(DateTimeOffset { utc, offset_minutes })
}

/// Splits off the seven bytes of the offset.
pub(super) fn split_offset(text: &[u8]) -> Option<(&[u8], &[u8; 7])> {
    text.split_last_chunk::<7>()
}

/// Parses up to nine digits.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0_i32, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i32::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// 14 hours.
pub(super) const OFFSET_MINUTES_MAX: i16 = 840;
