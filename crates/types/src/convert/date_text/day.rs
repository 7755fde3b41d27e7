//! A day in text.

use crate::{
    Date,
    convert::date_text::{
        Rules, TextFault,
        numeric_date::NumericDate,
        scanner::{Number, Scanner},
    },
};

/// A day, and how it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TextDay {
    pub date: Date,
    /// As `yyyy-mm-dd`: the one form that T or Z may follow.
    pub is_iso: bool,
}

/// Reads a day in any form that the rules allow.
pub(crate) fn read_day(scanner: &mut Scanner<'_>, rules: &Rules) -> Result<TextDay, TextFault> {
    if let Some(month) = scanner.read_month() {
        return named(rules, read_after_month(scanner, rules, month));
    }
    if !scanner.starts_digit() {
        return Err(TextFault::Syntax);
    }
    let first = scanner.read_number();
    let after_first = scanner.place();
    let spaced = scanner.skip_spaces();
    if let Some(month) = scanner.read_month() {
        return named(rules, read_month_between(scanner, first, month));
    }
    if spaced && scanner.starts_digit() && !scanner.starts_time() {
        let second = scanner.read_number();
        let spaced = scanner.skip_spaces();
        if let Some(month) = scanner.read_month().filter(|_| spaced) {
            return named(rules, day_of(first, month, second));
        }
    }
    scanner.go_back(after_first);
    let Some(separator) = scanner.read_separator() else {
        return read_unseparated(first, rules).map(|date| TextDay { date, is_iso: false });
    };
    if let Some(month) = scanner.read_month() {
        return named(rules, read_separated_month(scanner, rules, first, month, separator));
    }
    NumericDate::read_after(scanner, first, separator)?.day(scanner, rules)
}

/// A day whose month is a word.
fn named(rules: &Rules, date: Result<Date, TextFault>) -> Result<TextDay, TextFault> {
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
        return built(first.value, month, 1);
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
            built(first.value, month, 1)
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
        built(first.value, month, 1)
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
        4 => built(number.value, 1, 1),
        6 => built(century_of(year), month, day),
        8 => built(year, month, day),
        _ => Err(TextFault::Syntax),
    }
}

/// Of two numbers beside a month's name, one of four digits is the year, else the second.
fn day_of(first: Number, month: u32, second: Number) -> Result<Date, TextFault> {
    match (first.digits, second.digits) {
        (4, 1 | 2) => built(first.value, month, second.value),
        (1 | 2, 4) => built(second.value, month, first.value),
        (1 | 2, 1 | 2) => built(century_of(second.value), month, first.value),
        _ => Err(TextFault::Syntax),
    }
}

/// Blanks, and a comma among them.
fn read_comma(scanner: &mut Scanner<'_>) {
    scanner.skip_spaces();
    if scanner.peek() == Some(b',') {
        scanner.advance();
        scanner.skip_spaces();
    }
}

/// A year of one digit or two: 49 is 2049, 50 is 1950.
pub(crate) fn century_of(year: u32) -> u32 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

pub(crate) fn built(year: u32, month: u32, day: u32) -> Result<Date, TextFault> {
    let part = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    Date::from_civil(part(year), part(month), part(day)).ok_or(TextFault::Range)
}
