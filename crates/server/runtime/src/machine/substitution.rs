//! Formats RAISERROR's message: `% [flags] [width] [.precision] [h | l | I64] type`.

use selenite_compiler::SqlError;
use selenite_types::{DataType, Value, utf16_length, utf16_prefix};

/// Replaces the placeholders of a message by the arguments.
///
/// Errors: 2786 for an argument of a wrong type for its placeholder, 2787 for an invalid placeholder.
pub(super) fn substitute(message: &str, arguments: &[(Value, DataType)]) -> Result<String, SqlError> {
    let mut result = String::with_capacity(message.len());
    let mut arguments = Arguments { arguments, used: 0 };
    let mut rest = message;
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        let from_sign = &rest[at..];
        if let Some(behind) = from_sign.strip_prefix("%%") {
            result.push('%');
            rest = behind;
            continue;
        }
        let (place, behind) = Placeholder::parse(&from_sign[1..], &mut arguments)
            .ok_or_else(|| SqlError::format_specification(from_sign))??;
        result.push_str(&place.fill(&mut arguments)?);
        rest = behind;
    }
    result.push_str(rest);
    Ok(cut(result))
}

/// Replaces `%%` in a message without placeholders.
pub(super) fn unescape(message: &str) -> String {
    cut(message.replace("%%", "%"))
}

/// The remaining arguments.
struct Arguments<'a> {
    arguments: &'a [(Value, DataType)],
    used: usize,
}

impl Arguments<'_> {
    /// The next argument; NULL if there is none.
    fn next(&mut self) -> &Value {
        let value = self.arguments.get(self.used).map(|(value, _)| value);
        self.used += 1;
        value.unwrap_or(&Value::Null)
    }

    fn mismatch(&self) -> SqlError {
        SqlError::substitution_mismatch(self.used)
    }
}

/// A placeholder in a message.
#[derive(Default)]
struct Placeholder {
    to_the_left: bool,
    sign: bool,
    zeros: bool,
    prefix: bool,
    blank: bool,
    width: usize,
    precision: Option<usize>,
    is_wide: bool,
    kind: char,
}

impl Placeholder {
    /// Parses the placeholder after a `%`, and returns the remaining text; `None` if it is invalid.
    fn parse<'a>(text: &'a str, arguments: &mut Arguments<'_>) -> Option<Result<(Self, &'a str), SqlError>> {
        let mut place = Self::default();
        let mut rest = text;
        while let Some(flag) = rest.chars().next() {
            match flag {
                '-' => place.to_the_left = true,
                '+' => place.sign = true,
                '0' => place.zeros = true,
                '#' => place.prefix = true,
                ' ' => place.blank = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        match number(rest, arguments)? {
            Ok((width, behind)) => {
                place.width = width.unwrap_or(0);
                rest = behind;
            }
            Err(error) => return Some(Err(error)),
        }
        if let Some(behind) = rest.strip_prefix('.') {
            match number(behind, arguments)? {
                Ok((precision, behind)) => {
                    place.precision = Some(precision.unwrap_or(0));
                    rest = behind;
                }
                Err(error) => return Some(Err(error)),
            }
        }
        if let Some(behind) = rest.strip_prefix("I64") {
            place.is_wide = true;
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix(['h', 'l']) {
            rest = behind;
        }
        place.kind = rest.chars().next().filter(|kind| "diosuxX".contains(*kind))?;
        Some(Ok((place, &rest[1..])))
    }

    /// The text that replaces the placeholder.
    fn fill(&self, arguments: &mut Arguments<'_>) -> Result<String, SqlError> {
        let value = arguments.next().clone();
        if value == Value::Null {
            return Ok(self.pad("(null)".to_owned(), false));
        }
        if self.kind == 's' {
            let Value::Text(text) = value else {
                return Err(arguments.mismatch());
            };
            let text = match self.precision {
                Some(precision) => text.chars().take(precision).collect(),
                None => text.to_string(),
            };
            return Ok(self.pad(text, false));
        }
        let whole = if let Value::Int(whole) = value {
            i64::from(whole)
        } else if let Value::SmallInt(whole) = value {
            i64::from(whole)
        } else if let Value::TinyInt(whole) = value {
            i64::from(whole)
        } else if let Value::BigInt(whole) = value
            && self.is_wide
        {
            whole
        } else {
            return Err(arguments.mismatch());
        };
        Ok(self.pad(self.digits(whole), self.zeros && self.precision.is_none()))
    }

    /// A number's digits with sign and prefix.
    fn digits(&self, whole: i64) -> String {
        // As in C, an unsigned type shows a negative number's bits.
        let bits = if self.is_wide {
            whole.cast_unsigned()
        } else {
            whole.cast_unsigned() & u64::from(u32::MAX)
        };
        let (sign, digits) = match self.kind {
            'd' | 'i' => (self.sign_of(whole), whole.unsigned_abs().to_string()),
            'o' => (if self.prefix && bits != 0 { "0" } else { "" }, format!("{bits:o}")),
            'x' => (if self.prefix && bits != 0 { "0x" } else { "" }, format!("{bits:x}")),
            'X' => (if self.prefix && bits != 0 { "0X" } else { "" }, format!("{bits:X}")),
            _ => ("", bits.to_string()),
        };
        let least = self.precision.unwrap_or(0).min(WIDTH_MAX);
        format!("{sign}{digits:0>least$}")
    }

    fn sign_of(&self, whole: i64) -> &'static str {
        match (whole < 0, self.sign, self.blank) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn pad(&self, text: String, zeros: bool) -> String {
        let length = text.chars().count();
        let missing = self.width.min(WIDTH_MAX).saturating_sub(length);
        if missing == 0 {
            return text;
        }
        if self.to_the_left {
            return format!("{text}{:missing$}", "");
        }
        if zeros {
            let digits = text.find(|char: char| char.is_ascii_hexdigit()).unwrap_or(0);
            let (sign, digits) = text.split_at(digits);
            return format!("{sign}{}{digits}", "0".repeat(missing));
        }
        format!("{:missing$}{text}", "")
    }
}

/// A number, or that of an argument for `*`, and the remaining text; `None` if it is too long for a number.
fn number<'a>(text: &'a str, arguments: &mut Arguments<'_>) -> Option<Result<(Option<usize>, &'a str), SqlError>> {
    if let Some(behind) = text.strip_prefix('*') {
        let value = arguments.next().clone();
        let Value::Int(width) = value else {
            return Some(Err(arguments.mismatch()));
        };
        return Some(Ok((usize::try_from(width).ok(), behind)));
    }
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, behind) = text.split_at(end);
    if digits.is_empty() {
        return Some(Ok((None, behind)));
    }
    digits.parse().ok().map(|number| Ok((Some(number), behind)))
}

/// A message above the maximum length is truncated and ends in three periods.
fn cut(message: String) -> String {
    if utf16_length(&message) <= MESSAGE_LENGTH_MAX {
        return message;
    }
    format!("{}...", utf16_prefix(&message, MESSAGE_LENGTH_MAX - 3))
}

/// In UTF-16 code units.
const MESSAGE_LENGTH_MAX: usize = 2047;

/// A placeholder is not wider than a message.
const WIDTH_MAX: usize = 2047;

#[cfg(test)]
mod tests;
