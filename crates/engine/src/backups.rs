//! Backups that are there: what they are, whether they are good, and which are kept.
//!
//! B1. What a destination says of itself, names, sizes and times, is told as such; what a manifest says was authenticated.
//! B2. Nothing is removed that was not seen to be ours, nor on the word of a manifest that did not open.

mod listing;
mod pruning;
mod verification;

use selenite_backup::{Backup, BackupError, Destination, Entry, KeySource, OpenArchive};
use selenite_keyring::{Cache, Identity, Keyring};

pub use listing::{Ground, Known, Listed, Listing, list};
pub use pruning::{Gone, Kept, Prune, Pruned, prune};
pub use selenite_backup::retention::{Reason, Rules};
pub use verification::{Checked, Outcome, Verification, Verify, verify};

use crate::{Access, EngineError};

/// Who opens archives.
struct Reader {
    identities: Vec<Box<dyn Identity>>,
    keyring: Keyring,
    cache: Cache,
}

impl Reader {
    /// Whoever's identity is in force. `unpinned`: the keyring file is not asked, so that backups from before the master key was renewed
    /// are read, too.
    fn new(access: &Access, unpinned: bool) -> Result<Self, EngineError> {
        let keyring = access.check()?;
        Ok(Self {
            identities: access.identities(&Access::config()?)?,
            keyring: if unpinned { Keyring::default() } else { keyring },
            cache: Cache::new(),
        })
    }

    fn has_key(&self) -> bool {
        !self.identities.is_empty()
    }

    fn keys(&self) -> KeySource<'_> {
        KeySource::Identities {
            identities: &self.identities,
            keyring: &self.keyring,
            cache: &self.cache,
        }
    }

    /// A backup, with its manifest.
    fn open(&self, destination: &dyn Destination, entry: &Entry) -> Result<Backup, BackupError> {
        let archive = OpenArchive::open(destination, entry.database_id, &entry.name, &self.keys())?;
        archive.into_backup(destination)
    }
}
