//! Substring functions.

use std::collections::HashSet;
use std::sync::Arc;

use selenite_types::{Collation, DataType, Value, Width};

use crate::functions::Arguments;
use crate::functions::typing::{constant_whole, encoding_of, sum_of_widths, text_width, width_in, with_width};
use crate::{Expr, SqlError};

/// The text after its first `count` characters of a collation: code units, or code points.
pub(super) fn skip(text: &str, count: usize, collation: Collation) -> &str {
    slice(text, count, usize::MAX, collation)
}

/// The text that is completely in the `take` characters after the first `skip`.
fn slice(text: &str, skip: usize, take: usize, collation: Collation) -> &str {
    let end = skip.saturating_add(take);
    if text.is_ascii() {
        let end = end.min(text.len());
        return text.get(skip.min(end)..end).unwrap_or_default();
    }
    let mut unit = 0_usize;
    let (mut first, mut last) = (text.len(), text.len());
    for (at, character) in text.char_indices() {
        if unit >= skip {
            first = first.min(at);
        }
        unit += collation.character_length(character);
        if unit > end {
            last = at;
            break;
        }
    }
    text.get(first.min(last)..last).unwrap_or_default()
}

/// The type of SUBSTRING: as wide as a constant length.
pub(super) fn substring_type(arguments: &[Expr]) -> DataType {
    piece_type(arguments, constant_whole(arguments.get(2)))
}

/// The type of LEFT and RIGHT: as wide as a constant length.
pub(super) fn end_type(arguments: &[Expr]) -> DataType {
    piece_type(arguments, constant_whole(arguments.get(1)))
}

fn piece_type(arguments: &[Expr], length: Option<i64>) -> DataType {
    let Some(first) = arguments.first() else {
        return DataType::VarChar(Width::Limited(1));
    };
    let width = match (text_width(&first.data_type), length) {
        // A code point may be several units of the type.
        (width, Some(_)) if first.collation.named.counts_code_points() => width,
        (Width::Limited(width), Some(length)) => {
            Width::Limited(u16::try_from(length.clamp(1, i64::from(width))).unwrap_or(width))
        }
        (width, _) => width,
    };
    with_width(first, width)
}

/// SUBSTRING: positions before the first character count toward the length.
pub(super) fn substring(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (start, length) = (call.bigint(1)?, call.bigint(2)?);
    if length < 0 {
        return Err(SqlError::invalid_length());
    }
    let end = start.saturating_sub(1).saturating_add(length).max(0);
    let first = start.saturating_sub(1).max(0);
    let count = usize::try_from(end.saturating_sub(first)).unwrap_or(0);
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    if let Value::Binary(bytes) = call.value(0) {
        let last = first.saturating_add(count).min(bytes.len());
        let piece = bytes.get(first.min(last)..last).unwrap_or_default();
        return Ok(Value::Binary(Arc::from(piece)));
    }
    Ok(call.text_result(slice(call.text(0)?, first, count, call.collation.named)))
}

pub(super) fn left(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let count = usize::try_from(call.int(1)?).map_err(|_| SqlError::invalid_length())?;
    Ok(call.text_result(slice(call.text(0)?, 0, count, call.collation.named)))
}

pub(super) fn right(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let count = usize::try_from(call.int(1)?).map_err(|_| SqlError::invalid_length_of("RIGHT"))?;
    let (text, collation) = (call.text(0)?, call.collation.named);
    let skipped = collation.text_length(text).saturating_sub(count);
    Ok(call.text_result(skip(text, skipped, collation)))
}

pub(super) fn left_trim(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let text = call.text(0)?;
    Ok(match trimmed(call)? {
        None => call.text_result(text.trim_start_matches(' ')),
        Some(is_trimmed) => call.text_result(text.trim_start_matches(is_trimmed)),
    })
}

pub(super) fn right_trim(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let text = call.text(0)?;
    Ok(match trimmed(call)? {
        None => call.text_result(text.trim_end_matches(' ')),
        Some(is_trimmed) => call.text_result(text.trim_end_matches(is_trimmed)),
    })
}

/// The characters that LTRIM and RTRIM remove, if they are specified: those that fold to the same character
/// (`fold-then-find-bytes` of `search`).
fn trimmed(call: &Arguments<'_>) -> Result<Option<impl FnMut(char) -> bool>, SqlError> {
    if call.values.len() < 2 {
        return Ok(None);
    }
    let order = call.collation.named;
    let removed: HashSet<char> = call.text(1)?.chars().map(|character| order.fold(character)).collect();
    Ok(Some(move |character: char| removed.contains(&order.fold(character))))
}

pub(super) fn trim(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(call.text_result(call.text(0)?.trim_matches(' ')))
}

/// The type of STUFF: wide enough for both texts.
pub(super) fn stuff_type(arguments: &[Expr]) -> DataType {
    let encoding = encoding_of(arguments);
    let width = |at: usize| {
        arguments
            .get(at)
            .map_or(Width::Limited(1), |text| width_in(encoding, text))
    };
    encoding.varying(sum_of_widths(width(0), width(3)))
}

/// STUFF: NULL if the start is outside the text; a NULL replacement only deletes.
pub(super) fn stuff(call: &Arguments<'_>) -> Result<Value, SqlError> {
    if (0..3).any(|at| *call.value(at) == Value::Null) {
        return Ok(Value::Null);
    }
    let text = call.text(0)?;
    let (start, length) = (call.bigint(1)?, call.bigint(2)?);
    let inserted = if *call.value(3) == Value::Null {
        ""
    } else {
        call.text(3)?
    };
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else {
        return Ok(Value::Null);
    };
    let collation = call.collation.named;
    if start == 0 || start > collation.text_length(text) {
        return Ok(Value::Null);
    }
    let before = slice(text, 0, start - 1, collation);
    let after = skip(text, (start - 1).saturating_add(length), collation);
    Ok(call.text_result(&[before, inserted, after].concat()))
}
