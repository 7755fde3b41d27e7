//! Finding text in text.

use selenite_types::{LikePattern, Value};

use crate::{Collation, PlanError, functions::Arguments};

/// Whether two characters are the same one to the collation.
pub(super) fn same_char(left: char, right: char, collation: Collation) -> bool {
    if left == right {
        return true;
    }
    if collation.is_binary {
        return false;
    }
    if left.is_ascii() && right.is_ascii() {
        return left.eq_ignore_ascii_case(&right);
    }
    let (mut left_bytes, mut right_bytes) = ([0; 4], [0; 4]);
    let left = left.encode_utf8(&mut left_bytes).as_bytes();
    let right = right.encode_utf8(&mut right_bytes).as_bytes();
    collation.order().compare(left, right).is_eq()
}

/// How many bytes of the beginning of `text` are `wanted`, if it begins so.
pub(super) fn beginning(text: &str, wanted: &str, collation: Collation) -> Option<usize> {
    let mut characters = text.char_indices();
    for wanted in wanted.chars() {
        let (_, found) = characters.next()?;
        if !same_char(found, wanted, collation) {
            return None;
        }
    }
    Some(characters.next().map_or(text.len(), |(at, _)| at))
}

/// Where `wanted`, which is not empty, is found in `text` first: its range of bytes.
pub(super) fn find(text: &str, wanted: &str, collation: Collation) -> Option<(usize, usize)> {
    let starts = text.char_indices().map(|(at, _)| at);
    for start in starts {
        let rest = text.get(start..)?;
        if let Some(size) = beginning(rest, wanted, collation) {
            return Some((start, start + size));
        }
    }
    None
}

/// PATINDEX: where the pattern matches first, from 1; 0 if nowhere.
pub(super) fn pattern_index(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let (pattern, text) = (call.text(0)?, call.text(1)?);
    let is_national = call.data_type(0).is_national() || call.data_type(1).is_national();
    let order = call.collation.order();
    let Some(tail) = pattern.strip_prefix('%') else {
        let is_match = LikePattern::new(pattern, None, order).matches(text, is_national);
        return call.length_result(usize::from(is_match));
    };
    let tail = LikePattern::new(tail.trim_start_matches('%'), None, order);
    call.length_result(tail.find(text, is_national).map_or(0, |at| at + 1))
}
