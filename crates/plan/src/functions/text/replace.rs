//! Text made of text, character by character.

use selenite_types::{DataType, Value, Width, in_code_page};

use super::search;
use crate::{
    Expr, PlanError,
    functions::{
        Arguments,
        typing::{WIDTH_MAX, constant_whole, varying},
    },
};

/// 128 MiB: a longer text is refused as one beyond 2 GiB is in SQL Server, for a session's memory is shared by all.
const TEXT_SIZE_MAX: usize = 128 << 20;

/// UPPER.
pub(super) fn upper(call: &Arguments<'_>) -> Result<Value, PlanError> {
    cased(call, |character| only(character.to_uppercase()))
}

/// LOWER.
pub(super) fn lower(call: &Arguments<'_>) -> Result<Value, PlanError> {
    cased(call, |character| only(character.to_lowercase()))
}

/// Each character's other case, where that is one character and of the same code page.
fn cased(call: &Arguments<'_>, case: impl Fn(char) -> Option<char>) -> Result<Value, PlanError> {
    let is_national = call.data_type.is_national();
    let change = |character: char| match case(character) {
        Some(changed) if is_national || in_code_page(changed) => changed,
        Some(_) | None => character,
    };
    let text: String = call.text(0)?.chars().map(change).collect();
    Ok(call.text_result(&text))
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// REVERSE.
pub(super) fn reverse(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let text: String = call.text(0)?.chars().rev().collect();
    Ok(call.text_result(&text))
}

/// REPLICATE: NULL for a negative count.
pub(super) fn replicate(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let Ok(count) = usize::try_from(call.bigint(1)?) else {
        return Ok(Value::Null);
    };
    let text = call.text(0)?;
    if text.is_empty() {
        return Ok(call.text_result(""));
    }
    // Nothing longer than the result's type is made.
    let count = match call.data_type.width() {
        Some(Width::Limited(width)) => count.min(usize::from(width)),
        Some(Width::Max) | None => count,
    };
    call.reserve(text.len().saturating_mul(count))?;
    Ok(call.text_result(&text.repeat(count)))
}

/// The type of SPACE: as wide as a constant asks.
pub(super) fn space_type(arguments: &[Expr]) -> DataType {
    let asked = constant_whole(arguments.first()).and_then(|count| u16::try_from(count).ok());
    varying(false, Width::Limited(asked.unwrap_or(WIDTH_MAX)))
}

/// SPACE: NULL for a negative count.
pub(super) fn space(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let Ok(count) = usize::try_from(call.int(0)?) else {
        return Ok(Value::Null);
    };
    Ok(call.text_result(&" ".repeat(count.min(usize::from(WIDTH_MAX)))))
}

/// The type of REPLACE: national if any text is, `max` if any is.
pub(super) fn replaced_type(arguments: &[Expr]) -> DataType {
    let is_national = arguments.iter().any(|text| text.data_type.is_national());
    let is_max = arguments.iter().any(|text| text.data_type.is_max());
    varying(is_national, if is_max { Width::Max } else { Width::Limited(WIDTH_MAX) })
}

/// REPLACE.
pub(super) fn replace(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let (text, wanted, replacement) = (call.text(0)?, call.text(1)?, call.text(2)?);
    if wanted.is_empty() {
        return Ok(call.text_result(text));
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((start, end)) = search::find(rest, wanted, call.collation) {
        replaced.push_str(rest.get(..start).unwrap_or_default());
        replaced.push_str(replacement);
        call.reserve(replaced.len())?;
        rest = rest.get(end..).unwrap_or_default();
    }
    replaced.push_str(rest);
    Ok(call.text_result(&replaced))
}

/// TRANSLATE: each character of the second text becomes the one in its place in the third.
pub(super) fn translate(call: &Arguments<'_>) -> Result<Value, PlanError> {
    // The sets' characters are taken apart, each in four bytes.
    let sets = call.text(1)?.len().saturating_add(call.text(2)?.len());
    call.environment.reserve(sets.saturating_mul(4))?;
    let from: Vec<char> = call.text(1)?.chars().collect();
    let to: Vec<char> = call.text(2)?.chars().collect();
    if from.len() != to.len() {
        return Err(PlanError::translate_sets());
    }
    let change = |character: char| {
        let found = from
            .iter()
            .position(|wanted| search::same_char(character, *wanted, call.collation));
        found.and_then(|at| to.get(at)).copied().unwrap_or(character)
    };
    let text: String = call.text(0)?.chars().map(change).collect();
    Ok(call.text_result(&text))
}

/// Refuses a text of more bytes than one may have.
///
/// Errors: 7119.
pub(crate) fn within(size: usize) -> Result<(), PlanError> {
    if size > TEXT_SIZE_MAX {
        return Err(PlanError::text_too_large(TEXT_SIZE_MAX));
    }
    Ok(())
}
