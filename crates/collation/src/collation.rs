//! Orders of text.
//!
//! - total-order: every order is total over any bytes, whether they are text or not; what is equal under it is equal
//!   everywhere.
//! - trailing-blanks-ignored: blanks at the end do not count: the shorter text is as if followed by blanks without end.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::weight::{BLANK, Unit, ascii_weight, decode, fold, weight};

/// An order of text by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Collation {
    /// SQL_Latin1_General_CP1_CI_AS: case does not count, accents do.
    #[default]
    Latin1General,
    /// Latin1_General_BIN2: by unit of UTF-16.
    Latin1GeneralBin2,
}

impl Collation {
    /// The collation of this name, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Latin1General, Self::Latin1GeneralBin2]
            .into_iter()
            .find(|collation| collation.name().eq_ignore_ascii_case(name))
    }

    /// The name, as it stands behind COLLATE, in T-SQL and in a file's schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Latin1General => "SQL_Latin1_General_CP1_CI_AS",
            Self::Latin1GeneralBin2 => "Latin1_General_BIN2",
        }
    }

    /// Compares two texts, given as UTF-8.
    #[inline]
    #[must_use]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Self::Latin1General => collate(left, right),
            Self::Latin1GeneralBin2 => compare_bytes(left, right),
        }
    }

    /// Bytes that are the same for two texts exactly if the texts are equal: to hash them, or to look them up.
    ///
    /// They are not in the texts' order.
    #[must_use]
    pub fn key(self, text: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(text.len());
        self.append_key(text, &mut key);
        key
    }

    /// What stands for all characters that are equal to this one.
    #[inline]
    #[must_use]
    pub fn fold(self, character: char) -> char {
        match self {
            Self::Latin1General => char::from_u32(fold(character.into())).unwrap_or(character),
            Self::Latin1GeneralBin2 => character,
        }
    }

    /// Feeds `hasher` the same for texts that are equal.
    pub fn hash(self, text: &[u8], hasher: &mut impl Hasher) {
        match self {
            Self::Latin1General if !text.is_ascii() => hasher.write(&self.key(text)),
            Self::Latin1General => {
                let mut chunk = [0; 32];
                for bytes in trimmed(text).chunks(chunk.len()) {
                    for (to, from) in chunk.iter_mut().zip(bytes) {
                        *to = from.to_ascii_lowercase();
                    }
                    hasher.write(chunk.get(..bytes.len()).unwrap_or(&chunk));
                }
            }
            Self::Latin1GeneralBin2 => hasher.write(trimmed(text)),
        }
        hasher.write_u8(0xff);
    }

    fn append_key(self, text: &[u8], key: &mut Vec<u8>) {
        let text = trimmed(text);
        if self == Self::Latin1GeneralBin2 {
            key.extend_from_slice(text);
        } else if text.is_ascii() {
            key.extend(text.iter().map(u8::to_ascii_lowercase));
        } else {
            let mut rest = text;
            loop {
                let (unit, size) = decode(rest);
                let (bytes, behind) = rest.split_at(size);
                match char::from_u32(fold(unit)) {
                    _ if size == 0 => return,
                    Some(folded) => key.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => key.extend_from_slice(bytes),
                }
                rest = behind;
            }
        }
    }
}

/// Compares two texts by SQL_Latin1_General_CP1_CI_AS: what SQLite is told to call.
///
/// The bytes should be UTF-8. Those that are not weigh more than any character, each by itself.
#[must_use]
pub fn collate(left: &[u8], right: &[u8]) -> Ordering {
    let mut at = 0;
    while let (Some(a), Some(b)) = (word(left, at), word(right, at)) {
        if (a | b) & HIGH_BITS != 0 {
            break;
        }
        if a != b {
            let difference = lower(a) ^ lower(b);
            if difference != 0 {
                at += usize::try_from(difference.trailing_zeros() / 8).unwrap_or(0);
                break;
            }
        }
        at += 8;
    }
    loop {
        let (a, b) = match (left.get(at), right.get(at)) {
            (Some(a), Some(b)) => (*a, *b),
            (Some(a), None) => (*a, b' '),
            (None, Some(b)) => (b' ', *b),
            (None, None) => return Ordering::Equal,
        };
        if (a | b) >= 0x80 {
            return collate_units(left.get(at..).unwrap_or(&[]), right.get(at..).unwrap_or(&[]));
        }
        if a != b {
            let order = ascii_weight(a).cmp(&ascii_weight(b));
            if order != Ordering::Equal {
                return order;
            }
        }
        at += 1;
    }
}

