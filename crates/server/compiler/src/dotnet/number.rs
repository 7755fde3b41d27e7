//! Numbers by standard patterns (`N2`) and by custom ones (`#,##0.00`).

use super::Culture;

/// A number as decimal digits: `0.digits` times ten to the power of `point`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    /// Whether it is less than zero.
    pub negative: bool,
    /// The digits without leading zeros; none is zero.
    pub digits: String,
    /// The number of digits before the decimal point; it may be negative.
    pub point: i32,
    /// The number of significant digits of its type.
    pub precision: usize,
    /// Of an integer type: the value, and the bits of the type.
    pub whole: Option<(i64, u32)>,
}

impl Number {
    /// A number from its text: `-12.50`, or `1.25e-7`.
    pub fn parse(text: &str, precision: usize) -> Self {
        let (text, negative) = match text.strip_prefix('-') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{before}{after}");
        let zeros = all.len() - all.trim_start_matches('0').len();
        let digits = all.get(zeros..).unwrap_or_default().to_owned();
        let place = i32::try_from(before.len()).unwrap_or(0) - i32::try_from(zeros).unwrap_or(0);
        let point = if digits.is_empty() {
            0
        } else {
            place + exponent.parse::<i32>().unwrap_or(0)
        };
        Self {
            negative: negative && !digits.is_empty(),
            digits,
            point,
            precision,
            whole: None,
        }
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }

    /// Rounded to this number of digits behind the decimal point, half away from zero.
    fn rounded(&self, decimals: i32) -> Self {
        let kept = self.point + decimals;
        let mut rounded = self.clone();
        let Ok(kept) = usize::try_from(kept) else {
            rounded.digits.clear();
            rounded.point = 0;
            return rounded;
        };
        if kept >= self.digits.len() {
            return rounded;
        }
        let is_up = self.digits.as_bytes().get(kept).is_some_and(|digit| *digit >= b'5');
        let mut digits: Vec<u8> = self.digits.bytes().take(kept).collect();
        if is_up {
            let mut carries = true;
            for digit in digits.iter_mut().rev() {
                if *digit < b'9' {
                    *digit += 1;
                    carries = false;
                    break;
                }
                *digit = b'0';
            }
            if carries {
                digits.insert(0, b'1');
                rounded.point += 1;
            }
        }
        rounded.digits = String::from_utf8(digits).unwrap_or_default();
        if rounded.is_zero() {
            rounded.digits.clear();
            rounded.point = 0;
        }
        rounded
    }

    /// The digits before the decimal point, without leading zeros.
    fn whole_digits(&self) -> String {
        let count = usize::try_from(self.point).unwrap_or(0);
        (0..count)
            .map(|at| self.digits.chars().nth(at).unwrap_or('0'))
            .collect()
    }

    /// `count` digits behind the decimal point.
    fn fraction_digits(&self, count: usize) -> String {
        let at = |offset: usize| {
            let place = self.point + i32::try_from(offset).unwrap_or(i32::MAX);
            let place = usize::try_from(place).ok()?;
            self.digits.chars().nth(place)
        };
        (0..count).map(|offset| at(offset).unwrap_or('0')).collect()
    }

    fn times_ten_to(&self, exponent: i32) -> Self {
        let mut scaled = self.clone();
        if !scaled.is_zero() {
            scaled.point += exponent;
        }
        scaled
    }
}

/// A number in a pattern; `None` for a pattern that is not one.
pub(crate) fn format_number(number: &Number, pattern: &str, culture: Culture) -> Option<String> {
    let mut characters = pattern.chars();
    let letter = characters.next();
    let rest = characters.as_str();
    let is_standard = letter.is_some_and(|letter| letter.is_ascii_alphabetic())
        && rest.len() <= 2
        && rest.bytes().all(|byte| byte.is_ascii_digit());
    match letter {
        None => general(number, None, 'G'),
        Some(letter) if is_standard => {
            let digits = if rest.is_empty() {
                None
            } else {
                rest.parse::<usize>().ok()
            };
            standard(number, letter, digits, culture)
        }
        Some(_) => custom(number, pattern),
    }
}

