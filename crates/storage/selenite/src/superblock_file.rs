//! The superblocks of a file, read without SQLite: with a key, or without one.

use std::path::Path;
use std::time::Duration;

use selenite_format::{
    Chosen, FormatError, SUPERBLOCK_A, SUPERBLOCK_B, SUPERBLOCK_SIZE_MAX, Superblock, choose, keeps_dropped,
    stated_size,
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
        Copies::read(file)?.superblocks(file)
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
    Copies::load(file)?.content(file)
}

/// Both superblocks, as they were read one after the other.
///
/// A superblock is replaced only while the other one is whole (FORMAT 3.7), and has a checksum: whatever others write
/// meanwhile, the one that counts of such a pair was the valid one at some moment of reading it.
#[derive(PartialEq, Eq)]
pub(crate) struct Copies {
    a: Vec<u8>,
    b: Vec<u8>,
    file_size: u64,
}

impl Copies {
    /// Reads both, and again if neither is whole: as `selenite_vfs::superblock_pair::read_prefix`, the read may have
    /// overlapped two writes in a row.
    pub(crate) fn load(file: &RawFile) -> Result<Self, EngineError> {
        let mut copies = Self::read(file)?;
        for _ in 1..LOOK_COUNT {
            if !matches!(copies.chosen(), Chosen::Torn) {
                break;
            }
            let before = std::mem::replace(&mut copies, Self::read(file)?);
            if before == copies {
                break;
            }
        }
        Ok(copies)
    }

    fn read(file: &RawFile) -> Result<Self, EngineError> {
        let file_size = file.size()?;
        Ok(Self {
            a: read_copy(file, SUPERBLOCK_A)?,
            b: read_copy(file, SUPERBLOCK_B)?,
            file_size,
        })
    }

    fn chosen(&self) -> Chosen<'_> {
        choose(&self.a, &self.b, self.file_size)
    }

    /// The size of the file before they were read.
    pub(crate) fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The content of the file, from which they were read. Nothing is authenticated.
    ///
    /// # Errors
    /// As [`inspect`].
    pub(crate) fn content(&self, file: &RawFile) -> Result<FileContent, EngineError> {
        let bytes = match self.chosen() {
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

    /// Which of them are intact. They are read again if one seems damaged or outdated: another process may be writing it.
    pub(crate) fn superblocks(&self, file: &RawFile) -> Result<Superblocks, EngineError> {
        let mut found = self.intact();
        for attempt in 1..LOOK_COUNT {
            if found.are_whole() && !found.keeps_dropped {
                break;
            }
            std::thread::sleep(LOOK_PAUSE * attempt);
            found = Self::read(file)?.intact();
        }
        Ok(found)
    }

    fn intact(&self) -> Superblocks {
        Superblocks {
            a_is_whole: matches!(choose(&self.a, &[], self.file_size), Chosen::A(_)),
            b_is_whole: matches!(choose(&[], &self.b, self.file_size), Chosen::B(_)),
            keeps_dropped: keeps_dropped(&self.a, &self.b),
        }
    }
}

/// A copy's first bytes, and all that it states to have, as far as the file has them. If it is replaced between two
/// reads its checksum is wrong, as that of a torn one.
fn read_copy(file: &RawFile, offset: u64) -> Result<Vec<u8>, EngineError> {
    let mut copy = vec![0; FIRST_READ];
    let first = file.read_at(&mut copy, offset)?;
    copy.truncate(first);
    let stated = stated_size(&copy).unwrap_or(0);
    if first == FIRST_READ && stated > first {
        copy.resize(stated, 0);
        let rest = file.read_at(&mut copy[first..], offset + FIRST_READ_BYTES)?;
        copy.truncate(first + rest);
    }
    Ok(copy)
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

/// Unlocks the valid one of two superblocks with one of the identities.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`] with the errors of the keyring.
pub(crate) fn unlock(
    path: &Path,
    (file, copies): (&RawFile, &Copies),
    identities: &[Box<dyn Identity>],
    trust: &Trust,
    cache: &Cache,
) -> Result<Unlocked, EngineError> {
    let (bytes, _) = copies.content(file)?.sealed(path)?;
    Ok(selenite_keyring::unlock(&bytes, identities, trust, cache)?)
}

/// Three reads, 20 and 40 ms apart: a superblock is written in less time.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// What is read of a copy at first: a superblock with a dozen key slots is smaller.
const FIRST_READ: usize = 4096;
const FIRST_READ_BYTES: u64 = 4096;
