//! The status of a database, with a key or without one.

use std::path::{Path, PathBuf};

use selenite_cipher::{DatabaseId, Suite};
use selenite_format::{Geometry, State, Superblock};
use selenite_keyring::{Cache, Config, Identity, KeyError, Origin, OriginPolicy, Pin, SlotSummary, Trust, Unlocked};

use crate::draft::{COMPANIONS, beside};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::{FileContent, Superblocks, inspect_file};
use crate::{Access, EngineError, LastVerify, PhysicalReport};

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

/// The content of a superblock.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// Whether it was authenticated with a key; if not, it is what the file claims.
    pub authentic: bool,
    /// Why there was no key to authenticate it.
    pub why_not: Option<String>,
    /// The slot that opened it.
    pub opened_by: Option<SlotSummary>,
    /// Whether the keyring file pins it; `None` without a key.
    pub is_pinned: Option<bool>,
    /// A key file in force that other users can read; `None` unless the superblock is authentic.
    pub key_readable: Option<PathBuf>,
    /// Its origin, as far as the identity in force can determine it; `None` without a key.
    pub origin: Option<Origin>,
    /// The commitment of its master key (FORMAT 4.2); `None` without a key.
    pub commitment: Option<[u8; 32]>,
    /// Which of its two superblocks are intact.
    pub superblocks: Superblocks,
    /// The database's id.
    pub database_id: DatabaseId,
    /// The number of the superblock: it increases with every change of keys or state.
    pub generation: u64,
    /// The operation in progress, if any.
    pub state: State,
    /// The last page that is done, while an operation is in progress.
    pub cursor: u32,
    /// The suite that new pages are sealed in.
    pub suite: &'static str,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// How many pages there are.
    pub page_count: u32,
    /// When the master key was made: seconds since 1970-01-01 UTC.
    pub master_created: u64,
    /// The data keys in use.
    pub epochs: Vec<EpochSummary>,
    /// Its key slots.
    pub slots: Vec<SlotSummary>,
}

/// A data key.
#[derive(Clone, Debug)]
pub struct EpochSummary {
    /// Its number.
    pub epoch: u32,
    /// The suite that it is used with.
    pub suite: &'static str,
    /// When it was made: seconds since 1970-01-01 UTC.
    pub created: u64,
    /// Whether new pages are sealed under it.
    pub is_sealing: bool,
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
        let seen = match inspect_file(file)? {
            FileContent::Plain => None,
            sealed @ (FileContent::Empty | FileContent::Sealed { .. } | FileContent::Foreign) => {
                Some((sealed.sealed(path)?, Superblocks::load(file)?))
            }
        };
        Ok((file.size()?, seen))
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
        Ok(unlocked) => Ok(unlocked_status(&unlocked, (superblocks, size), keys.readable.clone())),
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

/// A key file in force that other users can read.
pub(crate) fn readable_key(access: &Access, config: &Config) -> Option<PathBuf> {
    let spec = access.spec(config)?;
    selenite_keyring::readable_by_others(&spec).map(Path::to_owned)
}

/// The content of a superblock that a key opened.
pub(crate) fn unlocked_status(
    unlocked: &Unlocked,
    (superblocks, size): (Superblocks, u64),
    key_readable: Option<PathBuf>,
) -> Sealed {
    let opened_by = unlocked.superblock.slots.iter().find(|slot| slot.id == unlocked.slot);
    Sealed {
        authentic: true,
        opened_by: opened_by.map(SlotSummary::new),
        is_pinned: Some(unlocked.pin == Pin::Pinned),
        key_readable,
        origin: Some(unlocked.origin),
        commitment: Some(unlocked.master.commitment()),
        ..summary(&unlocked.superblock, superblocks, size)
    }
}

pub(crate) fn summary(superblock: &Superblock, superblocks: Superblocks, size: u64) -> Sealed {
    let sealing = superblock.sealing();
    Sealed {
        authentic: false,
        why_not: None,
        opened_by: None,
        is_pinned: None,
        key_readable: None,
        origin: None,
        commitment: None,
        superblocks,
        database_id: superblock.database_id,
        generation: superblock.generation,
        state: superblock.state,
        cursor: superblock.cursor,
        suite: sealing.map_or("none", |epoch| epoch.suite.name()),
        page_size: superblock.page_size.as_u32(),
        page_count: Geometry::new(superblock.page_size).page_count(size),
        master_created: superblock.master_created,
        epochs: superblock
            .epochs
            .iter()
            .map(|epoch| EpochSummary {
                epoch: epoch.epoch.0,
                suite: epoch.suite.name(),
                created: epoch.created,
                is_sealing: epoch.epoch == superblock.sealing_epoch,
            })
            .collect(),
        slots: superblock.slots.iter().map(SlotSummary::new).collect(),
    }
}

impl Sealed {
    /// Whether new pages are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.suite != Suite::None.name()
    }

    /// When the present data key was created.
    #[must_use]
    pub fn data_key_created(&self) -> Option<u64> {
        let sealing = self.epochs.iter().find(|epoch| epoch.is_sealing);
        sealing.map(|epoch| epoch.created)
    }

    /// Whether the data key in use was made after this verification: then a re-encryption has
    /// written the pages since.
    #[must_use]
    pub fn is_reencrypted_since(&self, verify: &LastVerify) -> bool {
        let sealing = self.epochs.iter().find(|epoch| epoch.is_sealing);
        sealing.is_some_and(|epoch| {
            // Times are whole seconds. The first data key is that of a new database, not of a re-encryption.
            let is_within_second = epoch.created == verify.time && self.generation > verify.generation;
            epoch.epoch > 1 && (epoch.created > verify.time || is_within_second)
        })
    }

    /// The completed share of the pages, from 0 to 1, while an operation on all pages is in
    /// progress.
    #[must_use]
    pub fn progress(&self) -> Option<f64> {
        let is_known = self.state.has_cursor() && self.page_count > 0;
        is_known.then(|| f64::from(self.cursor.min(self.page_count)) / f64::from(self.page_count))
    }

    /// The same in whole percent: 100 only when all pages are done.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        self.progress()?;
        let done = u64::from(self.cursor.min(self.page_count)) * 100;
        done.checked_div(self.page_count.into())
    }

    /// The state in words.
    #[must_use]
    pub fn state_word(&self) -> &'static str {
        match self.state {
            State::Steady => "steady",
            State::SwitchingOn => "switching on",
            State::SwitchingOff => "switching off",
            State::Changing => "changing key or suite",
            State::Finishing => "finishing",
            State::Retired => "retired",
        }
    }
}