fn standard(number: &Number, letter: char, digits: Option<usize>, culture: Culture) -> Option<String> {
    let decimals = digits.unwrap_or(2);
    let sign = |number: &Number| if number.negative && !number.is_zero() { "-" } else { "" };
    Some(match letter.to_ascii_uppercase() {
        'C' => {
            let symbol = if culture == Culture::English { "$" } else { "\u{a4}" };
            let rounded = number.rounded(count(decimals));
            let text = format!("{symbol}{}", grouped(&rounded, decimals));
            if rounded.negative && !rounded.is_zero() {
                format!("({text})")
            } else {
                text
            }
        }
        'D' => {
            number.whole?;
            format!(
                "{}{:0>2$}",
                sign(number),
                zero_or(&number.whole_digits()),
                digits.unwrap_or(1)
            )
        }
        'E' => scientific(number, digits.unwrap_or(6), letter, 3),
        'F' => {
            let rounded = number.rounded(count(decimals));
            format!("{}{}", sign(&rounded), fixed(&rounded, decimals))
        }
        'G' => return general(number, digits, if letter == 'g' { 'e' } else { 'E' }),
        'N' => {
            let rounded = number.rounded(count(decimals));
            format!("{}{}", sign(&rounded), grouped(&rounded, decimals))
        }
        'P' => {
            let rounded = number.times_ten_to(2).rounded(count(decimals));
            format!("{}{} %", sign(&rounded), grouped(&rounded, decimals))
        }
        // Of float and real alone: the number has just the digits that it needs.
        'R' if number.whole.is_none() && number.precision <= 17 => {
            return general(number, None, if letter == 'r' { 'e' } else { 'E' });
        }
        'X' => {
            let (value, bits) = number.whole?;
            let mask = if bits >= 64 { u64::MAX } else { (1_u64 << bits) - 1 };
            let value = value.cast_unsigned() & mask;
            let width = digits.unwrap_or(1);
            match letter {
                'x' => format!("{value:0width$x}"),
                _ => format!("{value:0width$X}"),
            }
        }
        _ => return None,
    })
}

fn count(decimals: usize) -> i32 {
    i32::try_from(decimals).unwrap_or(i32::MAX)
}

fn zero_or(digits: &str) -> &str {
    if digits.is_empty() { "0" } else { digits }
}

fn fixed(number: &Number, decimals: usize) -> String {
    let whole = number.whole_digits();
    match decimals {
        0 => zero_or(&whole).to_owned(),
        _ => format!("{}.{}", zero_or(&whole), number.fraction_digits(decimals)),
    }
}

fn grouped(number: &Number, decimals: usize) -> String {
    let text = fixed(number, decimals);
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{}{fraction}", with_groups(whole))
}

fn with_groups(whole: &str) -> String {
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `d.ddd` and an exponent of at least `exponent_digits` digits.
fn scientific(number: &Number, decimals: usize, letter: char, exponent_digits: usize) -> String {
    let rounded = number.rounded(count(decimals) + 1 - number.point);
    let exponent = if rounded.is_zero() { 0 } else { rounded.point - 1 };
    let mantissa = Number {
        point: 1,
        ..rounded.clone()
    };
    let mantissa = if rounded.is_zero() { rounded.clone() } else { mantissa };
    let sign = if rounded.negative && !rounded.is_zero() {
        "-"
    } else {
        ""
    };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{sign}{}{letter}{exponent_sign}{:0exponent_digits$}",
        fixed(&mantissa, decimals),
        exponent.unsigned_abs()
    )
}

