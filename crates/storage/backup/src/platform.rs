//! What is the operating system's own: descriptors of folders, devices, reading at an offset.
//!
//! Each system has one file with the same functions; docs/PLATFORMS.md lists how they differ.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{
    OpenFolder, create_private_folder, is_mount_point, open_without_link, read_at, sync_folder, write_all_at,
};
