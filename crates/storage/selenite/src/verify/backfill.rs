//! How many frames of a log checkpoints have copied, from the WAL index (the `-shm` file).
//!
//! - about-to-be-rewritten: a page of the database that does not open is not lost if the log has a
//!   committed frame of it that is still to be copied: SQLite reads the frame, and the next
//!   checkpoint rewrites the page. A crash during a checkpoint leaves such pages.
//! - copied-frames-stay-copied: a copied frame is not copied again while the index exists, so its
//!   page in the database has to open. Without an index of this log, the next connection creates
//!   one in which no frame counts as copied (walIndexRecover in wal.c).

use super::Subject;
use crate::EngineError;
use crate::draft::beside;
use crate::raw_file::RawFile;

/// How many frames of the log with these salts were copied: frames with a lower index are in the
/// database.
pub(super) fn copied_count(subject: &Subject<'_>, salts: [u8; 8]) -> Result<u64, EngineError> {
    let Some(file) = RawFile::open_if_there(subject.storage, &beside(subject.path, "-shm"))? else {
        return Ok(0);
    };
    let mut head = [0; HEAD_SIZE];
    if file.read_at(&mut head, 0)? < HEAD_SIZE || head[IS_INIT] != 1 || head[SALTS..SALTS + 8] != salts {
        return Ok(0);
    }
    let count = head[BACKFILL..BACKFILL + 4].try_into().expect("four bytes");
    // The index is shared memory, in the machine's native byte order (sqlite.org/walformat.html,
    // 2.1).
    Ok(u32::from_ne_bytes(count).into())
}

/// `WalIndexHdr`, twice, then `nBackfill` (sqlite.org/walformat.html, 2.1).
const HEAD_SIZE: usize = 100;
const IS_INIT: usize = 12;
const SALTS: usize = 32;
const BACKFILL: usize = 96;
