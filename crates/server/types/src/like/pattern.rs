//! Parses a pattern into tokens.

use std::iter::Peekable;

use selenite_collation::{CharacterKey, Collation, character_keys};

/// A token of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// One character, compared by the collation.
    Literal(CharacterKey),
    /// `_`
    One,
    /// `%`
    Many,
    /// `[..]` and `[^..]`
    Class(Class),
}

/// Inclusive ranges of characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Class {
    ranges: Vec<(CharacterKey, CharacterKey)>,
    is_negated: bool,
}

impl Token {
    /// The maximum number of comparisons in [`Token::takes`].
    #[inline]
    pub fn comparison_count(&self) -> usize {
        match self {
            Self::Literal(_) | Self::One | Self::Many => 1,
            Self::Class(class) => class.ranges.len(),
        }
    }

    /// Whether the token matches this character.
    #[inline]
    pub fn takes(&self, key: CharacterKey) -> bool {
        match self {
            Self::Literal(literal) => *literal == key,
            Self::One => key.is_single(),
            Self::Many => false,
            Self::Class(class) => {
                let is_in = class.ranges.iter().any(|(low, high)| (*low..=*high).contains(&key));
                key.is_single() && is_in != class.is_negated
            }
        }
    }
}

/// Parses a pattern; `None` if it matches nothing.
pub(super) fn parse(pattern: &str, escape: Option<char>, collation: Collation) -> Option<Vec<Token>> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            _ if Some(character) == escape => push_literal(&mut tokens, rest.next()?, collation),
            // Consecutive `%` are equivalent to one, and slower.
            '%' if tokens.last() == Some(&Token::Many) => {}
            '%' => tokens.push(Token::Many),
            '_' => tokens.push(Token::One),
            '[' => tokens.push(Token::Class(parse_class(&mut rest, escape, collation)?)),
            _ => push_literal(&mut tokens, character, collation),
        }
    }
    Some(tokens)
}

fn push_literal(tokens: &mut Vec<Token>, character: char, collation: Collation) {
    tokens.extend(character_keys(character.encode_utf8(&mut [0; 4]), collation).map(Token::Literal));
}

/// Parses a class after `[`, including its `]`.
fn parse_class(
    rest: &mut Peekable<impl Iterator<Item = char> + Clone>,
    escape: Option<char>,
    collation: Collation,
) -> Option<Class> {
    let is_negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    let key_of = |character: char| character_keys(character.encode_utf8(&mut [0; 4]), collation).next();
    loop {
        let character = match rest.next()? {
            ']' => break,
            character if Some(character) == escape => rest.next()?,
            character => character,
        };
        let low = key_of(character)?;
        let mut ahead = rest.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(end)) if end != ']' && Some('-') != escape => {
                let end = if Some(end) == escape { ahead.next()? } else { end };
                *rest = ahead;
                key_of(end)?
            }
            _ => low,
        };
        ranges.push((low, high));
    }
    (!ranges.is_empty()).then_some(Class { ranges, is_negated })
}
