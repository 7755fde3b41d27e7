//! Which of the two superblocks counts (FORMAT 2.6 and 3.6).

use crate::superblock::MAGIC;
use crate::{PREFIX_SIZE, Superblock, Whole, inspect};

/// What the first 64 KiB of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen<'a> {
    /// Superblock A counts; these are its bytes, and no more. If it is then refused, B must not be used instead.
    A(&'a [u8]),
    /// Superblock B counts; these are its bytes, and no more. If it is then refused, A must not be used instead.
    B(&'a [u8]),
    /// No superblock and no page: an empty file, or a creation that was cut off (FORMAT 2.6).
    Empty,
    /// An unencrypted SQLite database.
    Plain,
    /// Neither ours nor SQLite's.
    Foreign,
    /// One of ours, with neither superblock whole.
    Torn,
}

/// Chooses between `a`, the file's bytes from 0, and `b`, its bytes from 32768: up to 32768 of each, fewer where the
/// file ends before.
pub fn choose<'a>(a: &'a [u8], b: &'a [u8], file_size: u64) -> Chosen<'a> {
    match (inspect(a), inspect(b)) {
        (
            Whole::Yes {
                generation: of_a,
                size: size_a,
            },
            Whole::Yes {
                generation: of_b,
                size: size_b,
            },
        ) => {
            if of_b > of_a {
                Chosen::B(&b[..size_b])
            } else {
                Chosen::A(&a[..size_a])
            }
        }
        (Whole::Yes { size, .. }, Whole::No) => Chosen::A(&a[..size]),
        (Whole::No, Whole::Yes { size, .. }) => Chosen::B(&b[..size]),
        (Whole::No, Whole::No) => choose_none(a, b, file_size),
    }
}

/// Whether the one that does not count still lists a key that the other no longer does: a change
/// that takes a right away was cut off between its two writes (FORMAT 3.7). Takes what [`choose`]
/// does; nothing is authenticated.
pub fn keeps_dropped(a: &[u8], b: &[u8]) -> bool {
    let parsed = |place| match inspect(place) {
        Whole::Yes { size, .. } => Superblock::parse(&place[..size]).ok(),
        Whole::No => None,
    };
    let (Some(a), Some(b)) = (parsed(a), parsed(b)) else {
        return false;
    };
    let (counts, twin) = if b.generation > a.generation { (b, a) } else { (a, b) };
    twin.log_key != counts.log_key
        || twin.epochs.iter().any(|epoch| !counts.epochs.contains(epoch))
        || twin.slots.iter().any(|slot| !counts.slots.contains(slot))
}

fn choose_none<'a>(a: &[u8], b: &[u8], file_size: u64) -> Chosen<'a> {
    if file_size <= PREFIX_SIZE && is_cut_off(a) && is_cut_off(b) {
        Chosen::Empty
    } else if a.starts_with(SQLITE_MAGIC) {
        Chosen::Plain
    } else if a.starts_with(&MAGIC) || b.starts_with(&MAGIC) {
        Chosen::Torn
    } else {
        Chosen::Foreign
    }
}

/// Whether every one of the first 16 bytes of `place` is the magic's, or zero, or missing.
///
/// Not a leading part of the magic alone: a sector may be written from its end
/// (sqlite.org/atomiccommit.html#_hardware_assumptions).
fn is_cut_off(place: &[u8]) -> bool {
    let mut head = place.iter().zip(&MAGIC);
    head.all(|(&byte, &magic)| byte == magic || byte == 0)
}

/// The first 16 bytes of an SQLite database (<https://sqlite.org/fileformat.html>, 1.3.1).
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[cfg(test)]
mod tests;
