//! What is the operating system's own: access rights of files, process groups, signals.
//!
//! Each system has one file with the same functions. Where a system has no implementation yet, the
//! function returns an error of kind [`std::io::ErrorKind::Unsupported`]; docs/PLATFORMS.md lists
//! these functions. What is public is for the storage crates above this one, whose own modules
//! `platform` have the rest.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    ProcessGroup, block_signals, check_owners, create_private_folders, is_pipe, is_readable_by_others, is_status_lost,
};
pub use system::{open_private, open_without_link, part_of_name, read_at, rename_new, sync_folder, write_all_at};

/// The error of what a system has no implementation of yet.
#[must_use]
pub fn unsupported(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what} is not implemented on {} yet", std::env::consts::OS),
    )
}
