//! What is the operating system's own: descriptors of folders, devices.
//!
//! Each system has one file with the same functions; docs/PLATFORMS.md lists how they differ. The
//! rest is in [`selenite_keyring::platform`].

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{OpenFolder, create_private_folder, is_mount_point};
