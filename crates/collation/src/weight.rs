//! What a character weighs in the default collation.
//!
//! - frozen-tables: the tables are frozen: an index in a file was sorted by them. A test pins every entry by a hash.
//! - case-folds-together: two characters weigh the same exactly if case folding makes them the same.
//! - symbols-then-letters: symbols and digits come before letters, letters from a to z, forms of a letter right
//!   behind it; a ligature weighs as its two letters, the first with an accent of its own. That is SQL Server's sort
//!   order 52 for all of code page 1252 but eight letters of its range 0x80 to 0x9f, which sort order 52 has among the
//!   symbols.
//! - unlisted-last: what no table holds comes behind all that, in the order of the folded code points.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::folding_table::RUNS;
use crate::weight_table::{LATIN, LATIN_ADDITIONAL, SYMBOLS};

/// A character, or a byte that is none: from [`BYTES`] on.
pub(crate) type Unit = u32;

/// The unit of a byte that belongs to no character, less the byte.
const BYTES: Unit = 0x11_0000;

/// The primary weight of what no table holds, less its unit.
const BEYOND: u32 = 0x1000;

/// The blank's primary weight.
pub(crate) const BLANK: u32 = 0x21;

/// Where LATIN ends and LATIN_ADDITIONAL begins and ends.
const LATIN_END: Unit = 0x2b0;
const ADDITIONAL: std::ops::Range<Unit> = 0x1e00..0x1f00;

/// Where SYMBOLS ends.
const SYMBOLS_END: Unit = 0x2123;

/// No character from here to there folds: most of what is written in Asia.
const CASELESS: std::ops::Range<Unit> = 0x2d2e..0xa640;

/// One or two letters and an accent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Weight {
    /// The letter.
    pub primary: u32,
    /// A ligature's second letter, or 0.
    pub second: u32,
    /// The accent on the first letter, or 0.
    pub accent: u32,
}

impl Weight {
    fn unpack(packed: u32) -> Self {
        Self {
            primary: packed & 0xfff,
            second: packed >> 12 & 0xfff,
            accent: packed >> 24,
        }
    }
}

/// The primary weight of an ASCII byte, which has neither accent nor second letter.
#[inline]
pub(crate) fn ascii_weight(byte: u8) -> u32 {
    LATIN[usize::from(byte & 0x7f)]
}

/// What a unit weighs.
#[inline]
pub(crate) fn weight(unit: Unit) -> Weight {
    let packed = if unit < LATIN_END {
        entry(&LATIN, unit)
    } else if ADDITIONAL.contains(&unit) {
        entry(&LATIN_ADDITIONAL, unit - ADDITIONAL.start)
    } else {
        0
    };
    if packed != 0 {
        Weight::unpack(packed)
    } else {
        outer_weight(unit)
    }
}

/// What a unit outside the two blocks weighs.
fn outer_weight(unit: Unit) -> Weight {
    let folded = fold(unit);
    if folded != unit && (folded < LATIN_END || ADDITIONAL.contains(&folded)) {
        return weight(folded);
    }
    let symbol = if folded < SYMBOLS_END {
        SYMBOLS
            .binary_search_by_key(&folded, |(code, _)| *code)
            .ok()
            .and_then(|at| SYMBOLS.get(at))
    } else {
        None
    };
    match symbol {
        Some((_, packed)) => Weight::unpack(*packed),
        None => Weight {
            primary: BEYOND + folded,
            second: 0,
            accent: 0,
        },
    }
}

fn entry(table: &[u32], index: u32) -> u32 {
    usize::try_from(index)
        .ok()
        .and_then(|index| table.get(index))
        .copied()
        .unwrap_or(0)
}

/// What is left of a unit when case is not looked at.
pub(crate) fn fold(unit: Unit) -> Unit {
    if unit < 0x80 {
        return if (0x41..=0x5a).contains(&unit) {
            unit + 0x20
        } else {
            unit
        };
    }
    run(unit).map_or(unit, |(_, folded)| folded)
}

/// 0 if a unit folds to itself; else a number that no other unit has that folds to the same one.
pub(crate) fn case(unit: Unit) -> u32 {
    if unit < 0x80 {
        return u32::from((0x41..=0x5a).contains(&unit));
    }
    // Within a run no two units fold to the same.
    run(unit).map_or(0, |(number, _)| number + 2)
}

/// The number of the run that folds a unit, and what it folds to.
fn run(unit: Unit) -> Option<(u32, Unit)> {
    if CASELESS.contains(&unit) {
        return None;
    }
    let at = RUNS.partition_point(|(first, ..)| *first <= unit).checked_sub(1)?;
    let (first, last, step, delta) = RUNS.get(at)?;
    let is_in = unit <= *last && (unit - first).is_multiple_of(*step);
    is_in.then(|| (u32::try_from(at).unwrap_or(0), unit.saturating_add_signed(*delta)))
}

/// What is left of a unit when neither case nor accents are looked at: the unit without an accent, or the first one, of
/// those with the same letters.
pub(crate) fn base(unit: Unit) -> Unit {
    static BASES: LazyLock<HashMap<(u32, u32), Unit>> = LazyLock::new(|| {
        let mut bases = HashMap::new();
        for unit in (0..LATIN_END).chain(ADDITIONAL).filter(|unit| fold(*unit) == *unit) {
            let weight = weight(unit);
            let first = bases.entry((weight.primary, weight.second)).or_insert(unit);
            if weight.accent == 0 {
                *first = unit;
            }
        }
        bases
    });
    let folded = fold(unit);
    let weight = weight(folded);
    match weight.accent {
        0 => folded,
        _ => BASES.get(&(weight.primary, weight.second)).copied().unwrap_or(folded),
    }
}

/// The first unit of `bytes`, and how many bytes it has: 0 at the end.
#[inline]
pub(crate) fn decode(bytes: &[u8]) -> (Unit, usize) {
    /// The six bits of a byte that goes on with a character.
    fn tail(byte: u8) -> u32 {
        u32::from(byte & 0x3f)
    }
    match *bytes {
        [] => (0, 0),
        [a @ 0..=0x7f, ..] => (u32::from(a), 1),
        [a @ 0xc2..=0xdf, b @ 0x80..=0xbf, ..] => (u32::from(a & 0x1f) << 6 | tail(b), 2),
        [a @ 0xe0, b @ 0xa0..=0xbf, c @ 0x80..=0xbf, ..]
        | [a @ (0xe1..=0xec | 0xee..=0xef), b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..]
        | [a @ 0xed, b @ 0x80..=0x9f, c @ 0x80..=0xbf, ..] => (u32::from(a & 0xf) << 12 | tail(b) << 6 | tail(c), 3),
        [a @ 0xf0, b @ 0x90..=0xbf, c @ 0x80..=0xbf, d @ 0x80..=0xbf, ..]
        | [a @ 0xf1..=0xf3, b @ 0x80..=0xbf, c @ 0x80..=0xbf, d @ 0x80..=0xbf, ..]
        | [a @ 0xf4, b @ 0x80..=0x8f, c @ 0x80..=0xbf, d @ 0x80..=0xbf, ..] => {
            (u32::from(a & 7) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d), 4)
        }
        [a, ..] => (BYTES + u32::from(a), 1),
    }
}

#[cfg(test)]
mod tests;
