//! The content of a superblock, as far as it is no secret.

use std::path::{Path, PathBuf};

use selenite_cipher::{DatabaseId, Suite};
use selenite_format::{Geometry, State, Superblock};
use selenite_keyring::{Config, Origin, Pin, SlotSummary, Unlocked};

use crate::Access;
use crate::superblock_file::Superblocks;

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
