//! LIKE: pattern matching with a collation.
//!
//! - `bounded-and-polled`: matching takes at most the text's length times the pattern's length in
//!   steps: for megabytes that is minutes, so it polls.
//! - `wildcards`: `%` is any text, `_` one character, `[..]` and `[^..]` one character in or not in
//!   a class, whose ranges follow the collation. The character after the escape character is
//!   literal.
//! - `trailing-blanks`: trailing blanks of the pattern are significant. Trailing blanks of the text
//!   that the pattern does not match are ignored, unless the text or the pattern is nchar or
//!   nvarchar.
//! - `malformed-patterns-match-nothing`: an unclosed `[`, an empty `[]`, a descending range and a
//!   trailing escape character match nothing, as in SQL Server. In this collation `_` does not
//!   match a character beyond U+FFFF; in BIN2 two `_` do, and with `_SC` one.

mod pattern;

use std::convert::Infallible;

use selenite_collation::{CharacterKey, Collation, character_keys};

use crate::OperationError;

use pattern::{Token, parse};

/// A pattern, parsed once and matched many times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LikePattern {
    /// `None` for a malformed pattern, which matches nothing.
    tokens: Option<Vec<Token>>,
    collation: Collation,
}

impl LikePattern {
    /// Parses a pattern. Parsing never fails: a malformed pattern matches nothing.
    #[must_use]
    pub fn new(pattern: &str, escape: Option<char>, collation: Collation) -> Self {
        Self {
            tokens: parse(pattern, escape, collation),
            collation,
        }
    }

    /// The escape character, or error 506 if `escape` is not one character.
    pub fn escape_character(escape: &str) -> Result<char, OperationError> {
        let mut characters = escape.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            (None, _) | (Some(_), Some(_)) => Err(OperationError::EscapeInvalid { escape: escape.into() }),
        }
    }

    /// Whether the text matches. `is_national` states whether the text or the pattern is nchar or nvarchar: then
    /// trailing blanks are significant.
    #[must_use]
    pub fn matches(&self, text: &str, is_national: bool) -> bool {
        let Ok(is_match) = self.matches_polling(text, is_national, &mut never_stopped);
        is_match
    }

    /// Like [`LikePattern::matches`], with `poll` called every [`STEPS_BETWEEN_POLLS`] comparisons.
    ///
    /// # Errors
    /// The first error of `poll`, which ends the matching.
    pub fn matches_polling<E>(
        &self,
        text: &str,
        is_national: bool,
        poll: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(tokens) = &self.tokens else {
            return Ok(false);
        };
        let steps = &mut Steps::polling(poll);
        let blank_from = blank_from(text, is_national);
        if text.is_ascii() {
            let bytes = text.as_bytes();
            let key = |at: usize| {
                bytes
                    .get(at)
                    .map(|byte| CharacterKey::of_ascii(*byte, self.collation.order()))
            };
            matches(tokens, key, (0, blank_from), steps)
        } else {
            let keys = self.keys(text);
            let blank_from = keys.len().saturating_sub(text.len() - blank_from);
            matches(tokens, |at| keys.get(at).copied(), (0, blank_from), steps)
        }
    }

    /// The position, in the collation's characters from 0, of the first suffix of the text that matches: the position
    /// that PATINDEX finds after its first `%`. It polls like [`LikePattern::matches_polling`].
    ///
    /// # Errors
    /// The first error of `poll`, which ends the search.
    pub fn find<E>(
        &self,
        text: &str,
        is_national: bool,
        poll: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let steps = &mut Steps::polling(poll);
        let blank_from = blank_from(text, is_national);
        if text.is_ascii() {
            let bytes = text.as_bytes();
            let key = |at: usize| {
                bytes
                    .get(at)
                    .map(|byte| CharacterKey::of_ascii(*byte, self.collation.order()))
            };
            return find(tokens, key, (bytes.len(), blank_from), steps);
        }
        let keys = self.keys(text);
        let blank_from = keys.len().saturating_sub(text.len() - blank_from);
        let Some(mut left) = find(tokens, |at| keys.get(at).copied(), (keys.len(), blank_from), steps)? else {
            return Ok(None);
        };
        let mut units = 0;
        for character in text.chars() {
            let count = character_keys(character.encode_utf8(&mut [0; 4]), self.collation).count();
            if left < count {
                break;
            }
            left -= count;
            units += self.collation.character_length(character);
        }
        Ok(Some(units + left))
    }

    /// An upper bound for the memory of parsing a pattern and matching a text.
    #[must_use]
    pub fn memory_size(pattern: &str, text: &str) -> usize {
        let keys = if text.is_ascii() { 0 } else { text.len() };
        let tokens = pattern.len().saturating_mul(size_of::<Token>());
        tokens.saturating_add(keys.saturating_mul(size_of::<CharacterKey>()))
    }

    fn keys(&self, text: &str) -> Vec<CharacterKey> {
        // A text never has more keys than bytes.
        let mut keys = Vec::with_capacity(text.len());
        keys.extend(character_keys(text, self.collation));
        keys
    }

    /// The literal prefix of every matching text, for an index search.
    #[must_use]
    pub fn prefix(pattern: &str, escape: Option<char>) -> String {
        let mut prefix = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            if Some(character) == escape {
                prefix.extend(characters.next());
            } else if matches!(character, '%' | '_' | '[') {
                break;
            } else {
                prefix.push(character);
            }
        }
        prefix
    }
}

