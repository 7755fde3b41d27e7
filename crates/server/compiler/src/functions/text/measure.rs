//! Functions that return lengths, positions and code points.

use selenite_types::{DataType, Encoding, Value, code_page_byte};

use super::{piece, search};
use crate::functions::Arguments;
use crate::{Expr, SqlError};

/// LEN: the length without trailing spaces.
pub(super) fn len(call: &Arguments<'_>) -> Result<Value, SqlError> {
    call.length_result(call.collation.named.text_length(call.text(0)?.trim_end_matches(' ')))
}

/// DATALENGTH: the size in bytes.
pub(super) fn data_length(call: &Arguments<'_>) -> Result<Value, SqlError> {
    match call.data_type(0).data_length(call.value(0)) {
        Some(length) => call.length_result(length),
        None => Ok(Value::Null),
    }
}

/// The type of CHARINDEX and PATINDEX: bigint if the searched text is a `max` type.
pub(super) fn index_type(arguments: &[Expr]) -> DataType {
    let is_max = arguments.get(1).is_some_and(|text| text.data_type.is_max());
    if is_max { DataType::BigInt } else { DataType::Int }
}

/// CHARINDEX: the position of the first text in the second, from 1; 0 if it is not found.
pub(super) fn char_index(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (needle, text) = (call.text(0)?, call.text(1)?);
    let start = if call.values.len() > 2 {
        call.bigint(2)?.max(1)
    } else {
        1
    };
    let skipped = usize::try_from(start - 1).unwrap_or(usize::MAX);
    let rest = piece::skip(text, skipped, call.collation.named);
    if needle.is_empty() {
        return call.length_result(0);
    }
    let found = search::Haystack::new(rest, call)?.find_all(needle, call)?.next();
    match found {
        Some((at, _)) => {
            let before = text.len() - rest.len() + at;
            let before = text.get(..before).unwrap_or_default();
            call.length_result(call.collation.named.text_length(before) + 1)
        }
        None => call.length_result(0),
    }
}

/// ASCII: the byte of the first character; NULL for an empty text. What it is of several bytes is not documented.
pub(super) fn ascii(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(first) = call.text(0)?.chars().next() else {
        return Ok(Value::Null);
    };
    if call.data_type(0).encoding() == Encoding::Utf8 && !first.is_ascii() {
        return Err(SqlError::unsupported("ASCII of a character of several bytes"));
    }
    Ok(Value::Int(i32::from(code_page_byte(first).unwrap_or(b'?'))))
}

/// UNICODE: the first character's code point, or its first UTF-16 code unit; NULL for an empty text.
pub(super) fn unicode(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let text = call.text(0)?;
    let first = match call.collation.named.counts_code_points() {
        true => text.chars().next().map(u32::from),
        false => text.encode_utf16().next().map(u32::from),
    };
    let number = first.and_then(|number| i32::try_from(number).ok());
    Ok(number.map_or(Value::Null, Value::Int))
}
