//! A day of three numbers, whose order DATEFORMAT or the style tells.

use crate::convert::{
    DateFormat,
    date_text::{
        Rules, TextFault,
        day::{TextDay, built, century_of},
        rules::NumericRule,
        scanner::{Number, Scanner},
    },
};

/// Three numbers with separators between.
pub(crate) struct NumericDate {
    parts: [Number; 3],
    separators: [u8; 2],
}

impl NumericDate {
    /// Reads what follows a first number and a separator.
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

    /// The day that the three are by the rules.
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
            // Behind yyyy-mm-dd a T settles the order, for the newer types in whatever style.
            _ if is_iso && t_follows && !rules.is_old => built(first.value, second.value, third.value),
            NumericRule::Session(format) => self.by_session(format, rules.is_old, is_iso && iso_follows),
            NumericRule::Style { order, year_digits } => self.by_style(order, year_digits, rules.is_old),
            NumericRule::Iso if is_iso => built(first.value, second.value, third.value),
            NumericRule::Iso => Err(TextFault::Syntax),
            NumericRule::None if rules.is_old => Err(TextFault::Syntax),
            NumericRule::None => Err(TextFault::OtherStyle),
        };
        date.map(|date| TextDay { date, is_iso })
    }

    /// As DATEFORMAT has it: a part of four digits is the year wherever it stands, and the other two keep their order.
    ///
    /// The newer types read a year that comes first as year, month and day whatever DATEFORMAT says; the old ones only before
    /// a T.
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

    /// As a style has it: its order and its width of the year; the old types also take a year of four digits first.
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

    /// Four digits as 4, one or two as 2, any other number of them as 0.
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
    built(year, month.value, day.value)
}
