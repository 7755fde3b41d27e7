//! Functions that replace characters.

use std::collections::HashMap;

use selenite_types::{DataType, Encoding, Value, Width, in_code_page};

use super::search::Haystack;
use crate::functions::Arguments;
use crate::functions::typing::{WIDTH_MAX, constant_whole, encoding_of};
use crate::{Expr, SqlError};

/// Two characters, and the overhead of a map entry.
const ENTRY_SIZE: usize = 10;

pub(super) fn upper(call: &Arguments<'_>) -> Result<Value, SqlError> {
    cased(call, |character| only(character.to_uppercase()))
}

pub(super) fn lower(call: &Arguments<'_>) -> Result<Value, SqlError> {
    cased(call, |character| only(character.to_lowercase()))
}

/// Each character in the other case, if that is one character in the same code page.
fn cased(call: &Arguments<'_>, case: impl Fn(char) -> Option<char>) -> Result<Value, SqlError> {
    let is_narrow = call.data_type.encoding() == Encoding::CodePage;
    let change = |character: char| match case(character) {
        Some(changed) if !is_narrow || in_code_page(changed) => changed,
        Some(_) | None => character,
    };
    let text = call.text(0)?;
    Ok(call.text_result(&collected(text.chars().map(change), text.len(), call)?))
}

/// Collects the characters into a text; `size` is its size in bytes, exact or estimated.
fn collected(characters: impl Iterator<Item = char>, size: usize, call: &Arguments<'_>) -> Result<String, SqlError> {
    let mut text = String::with_capacity(size);
    let mut polls = call.polls();
    for character in characters {
        polls.step()?;
        text.push(character);
    }
    Ok(text)
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

pub(super) fn reverse(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let text = call.text(0)?;
    Ok(call.text_result(&collected(text.chars().rev(), text.len(), call)?))
}

/// REPLICATE: NULL for a negative count.
pub(super) fn replicate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Ok(count) = usize::try_from(call.bigint(1)?) else {
        return Ok(Value::Null);
    };
    let text = call.text(0)?;
    if text.is_empty() {
        return Ok(call.text_result(""));
    }
    // The result is not longer than its type.
    let count = match call.data_type.width() {
        Some(Width::Limited(width)) => count.min(usize::from(width)),
        Some(Width::Max) | None => count,
    };
    call.reserve(text.len().saturating_mul(count))?;
    Ok(call.text_result(&text.repeat(count)))
}

/// The type of SPACE: as wide as a constant argument.
pub(super) fn space_type(arguments: &[Expr]) -> DataType {
    let length = constant_whole(arguments.first()).and_then(|count| u16::try_from(count).ok());
    Encoding::CodePage.varying(Width::Limited(length.unwrap_or(WIDTH_MAX)))
}

/// SPACE: NULL for a negative count.
pub(super) fn space(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Ok(count) = usize::try_from(call.int(0)?) else {
        return Ok(Value::Null);
    };
    Ok(call.text_result(&" ".repeat(count.min(usize::from(WIDTH_MAX)))))
}

/// The type of REPLACE: national if any text is, `max` if any is.
pub(super) fn replaced_type(arguments: &[Expr]) -> DataType {
    let is_max = arguments.iter().any(|text| text.data_type.is_max());
    encoding_of(arguments).varying(if is_max { Width::Max } else { Width::Limited(WIDTH_MAX) })
}

pub(super) fn replace(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (text, needle, replacement) = (call.text(0)?, call.text(1)?, call.text(2)?);
    if needle.is_empty() {
        return Ok(call.text_result(text));
    }
    let haystack = Haystack::new(text, call)?;
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    let mut polls = call.polls();
    for (start, end) in haystack.find_all(needle, call)? {
        polls.step()?;
        replaced.push_str(text.get(copied..start).unwrap_or_default());
        replaced.push_str(replacement);
        call.reserve(replaced.len())?;
        copied = end;
    }
    replaced.push_str(text.get(copied..).unwrap_or_default());
    Ok(call.text_result(&replaced))
}

/// TRANSLATE: each character of the second text is replaced by the one at its position in the third.
pub(super) fn translate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let order = call.collation.named;
    let map = TranslationMap::new(call)?;
    let change = |character: char| map.find(order.fold(character)).unwrap_or(character);
    let text = call.text(0)?;
    Ok(call.text_result(&collected(text.chars().map(change), text.len(), call)?))
}

/// Replacements of folded characters.
struct TranslationMap {
    ascii: [Option<char>; 128],
    others: HashMap<char, char>,
}

impl TranslationMap {
    /// The map from the second to the third text of a call.
    ///
    /// Errors: 9828 for texts of different lengths; 701; the error of cancellation.
    fn new(call: &Arguments<'_>) -> Result<Self, SqlError> {
        let order = call.collation.named;
        let mut map = Self {
            ascii: [None; 128],
            others: HashMap::new(),
        };
        let (mut from, mut to) = (call.text(1)?.chars(), call.text(2)?.chars());
        let mut polls = call.polls();
        loop {
            polls.step()?;
            match (from.next(), to.next()) {
                // Of equal characters the first applies.
                (Some(from), Some(to)) => map.insert(order.fold(from), to, call)?,
                (None, None) => return Ok(map),
                (Some(_), None) | (None, Some(_)) => return Err(SqlError::translate_sets()),
            }
        }
    }

    fn insert(&mut self, from: char, to: char, call: &Arguments<'_>) -> Result<(), SqlError> {
        if let Some(place) = u32::from(from)
            .try_into()
            .ok()
            .and_then(|at: usize| self.ascii.get_mut(at))
        {
            place.get_or_insert(to);
            return Ok(());
        }
        if self.others.len() == self.others.capacity() {
            // The map doubles when it grows, and is copied.
            call.environment
                .reserve(self.others.len().saturating_mul(4 * ENTRY_SIZE))?;
        }
        self.others.entry(from).or_insert(to);
        Ok(())
    }

    fn find(&self, folded: char) -> Option<char> {
        let at = usize::try_from(u32::from(folded)).ok()?;
        match self.ascii.get(at) {
            Some(to) => *to,
            None => self.others.get(&folded).copied(),
        }
    }
}