/// Compares character by character: letters first, and accents where the letters are all the same.
#[cold]
fn collate_units(left: &[u8], right: &[u8]) -> Ordering {
    let (mut left, mut right) = (Elements::of(left), Elements::of(right));
    let mut by_accents = Ordering::Equal;
    loop {
        if left.second == right.second {
            // Where both have come to the same character, it decides nothing.
            left.second = 0;
            right.second = 0;
            while left.skip_same(&mut right) {}
        }
        let (a, b) = match (left.next(), right.next()) {
            (None, None) => return by_accents,
            (a, b) => (a.unwrap_or((BLANK, 0)), b.unwrap_or((BLANK, 0))),
        };
        match a.0.cmp(&b.0) {
            Ordering::Equal => by_accents = by_accents.then(a.1.cmp(&b.1)),
            unequal @ (Ordering::Less | Ordering::Greater) => return unequal,
        }
    }
}

/// The letters and accents of a text, one after the other.
struct Elements<'a> {
    rest: &'a [u8],
    /// The second letter of the ligature that was last, or 0.
    second: u32,
}

impl<'a> Elements<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { rest: text, second: 0 }
    }

    /// Goes over one character if it is the same in both.
    fn skip_same(&mut self, other: &mut Self) -> bool {
        let (unit, size): (Unit, usize) = decode(self.rest);
        if size == 0 || decode(other.rest) != (unit, size) {
            return false;
        }
        self.rest = self.rest.get(size..).unwrap_or(&[]);
        other.rest = other.rest.get(size..).unwrap_or(&[]);
        true
    }
}

impl Iterator for Elements<'_> {
    type Item = (u32, u32);

    fn next(&mut self) -> Option<(u32, u32)> {
        let second = std::mem::take(&mut self.second);
        if second != 0 {
            return Some((second, 0));
        }
        let (unit, size) = decode(self.rest);
        if size == 0 {
            return None;
        }
        self.rest = self.rest.get(size..).unwrap_or(&[]);
        let weight = weight(unit);
        self.second = weight.second;
        Some((weight.primary, weight.accent))
    }
}

/// Compares by units of UTF-16: bytes of UTF-8, but that characters beyond U+FFFF, whose units are from 0xd800 on, come
/// before those from U+E000 on.
fn compare_bytes(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.len().min(right.len());
    let (left, left_rest) = left.split_at(shared);
    let (right, right_rest) = right.split_at(shared);
    if left == right {
        return compare_to_blanks(left_rest).then_with(|| compare_to_blanks(right_rest).reverse());
    }
    let place = |byte: u8| match byte {
        0xee..=0xef => byte + 0x10,
        0xf0.. => byte - 2,
        ..0xee => byte,
    };
    left.iter()
        .map(|byte| place(*byte))
        .cmp(right.iter().map(|byte| place(*byte)))
}

/// Compares with blanks without end.
fn compare_to_blanks(text: &[u8]) -> Ordering {
    text.iter()
        .find(|byte| **byte != b' ')
        .map_or(Ordering::Equal, |byte| byte.cmp(&b' '))
}

/// `text` without the blanks at its end.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

/// Eight bytes from `at` on, the first the lowest.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Eight ASCII bytes, with small letters for capitals.
#[inline]
fn lower(word: u64) -> u64 {
    let from_a = word + ONES * (0x80 - 0x41);
    let past_z = word + ONES * (0x80 - 0x5b);
    word | ((from_a & !past_z & HIGH_BITS) >> 2)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

#[cfg(test)]
mod tests;
