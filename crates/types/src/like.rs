//! LIKE: text against a pattern, by a collation.
//!
//! K1. Matching takes at most as many steps as the text is long, times the pattern's length: no pattern makes it hang.
//! K2. `%` is any text, `_` one character, `[..]` and `[^..]` one character in or not in a class whose ranges are by the
//!     collation. What stands behind the escape character is itself.
//! K3. Blanks at the end of a pattern count. Blanks at the end of the text that the pattern leaves over do not, unless one
//!     of both is nchar or nvarchar.
//! K4. An open `[`, an empty `[]`, a range from high to low and an escape character at the end match nothing, as in SQL
//!     Server. Nor does `_` match a character beyond U+FFFF by this collation; by BIN2 two of them do.

mod pattern;

use crate::comparison::{CharacterKey, character_keys};
use crate::{Collation, OperationError};

use pattern::{Token, parse};

/// A pattern, read once and matched often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LikePattern {
    /// `None` for a pattern that matches nothing.
    tokens: Option<Vec<Token>>,
    collation: Collation,
}

impl LikePattern {
    /// Reads a pattern. Every text is one; what is wrong with it makes it match nothing.
    #[must_use]
    pub fn new(pattern: &str, escape: Option<char>, collation: Collation) -> Self {
        Self {
            tokens: parse(pattern, escape, collation),
            collation,
        }
    }

    /// The character that ESCAPE names, or error 506 if `escape` is not one character.
    pub fn escape_character(escape: &str) -> Result<char, OperationError> {
        let mut characters = escape.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            (None, _) | (Some(_), Some(_)) => Err(OperationError::EscapeInvalid { escape: escape.into() }),
        }
    }

    /// Whether the text matches. `is_national` tells whether the text or the pattern is nchar or nvarchar: then blanks at
    /// the text's end count.
    #[must_use]
    pub fn matches(&self, text: &str, is_national: bool) -> bool {
        let Some(tokens) = &self.tokens else {
            return false;
        };
        let blank_from = blank_from(text, is_national);
        if text.is_ascii() {
            let bytes = text.as_bytes();
            let key = |at: usize| bytes.get(at).map(|byte| CharacterKey::of_ascii(*byte, self.collation));
            matches(tokens, key, (0, blank_from))
        } else {
            let keys: Vec<CharacterKey> = character_keys(text, self.collation).collect();
            let blank_from = keys.len().saturating_sub(text.len() - blank_from);
            matches(tokens, |at| keys.get(at).copied(), (0, blank_from))
        }
    }

    /// Where the first rest of the text begins that matches, in units of UTF-16 from 0: what PATINDEX has behind its first `%`.
    #[must_use]
    pub fn find(&self, text: &str, is_national: bool) -> Option<usize> {
        let tokens = self.tokens.as_ref()?;
        let blank_from = blank_from(text, is_national);
        if text.is_ascii() {
            let bytes = text.as_bytes();
            let key = |at: usize| bytes.get(at).map(|byte| CharacterKey::of_ascii(*byte, self.collation));
            return find(tokens, key, (bytes.len(), blank_from));
        }
        let keys: Vec<CharacterKey> = character_keys(text, self.collation).collect();
        let blank_from = keys.len().saturating_sub(text.len() - blank_from);
        let mut left = find(tokens, |at| keys.get(at).copied(), (keys.len(), blank_from))?;
        let mut units = 0;
        for character in text.chars() {
            let count = character_keys(character.encode_utf8(&mut [0; 4]), self.collation).count();
            if left < count {
                break;
            }
            left -= count;
            units += character.len_utf16();
        }
        Some(units + left)
    }

    /// What a text must begin with to match, by the collation: for a search in an index.
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

/// Where the blanks begin that need not be matched.
fn blank_from(text: &str, is_national: bool) -> usize {
    if is_national {
        text.len()
    } else {
        text.trim_end_matches(' ').len()
    }
}

/// The first place from which the text matches. Each token before the first `%` takes one character; what `%` begins is found behind
/// the first place of them, or behind none.
fn find(
    tokens: &[Token],
    key: impl Fn(usize) -> Option<CharacterKey>,
    (size, blank_from): (usize, usize),
) -> Option<usize> {
    let many = tokens.iter().position(|token| matches!(token, Token::Many));
    let (head, tail) = tokens.split_at(many.unwrap_or(tokens.len()));
    let is_head = |at: usize| {
        let mut places = head.iter().zip(at..);
        places.all(|(token, at)| key(at).is_some_and(|key| token.takes(key)))
    };
    let first = match many {
        Some(_) => 0,
        None => blank_from.saturating_sub(head.len()),
    };
    let at = (first..=size).find(|at| is_head(*at))?;
    let found = tail.is_empty() || matches(tail, key, (at + head.len(), blank_from));
    found.then_some(at)
}

/// Goes through text and pattern, and back to the last `%` where they part: an earlier one never needs to be tried again.
fn matches(tokens: &[Token], key: impl Fn(usize) -> Option<CharacterKey>, (start, blank_from): (usize, usize)) -> bool {
    let (mut at, mut token_at) = (start, 0);
    let mut last_many = None;
    loop {
        let token = tokens.get(token_at);
        if token.is_none() && at >= blank_from {
            return true;
        }
        if matches!(token, Some(Token::Many)) {
            token_at += 1;
            if token_at == tokens.len() {
                return true;
            }
            last_many = Some((token_at, at));
            continue;
        }
        match (token, key(at)) {
            (Some(token), Some(key)) if token.takes(key) => {
                at += 1;
                token_at += 1;
                continue;
            }
            (Some(_), None) => return false,
            (Some(_) | None, _) => {}
        }
        match &mut last_many {
            Some((behind, from)) => {
                *from += 1;
                (token_at, at) = (*behind, *from);
            }
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests;
