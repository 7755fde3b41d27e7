//! Existing backups: their listing, verification and retention.
//!
//! - claims-are-marked: what a destination states about objects (names, sizes and times) is
//!   reported as its claim; what a manifest states was authenticated.
//! - remove-only-authentic: only objects recognized as ours are removed, and never because of a
//!   manifest that did not open.

mod listing;
mod pruning;
mod verification;

use selenite_backup::{
    BEGUN_SIZE_MAX, Backup, BackupError, Destination, Entry, KeySource, OpenArchive, Part, object_key,
};
use selenite_format::Superblock;
use selenite_format::archive::ArchiveHeader;
use selenite_keyring::{Cache, Identity, SlotSummary, Trust};

pub use listing::{BaseState, Known, Listed, Listing, list};
pub use pruning::{KeptBackup, Prune, Pruned, RemovedBackup, prune};
pub use selenite_backup::retention::{Reason, Rules};
pub use verification::{ArchiveOutcome, Checked, Verification, Verify, verify};

use crate::{Access, EngineError};

/// The key slots of the database in a backup, as its first object states them, unauthenticated: for
/// users whose key opens neither. Empty if the object cannot be read.
#[must_use]
pub fn claimed_slots(destination: &dyn Destination, entry: &Entry) -> Vec<SlotSummary> {
    let object = object_key(entry.database_id, &entry.name, Part::Begun);
    let begun = destination.get(&object, BEGUN_SIZE_MAX).ok();
    let superblock = begun.and_then(|bytes| {
        let (begun, _, _) = ArchiveHeader::parse(&bytes).ok()?;
        Superblock::parse(&begun.superblock).ok()
    });
    superblock.map_or_else(Vec::new, |superblock| {
        superblock.slots.iter().map(SlotSummary::new).collect()
    })
}

/// The identities that open archives.
struct Reader {
    identities: Vec<Box<dyn Identity>>,
    trust: Trust,
    cache: Cache,
}

impl Reader {
    /// Uses the identities in force. `unpinned` ignores pins in the keyring file, so that backups
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

    /// Opens a backup with its manifest.
    fn open(&self, destination: &dyn Destination, entry: &Entry) -> Result<Backup, BackupError> {
        let archive = OpenArchive::open(destination, entry.database_id, &entry.name, &self.keys())?;
        archive.into_backup(destination)
    }
}
