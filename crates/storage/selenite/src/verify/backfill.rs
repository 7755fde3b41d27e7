//! How many frames of a log checkpoints have copied, by the WAL index (the `-shm` file).
//!
//! - about-to-be-rewritten: a page of the database that does not open, and of which the log holds a
//!   committed frame that is still to be copied, is no loss: SQLite reads the frame, and the next
//!   checkpoint rewrites the page. A crash in the middle of a checkpoint leaves such pages.
//! - copied-frames-stay-copied: a frame that was copied already is not copied again while the index
//!   lives: the page that it was copied to has to open. Where there is no index of this log, who
//!   opens it next makes one, in which nothing is copied (walIndexRecover in wal.c).

use super::Subject;
use crate::EngineError;
use crate::draft::beside;
use crate::raw_file::RawFile;

/// How many frames of the log with these salts were copied: frames below that, from 0, are in the database.
pub(super) fn copied_count(subject: &Subject<'_>, salts: [u8; 8]) -> Result<u64, EngineError> {
    let Some(file) = RawFile::open_if_there(subject.storage, &beside(subject.path, "-shm"))? else {
        return Ok(0);
    };
    let mut head = [0; HEAD_SIZE];
    if file.read_at(&mut head, 0)? < HEAD_SIZE || head[IS_INIT] != 1 || head[SALTS..SALTS + 8] != salts {
        return Ok(0);
    }
    let count = head[BACKFILL..BACKFILL + 4].try_into().expect("four bytes");
    // The index is shared memory: in the machine's own order (sqlite.org/walformat.html, 2.1).
    Ok(u32::from_ne_bytes(count).into())
}

/// `WalIndexHdr`, twice, then `nBackfill` (sqlite.org/walformat.html, 2.1).
const HEAD_SIZE: usize = 100;
const IS_INIT: usize = 12;
const SALTS: usize = 32;
const BACKFILL: usize = 96;
