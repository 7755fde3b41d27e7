//! What is the operating system's own: access rights of files, process groups, signals.
//!
//! Each system has one file with the same functions. Where a system has no implementation yet, the
//! function returns an error of kind [`std::io::ErrorKind::Unsupported`]; docs/PLATFORMS.md lists
//! these functions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    ProcessGroup, block_signals, check_owners, create_private_folders, is_pipe, is_readable_by_others, open_private,
    rename_new, sync_folder,
};
