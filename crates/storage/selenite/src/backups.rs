//! Backups that are there: what they are, whether they are good, and which are kept.
//!
//! - claims-are-marked: what a destination says of itself, names, sizes and times, is told as such;
//!   what a manifest says was authenticated.
//! - remove-only-authentic: nothing is removed that was not seen to be ours, nor on the word of a
//!   manifest that did not open.

mod listing;
mod pruning;
mod verification;

use selenite_backup::{
    BEGUN_SIZE_MAX, Backup, BackupError, Destination, Entry, KeySource, OpenArchive, Part, object_key,
};
use selenite_format::Superblock;
use selenite_format::archive::Begun;
use selenite_keyring::{Cache, Identity, SlotSummary, Trust};

pub use listing::{BaseState, Known, Listed, Listing, list};
pub use pruning::{Gone, Kept, Prune, Pruned, prune};
pub use selenite_backup::retention::{Reason, Rules};
pub use verification::{Checked, Outcome, Verification, Verify, verify};

use crate::{Access, EngineError};

/// Who could open the database that a backup is of, as its first object says, which no one has
/// authenticated: for people whose key opens neither. Nothing where it can't be read.
#[must_use]
pub fn claimed_slots(destination: &dyn Destination, entry: &Entry) -> Vec<SlotSummary> {
    let object = object_key(entry.database_id, &entry.name, Part::Begun);
    let begun = destination.get(&object, BEGUN_SIZE_MAX).ok();
    let superblock = begun.and_then(|bytes| {
        let (begun, _, _) = Begun::parse(&bytes).ok()?;
        Superblock::parse(&begun.superblock).ok()
    });
    superblock.map_or_else(Vec::new, |superblock| {
        superblock.slots.iter().map(SlotSummary::new).collect()
    })
}

/// Who opens archives.
struct Reader {
    identities: Vec<Box<dyn Identity>>,
    trust: Trust,
    cache: Cache,
}

impl Reader {
    /// The holder of the identity in force. `unpinned`: the keyring file is not asked, so that backups
    /// from before the master key was renewed are read, too.
    fn new(access: &Access, unpinned: bool) -> Result<Self, EngineError> {
        let trust = access.check()?;
        Ok(Self {
            identities: access.backup_identities(&Access::config()?)?,
            trust: if unpinned { trust.unpinned() } else { trust },
            cache: Cache::new(),
        })
    }

    fn has_key(&self) -> bool {
        !self.identities.is_empty()
    }

    fn keys(&self) -> KeySource<'_> {
        KeySource::Identities {
            identities: &self.identities,
            trust: &self.trust,
            cache: &self.cache,
        }
    }

    /// A backup, with its manifest.
    fn open(&self, destination: &dyn Destination, entry: &Entry) -> Result<Backup, BackupError> {
        let archive = OpenArchive::open(destination, entry.database_id, &entry.name, &self.keys())?;
        archive.into_backup(destination)
    }
}
