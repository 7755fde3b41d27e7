//! The generation of the superblock, stored by the last writer in the WAL index, so that the next
//! writer, and a reader, need not read the file.
//!
//! - unused-index-bytes: the mark is bytes 132 to 136 of the WAL index, which SQLite leaves unused
//!   (sqlite.org/walformat.html, section 2.1: "unused space set aside for further expansion"): the
//!   lower half of the generation. It is 0 in a new index, and never again; a value that cannot be
//!   represented is `UNKNOWN`.
//! - set-by-writers: it is set by a connection that holds the WAL's write lock and has just read
//!   the superblocks. It is set to unknown, under that lock, before a superblock is written; if the
//!   process dies in between, it remains unknown.
//! - generations-never-return: a generation never recurs (superblock-moves-forward in
//!   `database.rs`), so a mark equal to the generation of the connection's view means that the
//!   superblock is unchanged. Any other value has the same meaning as 0.
//! - readers-do-not-set: a connection that begins to read must not set it: the superblock may be
//!   changed between reading it and setting the mark. It remembers the value of the mark from
//!   before it read the superblock. A change sets the mark to unknown first, and 0 never recurs: so
//!   as long as the value is the same, the superblock is unchanged.

use selenite_format::Superblock;

use crate::ffi::ShmRegion;

/// The mark in a WAL index that is mapped.
#[derive(Clone, Copy)]
pub struct GenerationMark(ShmRegion);

impl GenerationMark {
    /// The mark in the index's first region.
    pub fn new(region: ShmRegion) -> Self {
        Self(region)
    }

    /// Whether the superblock on disk is still this one.
    pub fn is_of(self, superblock: &Superblock) -> bool {
        let value = value_of(superblock);
        value != UNKNOWN && self.0.word(WORD) == Some(value)
    }

    /// Marks the superblock on disk as this one.
    pub fn set(self, superblock: &Superblock) {
        self.0.set_word(WORD, value_of(superblock));
    }

    /// Whether no connection has taken the write lock since the index was created.
    pub fn is_clear(self) -> bool {
        self.0.word(WORD) == Some(0)
    }

    /// The mark's value, unless it is unknown: two equal values mean that the superblock was not
    /// changed in between, whichever generation it has (readers-do-not-set).
    pub fn value(self) -> Option<u32> {
        self.0.word(WORD).filter(|value| *value != UNKNOWN)
    }

    /// Sets the mark to unknown, so that every connection reads the superblocks.
    pub fn clear(self) {
        self.0.set_word(WORD, UNKNOWN);
    }
}

/// The word that has the mark.
pub fn word_of(region: &ShmRegion) -> Option<u32> {
    region.word(WORD)
}

/// Writes that word.
pub fn set_word_of(region: &ShmRegion, value: u32) {
    region.set_word(WORD, value);
}

fn value_of(superblock: &Superblock) -> u32 {
    match u32::try_from(superblock.generation & u64::from(u32::MAX)) {
        Ok(0 | GONE..) | Err(_) => UNKNOWN,
        Ok(value) => value,
    }
}

/// Every connection has to read the superblocks.
pub const UNKNOWN: u32 = u32::MAX;

/// Another file is about to take the database's name, and no transaction may begin
/// (`main_file/move_over.rs`).
pub const CLOSING: u32 = UNKNOWN - 1;

/// In the index of an unencrypted database: look whether an encrypted one has its name.
pub const MOVED_TO_SEALED: u32 = UNKNOWN - 2;

/// In the index of an encrypted database: look whether an unencrypted one has its name.
pub const MOVED_TO_PLAIN: u32 = UNKNOWN - 3;

/// The index itself no longer has a name.
pub const GONE: u32 = UNKNOWN - 4;

/// `WalCkptInfo.notUsed0`, after both copies of the header, nBackfill, the read marks, the locks
/// and nBackfillAttempted.
const WORD: usize = 33;

#[cfg(all(test, selenite_loom))]
mod model;
