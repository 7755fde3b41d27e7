//! A database file, WAL or journal, read without SQLite.
//!
//! - no-second-descriptor: closing any descriptor of a file releases all POSIX locks that this
//!   process has on it (fcntl(2)), including SQLite's, so a file that this process has open is
//!   refused. The gate keeps other threads from opening it between that check and the open
//!   (`own_descriptors`, look-and-open-under-gate).

use std::path::{Path, PathBuf};

use selenite_keyring::platform::open_without_link;
use selenite_vfs::own_descriptors;

use crate::EngineError;
use crate::error::io_error;
use crate::storage::{ReadAt, Storage};

/// An open file.
pub struct RawFile {
    path: PathBuf,
    file: Box<dyn ReadAt>,
}

impl RawFile {
    /// Opens a file.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if this process has it open; [`EngineError::Io`].
    pub fn open(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        let _gate = own_descriptors::gate();
        Self::open_at_gate(storage, path)
    }

    /// Opens a file, reads from it and closes it again, all of that with the gate held: another
    /// thread that opens it waits.
    ///
    /// # Errors
    /// As [`RawFile::open`]; the errors of `read`.
    pub(crate) fn look<R>(
        storage: &dyn Storage,
        path: &Path,
        read: impl FnOnce(&Self) -> Result<R, EngineError>,
    ) -> Result<R, EngineError> {
        let _gate = own_descriptors::gate();
        let file = Self::open_at_gate(storage, path)?;
        read(&file)
    }

    fn open_at_gate(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        if own_descriptors::has_open(path) {
            return Err(EngineError::Busy {
                path: path.to_owned(),
                what: "this process has it open",
            });
        }
        Self::open_unasked(storage, path)
    }

    /// As [`RawFile::open`], without the check: for a file that SQLite has never opened, or one
    /// that the caller closes after all of this process's connections to it
    /// (no-second-descriptor).
    ///
    /// # Errors
    /// [`EngineError::Io`]; [`EngineError::Usage`] if it is not a file.
    pub(crate) fn open_unasked(storage: &dyn Storage, path: &Path) -> Result<Self, EngineError> {
        let is_file = storage.attributes(path).map_err(io_error("read", path))?.is_file;
        if !is_file {
            return Err(not_a_file(path));
        }
        let file = storage.open(path).map_err(io_error("read", path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// As [`RawFile::open`], for a file in a folder that others may write to: if its name has
    /// become a link or a pipe, it is refused, and the open does not block on it.
    ///
    /// # Errors
    /// As [`RawFile::open`].
    pub fn open_in_folder(path: &Path) -> Result<Self, EngineError> {
        let _gate = own_descriptors::gate();
        if own_descriptors::has_open(path) {
            return Err(EngineError::Busy {
                path: path.to_owned(),
                what: "this process has it open",
            });
        }
        let file = open_without_link(path).map_err(io_error("read", path))?;
        if !file.metadata().map_err(io_error("read", path))?.is_file() {
            return Err(not_a_file(path));
        }
        Ok(Self {
            path: path.to_owned(),
            file: Box::new(file),
        })
    }

    /// As [`RawFile::open`]; `None` if there is no such file, or it is empty.
    ///
    /// # Errors
    /// As [`RawFile::open`].
    pub fn open_if_there(storage: &dyn Storage, path: &Path) -> Result<Option<Self>, EngineError> {
        let is_missing = |error: &EngineError| matches!(error, EngineError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
        match Self::open(storage, path) {
            Ok(file) => Ok((file.size()? > 0).then_some(file)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads at an offset, and returns how many bytes were read; the rest of `out` is set to zero.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn read_at(&self, out: &mut [u8], offset: u64) -> Result<usize, EngineError> {
        let count = self.file.read_at(out, offset).map_err(io_error("read", &self.path))?;
        out[count..].fill(0);
        Ok(count)
    }

    /// Its present size.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn size(&self) -> Result<u64, EngineError> {
        self.file.size().map_err(io_error("read", &self.path))
    }
}

fn not_a_file(path: &Path) -> EngineError {
    EngineError::usage(format!("{}: not a file", path.display()), "name a database file")
}
