//! DROP DATABASE: its file and its name go, both of them or neither.
//!
//! - `removal-is-noted-first`: master.db first notes that the database is being removed, and it is
//!   visible to no one from then on. Then its files are removed, the database first, then the name.
//!   A kill in between leaves the rest to the next start ([`crate::database::unfinished`]).
//! - `only-own-file-is-removed`: only the database's own file is removed, identified by the id in
//!   it. Another file at that path stays, as SQL Server keeps the files of a database that it could
//!   not open.

use std::io;
use std::path::{Path, PathBuf};

use selenite::storage::{Disk, Storage};
use selenite::{EngineError, FileContent, inspect};

use crate::database::new_database::{COMPANIONS, beside, in_the_way, remove_if_there};
use crate::master::{DatabaseFile, Master, MasterError};

/// Why a database was not removed.
#[derive(Debug)]
pub enum NotDropped {
    /// The error of master.db.
    Master(MasterError),
    /// A file could not be removed.
    File(PathBuf, io::Error),
    /// This process has the file open, under whatever name: so its id can't be read.
    InUse,
}

impl From<MasterError> for NotDropped {
    fn from(error: MasterError) -> Self {
        Self::Master(error)
    }
}

/// Removes a database. Returns the path of a file that is not the database's own, and stays.
///
/// # Errors
/// [`NotDropped`]. The database still exists if its file does.
pub fn drop_database(master: &Master, folder: &Path, file: &DatabaseFile) -> Result<Option<PathBuf>, NotDropped> {
    let path = file.path(folder)?;
    if !is_own(&path, file).map_err(|_| NotDropped::InUse)? {
        master.remove_database(&file.name)?;
        return Ok(in_the_way(&path));
    }
    master.begin_removal(file.database_id)?;
    if let Err(why) = remove_files(folder, &path) {
        if path.exists() {
            master.finish_file(file.database_id)?;
        }
        return Err(why);
    }
    master.remove_database(&file.name)?;
    Ok(None)
}

/// Removes a database's files.
///
/// # Errors
/// [`NotDropped::File`].
pub fn remove_files(folder: &Path, path: &Path) -> Result<(), NotDropped> {
    for companion in COMPANIONS {
        let file = beside(path, companion);
        remove_if_there(&file).map_err(|error| NotDropped::File(file, error))?;
    }
    selenite::forget_file_counts(path);
    // A power failure must not restore a file whose name was removed.
    Disk.sync_folder(folder)
        .map_err(|error| NotDropped::File(folder.to_owned(), error))
}

/// `only-own-file-is-removed`: a missing file belongs to no other database. A link belongs to none: neither the link
/// nor its target is removed.
///
/// # Errors
/// [`EngineError::Busy`] of a file that this process has open, perhaps as another database's that was renamed: it is
/// not to be touched.
pub fn is_own(path: &Path, file: &DatabaseFile) -> Result<bool, EngineError> {
    let Ok(there) = path.symlink_metadata() else {
        return Ok(true);
    };
    if !there.is_file() {
        return Ok(false);
    }
    match inspect(&Disk, path) {
        Ok(FileContent::Sealed { superblock, .. }) => Ok(file.file_id.is_none_or(|id| id == superblock.database_id)),
        Ok(FileContent::Plain) => Ok(!file.must_be_encrypted),
        Ok(FileContent::Empty) => Ok(true),
        Ok(FileContent::Foreign) => Ok(false),
        Err(busy @ EngineError::Busy { .. }) => Err(busy),
        Err(_) => Ok(path.symlink_metadata().is_err()),
    }
}