/// The start of the trailing blanks that need not be matched.
fn blank_from(text: &str, is_national: bool) -> usize {
    if is_national {
        text.len()
    } else {
        text.trim_end_matches(' ').len()
    }
}

/// The first position from which the text matches. Each token before the first `%` matches one character; if the tokens
/// from `%` on do not match after the first such position, they match after none.
fn find<E>(
    tokens: &[Token],
    key: impl Fn(usize) -> Option<CharacterKey>,
    (size, blank_from): (usize, usize),
    steps: &mut Steps<'_, E>,
) -> Result<Option<usize>, E> {
    let many = tokens.iter().position(|token| matches!(token, Token::Many));
    let (head, tail) = tokens.split_at(many.unwrap_or(tokens.len()));
    let first = match many {
        Some(_) => 0,
        None => blank_from.saturating_sub(head.len()),
    };
    for at in first..=size {
        if !begins(head, &key, at, steps)? {
            continue;
        }
        let found = tail.is_empty() || matches(tail, key, (at + head.len(), blank_from), steps)?;
        return Ok(found.then_some(at));
    }
    Ok(None)
}

/// Whether the characters from `at` on match `head`, one character per token.
fn begins<E>(
    head: &[Token],
    key: &impl Fn(usize) -> Option<CharacterKey>,
    at: usize,
    steps: &mut Steps<'_, E>,
) -> Result<bool, E> {
    for (token, at) in head.iter().zip(at..) {
        steps.take(token)?;
        if !key(at).is_some_and(|key| token.takes(key)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Matches with backtracking to the last `%` only: an earlier one never needs to be retried.
fn matches<E>(
    tokens: &[Token],
    key: impl Fn(usize) -> Option<CharacterKey>,
    (start, blank_from): (usize, usize),
    steps: &mut Steps<'_, E>,
) -> Result<bool, E> {
    let (mut at, mut token_at) = (start, 0);
    let mut last_many = None;
    loop {
        let token = tokens.get(token_at);
        if token.is_none() && at >= blank_from {
            return Ok(true);
        }
        if matches!(token, Some(Token::Many)) {
            token_at += 1;
            if token_at == tokens.len() {
                return Ok(true);
            }
            last_many = Some((token_at, at));
            continue;
        }
        if let Some(token) = token {
            steps.take(token)?;
        }
        match (token, key(at)) {
            (Some(token), Some(key)) if token.takes(key) => {
                at += 1;
                token_at += 1;
                continue;
            }
            (Some(_), None) => return Ok(false),
            (Some(_) | None, _) => {}
        }
        match &mut last_many {
            Some((behind, from)) => {
                *from += 1;
                (token_at, at) = (*behind, *from);
            }
            None => return Ok(false),
        }
    }
}

/// The number of comparisons left until the next poll.
struct Steps<'a, E> {
    left: usize,
    poll: &'a mut dyn FnMut() -> Result<(), E>,
}

impl<'a, E> Steps<'a, E> {
    fn polling(poll: &'a mut dyn FnMut() -> Result<(), E>) -> Self {
        Self {
            left: STEPS_BETWEEN_POLLS,
            poll,
        }
    }

    /// Counts the cost of comparing a character with `token`.
    #[inline]
    fn take(&mut self, token: &Token) -> Result<(), E> {
        match self.left.checked_sub(token.comparison_count()) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = STEPS_BETWEEN_POLLS;
                (self.poll)()
            }
        }
    }
}

fn never_stopped() -> Result<(), Infallible> {
    Ok(())
}

/// 65,536: some hundred microseconds.
pub const STEPS_BETWEEN_POLLS: usize = 1 << 16;

#[cfg(test)]
mod tests;
