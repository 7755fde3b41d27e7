//! Characters as LIKE sees them: to be equal, and to lie between two others, by a collation.

use crate::Collation;
use crate::weight::{ascii_weight, decode, weight};

/// A character's place in a collation's order: equal for equal characters, and for no others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CharacterKey(u64);

impl CharacterKey {
    /// The key of an ASCII character.
    #[inline]
    #[must_use]
    pub fn of_ascii(byte: u8, collation: Collation) -> Self {
        match collation {
            Collation::Latin1General => Self(u64::from(ascii_weight(byte)) << PRIMARY_SHIFT),
            Collation::Latin1GeneralBin2 => Self(u64::from(byte) << PRIMARY_SHIFT),
        }
    }

    /// Whether `_` and classes may stand for it.
    #[inline]
    #[must_use]
    pub fn is_single(self) -> bool {
        self.0 & PAIR == 0
    }
}

/// The keys of a text's characters; by BIN2 of its units of UTF-16.
#[inline]
pub fn character_keys(text: &str, collation: Collation) -> impl Iterator<Item = CharacterKey> {
    let by_unit = match collation {
        Collation::Latin1General => None,
        Collation::Latin1GeneralBin2 => Some(
            text.encode_utf16()
                .map(|unit| CharacterKey(u64::from(unit) << PRIMARY_SHIFT)),
        ),
    };
    let by_weight = match collation {
        Collation::Latin1General => Some(Characters { rest: text.as_bytes() }),
        Collation::Latin1GeneralBin2 => None,
    };
    by_unit.into_iter().flatten().chain(by_weight.into_iter().flatten())
}

/// The characters of a text, weighed.
struct Characters<'a> {
    rest: &'a [u8],
}

impl Iterator for Characters<'_> {
    type Item = CharacterKey;

    #[inline]
    fn next(&mut self) -> Option<CharacterKey> {
        let (unit, size) = decode(self.rest);
        if size == 0 {
            return None;
        }
        self.rest = self.rest.get(size..).unwrap_or(&[]);
        let weight = weight(unit);
        let letters = u64::from(weight.primary) << PRIMARY_SHIFT | u64::from(weight.second) << SECOND_SHIFT;
        let pair = if unit > 0xffff { PAIR } else { 0 };
        Some(CharacterKey(letters | u64::from(weight.accent) << ACCENT_SHIFT | pair))
    }
}

const PRIMARY_SHIFT: u32 = 40;
const SECOND_SHIFT: u32 = 24;
const ACCENT_SHIFT: u32 = 8;

/// Set in the key of a character that is two units of UTF-16 and is compared as one.
const PAIR: u64 = 1;
