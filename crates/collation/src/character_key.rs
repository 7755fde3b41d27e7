//! Characters as LIKE sees them: to be equal, and to lie between two others, by an order.

use crate::weight::{Unit, Weight, ascii_weight, decode, weight};
use crate::{Collation, Order};

/// A character's place in an order: equal for equal characters, and for no others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CharacterKey(u64);

impl CharacterKey {
    /// The key of an ASCII character.
    #[inline]
    #[must_use]
    pub fn of_ascii(byte: u8, order: Order) -> Self {
        match order {
            Order::CaseInsensitive | Order::AccentInsensitive | Order::CapitalsFirst | Order::CapitalsLast => {
                let case = u64::from(order.case_rank(byte.into())) << CASE_SHIFT;
                Self(u64::from(ascii_weight(byte)) << PRIMARY_SHIFT | case)
            }
            Order::Binary | Order::CodePoint => Self(u64::from(byte) << PRIMARY_SHIFT),
        }
    }

    /// Whether `_` and classes may stand for it.
    #[inline]
    #[must_use]
    pub fn is_single(self) -> bool {
        self.0 & PAIR == 0
    }

    fn of_unit(unit: Unit, collation: Collation) -> Self {
        let order = collation.order();
        let weight: Weight = weight(unit);
        let letters = u64::from(weight.primary) << PRIMARY_SHIFT | u64::from(weight.second) << SECOND_SHIFT;
        let accent = u64::from(order.accent(&weight)) << ACCENT_SHIFT;
        let case = u64::from(order.case_rank(unit)) << CASE_SHIFT;
        let pair = match unit > 0xffff && !collation.counts_code_points() {
            true => PAIR,
            false => 0,
        };
        Self(letters | accent | case | pair)
    }
}

/// The keys of a text's characters; of a binary order those of its units of UTF-16, or of its code points if the
/// collation counts these.
#[inline]
pub fn character_keys(text: &str, collation: Collation) -> impl Iterator<Item = CharacterKey> {
    let (is_binary, by_point) = (collation.order().is_binary(), collation.counts_code_points());
    let key = |number: u32| CharacterKey(u64::from(number) << PRIMARY_SHIFT);
    let units = (is_binary && !by_point).then(|| text.encode_utf16().map(move |unit| key(unit.into())));
    let points = (is_binary && by_point).then(|| text.chars().map(move |character| key(character.into())));
    let weights = (!is_binary).then_some(Characters {
        rest: text.as_bytes(),
        collation,
    });
    let binary = units.into_iter().flatten().chain(points.into_iter().flatten());
    binary.chain(weights.into_iter().flatten())
}

/// The characters of a text, weighed.
struct Characters<'a> {
    rest: &'a [u8],
    collation: Collation,
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
        Some(CharacterKey::of_unit(unit, self.collation))
    }
}

const PRIMARY_SHIFT: u32 = 40;
const SECOND_SHIFT: u32 = 24;
const ACCENT_SHIFT: u32 = 16;
const CASE_SHIFT: u32 = 8;

/// Set in the key of a character that is two units of UTF-16 and is compared as one.
const PAIR: u64 = 1;
