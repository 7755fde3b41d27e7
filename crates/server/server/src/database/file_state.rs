//! What a database's file says about its encryption.

use std::path::Path;

use selenite::reencrypt::is_paused;
use selenite::storage::Disk;
use selenite::{Access, Cell, Database, DatabaseId, EngineError, Rows, Suite};
use selenite_backup::parse_database_id;

use crate::master::{EncryptionKeyRecord, Tde};

/// What is done to a database's pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// They are in clear.
    Clear,
    /// They are encrypted.
    Encrypted,
    /// They are being encrypted.
    Encrypting,
    /// They are being decrypted.
    Decrypting,
    /// They are being encrypted by another key.
    ChangingKey,
}

/// The state of a file according to the file.
#[derive(Clone, PartialEq, Debug)]
pub struct FileState {
    /// What is done to its pages.
    pub pages: Phase,
    /// What T-SQL reports of it: the same as `pages`, unless [`FileState::shown`] has decided it.
    pub phase: Phase,
    /// The suite in which new pages are encrypted: its name.
    pub suite: String,
    /// How many percent of the pages are done, during a scan of all; otherwise 0.
    pub percent: f64,
    /// Whether a process is re-encrypting it.
    pub is_running: bool,
    /// Whether it was suspended.
    pub is_paused: bool,
    /// Whether the file has our layout. Without it the file can't be encrypted while it is in use.
    pub is_ours: bool,
    /// The id in its superblock; `None` without a superblock.
    pub database_id: Option<DatabaseId>,
    /// The suites of its epochs.
    pub epoch_suites: Vec<String>,
    /// Ids of key slots and their labels.
    pub slots: Vec<(String, String)>,
}

impl Phase {
    /// Whether all pages are being re-encrypted.
    pub fn is_moving(self) -> bool {
        match self {
            Self::Clear | Self::Encrypted => false,
            Self::Encrypting | Self::Decrypting | Self::ChangingKey => true,
        }
    }
}

impl FileState {
    /// Reads the state of a database.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn load(path: &Path, access: &Access) -> Result<Self, EngineError> {
        let database = Database::open(&Disk, path, access)?;
        let mut facts = Facts::default();
        database.run("SELECT section, name, value FROM selenite_status", &mut facts)?;
        drop(database);
        Ok(Self::of(&facts, is_paused(&Disk, path)))
    }

    fn of(facts: &Facts, is_paused: bool) -> Self {
        let none = Suite::None.name();
        let suite = facts.text("database", "suite");
        let epochs = facts.section("epoch");
        let epochs = epochs.map(|(_, value)| text_of(value).split(' ').next().unwrap_or_default().to_owned());
        let epoch_suites: Vec<String> = epochs.collect();
        let first = epoch_suites.first().map(String::as_str);
        let phase = match (epoch_suites.len() > 1, first) {
            (false, _) if suite.is_none_or(|suite| suite == none) => Phase::Clear,
            (false, _) => Phase::Encrypted,
            (true, _) if suite == Some(none) => Phase::Decrypting,
            (true, Some(first)) if first == none => Phase::Encrypting,
            (true, _) => Phase::ChangingKey,
        };
        let number = |name| facts.number("reencryption", name);
        let percent = if phase.is_moving() {
            // The process that re-encrypts reports more than the superblock, whose cursor is where the file was last
            // synced.
            let running = number("bytes_done").zip(number("bytes").filter(|total| *total > 0.0));
            let running = running.map(|(done, total)| done * 100.0 / total);
            let saved = number("percent_complete").unwrap_or(0.0);
            running.unwrap_or(0.0).max(saved).clamp(0.0, 100.0)
        } else {
            0.0
        };
        let slots = facts.section("slot").map(|(id, value)| {
            let label = text_of(value).split_once(' ').map_or("", |(_, label)| label);
            (id.to_owned(), label.to_owned())
        });
        Self {
            pages: phase,
            phase,
            suite: suite.unwrap_or(none).to_owned(),
            percent,
            is_running: facts.text("reencryption", "running") == Some("yes"),
            is_paused,
            is_ours: suite.is_some(),
            database_id: facts.text("database", "database_id").and_then(parse_database_id),
            slots: slots.collect(),
            epoch_suites,
        }
    }

    /// What T-SQL reports of it: a database without an encryption key, or with one that is switched off, is in clear,
    /// whatever else its pages are encrypted with.
    #[must_use]
    pub fn shown(self, key: Option<&EncryptionKeyRecord>) -> Self {
        let tde = key.map_or(Tde::Off, |key| key.tde);
        let phase = match (self.pages, tde) {
            (_, Tde::Off) | (Phase::Clear, _) => Phase::Clear,
            (Phase::Encrypting, _) | (_, Tde::TurningOn) => Phase::Encrypting,
            (Phase::Decrypting, _) | (_, Tde::TurningOff) => Phase::Decrypting,
            (Phase::ChangingKey, Tde::On) | (_, Tde::ChangingKey) => Phase::ChangingKey,
            (Phase::Encrypted, Tde::On) => Phase::Encrypted,
        };
        let percent = if phase.is_moving() { self.percent } else { 0.0 };
        Self { phase, percent, ..self }
    }

    /// Whether it has pages in a suite that is deprecated, or will have.
    pub fn is_deprecated(&self) -> bool {
        let is = |suite: &str| Suite::from_name(suite).is_some_and(Suite::is_deprecated);
        is(&self.suite) || self.epoch_suites.iter().any(|suite| is(suite))
    }

    /// The id of the key slot of that label.
    pub fn slot(&self, label: &str) -> Option<&str> {
        let found = self.slots.iter().find(|(_, told)| told == label);
        found.map(|(id, _)| id.as_str())
    }
}

