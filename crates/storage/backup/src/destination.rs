//! Destinations of archives: named objects, each written once.

use std::fmt;
use std::time::{Duration, Instant};

use selenite_cipher::sha256;

use crate::archive::{LOG_OBJECT_SIZE_MAX, PART_SIZE_MAX};

/// A place where archives are stored.
///
/// A name consists of parts between slashes, each of letters, digits, `-`, `.` and `_`. Errors are
/// final: an implementation retries where that is useful, and counts the retries.
pub trait Destination: Send + Sync {
    /// Checks for a reader that the place itself exists: an empty list may be due to a typing error
    /// in its name. The place of an object store exists if the store responds.
    ///
    /// # Errors
    /// [`StoreErrorKind::Missing`]; an error of the check.
    fn check_place(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes an object atomically and durably.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`] if there is an object of that name, which is not changed. After
    /// any other error the object may exist or not.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Writes an object after others of its archive. If the archive is gone, it is not recreated.
    ///
    /// # Errors
    /// [`StoreErrorKind::Missing`] if `precondition` does not hold; those of
    /// [`Destination::put_new`].
    fn put_after(&self, precondition: &AppendPrecondition, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        precondition.check(self)?;
        self.put_new(name, bytes)
    }

    /// Reads a whole object.
    ///
    /// # Errors
    /// [`StoreErrorKind::Missing`]; [`StoreErrorKind::InvalidResponse`] if it has more than
    /// `size_max` bytes, or not the bytes that were promised.
    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError>;

    /// As [`Destination::get`], bypassing any cache: called if the cached object was invalid.
    ///
    /// # Errors
    /// Those of [`Destination::get`].
    fn get_uncached(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        self.get(name, size_max)
    }

    /// The first `size` bytes of a part, or all if there are fewer.
    ///
    /// # Errors
    /// Those of [`Destination::get`].
    fn beginning(&self, name: &str, size: usize) -> Result<Vec<u8>, StoreError> {
        let mut bytes = self.get(name, PART_SIZE_MAX)?;
        bytes.truncate(size);
        Ok(bytes)
    }

    /// The objects whose names begin with `prefix`, which ends with a slash or is empty, ordered by name.
    ///
    /// # Errors
    /// Those of the destination. An empty list is no error.
    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError>;

    /// Removes an object; it is no error if the object does not exist.
    ///
    /// # Errors
    /// Those of the destination.
    fn remove(&self, name: &str) -> Result<(), StoreError>;

    /// The traffic since this was created.
    fn traffic(&self) -> Traffic;

    /// The place as the user specified it, without secrets.
    fn place(&self) -> String;
}

/// The objects that must exist where the next one is written: the destination may have been
/// replaced or emptied meanwhile.
pub struct AppendPrecondition {
    /// The name of the archive's manifest.
    pub manifest: String,
    /// The name of the previous object, and its SHA-256; `None` for the first of a log.
    pub last: Option<(String, [u8; 32])>,
    /// When they were last known to exist.
    pub seen: Instant,
}

impl AppendPrecondition {
    /// Reads the objects, unless they were known to exist very recently.
    ///
    /// # Errors
    /// [`StoreErrorKind::Missing`] if one of them does not exist or was replaced; those of the
    /// destination.
    pub fn check<D: Destination + ?Sized>(&self, destination: &D) -> Result<(), StoreError> {
        if self.seen.elapsed() < EXISTENCE_CACHE_TIME {
            return Ok(());
        }
        destination.get(&self.manifest, LOG_OBJECT_SIZE_MAX)?;
        let Some((name, hash)) = &self.last else { return Ok(()) };
        let bytes = destination.get(name, LOG_OBJECT_SIZE_MAX)?;
        if sha256(&bytes)[..] == hash[..] {
            return Ok(());
        }
        Err(StoreError {
            kind: StoreErrorKind::Missing,
            verb: "find",
            name: name.clone(),
            what: "another is in its place".to_owned(),
        })
    }
}

/// A listed object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// The name of the object.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// When the object was written, by the destination's clock: seconds since 1970-01-01 UTC.
    pub modified: u64,
}

/// Counters of network traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// The number of requests, including retries.
    pub requests: u64,
    /// The number of retries.
    pub retries: u64,
    /// Bytes of objects sent.
    pub sent: u64,
    /// Bytes of objects received.
    pub received: u64,
}

/// The kind of an error of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreErrorKind {
    /// There is no such object.
    Missing,
    /// The object already exists.
    Exists,
    /// The destination denies access.
    Denied,
    /// The destination is full.
    Full,
    /// The destination cannot be reached, or does not respond.
    Unreachable,
    /// The response is not what was promised: shorter, longer, or altered.
    InvalidResponse,
    /// The destination was specified incorrectly.
    Usage,
    /// Any other error.
    Other,
}

/// An error of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreError {
    /// The kind of the error.
    pub kind: StoreErrorKind,
    /// The verb: `write`, `read`, `list`, `remove`, `open`.
    pub verb: &'static str,
    /// The name of the object or the place.
    pub name: String,
    /// The message of the destination.
    pub what: String,
}

impl StoreError {
    /// An error in the specification of a destination.
    pub(crate) fn usage(name: &str, what: &str) -> Self {
        Self {
            kind: StoreErrorKind::Usage,
            verb: "open",
            name: name.to_owned(),
            what: what.to_owned(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't {} {}: {}", self.verb, self.name, self.what)
    }
}

impl std::error::Error for StoreError {}

/// For how long objects are assumed to still exist. At an object store each of the two reads costs
/// a twelfth of a write.
const EXISTENCE_CACHE_TIME: Duration = Duration::from_secs(10);
