//! The superblocks of a draft of sealed pages, and its verification before it gets its name.

use std::path::Path;

use selenite_format::{SUPERBLOCK_A, SUPERBLOCK_B};
use selenite_keyring::Unlocked;
use selenite_vfs::view::View;

use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::{Storage, WriteAt};
use crate::superblock_file::Superblocks;
use crate::{EngineError, Watch, verify};

/// Writes both superblocks, of which the second is the valid one, and syncs them before the first
/// page (FORMAT 2.6).
pub fn write_superblocks(file: &dyn WriteAt, path: &Path, [first, second]: [&Unlocked; 2]) -> Result<(), EngineError> {
    for (unlocked, place) in [(first, SUPERBLOCK_A), (second, SUPERBLOCK_B)] {
        let bytes = unlocked.encode()?;
        file.write_at(&bytes, place).map_err(io_error("write", path))?;
    }
    file.sync().map_err(io_error("sync", path))
}

/// Decrypts every page again from the file, with its own keys only.
pub fn check(storage: &dyn Storage, draft: &Path, view: &View, watch: &Watch) -> Result<(), EngineError> {
    let file = RawFile::open_unasked(storage, draft)?;
    let superblocks = Superblocks::load(&file)?;
    if !superblocks.are_whole() {
        return Err(EngineError::CopyDiffers {
            what: "its superblocks are damaged: the disk did not store them correctly".to_owned(),
        });
    }
    let (bad, bad_count) = verify::draft(&file, draft, view, watch)?;
    match bad.first() {
        None => Ok(()),
        Some(first) => Err(EngineError::CopyDiffers {
            what: format!("{bad_count} of its pages are not authentic: the disk did not store them correctly; {first}"),
        }),
    }
}