/// Rows of `selenite_status`.
#[derive(Default)]
struct Facts(Vec<(String, String, Cell)>);

impl Facts {
    fn section<'a>(&'a self, section: &'a str) -> impl Iterator<Item = (&'a str, &'a Cell)> {
        let rows = self.0.iter().filter(move |(of, _, _)| of == section);
        rows.map(|(_, name, value)| (name.as_str(), value))
    }

    fn find(&self, section: &str, name: &str) -> Option<&Cell> {
        let found = self.0.iter().find(|(of, own, _)| of == section && own == name);
        found.map(|(_, _, value)| value)
    }

    fn text(&self, section: &str, name: &str) -> Option<&str> {
        self.find(section, name).map(text_of)
    }

    fn number(&self, section: &str, name: &str) -> Option<f64> {
        match self.find(section, name)? {
            Cell::Real(number) => Some(*number),
            // A number of bytes, as a part of which the progress is reported: what is beyond 2^53 is rounded.
            Cell::Integer(number) => number.to_string().parse().ok(),
            Cell::Null | Cell::Text(_) | Cell::Blob(_) => None,
        }
    }
}

impl Rows for Facts {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        if let Ok([Cell::Text(section), Cell::Text(name), value]) = <[Cell; 3]>::try_from(cells) {
            self.0.push((section, name, value));
        }
        true
    }

    fn end(&mut self) {}
}

fn text_of(cell: &Cell) -> &str {
    match cell {
        Cell::Text(text) => text,
        Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Blob(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(suite: &str, epochs: &[&str]) -> FileState {
        let text = |section: &str, name: &str, value: &str| {
            (section.to_owned(), name.to_owned(), Cell::Text(value.to_owned()))
        };
        let mut facts = Facts(vec![text("database", "suite", suite)]);
        for (number, epoch) in epochs.iter().enumerate() {
            facts
                .0
                .push(text("epoch", &number.to_string(), &format!("{epoch} created 5")));
        }
        facts.0.push(text("slot", "aa", "raw"));
        facts.0.push(text("slot", "bb", "age certificate 00ff"));
        facts.0.push(text("reencryption", "running", "yes"));
        facts
            .0
            .push(("reencryption".to_owned(), "bytes_done".to_owned(), Cell::Integer(1)));
        facts
            .0
            .push(("reencryption".to_owned(), "bytes".to_owned(), Cell::Integer(4)));
        FileState::of(&facts, false)
    }

    #[test]
    fn epochs_tell_what_is_done_to_pages() {
        let cases: [(&str, &[&str], Phase, f64); 5] = [
            ("NONE", &["NONE"], Phase::Clear, 0.0),
            ("AES_128", &["AES_128"], Phase::Encrypted, 0.0),
            ("AES_128", &["NONE", "AES_128"], Phase::Encrypting, 25.0),
            ("NONE", &["AES_128", "NONE"], Phase::Decrypting, 25.0),
            ("AES_256", &["AES_128", "AES_256"], Phase::ChangingKey, 25.0),
        ];
        for (suite, epochs, phase, percent) in cases {
            let state = state(suite, epochs);
            assert_eq!((state.phase, state.suite.as_str()), (phase, suite));
            assert!((state.percent - percent).abs() < 1e-9 && state.is_running && state.is_ours);
            assert_eq!(state.slot("certificate 00ff"), Some("bb"));
        }
        let plain = FileState::of(&Facts::default(), true);
        assert!(plain.phase == Phase::Clear && !plain.is_ours && plain.is_paused);
    }
}
