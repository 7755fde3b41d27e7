//! Whether the bytes of a superblock are all there (FORMAT 3.6).

use selenite_cipher::sha256;

use crate::SUPERBLOCK_SIZE_MAX;
use crate::superblock::{GENERATION, LENGTH, MAGIC, MAGIC_FIELD, SUPERBLOCK_SIZE_UNIT};

/// What [`inspect`] found. It says nothing of who wrote the bytes: anyone can make a superblock whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// Magic, length or checksum is wrong: never written, or torn.
    No,
    /// Magic, length and checksum are right.
    Yes {
        /// Of two whole ones the higher counts.
        generation: u64,
        /// How many of the bytes belong to the superblock.
        size: usize,
    },
}

/// Looks at the bytes that begin where a superblock does; what follows its end is not read.
pub fn inspect(bytes: &[u8]) -> Whole {
    match whole_size(bytes) {
        Some(size) => Whole::Yes {
            generation: u64::from_be_bytes(GENERATION.read(bytes)),
            size,
        },
        None => Whole::No,
    }
}

fn whole_size(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < SUPERBLOCK_SIZE_UNIT || MAGIC_FIELD.read(bytes) != MAGIC {
        return None;
    }
    let size = usize::try_from(u32::from_be_bytes(LENGTH.read(bytes))).ok()?;
    if size == 0 || size > SUPERBLOCK_SIZE_MAX || !size.is_multiple_of(SUPERBLOCK_SIZE_UNIT) {
        return None;
    }
    let (content, checksum) = bytes.get(..size)?.split_last_chunk::<32>()?;
    (sha256(content) == *checksum).then_some(size)
}
