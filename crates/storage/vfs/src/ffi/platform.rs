//! What is the operating system's own: memory, process rights, descriptors, identities of files.
//!
//! Each system has one file with the same functions; `unix/linux.rs` has what other POSIX systems
//! lack, `absent.rs` what every system but Linux lacks. docs/PLATFORMS.md lists what is missing
//! elsewhere. `selenite_keyring::platform` has the rest.

#[cfg(not(target_os = "linux"))]
mod absent;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(super) use system::{Mapping, SharedAlias, fill_random, map_fork_words, on_exit, on_fork};
pub use system::{
    check_support, descriptors, descriptors_of, file_identity, forget_cached, is_elevated, lock_byte_of_description,
    lock_memory, locked_memory_limit, make_private_file, open_private, open_regular_file, path_of_name, process_status,
    system_page_size,
};

/// A lock on a byte of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteLock {
    /// None.
    None,
    /// Others may have the same.
    Shared,
    /// No one else has one.
    Exclusive,
}
