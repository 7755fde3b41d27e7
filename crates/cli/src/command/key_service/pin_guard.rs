//! A wrong PIN is never tried twice: after a few of them a token locks itself, and each process that opens a database
//! would try one.
//!
//! - refused-is-remembered: when a token refuses a PIN, the token and the size, time and inode of the PIN's file are
//!   written to the state folder, and that file is not tried again at that token until it changes. Nothing about the PIN
//!   itself is written.
//! - one-at-a-time: the note is locked from before the module is initialized until the PIN was tried. Of several
//!   processes one tries it; and SoftHSM, which rewrites the token's file at each login, fails to log in if another
//!   process reads or writes that file meanwhile.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use selenite_keyring::Config;

use super::{refused, unavailable};
use crate::cli_error::CliError;

/// The note about a PIN's file, locked until this is dropped.
pub struct PinGuard {
    pin_file: PathBuf,
    note: File,
    lines: String,
}

impl PinGuard {
    /// Waits until no other process tries the PIN of this file. Fails if nothing could be remembered.
    pub fn wait(config: &Config, pin_file: PathBuf) -> Result<Self, CliError> {
        let open = || -> std::io::Result<(File, String)> {
            let found = std::fs::metadata(&pin_file)?;
            let state = config.state_folder().ok_or(std::io::ErrorKind::NotFound)?;
            let folder = state.join("pins");
            std::fs::create_dir_all(&folder)?;
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let mut note = options.open(folder.join(format!("{}-{}", found.dev(), found.ino())))?;
            note.lock()?;
            let mut lines = String::new();
            // What can't be read is another program's.
            let _ = note.read_to_string(&mut lines);
            Ok((note, lines))
        };
        let (note, lines) = open().map_err(|error| {
            unavailable(
                format!(
                    "a refused PIN of {} could not be remembered: {error}",
                    pin_file.display()
                ),
                "make that file readable and the state folder (SELENITE_STATE) writable: \
                 a wrong PIN must not be tried twice",
            )
        })?;
        Ok(Self { pin_file, note, lines })
    }

    pub fn pin_file(&self) -> &Path {
        &self.pin_file
    }

    /// A line for [`PinGuard::refused`]. Fails if this token (serial number and label) refused the PIN of this file before.
    pub fn attempt(&self, token: &str) -> Result<String, CliError> {
        let found = std::fs::metadata(&self.pin_file).map_err(|error| unavailable(error.to_string(), ""))?;
        let attempt = format!("{} {}\n", state(&found), word(token));
        if self.lines.split_inclusive('\n').any(|line| line == attempt) {
            return Err(refused(
                format!(
                    "the token refused the PIN of {} before: it is not tried again",
                    self.pin_file.display()
                ),
                "write the right PIN to that file",
            ));
        }
        Ok(attempt)
    }

    /// Notes that the token refused the PIN.
    pub fn refused(mut self, attempt: &str) -> std::io::Result<()> {
        // What other tokens said of this state of the file stays.
        let state_of = |line: &str| line.rsplit_once(' ').map(|(state, _)| state.to_owned());
        let is_of_state = |line: &&str| state_of(line) == state_of(attempt);
        let others = self.lines.split_inclusive('\n').filter(is_of_state);
        let lines: String = others.chain([attempt]).collect();
        self.note.rewind()?;
        self.note.set_len(0)?;
        self.note.write_all(lines.as_bytes())?;
        self.note.sync_all()
    }
}

fn state(file: &Metadata) -> String {
    format!("{} {} {}", file.size(), file.mtime(), file.mtime_nsec())
}

/// Without the characters that separate lines and words of a note.
fn word(token: &str) -> String {
    token.chars().filter(char::is_ascii_alphanumeric).collect()
}
