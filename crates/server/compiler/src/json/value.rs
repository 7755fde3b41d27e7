//! Values as JSON, and JSON strings as text.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use selenite_types::{DataType, DateFormat, Value, Width, convert, text_of};

use super::document::{Document, Kind, NodeIndex};
use crate::{Expr, ExprKind, SqlError};

/// Appends a text as a JSON string.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if u32::from(control) < 0x20 => {
                // Writing to a String can't fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Appends a value as JSON; `is_json` says whether a text is JSON already.
///
/// Errors: 8624 for a value that is not of its type.
pub(crate) fn push_value(out: &mut String, value: &Value, of: &DataType, is_json: bool) -> Result<(), SqlError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bit(bit) => out.push_str(if *bit { "true" } else { "false" }),
        Value::Text(text) if is_json => out.push_str(text),
        Value::Text(text) => push_quoted(out, text),
        Value::Binary(bytes) => push_quoted_plain(out, &base64(bytes)),
        Value::Guid(_) => push_quoted_plain(out, &exact_text(value, of)?),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::DateTimeOffset(_) => {
            push_quoted_plain(out, &exact_text(value, of)?);
        }
        Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_) => out.push_str(&exact_text(value, of)?),
        Value::SqlVariant(variant) => push_value(out, variant.value(), variant.data_type(), false)?,
    }
    Ok(())
}

/// The text of a value in JSON and XML: all digits of a number, ISO 8601 of a moment, Base64 of bytes.
///
/// Errors: 8624 for a value that is not of its type.
pub(crate) fn exact_text(value: &Value, of: &DataType) -> Result<String, SqlError> {
    let styled = |style: i32| {
        let text = convert(
            value,
            of,
            &DataType::VarChar(Width::Limited(60)),
            Some(style),
            DateFormat::default(),
        )?;
        if let Value::Text(text) = text {
            Ok(text.to_string())
        } else {
            Err(SqlError::internal("a conversion to no text"))
        }
    };
    match value {
        Value::Money(_) => styled(FOUR_DIGITS),
        Value::Real(_) => styled(EIGHT_DIGITS),
        Value::Float(_) => styled(SIXTEEN_DIGITS),
        Value::Time(_) => Ok(without_zeros(&text_of(value, of).unwrap_or_default())),
        Value::Date(_) => Ok(text_of(value, of).unwrap_or_default()),
        Value::DateTime(_) => Ok(without_zeros(&styled(ISO)?)),
        Value::DateTimeOffset(_) => {
            let text = styled(ISO)?;
            let border = text.len().saturating_sub(OFFSET_SIZE);
            let (moment, offset) = text.split_at_checked(border).unwrap_or((&text, ""));
            let offset = if offset == "+00:00" { "Z" } else { offset };
            Ok(without_zeros(moment) + offset)
        }
        Value::Binary(bytes) => Ok(base64(bytes)),
        Value::Null
        | Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Guid(_) => Ok(text_of(value, of).unwrap_or_default()),
        Value::SqlVariant(variant) => exact_text(variant.value(), variant.data_type()),
    }
}

/// A time without a fraction that is zero.
fn without_zeros(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        Some(_) | None => text.to_owned(),
    }
}

fn push_quoted_plain(out: &mut String, text: &str) {
    push_quoted(out, text);
}

/// Bytes as Base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of Base64; `None` of any other text.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The text of a scalar in a document: of a string its characters, of any other its JSON.
///
/// Errors: 40510 for half of a character beyond U+FFFF.
pub(crate) fn scalar_text(document: &Document<'_>, node: NodeIndex) -> Result<String, SqlError> {
    let text = document.text(node);
    if document.kind(node) != Kind::String {
        return Ok(text.to_owned());
    }
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    unescaped(inner)
}

/// A string's characters, from its text between the quotes.
///
/// Errors: as [`scalar_text`].
pub(crate) fn unescaped(written: &str) -> Result<String, SqlError> {
    let mut units: Vec<u16> = Vec::new();
    let mut out = String::with_capacity(written.len());
    let mut rest = written.chars();
    while let Some(character) = rest.next() {
        let escaped = if character == '\\' { rest.next() } else { None };
        if escaped == Some('u') {
            let digits: String = rest.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or(0));
            continue;
        }
        flush(&mut out, &mut units)?;
        out.push(match escaped {
            None => character,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(other) => other,
        });
    }
    flush(&mut out, &mut units)?;
    Ok(out)
}

/// Appends the characters of `\u` escapes, two of which may be one character.
fn flush(out: &mut String, units: &mut Vec<u16>) -> Result<(), SqlError> {
    for character in char::decode_utf16(units.drain(..)) {
        let character = character.map_err(|_| SqlError::unsupported("Half of a character beyond U+FFFF"))?;
        out.push(character);
    }
    Ok(())
}

/// Whether an expression is a call of a function whose result is JSON, which JSON is composed of without quotes.
pub(crate) fn is_json_call(expr: &Expr) -> bool {
    match &expr.kind {
        // Without an array around it, FOR JSON makes a text as any other.
        ExprKind::Call(call) if call.function.name == "for json" => matches!(
            call.arguments.get(2).map(|wrapper| &wrapper.kind),
            Some(ExprKind::Literal(Value::Bit(true)))
        ),
        ExprKind::Call(call) => JSON_FUNCTIONS.contains(&call.function.name),
        ExprKind::Coalesce(values) => values.iter().any(is_json_call),
        ExprKind::Case { branches, otherwise } => {
            let mut results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            results.any(is_json_call)
        }
        ExprKind::Convert(convert) => {
            // A conversion to a wider type, as in COALESCE.
            let is_implicit = convert.style.is_none() && !convert.is_try && expr.data_type.is_max();
            is_implicit && convert.operand.data_type.is_national() && is_json_call(&convert.operand)
        }
        ExprKind::Literal(_)
        | ExprKind::Null
        | ExprKind::Variable(_)
        | ExprKind::Column(_)
        | ExprKind::QueryNode(_)
        | ExprKind::Input(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Whole(_)
        | ExprKind::Choose { .. }
        | ExprKind::Let(_)
        | ExprKind::UserCall(_)
        | ExprKind::Local => false,
    }
}

/// The functions whose result is JSON.
const JSON_FUNCTIONS: [&str; 5] = ["json_array", "json_modify", "json_object", "json_query", "json text"];

/// Styles of CONVERT.
const FOUR_DIGITS: i32 = 2;
const EIGHT_DIGITS: i32 = 1;
const SIXTEEN_DIGITS: i32 = 2;
const ISO: i32 = 126;

/// `+hh:mm`.
const OFFSET_SIZE: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_in_json() {
        let mut out = String::new();
        push_quoted(&mut out, "a\"b\\c/d\u{8}\t\n\u{c}\r\u{1}\u{e9}<>");
        assert_eq!(out, "\"a\\\"b\\\\c\\/d\\b\\t\\n\\f\\r\\u0001\u{e9}<>\"");
        assert_eq!(
            unescaped("a\\\"b\\\\c\\/d\\b\\t\\n\\f\\r\\u0001\\u00e9\\ud83d\\ude00").unwrap(),
            "a\"b\\c/d\u{8}\t\n\u{c}\r\u{1}\u{e9}\u{1f600}"
        );
        assert_eq!(unescaped("\\ud83d").unwrap_err().number(), 40510);
    }
}
