//! What is the operating system's own: owners, modes and other attributes of files, descriptors of
//! folders, the list of locks.
//!
//! Each system has one file with the same functions. Where a system has no implementation yet, the
//! function returns an error of kind [`std::io::ErrorKind::Unsupported`]; docs/PLATFORMS.md lists
//! these functions. What `selenite_keyring::platform` has is used from there.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    SharedFolder, attributes, carry_over, create_private_folder, device_number, identity, is_same_file, listed_locks,
    lock_folder, name_of, open_descriptions, open_if_sole, process_name, processes, set_owner_and_mode,
};

/// The metadata of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// Its size in bytes.
    pub size: u64,
    /// Its owner.
    pub user_id: u32,
    /// Its group.
    pub group_id: u32,
    /// The mode: the lower 12 bits.
    pub mode: u32,
    /// Its device and inode: two names with the same are names of one file.
    pub identity: (u64, u64),
    /// How many hard links it has.
    pub link_count: u64,
    /// Whether it is a regular file.
    pub is_file: bool,
}
