//! The choice between the two superblocks (FORMAT 2.6 and 3.6).

use crate::superblock::MAGIC;
use crate::{PREFIX_SIZE, Superblock, Whole, inspect};

/// The kind of file, from its first 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen<'a> {
    /// Superblock A is chosen; these are exactly its bytes. If it is then refused, B must not be used instead.
    A(&'a [u8]),
    /// Superblock B is chosen; these are exactly its bytes. If it is then refused, A must not be used instead.
    B(&'a [u8]),
    /// No superblock and no page: an empty file, or an interrupted creation (FORMAT 2.6).
    Empty,
    /// An unencrypted SQLite database.
    Plain,
    /// Neither a file of this format nor of SQLite.
    Foreign,
    /// A file of this format without an intact superblock.
    Torn,
}

/// Chooses between `a`, the file's bytes from offset 0, and `b`, its bytes from offset 32768: up to
/// 32768 of each, fewer if the file ends earlier.
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

/// Whether the superblock that is not chosen still lists a key that the chosen one no longer lists:
/// a change that revokes access was interrupted between its two writes (FORMAT 3.7). The arguments
/// are those of [`choose`]; nothing is authenticated.
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

/// Whether each of the first 16 bytes of `place` is that of the magic, or zero, or missing.
///
/// Checking only for a prefix of the magic is not enough: a sector may be written from its end
/// (sqlite.org/atomiccommit.html#_hardware_assumptions).
fn is_cut_off(place: &[u8]) -> bool {
    let mut head = place.iter().zip(&MAGIC);
    head.all(|(&byte, &magic)| byte == magic || byte == 0)
}

/// The first 16 bytes of an SQLite database (<https://sqlite.org/fileformat.html>, 1.3.1).
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

#[cfg(test)]
mod tests;
