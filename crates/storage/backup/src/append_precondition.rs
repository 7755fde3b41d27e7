//! What an object of a log is written behind.

use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::destination::{Destination, StoreError, Trouble};
use crate::log_reader::LOG_OBJECT_SIZE_MAX;

/// The objects that have to be where the next one goes: a destination may have become another, or may have been emptied.
pub struct AppendPrecondition {
    /// The archive's manifest.
    pub manifest: String,
    /// The object before, and its SHA-256; nothing for the first of a log.
    pub last: Option<(String, [u8; 32])>,
    /// When they were there.
    pub seen: Instant,
}

impl AppendPrecondition {
    /// Reads them, unless they were there a moment ago.
    ///
    /// # Errors
    /// [`Trouble::Missing`] where one of them is not there, or another is in its place; what the destination says.
    pub fn check<D: Destination + ?Sized>(&self, destination: &D) -> Result<(), StoreError> {
        if self.seen.elapsed() < MOMENT {
            return Ok(());
        }
        destination.get(&self.manifest, LOG_OBJECT_SIZE_MAX)?;
        let Some((name, hash)) = &self.last else { return Ok(()) };
        let bytes = destination.get(name, LOG_OBJECT_SIZE_MAX)?;
        if Sha256::digest(&bytes)[..] == hash[..] {
            return Ok(());
        }
        Err(StoreError {
            trouble: Trouble::Missing,
            verb: "find",
            name: name.clone(),
            what: "another is in its place".to_owned(),
        })
    }
}

/// For how long what was there is taken to be there. An object store asks a twelfth of the price of a write for each of the two reads.
const MOMENT: Duration = Duration::from_secs(10);
