//! Orders of text.
//!
//! - total-order: every order is total over any bytes, whether they are text or not; what is equal under it is equal
//!   everywhere.
//! - trailing-blanks-ignored: blanks at the end do not count: the shorter text is as if followed by blanks without end.
//! - aligned-when-equal: two texts that are equal but for case have equal characters, but for case, at the same places:
//!   no character weighs as much as several others.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::weight::{BLANK, Unit, Weight, ascii_weight, base, case, decode, fold, weight};

/// An order of text, by which an index in a file is sorted: it never changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Case does not count, accents do.
    CaseInsensitive,
    /// Case and accents count; a capital is before its small letter where nothing else decides.
    CapitalsFirst,
    /// Case and accents count; a capital is behind its small letter where nothing else decides.
    CapitalsLast,
    /// Neither case nor accents count.
    AccentInsensitive,
    /// The first unit of UTF-16, then the bytes of the others, the low one first.
    Binary,
    /// By unit of UTF-16.
    CodePoint,
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 6] = [
        Self::CaseInsensitive,
        Self::CapitalsFirst,
        Self::CapitalsLast,
        Self::AccentInsensitive,
        Self::Binary,
        Self::CodePoint,
    ];

    /// The name behind COLLATE in SQLite: that of the first collation in T-SQL that has this order.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CaseInsensitive => "SQL_Latin1_General_CP1_CI_AS",
            Self::CapitalsFirst => "SQL_Latin1_General_CP1_CS_AS",
            Self::CapitalsLast => "Latin1_General_CS_AS",
            Self::AccentInsensitive => "Latin1_General_CI_AI",
            Self::Binary => "Latin1_General_BIN",
            Self::CodePoint => "Latin1_General_BIN2",
        }
    }

    /// Compares two texts, given as UTF-8. Bytes that are not are ordered, too.
    #[inline]
    #[must_use]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            Self::CaseInsensitive => collate(left, right),
            Self::CapitalsFirst | Self::CapitalsLast => {
                collate(left, right).then_with(|| self.compare_case(left, right))
            }
            Self::AccentInsensitive if left.is_ascii() && right.is_ascii() => collate(left, right),
            Self::AccentInsensitive => collate_units(left, right, accent_of_ligature),
            Self::Binary if left.is_ascii() && right.is_ascii() => compare_bytes(left, right),
            Self::Binary => compare_as_utf16(left, right),
            Self::CodePoint => compare_bytes(left, right),
        }
    }

    /// Whether only texts of the same characters are equal.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        match self {
            Self::CapitalsFirst | Self::CapitalsLast | Self::Binary | Self::CodePoint => true,
            Self::CaseInsensitive | Self::AccentInsensitive => false,
        }
    }

    /// Whether text is compared by the numbers of its units.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        match self {
            Self::Binary | Self::CodePoint => true,
            Self::CaseInsensitive | Self::CapitalsFirst | Self::CapitalsLast | Self::AccentInsensitive => false,
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
        char::from_u32(self.fold_unit(character.into())).unwrap_or(character)
    }

    /// Feeds `hasher` the same for texts that are equal.
    pub fn hash(self, text: &[u8], hasher: &mut impl Hasher) {
        if self.is_exact() {
            hasher.write(trimmed(text));
        } else if text.is_ascii() {
            let mut chunk = [0; 32];
            for bytes in trimmed(text).chunks(chunk.len()) {
                for (to, from) in chunk.iter_mut().zip(bytes) {
                    *to = from.to_ascii_lowercase();
                }
                hasher.write(chunk.get(..bytes.len()).unwrap_or(&chunk));
            }
        } else {
            hasher.write(&self.key(text));
        }
        hasher.write_u8(0xff);
    }

    /// The place of a unit among those that are equal but for case.
    #[inline]
    pub(crate) fn case_rank(self, unit: Unit) -> u32 {
        match self {
            Self::CapitalsFirst => case(unit).checked_sub(1).unwrap_or(SMALL_BEHIND),
            Self::CapitalsLast => case(unit),
            Self::CaseInsensitive | Self::AccentInsensitive | Self::Binary | Self::CodePoint => 0,
        }
    }

    /// The accent of a weight, if it counts.
    #[inline]
    pub(crate) fn accent(self, weight: &Weight) -> u32 {
        match self {
            Self::AccentInsensitive => accent_of_ligature(weight),
            Self::CaseInsensitive | Self::CapitalsFirst | Self::CapitalsLast | Self::Binary | Self::CodePoint => {
                weight.accent
            }
        }
    }

    fn fold_unit(self, unit: Unit) -> Unit {
        match self {
            Self::CaseInsensitive => fold(unit),
            Self::AccentInsensitive => base(unit),
            Self::CapitalsFirst | Self::CapitalsLast | Self::Binary | Self::CodePoint => unit,
        }
    }

    fn append_key(self, text: &[u8], key: &mut Vec<u8>) {
        let text = trimmed(text);
        if self.is_exact() {
            key.extend_from_slice(text);
        } else if text.is_ascii() {
            key.extend(text.iter().map(u8::to_ascii_lowercase));
        } else {
            let mut rest = text;
            loop {
                let (unit, size) = decode(rest);
                let (bytes, behind) = rest.split_at(size);
                match char::from_u32(self.fold_unit(unit)) {
                    _ if size == 0 => return,
                    Some(folded) => key.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => key.extend_from_slice(bytes),
                }
                rest = behind;
            }
        }
    }

    /// Compares texts that are equal but for case: the first difference decides (aligned-when-equal).
    fn compare_case(self, mut left: &[u8], mut right: &[u8]) -> Ordering {
        loop {
            let ((a, a_size), (b, b_size)) = (decode(left), decode(right));
            if a_size == 0 || b_size == 0 {
                return Ordering::Equal;
            }
            if a != b {
                return self.case_rank(a).cmp(&self.case_rank(b));
            }
            left = left.get(a_size..).unwrap_or(&[]);
            right = right.get(b_size..).unwrap_or(&[]);
        }
    }
}

