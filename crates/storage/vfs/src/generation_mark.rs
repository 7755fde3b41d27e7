//! The generation of the superblock as the last writer left it in the WAL index, so that the next
//! writer, and a reader, need not read the file.
//!
//! - unused-index-bytes: the mark is bytes 132 to 136 of the WAL index, which SQLite leaves unused
//!   (sqlite.org/walformat.html, section 2.1: "unused space set aside for further expansion"): the
//!   lower half of the generation. 0 stands there when the index is new, and never again; what
//!   can't be said is `UNKNOWN`.
//! - set-by-writers: it is set by who holds the WAL's write lock and has just read the superblocks.
//!   It is made unknown, under that lock, before a superblock is written; a process that dies in between
//!   leaves that.
//! - generations-never-return: a generation never comes back (superblock-moves-forward in
//!   `database.rs`), so a mark that is that of the view one has means that no one has changed it.
//!   Another value, by whomever, means no more than 0 does.
//! - readers-do-not-set: who begins to read may not set it: the superblock may be changed between
//!   looking and setting. It remembers the value that stood there before it looked. A change makes
//!   the mark unknown first, and 0 never comes back: so as long as the value is the same, no one
//!   has changed the superblock since.

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

    /// Whether the superblock is still this one.
    pub fn is_of(self, superblock: &Superblock) -> bool {
        let value = value_of(superblock);
        value != UNKNOWN && self.0.word(WORD) == Some(value)
    }

    /// Says that the superblock is this one.
    pub fn set(self, superblock: &Superblock) {
        self.0.set_word(WORD, value_of(superblock));
    }

    /// Whether no one has taken the write lock since the index was made.
    pub fn is_clear(self) -> bool {
        self.0.word(WORD) == Some(0)
    }

    /// What it says, unless that is nothing: two equal answers mean that no one has changed the
    /// superblock in between, whichever generation that is (readers-do-not-set).
    pub fn value(self) -> Option<u32> {
        self.0.word(WORD).filter(|value| *value != UNKNOWN)
    }

    /// Says that everyone has to look.
    pub fn clear(self) {
        self.0.set_word(WORD, UNKNOWN);
    }
}

fn value_of(superblock: &Superblock) -> u32 {
    match u32::try_from(superblock.generation & u64::from(u32::MAX)) {
        Ok(0) | Err(_) => UNKNOWN,
        Ok(value) => value,
    }
}

/// Everyone has to look.
const UNKNOWN: u32 = u32::MAX;

/// `WalCkptInfo.notUsed0`, behind both copies of the header, nBackfill, the read marks, the locks
/// and nBackfillAttempted.
const WORD: usize = 33;

#[cfg(all(test, selenite_loom))]
mod model;
