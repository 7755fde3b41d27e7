//! Anchors: a record of a database's state at one moment, stored elsewhere, that detects pages or a
//! whole file put back from an older copy (FORMAT 10).
//!
//! An anchor is written while the database file does not change (`unchanged_file`): at that moment
//! no transaction is writing, no checkpoint is under way, and all frames of the log are copied.
//! Counters of a session only increase, and an image is sealed and stored only under a lock that
//! was free at that moment. Therefore:
//!
//! - later-images-count-higher: every image that is stored after that moment in normal operation
//!   was sealed after it, with a counter above all earlier ones of its session, or in a new
//!   session. If an image differs from the anchor's, its session is in the anchor, and its counter
//!   is at or below the recorded one, it was sealed before: it was put back.
//! - higher-is-not-newer: an image with a higher counter, or of another session, need not be new: a
//!   session's last images may have been overwritten before the anchor was made. Such a page is
//!   reported as changed, and nothing more is claimed.
//! - sessions-accumulate: an anchor that is written against an older one includes its sessions.
//! - mac-before-use: before its MAC is checked, an anchor is used for one purpose only: the reason
//!   of its refusal.

mod comparison;
mod file;
mod tally;
mod unchanged_file;

use std::path::Path;

use selenite_format::FormatError;
use selenite_format::anchor::{Anchor, Seal};
use selenite_keyring::Unlocked;

use crate::EngineError;

pub use comparison::{Comparison, Verdict};
pub(crate) use file::{check_room, read, write};
pub use selenite_format::anchor::ShortAnchor;
pub(crate) use tally::{Tallied, Tally};
pub(crate) use unchanged_file::UnchangedFile;

/// The result of writing an anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The number of pages in it.
    pub page_count: u32,
    /// The number of sessions in it.
    pub session_count: u64,
    /// The generation of the superblock at that time.
    pub generation: u64,
}

/// `mac-before-use`: parses an anchor if it is of this database and was written under its present
/// master key.
pub(crate) fn open(bytes: &[u8], path: &Path, unlocked: &Unlocked) -> Result<Anchor, EngineError> {
    let refused = |what: String, next: &str| EngineError::Anchor {
        what: format!("{}: {what}", path.display()),
        next: next.to_owned(),
    };
    let seal = Seal::find(bytes).map_err(|error| {
        let next = if error == FormatError::ShortAnchor {
            "give a file of verify --write-anchor"
        } else {
            FETCH
        };
        refused(error.to_string(), next)
    })?;
    let superblock = &unlocked.superblock;
    if seal.database_id != superblock.database_id {
        return Err(refused(
            format!(
                "the anchor is of database {}, not of {}",
                seal.database_id, superblock.database_id
            ),
            "find the anchor of this database; if this is it, the database was replaced by another file",
        ));
    }
    let key = unlocked.master.anchor_key();
    if seal.key_id != key.id() {
        if seal.generation > superblock.generation {
            return Err(refused(
                format!(
                    "the anchor was written under another master key at generation {}, but the database is at \
                        generation {}: it is an older copy, or the anchor was altered",
                    seal.generation, superblock.generation
                ),
                "find out who could put back a copy of the file, and restore the newest backup",
            ));
        }
        return Err(refused(
            "the anchor was written under another master key: the key was renewed since, or the anchor was altered"
                .to_owned(),
            "before each keys renew, verify with the old anchor; afterwards, write a new one",
        ));
    }
    if !key.mac_is_valid(seal.maced, &seal.mac) {
        return Err(refused("the anchor was altered: its MAC is wrong".to_owned(), FETCH));
    }
    let anchor = Anchor::parse(bytes).map_err(|error| refused(error.to_string(), FETCH))?;
    if anchor.page_size != superblock.page_size {
        return Err(refused("the anchor is of another page size".to_owned(), FETCH));
    }
    Ok(anchor)
}

const FETCH: &str = "fetch it again from its storage, and find out who could write to it";