/// The shortest of fixed and scientific.
fn general(number: &Number, digits: Option<usize>, letter: char) -> Option<String> {
    let letter = if letter == 'e' { 'e' } else { 'E' };
    let is_exact = number.whole.is_some() || number.precision > 17;
    let digits = digits.filter(|digits| *digits > 0);
    let precision = digits.unwrap_or(number.precision);
    let kept = match digits.is_none() && is_exact {
        true => number.clone(),
        false => number.rounded(count(precision) - number.point),
    };
    let sign = if kept.negative && !kept.is_zero() { "-" } else { "" };
    let exponent = kept.point - 1;
    let keeps_zeros = digits.is_none() && is_exact;
    let significant = match keeps_zeros {
        true => kept.digits.clone(),
        false => kept.digits.trim_end_matches('0').to_owned(),
    };
    let is_plain = kept.is_zero() || keeps_zeros;
    if !is_plain && (exponent >= count(precision) || exponent < -5) {
        let (first, others) = significant.split_at(1.min(significant.len()));
        let point = if others.is_empty() { "" } else { "." };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return Some(format!(
            "{sign}{first}{point}{others}{letter}{exponent_sign}{:02}",
            exponent.unsigned_abs()
        ));
    }
    let decimals = i32::try_from(significant.len()).unwrap_or(0) - kept.point;
    let decimals = usize::try_from(decimals).unwrap_or(0);
    Some(format!("{sign}{}", fixed(&kept, decimals)))
}

/// A part of a custom pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// `0` (true) or `#`.
    Digit(bool),
    /// The decimal point.
    Point,
    /// `%`, or any other text.
    Text(String),
    /// `E+0`: the letter, whether `+` is written, and the digits.
    Exponent(char, bool, usize),
}

/// A section of a custom pattern.
#[derive(Default)]
struct Section {
    parts: Vec<Part>,
    /// The power of ten by which the number is multiplied: percent signs and commas before the point.
    scale: i32,
    has_groups: bool,
    has_digit: bool,
    has_point: bool,
}

fn custom(number: &Number, pattern: &str) -> Option<String> {
    let sections = sections(pattern)?;
    let first = sections.first()?;
    let chosen = match (number.is_zero(), number.negative) {
        (true, _) => sections.get(2),
        (false, true) => sections.get(1).filter(|section| !section.parts.is_empty()),
        (false, false) => None,
    };
    let section = chosen.unwrap_or(first);
    let shown = shown_in(number, section);
    // A number that is rounded to zero has the section of zero.
    let (section, shown) = match shown.is_zero() && !number.is_zero() {
        true => {
            let section = sections.get(2).unwrap_or(first);
            (section, shown_in(number, section))
        }
        false => (section, shown),
    };
    let is_signed = std::ptr::eq(section, first) && shown.negative && !shown.is_zero();
    let sign = if is_signed { "-" } else { "" };
    Some(format!("{sign}{}", written(&shown, section)))
}

/// The number scaled and rounded for a section.
fn shown_in(number: &Number, section: &Section) -> Number {
    let has_exponent = section.parts.iter().any(|part| matches!(part, Part::Exponent(..)));
    let scaled = number.times_ten_to(section.scale);
    let (before, after) = digit_counts(section);
    match has_exponent {
        true => {
            let total = count(before + after);
            scaled.rounded(total - scaled.point)
        }
        false => scaled.rounded(count(after)),
    }
}

/// The placeholders before and behind the decimal point.
fn digit_counts(section: &Section) -> (usize, usize) {
    let point = section.parts.iter().position(|part| *part == Part::Point);
    let digits = |parts: &[Part]| parts.iter().filter(|part| matches!(part, Part::Digit(_))).count();
    let (before, after) = section.parts.split_at(point.unwrap_or(section.parts.len()));
    (digits(before), digits(after))
}

/// The least number of digits before the point, and behind it.
fn zeros_of(section: &Section, border: usize) -> (usize, usize) {
    let (before, after) = section.parts.split_at(border);
    let places = |parts: &[Part]| -> Vec<bool> {
        let zeros = parts.iter().filter(|part| matches!(part, Part::Digit(_)));
        zeros.map(|part| *part == Part::Digit(true)).collect()
    };
    let (before, after) = (places(before), places(after));
    let first = before.iter().position(|zero| *zero);
    let last = after.iter().rposition(|zero| *zero);
    (first.map_or(0, |at| before.len() - at), last.map_or(0, |at| at + 1))
}

