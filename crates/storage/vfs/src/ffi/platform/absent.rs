//! What every system but Linux lacks, so far.

use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use selenite_keyring::platform::unsupported;

/// Locking memory when it is first used is Linux's own.
///
/// # Errors
/// `Unsupported`.
pub fn lock_memory() -> io::Result<()> {
    Err(unsupported("locking memory"))
}

/// Not needed: [`lock_memory`] refuses.
///
/// # Errors
/// None.
pub fn locked_memory_limit() -> io::Result<Option<u64>> {
    Ok(None)
}

/// There is no proc(5).
#[must_use]
pub fn process_status() -> String {
    String::new()
}

/// There is no such advice.
pub fn forget_cached(_descriptor: i32) {}

/// POSIX: unknown, they are not examined yet. Windows: none are needed, locks belong to a handle.
pub fn descriptors(_path: &Path) -> impl Iterator<Item = i32> {
    std::iter::empty()
}

/// As [`descriptors`].
pub fn descriptors_of(_file: Option<(u64, u64)>) -> impl Iterator<Item = i32> {
    std::iter::empty()
}

/// Locks that belong to an open file description are not POSIX's yet.
#[must_use]
pub fn lock_byte_of_description(_descriptor: i32, _byte: u64, _lock: super::ByteLock) -> bool {
    false
}

/// Never made: a mapping has no second address here.
pub(in crate::ffi) enum SharedAlias {}

impl SharedAlias {
    pub(in crate::ffi) fn new(_target: NonNull<u8>, _size: usize) -> Option<Self> {
        None
    }

    pub(in crate::ffi) fn start(&self) -> NonNull<u8> {
        match *self {}
    }

    pub(in crate::ffi) fn retarget(&self, _target: NonNull<u8>) -> bool {
        match *self {}
    }

    pub(in crate::ffi) fn blank(&self) -> bool {
        match *self {}
    }
}

/// Never made: no one call excludes memory from dumps, and from children where there is a fork.
pub(in crate::ffi) enum Mapping {}

impl Mapping {
    pub(in crate::ffi) fn new(_size: usize) -> Option<Self> {
        None
    }

    pub(in crate::ffi) fn start(&self) -> NonNull<u8> {
        match *self {}
    }
}

/// POSIX: the handler of `on_fork` and the process id remain. Windows: there is no fork.
pub(in crate::ffi) fn map_fork_words() -> Option<(&'static [AtomicU64; 64], bool)> {
    None
}
