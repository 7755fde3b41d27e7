//! The superblocks of a file, read without SQLite: with a key, or without one.

use std::path::Path;
use std::time::Duration;

use selenite_format::{
    Chosen, FormatError, SUPERBLOCK_A, SUPERBLOCK_B, SUPERBLOCK_SIZE_MAX, Superblock, choose, keeps_dropped,
};
use selenite_keyring::{Cache, Identity, KeyError, Trust, Unlocked};

use crate::EngineError;
use crate::error::{EMPTY, NO_DATABASE};
use crate::lost_prefix::has_sealed_pages;
use crate::raw_file::RawFile;
use crate::storage::Storage;

/// The content of a file.
pub enum FileContent {
    /// No pages and no superblock.
    Empty,
    /// An unencrypted database.
    Plain,
    /// A database in this format.
    Sealed {
        /// The valid superblock, as bytes.
        bytes: Vec<u8>,
        /// The same, parsed. It is not authenticated.
        superblock: Box<Superblock>,
    },
    /// Anything else.
    Foreign,
}

/// Which of a file's two superblocks are intact, by their checksums. One is enough to open it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Superblocks {
    /// The one at 0.
    pub a_is_whole: bool,
    /// The one at 32768.
    pub b_is_whole: bool,
    /// Whether the older one still lists a key that the newer one does not: a change was
    /// interrupted.
    pub keeps_dropped: bool,
}

impl Superblocks {
    /// Reads both, and again if one seems damaged or outdated: another process may be writing it.
    pub(crate) fn load(file: &RawFile) -> Result<Self, EngineError> {
        let mut found = Self::look(file)?;
        for attempt in 1..LOOK_COUNT {
            if found.are_whole() && !found.keeps_dropped {
                break;
            }
            std::thread::sleep(LOOK_PAUSE * attempt);
            found = Self::look(file)?;
        }
        Ok(found)
    }

    fn look(file: &RawFile) -> Result<Self, EngineError> {
        let (a, b, size) = places(file)?;
        Ok(Self {
            a_is_whole: matches!(choose(&a, &[], size), Chosen::A(_)),
            b_is_whole: matches!(choose(&[], &b, size), Chosen::B(_)),
            keeps_dropped: keeps_dropped(&a, &b),
        })
    }

    /// Whether both are intact.
    #[must_use]
    pub fn are_whole(self) -> bool {
        self.a_is_whole && self.b_is_whole
    }
}

/// Determines the content of a file. Nothing is authenticated.
///
/// # Errors
/// [`EngineError::Key`] for a superblock that is damaged, malformed or of a later version; [`EngineError::Io`];
/// [`EngineError::Busy`] if this process has the file open.
pub fn inspect(storage: &dyn Storage, path: &Path) -> Result<FileContent, EngineError> {
    RawFile::look(storage, path, inspect_file)
}

pub(crate) fn inspect_file(file: &RawFile) -> Result<FileContent, EngineError> {
    let (mut a, mut b, mut size) = places(file)?;
    // As `selenite_vfs::superblock_pair::read_prefix`: the read may have overlapped two writes in
    // a row.
    for _ in 1..LOOK_COUNT {
        if !matches!(choose(&a, &b, size), Chosen::Torn) {
            break;
        }
        let before = (a, b, size);
        (a, b, size) = places(file)?;
        if (&a, &b, &size) == (&before.0, &before.1, &before.2) {
            break;
        }
    }
    let bytes = match choose(&a, &b, size) {
        Chosen::A(bytes) | Chosen::B(bytes) => bytes.to_vec(),
        Chosen::Empty => return Ok(FileContent::Empty),
        Chosen::Plain => return Ok(FileContent::Plain),
        Chosen::Foreign if has_sealed_pages(file)? => return Err(KeyError::Damaged.into()),
        Chosen::Foreign => return Ok(FileContent::Foreign),
        Chosen::Torn => return Err(KeyError::Damaged.into()),
    };
    let superblock = Superblock::parse(&bytes).map_err(key_error)?;
    Ok(FileContent::Sealed {
        bytes,
        superblock: Box::new(superblock),
    })
}

/// The bytes at both offsets, and the file's size.
fn places(file: &RawFile) -> Result<(Vec<u8>, Vec<u8>, u64), EngineError> {
    let mut a = vec![0; SUPERBLOCK_SIZE_MAX];
    let mut b = vec![0; SUPERBLOCK_SIZE_MAX];
    let size = file.size()?;
    let a_size = file.read_at(&mut a, SUPERBLOCK_A)?;
    let b_size = file.read_at(&mut b, SUPERBLOCK_B)?;
    a.truncate(a_size);
    b.truncate(b_size);
    Ok((a, b, size))
}

/// The superblock that is not the valid one, if it is intact. It is not authenticated.
///
/// # Errors
/// As [`inspect`].
pub(crate) fn other_superblock(storage: &dyn Storage, path: &Path) -> Result<Option<Superblock>, EngineError> {
    RawFile::look(storage, path, other_superblock_of)
}

fn other_superblock_of(file: &RawFile) -> Result<Option<Superblock>, EngineError> {
    let counts = match inspect_file(file)? {
        FileContent::Sealed { superblock, .. } => superblock.generation,
        FileContent::Empty | FileContent::Plain | FileContent::Foreign => return Ok(None),
    };
    let mut place = vec![0; SUPERBLOCK_SIZE_MAX];
    for offset in [SUPERBLOCK_A, SUPERBLOCK_B] {
        let size = file.read_at(&mut place, offset)?;
        match Superblock::parse(&place[..size]) {
            Ok(superblock) if superblock.generation != counts => return Ok(Some(superblock)),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

fn key_error(error: FormatError) -> KeyError {
    if let FormatError::UnsupportedVersion { version } = error {
        return KeyError::UnsupportedVersion { version };
    }
    if let FormatError::Tampered { what } = error {
        let source = Some(error);
        return KeyError::Tampered { what, source };
    }
    KeyError::Damaged
}

impl FileContent {
    /// The superblock's bytes.
    ///
    /// # Errors
    /// [`EngineError::NotEncrypted`] if there is none.
    pub fn sealed(self, path: &Path) -> Result<(Vec<u8>, Box<Superblock>), EngineError> {
        let what = match self {
            Self::Sealed { bytes, superblock } => return Ok((bytes, superblock)),
            Self::Empty => EMPTY,
            Self::Plain => "it is an unencrypted database",
            Self::Foreign => NO_DATABASE,
        };
        Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what,
        })
    }
}

/// Unlocks the valid superblock with one of the identities.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`] with the errors of the keyring.
pub(crate) fn unlock(
    path: &Path,
    file: &RawFile,
    identities: &[Box<dyn Identity>],
    trust: &Trust,
    cache: &Cache,
) -> Result<Unlocked, EngineError> {
    let (bytes, _) = inspect_file(file)?.sealed(path)?;
    Ok(selenite_keyring::unlock(&bytes, identities, trust, cache)?)
}

/// Three reads, 20 and 40 ms apart: a superblock is written in less time.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
