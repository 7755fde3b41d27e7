//! Where archives are kept: objects by name, each written once.

use std::fmt;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::archive::{LOG_OBJECT_SIZE_MAX, PART_SIZE_MAX};

/// Where archives are kept.
///
/// A name is made of parts between slashes, each of letters, digits, `-`, `.` and `_`. Errors are
/// final: an implementation tries again where that helps, and says how often it did.
pub trait Destination: Send + Sync {
    /// Whether the place itself is there, for who only reads: what lists as empty may be a slip in
    /// a name. That of an object store is there where it answers.
    ///
    /// # Errors
    /// [`Trouble::Missing`]; that it can't be looked at.
    fn check_place(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes an object, whole or not at all, and has it durable before it returns.
    ///
    /// # Errors
    /// [`Trouble::Exists`] where there is one of that name, which stays as it is. After any other error it may be
    /// there or not.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Writes an object behind others of its archive, which are not recreated for it where the archive is gone.
    ///
    /// # Errors
    /// [`Trouble::Missing`] where what it is written behind is not there; as [`Destination::put_new`].
    fn put_after(&self, precondition: &AppendPrecondition, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        precondition.check(self)?;
        self.put_new(name, bytes)
    }

    /// Reads an object, all of it.
    ///
    /// # Errors
    /// [`Trouble::Missing`]; [`Trouble::Lying`] where it has more than `size_max` bytes, or others than were promised.
    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError>;

    /// The same, past any copy that is kept nearer: asked for where that was no good.
    ///
    /// # Errors
    /// As [`Destination::get`].
    fn get_anew(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        self.get(name, size_max)
    }

    /// The first `size` bytes of a part, or as many as it has.
    ///
    /// # Errors
    /// As [`Destination::get`].
    fn beginning(&self, name: &str, size: usize) -> Result<Vec<u8>, StoreError> {
        let mut bytes = self.get(name, PART_SIZE_MAX)?;
        bytes.truncate(size);
        Ok(bytes)
    }

    /// The objects whose names begin with `prefix`, which ends with a slash or is empty; by name.
    ///
    /// # Errors
    /// None of them being there is no error.
    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError>;

    /// Removes an object; that it is not there is no error.
    ///
    /// # Errors
    /// As the destination has it.
    fn remove(&self, name: &str) -> Result<(), StoreError>;

    /// What went over the line since this was made.
    fn traffic(&self) -> Traffic;

    /// Where it is, as it was named, without any secret.
    fn place(&self) -> String;
}

/// The objects that have to be where the next one goes: a destination may have become another, or may have been
/// emptied.
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

/// An object in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was written, by the destination's clock: seconds since 1970-01-01 UTC.
    pub modified: u64,
}

/// What went over the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// How many requests were made, those made again among them.
    pub requests: u64,
    /// How many of them were made again.
    pub retries: u64,
    /// Bytes of objects that were sent.
    pub sent: u64,
    /// Bytes of objects that were received.
    pub received: u64,
}

/// What kind of trouble there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// There is no such object.
    Missing,
    /// There is one already.
    Exists,
    /// The destination does not let us.
    Denied,
    /// It is full.
    Full,
    /// It can't be reached, or does not answer.
    Away,
    /// Its answer is not what it promised: shorter, longer, or altered.
    Lying,
    /// It was named wrongly.
    Usage,
    /// Something else.
    Other,
}

/// What a destination said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreError {
    /// What kind of trouble it is.
    pub trouble: Trouble,
    /// The verb: `write`, `read`, `list`, `remove`, `open`.
    pub verb: &'static str,
    /// The object, or the place.
    pub name: String,
    /// In its own words.
    pub what: String,
}

impl StoreError {
    /// What is wrong with how a destination was named.
    pub(crate) fn usage(name: &str, what: &str) -> Self {
        Self {
            trouble: Trouble::Usage,
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

/// For how long what was there is taken to be there. An object store asks a twelfth of the price of a write for each
/// of the two reads.
const MOMENT: Duration = Duration::from_secs(10);
