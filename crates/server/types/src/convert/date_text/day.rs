//! Parses a date.

use crate::{
    Date,
    convert::{
        DateFormat,
        date_text::{
            Rules, TextFault,
            rules::NumericRule,
            scanner::{Number, Scanner},
        },
    },
};

/// A date with its form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TextDay {
    pub date: Date,
    /// Whether it has the form `yyyy-mm-dd`, the only one that T or Z may follow.
    pub is_iso: bool,
}

/// Parses a date in any form that the rules allow.
pub(crate) fn read_day(scanner: &mut Scanner<'_>, rules: &Rules) -> Result<TextDay, TextFault> {
    if let Some(month) = scanner.read_month() {
        return with_month_name(rules, read_after_month(scanner, rules, month));
    }
    if !scanner.starts_digit() {
        return Err(TextFault::Syntax);
    }
    let first = scanner.read_number();
    let after_first = scanner.place();
    let spaced = scanner.skip_spaces();
    if let Some(month) = scanner.read_month() {
        return with_month_name(rules, read_month_between(scanner, first, month));
    }
    if spaced && scanner.starts_digit() && !scanner.starts_time() {
        let second = scanner.read_number();
        let spaced = scanner.skip_spaces();
        if let Some(month) = scanner.read_month().filter(|_| spaced) {
            return with_month_name(rules, day_of(first, month, second));
        }
    }
    scanner.go_back(after_first);
    let Some(separator) = scanner.read_separator() else {
        return read_unseparated(first, rules).map(|date| TextDay { date, is_iso: false });
    };
    if let Some(month) = scanner.read_month() {
        return with_month_name(rules, read_separated_month(scanner, rules, first, month, separator));
    }
    NumericDate::read_after(scanner, first, separator)?.day(scanner, rules)
}

/// A date with a month name.
fn with_month_name(rules: &Rules, date: Result<Date, TextFault>) -> Result<TextDay, TextFault> {
    if !rules.shared_forms {
        return Err(TextFault::Syntax);
    }
    date.map(|date| TextDay { date, is_iso: false })
}

/// `Jan 5 2024`, `Jan 5, 24`, `Jan 2024 5`, `January 2024`.
fn read_after_month(scanner: &mut Scanner<'_>, rules: &Rules, month: u32) -> Result<Date, TextFault> {
    if matches!(scanner.peek(), Some(b'-' | b'.')) {
        return Err(if rules.is_old {
            TextFault::Range
        } else {
            TextFault::Syntax
        });
    }
    read_comma(scanner);
    if !scanner.starts_digit() {
        return Err(TextFault::Syntax);
    }
    let first = scanner.read_number();
    if first.digits == 4 {
        let after_year = scanner.place();
        scanner.skip_spaces();
        if scanner.starts_digit() && !scanner.starts_time() {
            return day_of(first, month, scanner.read_number());
        }
        scanner.go_back(after_year);
        return civil_date(first.value, month, 1);
    }
    read_comma(scanner);
    if !scanner.starts_digit() || scanner.starts_time() {
        return Err(TextFault::Syntax);
    }
    day_of(first, month, scanner.read_number())
}

/// `5 Jan 2024`, `2024 Jan 5`, `2024 Jan`.
fn read_month_between(scanner: &mut Scanner<'_>, first: Number, month: u32) -> Result<Date, TextFault> {
    let after_month = scanner.place();
    read_comma(scanner);
    if !scanner.starts_digit() || scanner.starts_time() {
        scanner.go_back(after_month);
        return if first.digits == 4 {
            civil_date(first.value, month, 1)
        } else {
            Err(TextFault::Syntax)
        };
    }
    day_of(first, month, scanner.read_number())
}

/// `5-Jan-2024`, `2024-Jan-05`; `2024-Jan` for the old types alone.
fn read_separated_month(
    scanner: &mut Scanner<'_>,
    rules: &Rules,
    first: Number,
    month: u32,
    separator: u8,
) -> Result<Date, TextFault> {
    let after_month = scanner.place();
    if scanner.read_separator() == Some(separator) && scanner.starts_digit() {
        return day_of(first, month, scanner.read_number());
    }
    scanner.go_back(after_month);
    if rules.is_old && first.digits == 4 {
        civil_date(first.value, month, 1)
    } else {
        Err(TextFault::Syntax)
    }
}

/// `20240105`, `240105`, `2024`.
fn read_unseparated(number: Number, rules: &Rules) -> Result<Date, TextFault> {
    if !rules.shared_forms {
        return Err(TextFault::Syntax);
    }
    let (year, month, day) = (number.value / 10_000, number.value / 100 % 100, number.value % 100);
    match number.digits {
        4 => civil_date(number.value, 1, 1),
        6 => civil_date(century_of(year), month, day),
        8 => civil_date(year, month, day),
        _ => Err(TextFault::Syntax),
    }
}

/// For two numbers next to a month name: the one with four digits is the year, otherwise the second.
fn day_of(first: Number, month: u32, second: Number) -> Result<Date, TextFault> {
    match (first.digits, second.digits) {
        (4, 1 | 2) => civil_date(first.value, month, second.value),
        (1 | 2, 4) => civil_date(second.value, month, first.value),
        (1 | 2, 1 | 2) => civil_date(century_of(second.value), month, first.value),
        _ => Err(TextFault::Syntax),
    }
}

/// Skips blanks and an optional comma.
fn read_comma(scanner: &mut Scanner<'_>) {
    scanner.skip_spaces();
    if scanner.peek() == Some(b',') {
        scanner.advance();
        scanner.skip_spaces();
    }
}

