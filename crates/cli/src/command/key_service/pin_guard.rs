//! A wrong PIN is never tried twice: after a few of them a token locks itself, and each process that opens a database
//! would try one.
//!
//! - refused-is-remembered: when a token refuses a PIN, the token and the size, time and inode of the PIN's file are
//!   written to the state folder, and that file is not tried again at that token until it changes. Nothing about the PIN
//!   itself is written.
//! - unfinished-is-remembered: that is written before the try, too. If the process was killed before the answer came, the
//!   token is asked whether a wrong PIN was tried since the last right one (CKF_USER_PIN_COUNT_LOW); if so, that counts as
//!   refused.
//! - state-of-what-was-read: the file's state is the same before and after the PIN was read, and its inode that of the
//!   note.
//! - one-at-a-time: the note is locked from before the module is initialized until the PIN was tried. Of several
//!   processes one tries it; and SoftHSM, which rewrites the token's file at each login, fails to log in if another
//!   process reads or writes that file meanwhile.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use selenite_keyring::Config;

use super::{refused, unavailable};
use crate::cli_error::CliError;

/// The note about a PIN's file, locked until this is dropped.
pub struct PinGuard {
    pin_file: PathBuf,
    /// Device and inode of the PIN's file, which name the note.
    identity: (u64, u64),
    note: File,
    lines: String,
}

/// A PIN that may be tried at a token.
pub struct Attempt {
    state: String,
    line: String,
}

impl PinGuard {
    /// Waits until no other process tries the PIN of this file. Fails if nothing could be remembered.
    pub fn wait(config: &Config, pin_file: PathBuf) -> Result<Self, CliError> {
        let found = std::fs::metadata(&pin_file).map_err(|error| {
            let what = format!("can't look at the file of the PIN, {}: {error}", pin_file.display());
            unavailable(what, "name it in the URI (pin-source), and make it readable")
        })?;
        let identity = (found.dev(), found.ino());
        let open = || -> std::io::Result<(File, String)> {
            let state = config.state_folder().ok_or(std::io::ErrorKind::NotFound)?;
            let folder = state.join("pins");
            std::fs::create_dir_all(&folder)?;
            if !std::fs::symlink_metadata(&folder)?.is_dir() {
                return Err(std::io::Error::other("the folder of its note is a link"));
            }
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            // Neither another file by a link, nor one that makes the opening wait.
            options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
            let mut note = options.open(folder.join(format!("{}-{}", identity.0, identity.1)))?;
            let found = note.metadata()?;
            if !found.is_file() || found.nlink() != 1 {
                return Err(std::io::Error::other("its note is not a file of that one name"));
            }
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
                "make the state folder (SELENITE_STATE) writable: a wrong PIN must not be tried twice",
            )
        })?;
        Ok(Self {
            pin_file,
            identity,
            note,
            lines,
        })
    }

    pub fn pin_file(&self) -> &Path {
        &self.pin_file
    }

    /// The state of the PIN's file, for [`PinGuard::attempt`]: taken before it is read.
    pub fn state(&self) -> Result<String, CliError> {
        let found = std::fs::metadata(&self.pin_file).map_err(|error| unavailable(error.to_string(), ""))?;
        if (found.dev(), found.ino()) != self.identity {
            return Err(self.changed());
        }
        Ok(state(&found))
    }

    /// Notes that the PIN is about to be tried. Fails if this token (serial number and label) refused the PIN of this
    /// file before, or if it may have: `is_count_low` says that it refused some PIN since the last right one.
    pub fn attempt(&mut self, before: String, token: &str, is_count_low: bool) -> Result<Attempt, CliError> {
        if self.state()? != before {
            return Err(self.changed());
        }
        let line = format!("{before} {}", word(token));
        let has = |wanted: &str| self.lines.lines().any(|line| line == wanted);
        if has(&line) || (is_count_low && has(&format!("{line}{UNFINISHED}"))) {
            return Err(refused(
                format!(
                    "the token refused the PIN of {} before: it is not tried again",
                    self.pin_file.display()
                ),
                "write the right PIN to that file",
            ));
        }
        let attempt = Attempt { state: before, line };
        self.note(&attempt, Some(UNFINISHED)).map_err(|error| {
            let next = "make the state folder (SELENITE_STATE) writable: a wrong PIN must not be tried twice";
            unavailable(format!("the try of a PIN could not be noted: {error}"), next)
        })?;
        Ok(attempt)
    }

    /// Notes that the token refused the PIN.
    pub fn refused(mut self, attempt: &Attempt) -> std::io::Result<()> {
        self.note(attempt, Some(""))
    }

    /// Notes that it did not.
    pub fn answered(mut self, attempt: &Attempt) -> std::io::Result<()> {
        self.note(attempt, None)
    }

    /// Replaces what the note says of this attempt. What other tokens said of this state of the file stays.
    fn note(&mut self, attempt: &Attempt, end: Option<&str>) -> std::io::Result<()> {
        let is_other = |line: &&str| line.strip_suffix(UNFINISHED).unwrap_or(line) != attempt.line;
        let is_of_state = |line: &&str| line.starts_with(&format!("{} ", attempt.state));
        let others = self.lines.lines().filter(is_of_state).filter(is_other);
        let own = end.map(|end| format!("{}{end}", attempt.line));
        let lines: Vec<&str> = others.chain(own.as_deref()).collect();
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        self.note.rewind()?;
        self.note.set_len(0)?;
        self.note.write_all(text.as_bytes())?;
        self.note.sync_all()?;
        self.lines = text;
        Ok(())
    }

    fn changed(&self) -> CliError {
        let what = format!("{} was changed while its PIN was read", self.pin_file.display());
        unavailable(what, "try again")
    }
}

fn state(file: &Metadata) -> String {
    format!("{} {} {}", file.size(), file.mtime(), file.mtime_nsec())
}

/// Without the characters that separate lines and words of a note.
fn word(token: &str) -> String {
    token.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The end of a line about a try whose answer is not known.
const UNFINISHED: &str = " unfinished";