/// Above every [`case`].
const SMALL_BEHIND: u32 = 0xff;

/// The accents that a text without regard to accents has: a ligature is not its two letters.
fn accent_of_ligature(weight: &Weight) -> u32 {
    u32::from(weight.second != 0)
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
            let (left, right) = (left.get(at..).unwrap_or(&[]), right.get(at..).unwrap_or(&[]));
            return collate_units(left, right, |weight| weight.accent);
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
fn collate_units(left: &[u8], right: &[u8], accent: fn(&Weight) -> u32) -> Ordering {
    let (mut left, mut right) = (Elements::of(left, accent), Elements::of(right, accent));
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
    /// The accent of a weight, if it counts.
    accent: fn(&Weight) -> u32,
}

impl<'a> Elements<'a> {
    fn of(text: &'a [u8], accent: fn(&Weight) -> u32) -> Self {
        Self {
            rest: text,
            second: 0,
            accent,
        }
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
        Some((weight.primary, (self.accent)(&weight)))
    }
}

/// Compares the first units of UTF-16 by number, and the bytes of those behind them, the low one first. A byte that
/// belongs to no character weighs more than any unit.
#[cold]
fn compare_as_utf16(left: &[u8], right: &[u8]) -> Ordering {
    let (mut left, mut right) = (elements_of_utf16(left), elements_of_utf16(right));
    // The bytes of blanks without end, from wherever one text ended.
    let mut blanks = [u32::from(b' '), 0].into_iter().cycle();
    loop {
        let (a, b) = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, blanks.next().unwrap_or(0)),
            (None, Some(b)) => (blanks.next().unwrap_or(0), b),
        };
        if a != b {
            return a.cmp(&b);
        }
    }
}

/// The first unit of UTF-16, and the bytes of the others; of an empty text those of a blank.
fn elements_of_utf16(text: &[u8]) -> impl Iterator<Item = u32> {
    let mut rest = if text.is_empty() { b" " } else { text };
    let units = std::iter::from_fn(move || {
        let (unit, size) = decode(rest);
        rest = rest.get(size..).unwrap_or(&[]);
        (size != 0).then_some(unit)
    });
    units.enumerate().flat_map(|(at, unit)| {
        let mut units = [0; 2];
        let (low, high) = match char::from_u32(unit).map(|character| &*character.encode_utf16(&mut units)) {
            Some([low]) => (*low, None),
            Some([low, high]) => (*low, Some(*high)),
            Some(_) | None => return [Some(unit), None, None, None].into_iter().flatten(),
        };
        let bytes = |unit: u16| unit.to_le_bytes().map(|byte| Some(u32::from(byte)));
        let [c, d] = high.map_or([None, None], bytes);
        let [a, b] = match at {
            0 => [Some(u32::from(low)), None],
            _ => bytes(low),
        };
        [a, b, c, d].into_iter().flatten()
    })
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