/// Expands a year of one or two digits: 49 is 2049, 50 is 1950.
pub(crate) fn century_of(year: u32) -> u32 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

pub(crate) fn civil_date(year: u32, month: u32, day: u32) -> Result<Date, TextFault> {
    let part = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    Date::from_civil(part(year), part(month), part(day)).ok_or(TextFault::Range)
}

/// Three numbers with separators.
pub(crate) struct NumericDate {
    parts: [Number; 3],
    separators: [u8; 2],
}

impl NumericDate {
    /// Parses the rest after the first number and separator.
    pub fn read_after(scanner: &mut Scanner<'_>, first: Number, separator: u8) -> Result<Self, TextFault> {
        if !scanner.starts_digit() {
            return Err(TextFault::Syntax);
        }
        let second = scanner.read_number();
        let second_separator = scanner
            .read_separator()
            .filter(|_| scanner.starts_digit())
            .ok_or(TextFault::Syntax)?;
        let third = scanner.read_number();
        Ok(Self {
            parts: [first, second, third],
            separators: [separator, second_separator],
        })
    }

    /// The date of the three numbers by the rules.
    pub fn day(&self, scanner: &Scanner<'_>, rules: &Rules) -> Result<TextDay, TextFault> {
        let [first_separator, second_separator] = self.separators;
        if !rules.is_old && first_separator != second_separator {
            return Err(TextFault::Syntax);
        }
        let is_iso = self.widths() == [4, 2, 2] && self.separators == [b'-', b'-'];
        let t_follows = matches!(scanner.peek(), Some(b'T' | b't')) && scanner.digit_follows();
        let iso_follows = t_follows || scanner.peeks_z();
        let [first, second, third] = self.parts;
        let date = match rules.numeric {
            // For the newer types, yyyy-mm-dd before a T has a fixed order in every style.
            _ if is_iso && t_follows && !rules.is_old => civil_date(first.value, second.value, third.value),
            NumericRule::Session(format) => self.by_session(format, rules.is_old, is_iso && iso_follows),
            NumericRule::Style { order, year_digits } => self.by_style(order, year_digits, rules.is_old),
            NumericRule::Iso if is_iso => civil_date(first.value, second.value, third.value),
            NumericRule::Iso => Err(TextFault::Syntax),
            NumericRule::None if rules.is_old => Err(TextFault::Syntax),
            NumericRule::None => Err(TextFault::OtherStyle),
        };
        date.map(|date| TextDay { date, is_iso })
    }

    /// By DATEFORMAT: a four-digit number is the year in any position, and the other two keep their order.
    ///
    /// The newer types parse a leading year as year, month and day regardless of DATEFORMAT; the old ones only before a
    /// T.
    fn by_session(&self, format: DateFormat, is_old: bool, is_iso: bool) -> Result<crate::Date, TextFault> {
        let [first, second, third] = self.parts;
        let order = match self.widths() {
            [4, 2, 2] if !is_old || is_iso => DateFormat::Ymd,
            [4, 2, 2] if format.month_before_day() => DateFormat::Ymd,
            [4, 2, 2] => DateFormat::Ydm,
            [2, 2, 4] if is_old || matches!(format, DateFormat::Mdy | DateFormat::Dmy | DateFormat::Ymd) => {
                if format.month_before_day() {
                    DateFormat::Mdy
                } else {
                    DateFormat::Dmy
                }
            }
            [2, 4, 2] if is_old || matches!(format, DateFormat::Myd | DateFormat::Dym) => {
                if format.month_before_day() {
                    DateFormat::Myd
                } else {
                    DateFormat::Dym
                }
            }
            [2, 2, 2] if is_old || format != DateFormat::Ydm => format,
            _ => return Err(TextFault::Syntax),
        };
        ordered(order, [first, second, third])
    }

    /// By the style's order and year width; the old types also allow a leading four-digit year.
    fn by_style(&self, order: DateFormat, year_digits: usize, is_old: bool) -> Result<crate::Date, TextFault> {
        let year_first = match order.month_before_day() {
            true => DateFormat::Ymd,
            false => DateFormat::Ydm,
        };
        let order = match (year_digits, self.widths(), order) {
            (4, [4, 2, 2], DateFormat::Ymd | DateFormat::Ydm) => order,
            (4, [4, 2, 2], _) if is_old => year_first,
            (4, [2, 2, 4], DateFormat::Mdy | DateFormat::Dmy) | (2, [2, 2, 2], _) => order,
            _ => return Err(TextFault::Syntax),
        };
        ordered(order, self.parts)
    }

    /// The width of each number: 4 for four digits, 2 for one or two, 0 for any other number of digits.
    fn widths(&self) -> [usize; 3] {
        self.parts.map(|part| match part.digits {
            1 | 2 => 2,
            4 => 4,
            _ => 0,
        })
    }
}

fn ordered(order: DateFormat, parts: [Number; 3]) -> Result<crate::Date, TextFault> {
    let [first, second, third] = parts;
    let (year, month, day) = match order {
        DateFormat::Mdy => (third, first, second),
        DateFormat::Dmy => (third, second, first),
        DateFormat::Ymd => (first, second, third),
        DateFormat::Ydm => (first, third, second),
        DateFormat::Myd => (second, first, third),
        DateFormat::Dym => (second, third, first),
    };
    let year = if year.digits == 4 {
        year.value
    } else {
        century_of(year.value)
    };
    civil_date(year, month.value, day.value)
}
