//! The status of a database, with a key or without one.

use std::path::{Path, PathBuf};

use selenite_format::Superblock;
use selenite_keyring::{Cache, Identity, KeyError, OriginPolicy, Trust};

use crate::draft::{COMPANIONS, beside};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::sealed::{readable_key, summary, unlocked_status};
use crate::storage::Storage;
use crate::superblock_file::{Copies, FileContent, Superblocks};
use crate::{Access, EngineError, PhysicalReport, Sealed};

/// The status of a database.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its path.
    pub path: PathBuf,
    /// The database file and those beside it that exist.
    pub files: Vec<FileSize>,
    /// The content of its superblock; `None` if it is unencrypted.
    pub sealed: Option<Sealed>,
}

/// A file and its size.
#[derive(Clone, Debug)]
pub struct FileSize {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// Reads the status of a database. Without an identity that opens it, the status has only the
/// unauthenticated content of the superblock.
///
/// # Errors
/// [`EngineError::NotEncrypted`] for a file that is not a database; [`EngineError::Key`] for a
/// superblock that is damaged or not authentic, and for a retired file; [`EngineError::Io`].
pub fn status(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Status, EngineError> {
    // Identities are loaded after the file is closed, as that may take long.
    let (size, seen) = RawFile::look(storage, path, |file| {
        let copies = Copies::load(file)?;
        let seen = match copies.content(file)? {
            FileContent::Plain => None,
            sealed @ (FileContent::Empty | FileContent::Sealed { .. } | FileContent::Foreign) => {
                Some((sealed.sealed(path)?, copies.superblocks(file)?))
            }
        };
        Ok((copies.file_size(), seen))
    })?;
    let status_of = |((bytes, superblock), superblocks): ((Vec<u8>, Box<Superblock>), Superblocks)| {
        sealed_status((&bytes, &superblock), (superblocks, size), &Keys::load(access)?)
    };
    Status::new(storage, path, size, seen.map(status_of).transpose()?)
}

impl Status {
    /// The status of a database that was just verified, without reading its superblock again.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn of_verified(storage: &dyn Storage, path: &Path, found: &PhysicalReport) -> Result<Self, EngineError> {
        Self::new(storage, path, found.size, Some(found.sealed.clone()))
    }

    fn new(storage: &dyn Storage, path: &Path, size: u64, sealed: Option<Sealed>) -> Result<Self, EngineError> {
        let mut files = vec![FileSize {
            path: path.to_owned(),
            size,
        }];
        for companion in COMPANIONS {
            let path = beside(path, companion);
            match storage.attributes(&path) {
                Ok(attributes) => files.push(FileSize {
                    path,
                    size: attributes.size,
                }),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_error("read", &path)(error)),
            }
        }
        Ok(Self {
            path: path.to_owned(),
            files,
            sealed,
        })
    }
}

/// The identities in force, to use for several databases.
pub(crate) struct Keys {
    identities: Vec<Box<dyn Identity>>,
    trust: Trust,
    cache: Cache,
    readable: Option<PathBuf>,
}

impl Keys {
    pub(crate) fn none() -> Self {
        Self {
            identities: Vec::new(),
            trust: Trust::any(),
            cache: Cache::new(),
            readable: None,
        }
    }

    pub(crate) fn load(access: &Access) -> Result<Self, EngineError> {
        let config = Access::config()?;
        Ok(Self {
            identities: access.identities(&config)?,
            // The origin is shown in the status; reading it pins nothing.
            trust: Trust::load(&config, Some(OriginPolicy::Any), None)?,
            cache: Cache::new(),
            readable: readable_key(access, &config),
        })
    }
}

/// The content of a superblock, with the available keys; `clear` is the same one, parsed by the
/// caller.
pub(crate) fn sealed_status(
    (bytes, clear): (&[u8], &Superblock),
    (superblocks, size): (Superblocks, u64),
    keys: &Keys,
) -> Result<Sealed, EngineError> {
    match selenite_keyring::unlock(bytes, &keys.identities, &keys.trust, &keys.cache) {
        Ok(unlocked) => Ok(Sealed {
            is_pinned: Some(keys.trust.pins(&unlocked)),
            ..unlocked_status(&unlocked, (superblocks, size), keys.readable.clone())
        }),
        // A caller without a key still sees what is unencrypted.
        Err(
            error @ (KeyError::NoKey
            | KeyError::WrongKey
            | KeyError::KeyServiceUnavailable { .. }
            | KeyError::KeyRefused { .. }),
        ) => Ok(Sealed {
            why_not: Some(error.to_string()),
            ..summary(clear, superblocks, size)
        }),
        Err(error) => Err(error.into()),
    }
}