fn written(number: &Number, section: &Section) -> String {
    let (before, after) = digit_counts(section);
    let exponent = section.parts.iter().any(|part| matches!(part, Part::Exponent(..)));
    let (mantissa, power) = match exponent && !number.is_zero() {
        true => (
            Number {
                point: count(before),
                ..number.clone()
            },
            number.point - count(before),
        ),
        false => (number.clone(), 0),
    };
    let point = section.parts.iter().position(|part| *part == Part::Point);
    let border = point.unwrap_or(section.parts.len());
    let (least, last_zero) = zeros_of(section, border);
    let whole = format!("{:0>least$}", mantissa.whole_digits());
    let fraction = mantissa.fraction_digits(after);
    let kept = fraction.trim_end_matches('0').len().max(last_zero);
    let mut out = String::new();
    let mut left = whole.chars().count();
    let mut digits = whole.chars();
    let mut behind = fraction.chars().take(kept);
    let mut place = 0;
    for (at, part) in section.parts.iter().enumerate() {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Point if kept > 0 => out.push('.'),
            Part::Point => {}
            Part::Digit(_) if at < border => {
                // Digits without a placeholder stand at the first one.
                let later = before - place - 1;
                place += 1;
                while left > later {
                    out.extend(digits.next());
                    left -= 1;
                    if section.has_groups && left > 0 && left.is_multiple_of(3) {
                        out.push(',');
                    }
                }
            }
            Part::Digit(_) => out.extend(behind.next()),
            Part::Exponent(letter, plus, size) => {
                let sign = match power < 0 {
                    true => "-",
                    false if *plus => "+",
                    false => "",
                };
                out.push_str(&format!("{letter}{sign}{:0size$}", power.unsigned_abs()));
            }
        }
    }
    out
}

