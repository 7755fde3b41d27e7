//! A wrong PIN is never tried twice: after a few of them a token locks itself, and each process that opens a database
//! would try one.
//!
//! - refused-is-remembered: when a token refuses a PIN, size, time and inode of the PIN's file are written to the state
//!   folder, and that file is not tried again until it changes. Nothing about the PIN itself is written.
//! - one-at-a-time: the note is locked while a PIN is tried, so that of several processes one tries it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use selenite_keyring::Config;

use super::{refused, unavailable};
use crate::cli_error::CliError;

/// The note about the PIN's file for a token, locked until this is dropped.
pub struct PinGuard {
    note: File,
    file: String,
}

impl PinGuard {
    /// `token` is its serial number and label. Fails if the PIN of this file was refused before, or if nothing could be
    /// remembered.
    pub fn new(config: &Config, token: &str, pin_file: &Path) -> Result<Self, CliError> {
        let open = || -> std::io::Result<Self> {
            let found = std::fs::metadata(pin_file)?;
            let file = format!("{} {} {}", found.size(), found.mtime(), found.mtime_nsec());
            let state = config.state_folder().ok_or(std::io::ErrorKind::NotFound)?;
            let folder = state.join("pins");
            std::fs::create_dir_all(&folder)?;
            let token: String = token.chars().filter(char::is_ascii_alphanumeric).collect();
            let name = format!("{token}-{}-{}", found.dev(), found.ino());
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let note = options.open(folder.join(name))?;
            note.lock()?;
            Ok(Self { note, file })
        };
        let mut guard = open().map_err(|error| {
            unavailable(
                format!("a refused PIN could not be remembered: {error}"),
                "make the state folder writable (SELENITE_STATE): a wrong PIN must not be tried twice",
            )
        })?;
        let mut known = String::new();
        // What can't be read is another file's.
        let _ = guard.note.read_to_string(&mut known);
        if known == guard.file {
            return Err(refused(
                format!(
                    "the token refused the PIN of {} before: it is not tried again",
                    pin_file.display()
                ),
                "write the right PIN to that file",
            ));
        }
        Ok(guard)
    }

    /// Notes that the token refused the PIN.
    pub fn refused(mut self) -> std::io::Result<()> {
        self.note.rewind()?;
        self.note.set_len(0)?;
        self.note.write_all(self.file.as_bytes())?;
        self.note.sync_all()
    }
}
