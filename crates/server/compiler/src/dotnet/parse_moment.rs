//! Dates and times as people write them: `Monday, 13 December 2010`, `12/13/2010 3:45 PM`, `2010-12-13T15:45:00Z`.
//!
//! The order of numbers is month, day, year, as in en-US and in the invariant culture.

use selenite_types::{Date, DateTime2, TimeOfDay};

use super::moment::{MONTHS, WEEKDAYS};
use crate::SqlError;

/// A parsed date and time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParsedMoment {
    /// As it is written.
    pub local: DateTime2,
    /// The written offset from UTC.
    pub offset_minutes: Option<i16>,
}

impl ParsedMoment {
    /// Parses a text; `today` completes one without a date or a year. `None` if it is not a date or time.
    ///
    /// Errors: 40510 for forms that are not supported: points between the numbers of a date, and eras.
    pub fn parse(text: &str, today: Date) -> Result<Option<Self>, SqlError> {
        let mut found = Found::default();
        let mut scan = Scan { rest: text.trim() };
        while !scan.rest.is_empty() {
            match scan.step(&mut found)? {
                Some(()) => {}
                None => return Ok(None),
            }
        }
        Ok(found.moment(today))
    }
}

/// What was found in a text.
#[derive(Default)]
struct Found {
    /// Numbers of a date, with their counts of digits.
    numbers: Vec<(i32, usize)>,
    /// The month that is written as a word, and the count of numbers before it.
    month: Option<(i32, usize)>,
    weekday: Option<u32>,
    clock: Option<Clock>,
    offset_minutes: Option<i16>,
}

#[derive(Clone, Copy, Default)]
struct Clock {
    hour: u32,
    minute: u32,
    second: u32,
    /// Units of 100 ns.
    fraction: u32,
    /// AM is false, PM is true.
    is_afternoon: Option<bool>,
}

struct Scan<'a> {
    rest: &'a str,
}

