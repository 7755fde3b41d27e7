//! Labels identify the state of a database file for readers.
//!
//! Two read transactions that find the same label may share the pages that SQLite reads from the
//! file:
//!
//! - In rollback mode every commit writes page 1 (`pager_incr_changecounter`), sealed under a nonce
//!   that is never used twice: its trailer is the label, read while SHARED is held.
//! - In WAL mode only checkpoints write the file. `walCheckpoint` announces this: it sets
//!   nBackfillAttempted, copies, syncs, and sets nBackfill. The label is the log's salts with these
//!   two, read while a read mark is held. Let n be a page that was in the pool, and equal to the
//!   file's, when the label was noted, or was stored under it. If a checkpoint has copied a frame f
//!   of n since, and the label is the same again, then another reader of n began after f had been
//!   committed: either f is above nBackfill, and SQLite finds it in the log (`walFindFrame`), and
//!   does not read the file; or f was copied before the label was noted, and copying it again
//!   (after `walIndexRecover`, which begins at frame 0) writes the same content. Therefore a
//!   decrease of nBackfillAttempted (`sqlite3WalSnapshotRecover`, or a checkpoint limited by an
//!   older mark) is harmless. A reader on mark 0 never reads the log: it has that mark because
//!   nBackfill was mxFrame, so that nothing above nBackfill was in its snapshot. One gap is known
//!   in this argument, from reading the code: a process died when a log that was restarted had no
//!   frame yet, and a label is read, or a second process dies, while `walIndexRecover` has written
//!   the header and not yet nBackfillAttempted.
//! - Salts of 0 are those of an empty log, whose index was made by `walIndexRecover`. They may
//!   recur while a connection has the index mapped: a log is filled, copied and truncated, and a
//!   process dies in `walIndexWriteHdr` when it begins the empty log again. So they are a label
//!   only if no connection has written since the index was made: every writer that uses this VFS
//!   leaves its mark in it (`generation_mark.rs`), which recovery does not change. When no
//!   connection of this process has the index mapped any more, the label is dropped
//!   (`PooledFile::leave_log`).
//! - A log that restarts (`walRestartHdr`) has other salts. They are written first, and the frame
//!   numbers are set to 0 afterwards: between the two, mxFrame is 0 and nBackfillAttempted is not.
//!   SQLite guarantees that mxFrame is otherwise never less than nBackfillAttempted; if it is,
//!   there is no label.

use selenite_cipher::TRAILER_SIZE;

use crate::ffi::ShmRegion;
use crate::generation_mark::GenerationMark;
use crate::index_header::{BACKFILLED, IndexHeader};
use crate::injected_bugs::{Bug, is_injected};

/// A label. It includes the generation of the superblock, since a change of keys may remove access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// Of a database with a write-ahead log.
    Log {
        /// The superblock's generation.
        superblock_generation: u64,
        /// Salts, nBackfill and nBackfillAttempted.
        words: [u32; 4],
    },
    /// Of a database with a rollback journal: the trailer of page 1.
    Trailer {
        /// The superblock's generation.
        superblock_generation: u64,
        /// The trailer.
        bytes: [u8; TRAILER_SIZE],
    },
}

impl Label {
    /// The label of a WAL index, read as `walIndexTryHdr` reads it: both copies of the header must
    /// be equal with a correct checksum, and unchanged during the read. The caller holds a read
    /// mark.
    pub fn of_log(superblock_generation: u64, region: &ShmRegion) -> Option<Self> {
        let header = IndexHeader::read(region)?;
        let (backfilled, attempted) = (region.word(BACKFILLED)?, region.word(ATTEMPTED)?);
        let is_steady = (region.word(BACKFILLED)?, region.word(ATTEMPTED)?) == (backfilled, attempted)
            && IndexHeader::read(region)? == header;
        let frame_max = header.frame_count();
        if !is_steady || attempted > frame_max || backfilled > frame_max {
            return None;
        }
        let salts = header.salt_words();
        let is_empty = salts == [0, 0];
        if is_empty && !GenerationMark::new(*region).is_clear() {
            return None;
        }
        let [backfilled, attempted] = if is_injected(Bug::PoolOutlivesCheckpoint) {
            [0; 2]
        } else {
            [backfilled, attempted]
        };
        Some(Self::Log {
            superblock_generation,
            words: [salts[0], salts[1], backfilled, attempted],
        })
    }

    /// The label of a database without a log. The caller holds SHARED.
    pub fn of_trailer(superblock_generation: u64, trailer: [u8; TRAILER_SIZE]) -> Self {
        let bytes = if is_injected(Bug::PoolOutlivesCheckpoint) {
            [0; TRAILER_SIZE]
        } else {
            trailer
        };
        Self::Trailer {
            superblock_generation,
            bytes,
        }
    }
}

/// `WalCkptInfo.nBackfillAttempted`.
const ATTEMPTED: usize = 32;

#[cfg(test)]
mod tests;
