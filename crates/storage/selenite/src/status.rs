//! What there is to say about a database: with a key, or without one.

use std::path::{Path, PathBuf};

use selenite_cipher::{DatabaseId, Suite};
use selenite_format::{Geometry, State, Superblock};
use selenite_keyring::{Cache, Identity, KeyError, Origin, OriginPolicy, Pin, SlotSummary, Trust};

use crate::draft::{COMPANIONS, beside};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::{FileContent, Superblocks, inspect_file};
use crate::{Access, EngineError, LastVerify};

/// A database, seen from outside.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its name.
    pub path: PathBuf,
    /// The database file and those beside it that exist.
    pub files: Vec<FileSize>,
    /// What stands in its superblock; nothing if it is in clear.
    pub sealed: Option<Sealed>,
}

/// A file and its size.
#[derive(Clone, Debug)]
pub struct FileSize {
    /// Its name.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// What stands in a superblock.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// Whether a key proved it; if not, it is what the file says about itself.
    pub authentic: bool,
    /// Why there was no key to prove it.
    pub why_not: Option<String>,
    /// The slot that opened it.
    pub opened_by: Option<SlotSummary>,
    /// What the keyring file says; nothing without a key.
    pub is_pinned: Option<bool>,
    /// A key file in force that others than its owner can read; nothing unless a key proved it.
    pub key_readable: Option<PathBuf>,
    /// Where it comes from, as far as the identity in force can tell; nothing without a key.
    pub origin: Option<Origin>,
    /// The commitment of its master key (FORMAT 4.2); nothing without a key.
    pub commitment: Option<[u8; 32]>,
    /// Which of its two superblocks are whole.
    pub superblocks: Superblocks,
    /// The database.
    pub database_id: DatabaseId,
    /// How often keys or state changed.
    pub generation: u64,
    /// What is being done to it.
    pub state: State,
    /// The last page that is done, while something is.
    pub cursor: u32,
    /// What new pages are sealed in.
    pub suite: &'static str,
    /// In bytes.
    pub page_size: u32,
    /// How many there are.
    pub page_count: u32,
    /// When the master key was made: seconds since 1970-01-01 UTC.
    pub master_created: u64,
    /// The data keys in use.
    pub epochs: Vec<EpochSummary>,
    /// Who can open it.
    pub slots: Vec<SlotSummary>,
}

/// A data key.
#[derive(Clone, Debug)]
pub struct EpochSummary {
    /// Its number.
    pub epoch: u32,
    /// What it is used with.
    pub suite: &'static str,
    /// When it was made: seconds since 1970-01-01 UTC.
    pub created: u64,
    /// Whether new pages are sealed under it.
    pub is_sealing: bool,
}

/// Looks at a database. Where no identity is in force, or none that opens it, what it says of itself is all there is.
///
/// # Errors
/// [`EngineError::NotEncrypted`] for a file that is no database; [`EngineError::Key`] for a superblock that is damaged
/// or not authentic, and for a retired file; [`EngineError::Io`].
pub fn status(storage: &dyn Storage, path: &Path, access: &Access) -> Result<Status, EngineError> {
    // Keys are asked for when the file is closed again: that may take its time.
    let (size, seen) = RawFile::look(storage, path, |file| {
        let seen = match inspect_file(file)? {
            FileContent::Plain => None,
            sealed @ (FileContent::Empty | FileContent::Sealed { .. } | FileContent::Foreign) => {
                Some((sealed.sealed(path)?, Superblocks::load(file)?))
            }
        };
        Ok((file.size()?, seen))
    })?;
    let look = |((bytes, superblock), superblocks): ((Vec<u8>, Box<Superblock>), Superblocks)| {
        look((&bytes, &superblock), (superblocks, size), &Keys::load(access)?)
    };
    let sealed = seen.map(look).transpose()?;
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
    Ok(Status {
        path: path.to_owned(),
        files,
        sealed,
    })
}

/// The identities in force, to look at several databases with.
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
            // What it says of the origin is shown, and nothing is pinned by looking.
            trust: Trust::load(&config, Some(OriginPolicy::Any), None)?,
            cache: Cache::new(),
            readable: access
                .spec(&config)
                .and_then(|spec| selenite_keyring::readable_by_others(&spec).map(Path::to_owned)),
        })
    }
}

/// What a superblock says, with the keys that are available; `clear` is the same, taken apart by the caller that
/// read it.
pub(crate) fn look(
    (bytes, clear): (&[u8], &Superblock),
    (superblocks, size): (Superblocks, u64),
    keys: &Keys,
) -> Result<Sealed, EngineError> {
    match selenite_keyring::unlock(bytes, &keys.identities, &keys.trust, &keys.cache) {
        Ok(unlocked) => {
            let opened_by = unlocked.superblock.slots.iter().find(|slot| slot.id == unlocked.slot);
            Ok(Sealed {
                authentic: true,
                opened_by: opened_by.map(SlotSummary::new),
                is_pinned: Some(unlocked.pin == Pin::Pinned),
                key_readable: keys.readable.clone(),
                origin: Some(unlocked.origin),
                commitment: Some(unlocked.master.commitment()),
                ..summary(&unlocked.superblock, superblocks, size)
            })
        }
        // A caller without a key still sees what is unencrypted.
        Err(
            error @ (KeyError::NoKey
            | KeyError::WrongKey
            | KeyError::KeyServiceAway { .. }
            | KeyError::KeyRefused { .. }),
        ) => Ok(Sealed {
            why_not: Some(error.to_string()),
            ..summary(clear, superblocks, size)
        }),
        Err(error) => Err(error.into()),
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

    /// When the data key was made that new pages are sealed under.
    #[must_use]
    pub fn data_key_created(&self) -> Option<u64> {
        let sealing = self.epochs.iter().find(|epoch| epoch.is_sealing);
        sealing.map(|epoch| epoch.created)
    }

    /// Whether the data key in use was made after this verification: a re-encryption wrote the pages since.
    #[must_use]
    pub fn is_reencrypted_since(&self, verify: &LastVerify) -> bool {
        let sealing = self.epochs.iter().find(|epoch| epoch.is_sealing);
        sealing.is_some_and(|epoch| {
            // Times are whole seconds. The first data key is that of a new database, not of a re-encryption.
            let is_within_second = epoch.created == verify.time && self.generation > verify.generation;
            epoch.epoch > 1 && (epoch.created > verify.time || is_within_second)
        })
    }

    /// Which part of the pages is done, from 0 to 1, while something is being done to them all.
    #[must_use]
    pub fn progress(&self) -> Option<f64> {
        let is_known = self.state.has_cursor() && self.page_count > 0;
        is_known.then(|| f64::from(self.cursor.min(self.page_count)) / f64::from(self.page_count))
    }

    /// The same in whole percent: 100 only when all are.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        self.progress()?;
        let done = u64::from(self.cursor.min(self.page_count)) * 100;
        done.checked_div(self.page_count.into())
    }

    /// The state in a word.
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
