//! The last successful verification of a database.
//!
//! - note-proves-nothing: a note is information for users, and proves nothing about the database:
//!   anyone who can write to the state folder can write any note. Only a verification shows what a
//!   database contains.
//! - not-in-the-database: the note is not in the database, because a verification only reads. It is
//!   in the state folder of the user who verified.
//! - by-id-and-inode: a copy has the database's id, but was not verified with it: a note is found
//!   by id and inode together. Paths are not suitable, because one file can have several
//!   (containers, links).
//! - replaced-whole: each database has one file, replaced as a whole: of two concurrent
//!   verifications each leaves a valid one. An unreadable note counts as none; so a note is not
//!   synced.
//! - no-links: several users may write to the folder: [`SharedFolder`] follows no link there.

use std::path::{Path, PathBuf};

use selenite_cipher::DatabaseId;

use crate::anchor::{Comparison, Verdict};
use crate::error::io_error;
use crate::platform::{SharedFolder, identity};
use crate::verify::Report;
use crate::{Access, Authenticated, EngineError, Sealed, now};

/// The extent of a verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerifyKind {
    /// Every page, and SQLite's integrity check.
    Full,
    /// Every page.
    Physical,
}

impl VerifyKind {
    /// The kind as one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Physical => "physical",
        }
    }
}

/// The note about a successful verification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastVerify {
    /// When it was done: seconds since 1970-01-01 UTC.
    pub time: u64,
    /// The extent of a verification.
    pub kind: VerifyKind,
    /// The number of pages.
    pub page_count: u32,
    /// The generation of the superblock then.
    pub generation: u64,
}

impl LastVerify {
    /// Whether the database's data key was made after this verification: then a re-encryption has written the pages
    /// since.
    #[must_use]
    pub fn is_before_reencryption(&self, sealed: &Sealed) -> bool {
        let sealing = sealed.epochs.iter().find(|epoch| epoch.is_sealing);
        sealing.is_some_and(|epoch| {
            // Times are whole seconds. The first data key is that of a new database, not of a re-encryption.
            let is_within_second = epoch.created == self.time && sealed.generation > self.generation;
            epoch.epoch > 1 && (epoch.created > self.time || is_within_second)
        })
    }

    fn encode(&self) -> String {
        format!(
            "# Written by selenite verify: see docs/CONFIGURATION.md, The last verify. May be removed at any time.\n\
             time = {}\nkind = \"{}\"\npages = {}\ngeneration = {}\n",
            self.time,
            self.kind.word(),
            self.page_count,
            self.generation
        )
    }

    /// `None` unless each of the four lines is there once and complete, including its end.
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('\n')?;
        let value = |name: &str| {
            let mut values = text
                .lines()
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            let value = values.next()?;
            values.next().is_none().then_some(value)
        };
        let kind = match value("kind")? {
            "\"full\"" => VerifyKind::Full,
            "\"physical\"" => VerifyKind::Physical,
            _ => return None,
        };
        Some(Self {
            time: value("time")?.parse().ok()?,
            kind,
            page_count: value("pages")?.parse().ok()?,
            generation: value("generation")?.parse().ok()?,
        })
    }
}

/// The notes of a state folder.
#[derive(Clone, Debug)]
pub struct VerifyNotes {
    folder: Option<PathBuf>,
}

impl VerifyNotes {
    /// The notes in the configuration's state folder.
    ///
    /// # Errors
    /// [`EngineError::Key`] for an invalid configuration.
    pub fn load() -> Result<Self, EngineError> {
        Ok(Self::of(Access::config()?.state_folder()))
    }

    /// The notes in this state folder; without one, none are kept.
    #[must_use]
    pub fn of(state_folder: Option<&Path>) -> Self {
        Self {
            folder: state_folder.map(|folder| folder.join("verified")),
        }
    }

