//! Functions that compose text.

use selenite_types::{DataType, Value, Width, code_page_char, text_of, utf16_length};

use crate::functions::Arguments;
use crate::functions::arguments::within;
use crate::functions::typing::{encoding_of, sum_of_widths, width_in};
use crate::{Expr, SqlError};

/// CHAR: NULL outside one byte.
pub(super) fn character(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Ok(byte) = u8::try_from(call.int(0)?) else {
        return Ok(Value::Null);
    };
    Ok(call.text_result(code_page_char(byte).encode_utf8(&mut [0; 4])))
}

/// NCHAR: NULL outside one UTF-16 code unit.
pub(super) fn national_character(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Ok(unit) = u16::try_from(call.int(0)?) else {
        return Ok(Value::Null);
    };
    match char::from_u32(u32::from(unit)) {
        Some(character) => Ok(call.text_result(character.encode_utf8(&mut [0; 4]))),
        None => Err(SqlError::unsupported("Half of a character beyond U+FFFF")),
    }
}

/// The type of CONCAT and CONCAT_WS: wide enough for all values as text.
pub(super) fn concat_type(arguments: &[Expr]) -> DataType {
    let encoding = encoding_of(arguments);
    let widths = arguments.iter().map(|value| width_in(encoding, value));
    let has_max = arguments.iter().any(|value| value.data_type.is_max());
    let sum = widths.fold(Width::Limited(0), sum_of_widths);
    encoding.varying(if has_max { Width::Max } else { sum })
}

/// CONCAT: NULL is an empty string.
pub(super) fn concat(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut text = String::new();
    for at in 0..call.values.len() {
        append(&mut text, call, at)?;
    }
    Ok(call.text_result(&text))
}

/// CONCAT_WS: NULLs are skipped, with their separators.
pub(super) fn concat_with_separator(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let separator = if *call.value(0) == Value::Null {
        ""
    } else {
        call.text(0)?
    };
    let mut text = String::new();
    let mut is_first = true;
    for at in 1..call.values.len() {
        if *call.value(at) == Value::Null {
            continue;
        }
        if !is_first {
            text.push_str(separator);
        }
        is_first = false;
        append(&mut text, call, at)?;
    }
    Ok(call.text_result(&text))
}

fn append(text: &mut String, call: &Arguments<'_>, at: usize) -> Result<(), SqlError> {
    let value = call.value(at);
    if let Value::Text(piece) = value {
        text.push_str(piece);
    } else {
        text.push_str(&text_of(value, &call.data_type(at)).unwrap_or_default());
    }
    call.reserve(text.len())
}

/// PARSENAME: a part of a name, counted from the last as 1; NULL if there is none.
pub(super) fn parse_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let number = call.int(1)?;
    let Some(parts) = name_parts(call.text(0)?) else {
        return Ok(Value::Null);
    };
    let part = usize::try_from(number)
        .ok()
        .and_then(|number| parts.len().checked_sub(number));
    let part = part.filter(|_| number > 0).and_then(|at| parts.get(at));
    match part {
        Some(part) if !part.is_empty() => Ok(call.text_result(part)),
        Some(_) | None => Ok(Value::Null),
    }
}

/// The parts of a name, at most four, without brackets or quotes; `None` if the name is invalid.
pub(crate) fn name_parts(name: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut rest = name.chars().peekable();
    while let Some(character) = rest.next() {
        let part = parts.last_mut()?;
        let end = match character {
            '.' => {
                parts.push(String::new());
                continue;
            }
            '[' if part.is_empty() => ']',
            '"' if part.is_empty() => '"',
            _ => {
                part.push(character);
                continue;
            }
        };
        loop {
            let inner = rest.next()?;
            if inner == end && rest.next_if_eq(&end).is_none() {
                break;
            }
            part.push(inner);
        }
        if !matches!(rest.peek(), None | Some('.')) {
            return None;
        }
    }
    let fits = parts
        .iter()
        .all(|part| utf16_length(part) <= usize::from(NAME_LENGTH_MAX));
    (parts.len() <= 4 && fits).then_some(parts)
}

/// QUOTENAME: NULL for a name that is too long, or an invalid quote character.
pub(super) fn quote_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let name = call.text(0)?;
    let quote = if call.values.len() > 1 {
        call.text(1)?.chars().next()
    } else {
        Some('[')
    };
    let (open, close) = match quote {
        Some('[' | ']') => ('[', ']'),
        Some('(' | ')') => ('(', ')'),
        Some('<' | '>') => ('<', '>'),
        Some('{' | '}') => ('{', '}'),
        Some(same @ ('\'' | '"' | '`')) => (same, same),
        Some(_) | None => return Ok(Value::Null),
    };
    if utf16_length(name) > usize::from(NAME_LENGTH_MAX) {
        return Ok(Value::Null);
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push(open);
    for character in name.chars() {
        quoted.push(character);
        if character == close {
            quoted.push(close);
        }
    }
    quoted.push(close);
    Ok(call.text_result(&quoted))
}

pub(super) fn string_escape(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let kind = call.text(1)?;
    if !kind.eq_ignore_ascii_case("json") {
        return Err(SqlError::invalid_escape_type(kind));
    }
    let mut escaped = String::with_capacity(call.text(0)?.len());
    let mut polls = call.polls();
    for character in call.text(0)?.chars() {
        polls.step()?;
        within(escaped.len())?;
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '/' => escaped.push_str("\\/"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => escaped.push(other),
        }
    }
    call.reserve(escaped.len())?;
    Ok(call.text_result(&escaped))
}

/// The length of a sysname.
const NAME_LENGTH_MAX: u16 = 128;
