//! `DB-selenite-pause`: while this file exists, a process that re-encrypts the database's pages
//! pauses between two batches.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ReencryptionJob;
use crate::draft::beside;
use crate::error::io_error;
use crate::storage::Storage;
use crate::{EngineError, conversion};

/// Requests a pause. It lasts until [`resume`], also beyond the end of the process.
///
/// # Errors
/// [`EngineError::Io`].
pub fn pause(storage: &dyn Storage, path: &Path) -> Result<(), EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    match storage.create(&file) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => replace_link(storage, &file),
        Err(error) => Err(io_error("create", &file)(error)),
    }
}

/// An existing file already requests a pause, unless it is a dangling link, which [`is_paused`]
/// does not see.
fn replace_link(storage: &dyn Storage, file: &Path) -> Result<(), EngineError> {
    if storage.attributes(file).is_ok() {
        return Ok(());
    }
    let replaced = storage.remove(file).and_then(|()| storage.create(file));
    replaced.map_err(io_error("create", file))
}

/// Ends the pause, and returns whether there was one.
///
/// # Errors
/// [`EngineError::Io`].
pub fn resume(storage: &dyn Storage, path: &Path) -> Result<bool, EngineError> {
    let file = file_of(&conversion::real_path(storage, path)?);
    match storage.remove(&file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io_error("remove", &file)(error)),
    }
}

/// Whether a pause is requested.
#[must_use]
pub fn is_paused(storage: &dyn Storage, path: &Path) -> bool {
    let path = conversion::real_path(storage, path);
    path.is_ok_and(|path| storage.attributes(&file_of(&path)).is_ok())
}

/// Waits while a pause is requested.
pub fn wait(work: &ReencryptionJob<'_>) -> Result<(), EngineError> {
    while is_paused(work.storage, work.path) {
        work.wait("paused", PAUSE)?;
    }
    Ok(())
}

fn file_of(path: &Path) -> PathBuf {
    beside(path, "-selenite-pause")
}

const PAUSE: Duration = Duration::from_millis(200);