    /// Writes the note about a verification, if it was successful.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn keep(&self, path: &Path, report: &Report) -> Result<(), EngineError> {
        let physical = &report.physical;
        let kind = match &report.faults {
            None => VerifyKind::Physical,
            Some(faults) if faults.is_empty() => VerifyKind::Full,
            Some(_) => return Ok(()),
        };
        let is_old = |found: &Comparison| found.verdict() == Verdict::Older;
        let is_well = physical.is_good() && !report.comparison.as_ref().is_some_and(is_old);
        if !is_well {
            return Ok(());
        }
        let note = LastVerify {
            time: now(),
            kind,
            page_count: physical.page_count,
            generation: physical.sealed.generation,
        };
        self.write(path, physical.sealed.database_id, &note)
    }

    /// Writes the note that every page of a new database was authenticated when it was encrypted.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn keep_encrypted(&self, path: &Path, made: Authenticated) -> Result<(), EngineError> {
        let note = LastVerify {
            time: now(),
            kind: VerifyKind::Physical,
            page_count: made.page_count,
            generation: made.generation,
        };
        self.write(path, made.database_id, &note)
    }

    fn write(&self, path: &Path, database_id: DatabaseId, note: &LastVerify) -> Result<(), EngineError> {
        let Some(folder) = self.folder.as_ref() else {
            return Ok(());
        };
        let (_, inode) = identity(path).map_err(io_error("read", path))?;
        let shared = SharedFolder::make(folder).map_err(io_error("open", folder))?;
        let name = name(database_id, inode);
        shared
            .replace(&name, note.encode().as_bytes())
            .map_err(io_error("write", &folder.join(name)))
    }

    /// The note about the database of this id in this file.
    #[must_use]
    pub fn find(&self, database_id: DatabaseId, path: &Path) -> Option<LastVerify> {
        let (_, inode) = identity(path).ok()?;
        let shared = SharedFolder::open(self.folder.as_ref()?).ok()?;
        let text = shared.read(&name(database_id, inode), NOTE_SIZE_MAX).ok()?;
        LastVerify::parse(&text)
    }
}

fn name(database_id: DatabaseId, inode: u64) -> String {
    format!("{database_id}-{inode}.toml")
}

/// 4 KiB: a note has four short lines and a comment.
const NOTE_SIZE_MAX: u64 = 4096;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NOTE: LastVerify = LastVerify {
        time: 1_767_225_600,
        kind: VerifyKind::Physical,
        page_count: 15_607,
        generation: 3,
    };

    #[test]
    fn a_note_is_read_back_and_a_truncated_one_is_rejected() {
        for kind in [VerifyKind::Full, VerifyKind::Physical] {
            let note = LastVerify { kind, ..NOTE };
            let text = note.encode();
            assert_eq!(LastVerify::parse(&text), Some(note));
            for end in 0..text.len() {
                assert_eq!(LastVerify::parse(&text[..end]), None, "{end}");
            }
        }
    }

    #[test]
    fn no_byte_of_a_note_can_change_unnoticed_but_in_its_comment() {
        let text = NOTE.encode();
        let comment = text.find('\n').unwrap();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let parsed = LastVerify::parse(std::str::from_utf8(&bytes).unwrap());
            assert_eq!(parsed == Some(NOTE), at < comment, "{at}");
        }
    }

    #[test]
    fn a_note_with_a_repeated_or_invalid_value_is_rejected() {
        let text = NOTE.encode();
        for (from, to) in [
            ("pages = 15607", "pages = 4294967296"),
            ("pages = 15607", "pages = -1"),
            ("time = 1", "time = x"),
            ("\"physical\"", "\"none\""),
            ("generation = 3\n", "generation = 3\ngeneration = 4\n"),
        ] {
            assert!(text.contains(from));
            assert_eq!(LastVerify::parse(&text.replace(from, to)), None, "{to}");
        }
    }

    #[test]
    fn a_note_is_found_by_id_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let notes = VerifyNotes::of(Some(folder.path()));
        let id = DatabaseId([7; 16]);
        let (one, copy) = (folder.path().join("one.db"), folder.path().join("copy.db"));
        for file in [&one, &copy] {
            fs::write(file, "x").unwrap();
        }
        assert_eq!(notes.find(id, &one), None);
        let inode = identity(&one).unwrap().1;
        let note = folder.path().join("verified").join(name(id, inode));
        fs::create_dir(note.parent().unwrap()).unwrap();
        fs::write(&note, NOTE.encode()).unwrap();
        assert_eq!(notes.find(id, &one), Some(NOTE));
        assert_eq!(notes.find(id, &copy), None);
        assert_eq!(notes.find(DatabaseId([8; 16]), &one), None);
        assert_eq!(VerifyNotes::of(None).find(id, &one), None);
        fs::write(&note, vec![b'#'; 5000]).unwrap();
        assert_eq!(notes.find(id, &one), None);
    }
}