/// Whether an exponent has a plus sign, and the number of its digits; `None` if there is no exponent.
fn exponent(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<(bool, usize)> {
    let mut ahead = rest.clone();
    let plus = ahead.peek() == Some(&'+');
    if plus || ahead.peek() == Some(&'-') {
        ahead.next();
    }
    let mut zeros = 0;
    while ahead.next_if_eq(&'0').is_some() {
        zeros += 1;
    }
    if zeros == 0 {
        return None;
    }
    *rest = ahead;
    // .NET's limit.
    Some((plus, zeros.min(10)))
}

fn sections(pattern: &str) -> Option<Vec<Section>> {
    let mut sections = vec![Section::default()];
    let mut rest = pattern.chars().peekable();
    let mut commas = 0;
    while let Some(character) = rest.next() {
        let section = sections.last_mut()?;
        let text = |section: &mut Section, text: String| section.parts.push(Part::Text(text));
        match character {
            '0' | '#' => {
                section.has_groups |= commas > 0 && !section.has_point && section.has_digit;
                section.has_digit = true;
                commas = 0;
                section.parts.push(Part::Digit(character == '0'));
            }
            ',' => {
                commas += i32::from(!section.has_point && section.has_digit);
            }
            '.' => {
                section.scale -= 3 * std::mem::take(&mut commas);
                if !section.has_point {
                    section.has_point = true;
                    section.parts.push(Part::Point);
                }
            }
            '%' => {
                section.scale += 2;
                text(section, "%".to_owned());
            }
            '\u{2030}' => {
                section.scale += 3;
                text(section, "\u{2030}".to_owned());
            }
            ';' => {
                section.scale -= 3 * std::mem::take(&mut commas);
                if sections.len() == 3 {
                    break;
                }
                sections.push(Section::default());
            }
            '\'' | '"' => {
                let quoted: String = rest.by_ref().take_while(|other| *other != character).collect();
                text(section, quoted);
            }
            '\\' => {
                let escaped = rest.next();
                text(section, escaped.into_iter().collect());
            }
            'e' | 'E' => match exponent(&mut rest) {
                Some((plus, zeros)) => section.parts.push(Part::Exponent(character, plus, zeros)),
                None => text(section, character.to_string()),
            },
            other => text(section, other.to_string()),
        }
    }
    if let Some(section) = sections.last_mut() {
        section.scale -= 3 * commas;
    }
    Some(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        let mut number = Number::parse(text, 29);
        if let Ok(whole) = text.parse::<i64>() {
            number.whole = Some((whole, 32));
            number.precision = 10;
        }
        number
    }

    #[test]
    fn standard_patterns_are_those_of_the_documentation() {
        for (value, pattern, text) in [
            ("123.456", "C", "$123.46"),
            ("-123.456", "C3", "($123.456)"),
            ("1234", "D", "1234"),
            ("-1234", "D6", "-001234"),
            ("1052.0329112756", "E", "1.052033E+003"),
            ("-1052.0329112756", "e2", "-1.05e+003"),
            ("1234.567", "F", "1234.57"),
            ("1234", "F1", "1234.0"),
            ("-1234.56", "F4", "-1234.5600"),
            ("-123.456", "G", "-123.456"),
            ("123.4546", "G4", "123.5"),
            ("1234.567", "N", "1,234.57"),
            ("1234", "N1", "1,234.0"),
            ("-1234.56", "N3", "-1,234.560"),
            ("1", "P", "100.00 %"),
            ("-0.39678", "P1", "-39.7 %"),
            ("255", "X", "FF"),
            ("-1", "x", "ffffffff"),
            ("255", "x4", "00ff"),
            ("-0.001", "N1", "0.0"),
            ("999.995", "N2", "1,000.00"),
            ("1.50", "G", "1.50"),
        ] {
            assert_eq!(
                format_number(&number(value), pattern, Culture::English).as_deref(),
                Some(text),
                "{value} {pattern}"
            );
        }
        assert_eq!(format_number(&number("1.5"), "D", Culture::English), None);
        assert_eq!(format_number(&number("1"), "Z", Culture::English), None);
    }

    #[test]
    fn custom_patterns_are_those_of_the_documentation() {
        for (value, pattern, text) in [
            ("1234.5678", "00000", "01235"),
            ("0.45678", "0.00", "0.46"),
            ("1234.5678", "#####", "1235"),
            ("0.45678", "#.##", ".46"),
            ("2147483647", "##,#", "2,147,483,647"),
            ("2147483647", "#,#,,", "2,147"),
            ("0.3697", "%#0.00", "%36.97"),
            ("0.3697", "##.0 %", "37.0 %"),
            ("0.03697", "#0.00\u{2030}", "36.97\u{2030}"),
            ("987654", "#0.0e0", "98.8e4"),
            ("1503.92311", "0.0##e+00", "1.504e+03"),
            ("1.8901385E-16", "0.0e+00", "1.9e-16"),
            ("987654", "\\###00\\#", "#987654#"),
            ("68", "# 'degrees'", "68 degrees"),
            ("12.345", "#0.0#;(#0.0#);-\\0-", "12.35"),
            ("0", "#0.0#;(#0.0#);-\\0-", "-0-"),
            ("-12.345", "#0.0#;(#0.0#);-\\0-", "(12.35)"),
            ("-1.5", "0.0", "-1.5"),
            ("123456789", "###-##-####", "123-45-6789"),
            ("5", "#,##0.00", "5.00"),
            ("1234567.891", "#,##0.00", "1,234,567.89"),
            ("0", "#", ""),
            ("0.5", "0", "1"),
        ] {
            assert_eq!(
                format_number(&number(value), pattern, Culture::English).as_deref(),
                Some(text),
                "{value} {pattern}"
            );
        }
    }
}