impl Scan<'_> {
    /// The next part of the text; `None` if there is none.
    fn step(&mut self, found: &mut Found) -> Result<Option<()>, SqlError> {
        let Some(char) = self.rest.chars().next() else {
            return Ok(Some(()));
        };
        match char {
            ' ' | '\t'..='\r' | ',' => self.advance(1),
            '0'..='9' => return self.number(found),
            '+' | '-' if found.clock.is_some() && found.offset_minutes.is_none() => {
                let Some(minutes) = self.offset() else { return Ok(None) };
                found.offset_minutes = Some(minutes);
            }
            letter if letter.is_ascii_alphabetic() => return self.word(found),
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn advance(&mut self, size: usize) {
        self.rest = self.rest.get(size..).unwrap_or_default();
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Up to `most` digits; `None` if there are none or more.
    fn digits(&mut self, most: usize) -> Option<(u32, usize)> {
        let size = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest.get(..size)?.parse().ok()?;
        self.advance(size);
        (size <= most).then_some((number, size))
    }

    fn eat(&mut self, char: char) -> bool {
        let is_next = self.rest.starts_with(char);
        if is_next {
            self.advance(char.len_utf8());
        }
        is_next
    }

    /// A number of a date, or the clock.
    fn number(&mut self, found: &mut Found) -> Result<Option<()>, SqlError> {
        let Some((number, size)) = self.digits(4) else {
            return Ok(None);
        };
        if self.rest.starts_with(':') {
            let clock = self.clock(number).filter(|_| size <= 2 && found.clock.is_none());
            let is_clock = clock.is_some();
            found.clock = clock;
            return Ok(is_clock.then_some(()));
        }
        let mut after = Scan { rest: self.rest };
        after.blanks();
        if size <= 2 && found.clock.is_none() && after.half_of_day().is_some() {
            found.clock = Some(Clock {
                hour: number,
                ..Clock::default()
            });
            return Ok(Some(()));
        }
        found.numbers.push((i32::try_from(number).unwrap_or(i32::MAX), size));
        if self.rest.starts_with('.') {
            return Err(SqlError::unsupported("PARSE of a date with points"));
        }
        if let Some(separator @ ('/' | '-')) = self.rest.chars().next() {
            self.eat(separator);
            let is_followed = self.rest.starts_with(|next: char| next.is_ascii_alphanumeric());
            return Ok(is_followed.then_some(()));
        }
        Ok(Some(()))
    }

    /// The clock from its first colon on.
    fn clock(&mut self, hour: u32) -> Option<Clock> {
        let mut clock = Clock {
            hour,
            ..Clock::default()
        };
        self.eat(':');
        (clock.minute, _) = self.digits(2)?;
        if !self.eat(':') {
            return Some(clock);
        }
        (clock.second, _) = self.digits(2)?;
        if !self.eat('.') {
            return Some(clock);
        }
        let size = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = self.rest.get(..size).filter(|digits| !digits.is_empty())?;
        // .NET rounds to 100 ns.
        let fraction: f64 = format!("0.{digits}").parse().ok()?;
        let units = format!("{:.0}", fraction * 1e7);
        clock.fraction = units.parse().ok()?;
        self.advance(size);
        Some(clock)
    }

    /// `AM`, `PM`, `A` or `P`, in any case.
    fn half_of_day(&mut self) -> Option<bool> {
        let size = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = self.rest.get(..size)?.to_ascii_lowercase();
        let is_afternoon = match word.as_str() {
            "am" | "a" => false,
            "pm" | "p" => true,
            _ => return None,
        };
        self.advance(size);
        Some(is_afternoon)
    }

    fn word(&mut self, found: &mut Found) -> Result<Option<()>, SqlError> {
        if let (Some(clock), Some(is_afternoon)) = (found.clock.as_mut(), Scan { rest: self.rest }.half_of_day()) {
            if clock.is_afternoon.replace(is_afternoon).is_some() {
                return Ok(None);
            }
            self.half_of_day();
            return Ok(Some(()));
        }
        let size = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = self.rest.get(..size).unwrap_or_default().to_ascii_lowercase();
        self.advance(size);
        let of = |names: &[&str]| {
            let is_name = |name: &str| {
                name.eq_ignore_ascii_case(&word) || name.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(&word))
            };
            names.iter().position(|name| is_name(name))
        };
        let done = if let Some(month) = of(&MONTHS) {
            let month = i32::try_from(month + 1).unwrap_or(0);
            // A month may be between the hyphens of a date.
            if !self.eat('-') {
                self.eat('/');
            }
            found.month.replace((month, found.numbers.len())).is_none()
        } else if let Some(weekday) = of(&WEEKDAYS) {
            found.weekday.replace(u32::try_from(weekday).unwrap_or(0)).is_none()
        } else if word == "t" {
            // Of ISO 8601: year, month and day before it, the clock after it.
            let is_iso = matches!(found.numbers.as_slice(), [(_, 4), _, _]) && found.clock.is_none();
            is_iso && self.rest.starts_with(|next: char| next.is_ascii_digit())
        } else if word == "z" || word == "gmt" {
            found.clock.is_some() && found.offset_minutes.replace(0).is_none()
        } else if matches!(word.as_str(), "ad" | "a" | "bc" | "b") {
            return Err(SqlError::unsupported("PARSE of a date with an era"));
        } else {
            false
        };
        Ok(done.then_some(()))
    }

    /// `+02:00`, `-0500` or `+2`.
    fn offset(&mut self) -> Option<i16> {
        let is_negative = self.rest.starts_with('-');
        self.advance(1);
        let (number, size) = self.digits(4)?;
        let (hours, minutes) = match size {
            1 | 2 if self.eat(':') => (number, self.digits(2)?.0),
            1 | 2 => (number, 0),
            _ => (number / 100, number % 100),
        };
        let total = i16::try_from(hours * 60 + minutes).ok()?;
        let fits = minutes < 60 && total <= OFFSET_MINUTES_MAX;
        fits.then_some(if is_negative { -total } else { total })
    }
}

impl Found {
    fn moment(&self, today: Date) -> Option<ParsedMoment> {
        let time = match self.clock {
            None => TimeOfDay::MIDNIGHT,
            Some(clock) => clock.time()?,
        };
        let date = match (self.numbers.as_slice(), self.month) {
            ([], None) if self.clock.is_some() && self.weekday.is_none() => today,
            (numbers, None) => numbered(numbers, today)?,
            (numbers, Some((month, before))) => named(numbers, (month, before), today)?,
        };
        let is_day = self.weekday.is_none_or(|weekday| date.days_since_monday() == weekday);
        is_day.then_some(ParsedMoment {
            local: DateTime2 { date, time },
            offset_minutes: self.offset_minutes,
        })
    }
}

impl Clock {
    fn time(self) -> Option<TimeOfDay> {
        let hour = match self.is_afternoon {
            None => self.hour,
            Some(_) if self.hour > 12 => return None,
            Some(is_afternoon) => self.hour % 12 + if is_afternoon { 12 } else { 0 },
        };
        let clock = TimeOfDay::from_clock(hour, self.minute, self.second, 0)?;
        // A fraction that rounds up to a second is one.
        let units = clock.0 + u64::from(self.fraction);
        (units <= TimeOfDay::MAX.0).then_some(TimeOfDay(units))
    }
}

/// A date of numbers alone.
fn numbered(numbers: &[(i32, usize)], today: Date) -> Option<Date> {
    match *numbers {
        [(year, size), (month, _), (day, _)] if size > 2 => Date::from_civil(year, month, day),
        [(month, _), (day, _), year] => Date::from_civil(full_year(year)?, month, day),
        [(year, size), (month, 1 | 2)] if size > 2 => Date::from_civil(year, month, 1),
        [(month, 1 | 2), (year, size)] if size > 2 => Date::from_civil(year, month, 1),
        [(month, _), (day, _)] => Date::from_civil(today.year(), month, day),
        _ => None,
    }
}

/// A date whose month is a word, with the count of numbers before it.
fn named(numbers: &[(i32, usize)], (month, before): (i32, usize), today: Date) -> Option<Date> {
    match *numbers {
        [(year, size)] if size > 2 => Date::from_civil(year, month, 1),
        [(day, _)] => Date::from_civil(today.year(), month, day),
        [(year, size), (day, 1 | 2)] if size > 2 && before < 2 => Date::from_civil(year, month, day),
        [(day, 1 | 2), year] if before < 2 => Date::from_civil(full_year(year)?, month, day),
        _ => None,
    }
}

/// The year of one with two digits: at most 2029.
fn full_year((year, size): (i32, usize)) -> Option<i32> {
    match size {
        1 | 2 if year <= 29 => Some(2000 + year),
        1 | 2 => Some(1900 + year),
        4 => Some(year),
        _ => None,
    }
}

/// 14 hours.
const OFFSET_MINUTES_MAX: i16 = 840;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Option<i16>)> {
        let today = Date::from_civil(2024, 5, 6).unwrap();
        let found = ParsedMoment::parse(text, today).unwrap()?;
        let (year, month, day) = found.local.date.civil();
        let time = found.local.time;
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let fraction = time.fraction();
        let shown = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:07}");
        Some((shown.trim_end_matches(".0000000").to_owned(), found.offset_minutes))
    }

    #[test]
    fn dates_are_read_as_dotnet_does() {
        for (text, found) in [
            ("Monday, 13 December 2010", "2010-12-13 00:00:00"),
            ("Dec 13, 2010", "2010-12-13 00:00:00"),
            ("13-Dec-2010", "2010-12-13 00:00:00"),
            ("12/13/2010", "2010-12-13 00:00:00"),
            ("1/2/29", "2029-01-02 00:00:00"),
            ("1/2/30", "1930-01-02 00:00:00"),
            ("2010-12-13", "2010-12-13 00:00:00"),
            ("2010-12-13T14:15:16.25", "2010-12-13 14:15:16.2500000"),
            ("12/13/2010 3:45 PM", "2010-12-13 15:45:00"),
            ("12/13/2010 12:45:01am", "2010-12-13 00:45:01"),
            ("3 pm", "2024-05-06 15:00:00"),
            ("15:45", "2024-05-06 15:45:00"),
            ("December 2010", "2010-12-01 00:00:00"),
            ("December 13", "2024-12-13 00:00:00"),
            ("12/13", "2024-12-13 00:00:00"),
            ("12/2010", "2010-12-01 00:00:00"),
            ("1:00:00.99999999", "2024-05-06 01:00:01"),
        ] {
            assert_eq!(read(text), Some((found.to_owned(), None)), "{text}");
        }
        let offset = |text: &str| read(text).unwrap().1;
        assert_eq!(offset("2010-12-13T14:15:16Z"), Some(0));
        assert_eq!(offset("2010-12-13 14:15 +02:30"), Some(150));
        assert_eq!(offset("12/13/2010 14:15 -0500"), Some(-300));
        assert_eq!(offset("Mon, 13 Dec 2010 14:15:16 GMT"), Some(0));
    }

    #[test]
    fn what_is_no_date_is_not_guessed() {
        for text in [
            "",
            "abc",
            "13/12/2010",
            "Tuesday, 13 December 2010",
            "2010-13-01",
            "20101213",
            "12/13/2010 25:00",
            "12/13/2010 13:00 PM",
            "12:60",
            "1/2/3/4",
            "Dec Dec 2010",
            "2010-12-",
            "Monday",
            "13",
            "2010-12-13T",
            "2010-12-13 14:15 +15:00",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        let today = Date::from_civil(2024, 5, 6).unwrap();
        assert_eq!(ParsedMoment::parse("13.12.2010", today).unwrap_err().number(), 40510);
    }
}
