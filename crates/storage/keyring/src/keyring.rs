//! The keyring file: the master key that each database had when it was last trusted.
//!
//! A superblock's MAC proves that the file is consistent with its master key, not who chose that
//! key: anyone who knows a public age recipient can seal a forged database to it. The keyring file
//! pins a database id to the commitment of its master key (FORMAT 4.2), which such a forgery does
//! not have.
//!
//! ```toml
//! only_listed = true
//! [databases]
//! "00112233445566778899aabbccddeeff" = "commitment, 64 digits"
//! [paths]
//! "/srv/app.db" = ["database id, 32 digits", "commitment, 64 digits"]
//! ```
//!
//! `[paths]` is written on first use of a database whose origin the identity cannot determine (an
//! age plugin, a command). From then on another database at that path, and another master key for
//! that id, are refused.
//!
//! - replaced-whole: the file is replaced atomically, and the changes of two concurrent processes
//!   both take effect.
//! - both-pins-meanwhile: while a master key is renewed both commitments are listed, `["old",
//!   "new"]`: no process is refused in between, and a crash leaves no wrong pin.
//! - unlisted-by-origin: without `only_listed`, a database that is not listed opens if its origin
//!   is accepted (`origin.rs`). A path entry does not list a database in this sense.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use selenite_cipher::DatabaseId;
use toml::de::DeTable;

use crate::toml_text::{self, Key, TomlFault, Value};
use crate::{KeyError, hex, platform, secret_file};

/// Databases and the commitments of their master keys, as a value. The default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring {
    only_listed: bool,
    databases: BTreeMap<DatabaseId, Vec<[u8; 32]>>,
    paths: BTreeMap<PathBuf, PathPin>,
}

/// The database that was first used at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PathPin {
    database_id: DatabaseId,
    commitments: Vec<[u8; 32]>,
}

/// The entry of a database in the keyring file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// It is listed, with this master key.
    Pinned,
    /// It is not listed.
    Unknown,
    /// It is listed, with another master key.
    Mismatch,
}

impl PathPin {
    /// The line of the keyring file. The path is UTF-8 ([`Keyring::pin_path`]).
    fn encode(&self, path: &Path) -> (String, toml::Value) {
        let id = hex::encode(&self.database_id.0);
        let commitments = self.commitments.iter().map(|commitment| hex::encode(commitment));
        let words = std::iter::once(id).chain(commitments).map(toml::Value::String);
        (path.to_string_lossy().into_owned(), toml::Value::Array(words.collect()))
    }
}

impl Keyring {
    /// Reads the file at `path`, which must exist.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let contents = secret_file::read_trusted(path, KEYRING_SIZE_MAX)?;
        let text = std::str::from_utf8(&contents).map_err(|_| KeyError::BadConfig {
            path: path.to_owned(),
            line: None,
            problem: "not UTF-8".into(),
        })?;
        Self::parse(text, path)
    }

    /// Reads the file at `path`; if it does not exist, the keyring is empty.
    pub fn load_if_there(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            loaded => loaded,
        }
    }

    /// Parses the text of a keyring file at `path`, which need not exist.
    pub fn parse(text: &str, path: &Path) -> Result<Self, KeyError> {
        toml_text::parse(path, text, Self::from_table)
    }

    /// Changes the file at `path`: reads it, calls `change` and, unless that returns an error,
    /// replaces the file atomically. The file and its folder are created if necessary. Concurrent
    /// updates wait for each other.
    pub fn update<R>(path: &Path, change: impl FnOnce(&mut Self) -> Result<R, KeyError>) -> Result<R, KeyError> {
        let failed = |source| KeyError::Io {
            verb: "write",
            path: path.to_owned(),
            source,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        platform::create_private_folders(folder).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let lock = platform::open_private(&mut options, &secret_file::beside(path, ".lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut keyring = Self::load_if_there(path)?;
        let result = change(&mut keyring)?;
        secret_file::replace(path, keyring.encode().as_bytes()).map_err(failed)?;
        Ok(result)
    }

    /// The entry of a database whose master key has this commitment.
    pub fn check(&self, database_id: DatabaseId, commitment: [u8; 32]) -> Pin {
        match self.databases.get(&database_id) {
            Some(pinned) if pinned.contains(&commitment) => Pin::Pinned,
            Some(_) => Pin::Mismatch,
            None => Pin::Unknown,
        }
    }

    /// The entry of a database at a path. If the path is not listed, the entries of other paths
    /// with the same id decide.
    pub fn check_path(&self, path: &Path, database_id: DatabaseId, commitment: [u8; 32]) -> Pin {
        let is_it = |pin: &PathPin| pin.database_id == database_id && pin.commitments.contains(&commitment);
        if let Some(pin) = self.paths.get(path) {
            return if is_it(pin) { Pin::Pinned } else { Pin::Mismatch };
        }
        let mut elsewhere = self
            .paths
            .values()
            .filter(|pin| pin.database_id == database_id)
            .peekable();
        if elsewhere.peek().is_some() && !elsewhere.any(is_it) {
            return Pin::Mismatch;
        }
        Pin::Unknown
    }

    /// Whether a database is listed with this commitment for any path.
    pub fn knows(&self, database_id: DatabaseId, commitment: [u8; 32]) -> bool {
        let mut pins = self.paths.values();
        pins.any(|pin| pin.database_id == database_id && pin.commitments.contains(&commitment))
    }

    /// Whether a database is listed for this path.
    pub fn lists_path(&self, path: &Path) -> bool {
        self.paths.contains_key(path)
    }

    /// Lists a database for this path, replacing any entry of the path. `BadPath` for a path that is not UTF-8.
    pub fn pin_path(&mut self, path: &Path, database_id: DatabaseId, commitment: [u8; 32]) -> Result<(), KeyError> {
        if path.to_str().is_none() {
            return Err(KeyError::BadPath { path: path.to_owned() });
        }
        let pin = PathPin {
            database_id,
            commitments: vec![commitment],
        };
        self.paths.insert(path.to_owned(), pin);
        Ok(())
    }

    /// Whether databases that are not listed are refused.
    pub fn only_listed(&self) -> bool {
        self.only_listed
    }

    /// Sets whether databases that are not listed are refused.
    pub fn set_only_listed(&mut self, only_listed: bool) {
        self.only_listed = only_listed;
    }

    /// Lists a database. `DatabaseReplaced` if it is listed with another commitment: after a check
    /// by the user, [`Keyring::replace`] replaces that.
    pub fn add(&mut self, database_id: DatabaseId, commitment: [u8; 32]) -> Result<(), KeyError> {
        match self.check(database_id, commitment) {
            Pin::Mismatch => Err(KeyError::DatabaseReplaced { database_id }),
            Pin::Pinned | Pin::Unknown => {
                self.replace(database_id, commitment);
                Ok(())
            }
        }
    }

    /// Lists a database with this commitment, replacing any other: its master key was renewed.
    pub fn replace(&mut self, database_id: DatabaseId, commitment: [u8; 32]) {
        self.databases.insert(database_id, vec![commitment]);
    }

    /// Whether this keyring must be updated if the master key of the database at `path` is renewed.
    pub fn lists(&self, path: &Path, database_id: DatabaseId) -> bool {
        self.databases.contains_key(&database_id) || self.path_of(path, database_id).is_some()
    }

    /// Adds to the entries of a database, by id and by path, the commitment of its next master key
    /// beside the present one. [`Keyring::renewed`] removes the old one.
    pub fn expect(&mut self, path: &Path, database_id: DatabaseId, present: [u8; 32], next: [u8; 32]) {
        self.set_commitments(path, database_id, &[present, next]);
    }

    /// Sets the commitment of the renewed master key in the entries of a database.
    pub fn renewed(&mut self, path: &Path, database_id: DatabaseId, commitment: [u8; 32]) {
        self.set_commitments(path, database_id, &[commitment]);
    }

    fn set_commitments(&mut self, path: &Path, database_id: DatabaseId, commitments: &[[u8; 32]]) {
        if let Some(pinned) = self.databases.get_mut(&database_id) {
            *pinned = commitments.to_vec();
        }
        if let Some(pin) = self.paths.get_mut(path).filter(|pin| pin.database_id == database_id) {
            pin.commitments = commitments.to_vec();
        }
    }

    fn path_of(&self, path: &Path, database_id: DatabaseId) -> Option<&PathPin> {
        self.paths.get(path).filter(|pin| pin.database_id == database_id)
    }

    /// Removes a database; returns whether it was listed.
    pub fn remove(&mut self, database_id: DatabaseId) -> bool {
        self.databases.remove(&database_id).is_some()
    }

    /// The databases and their commitments, ordered by id.
    pub fn databases(&self) -> impl Iterator<Item = (DatabaseId, &[[u8; 32]])> {
        self.databases
            .iter()
            .map(|(&database_id, commitments)| (database_id, commitments.as_slice()))
    }

    /// The text of a keyring file.
    pub fn encode(&self) -> String {
        let mut text = String::from(HEADING);
        let flag = format!("only_listed = {}\n\n[databases]\n", self.only_listed);
        text.push_str(&flag);
        for (id, commitments) in &self.databases {
            let words: Vec<String> = commitments
                .iter()
                .map(|commitment| format!("\"{}\"", hex::encode(commitment)))
                .collect();
            let value = match words.as_slice() {
                [one] => one.clone(),
                several => format!("[{}]", several.join(", ")),
            };
            writeln!(text, "\"{}\" = {value}", hex::encode(&id.0)).expect("a string takes any text");
        }
        if !self.paths.is_empty() {
            let paths: toml::Table = self.paths.iter().map(|(path, pin)| pin.encode(path)).collect();
            write!(text, "\n[paths]\n{paths}").expect("a string takes any text");
        }
        text
    }

    fn from_table(table: &DeTable<'_>) -> Result<Self, TomlFault> {
        let mut keyring = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "only_listed" => {
                    let flag = value.get_ref().as_bool();
                    keyring.only_listed =
                        flag.ok_or_else(|| TomlFault::new(value.span(), "only_listed must be true or false"))?;
                }
                "databases" => {
                    for (key, value) in toml_text::table("databases", value)? {
                        let (database_id, commitments) = entry(key, value)?;
                        if keyring.databases.insert(database_id, commitments).is_some() {
                            return Err(TomlFault::new(key.span(), "this database is listed twice"));
                        }
                    }
                }
                "paths" => {
                    for (key, value) in toml_text::table("paths", value)? {
                        let pin = path_pin(value)?;
                        keyring.paths.insert(PathBuf::from(key.get_ref().as_ref()), pin);
                    }
                }
                _ => return Err(TomlFault::unknown_key(key, &["only_listed", "databases", "paths"])),
            }
        }
        Ok(keyring)
    }
}

fn entry(key: &Key<'_>, value: &Value<'_>) -> Result<(DatabaseId, Vec<[u8; 32]>), TomlFault> {
    let id = hex::decode(key.get_ref())
        .ok_or_else(|| TomlFault::new(key.span(), "a database id has 32 hexadecimal digits"))?;
    let commitments = match value.get_ref().as_array() {
        Some(both) if both.len() == 2 => both.iter().map(commitment).collect::<Result<_, _>>()?,
        Some(_) => return Err(TomlFault::new(value.span(), "a database has one commitment, or two")),
        None => vec![commitment(value)?],
    };
    Ok((DatabaseId(id), commitments))
}

fn path_pin(value: &Value<'_>) -> Result<PathPin, TomlFault> {
    let wrong = "a path has a database id and one commitment, or two: [\"id\", \"commitment\"]";
    let words = value
        .get_ref()
        .as_array()
        .ok_or_else(|| TomlFault::new(value.span(), wrong))?;
    let mut words = words.iter();
    let (Some(id), 1..=2) = (words.next(), words.len()) else {
        return Err(TomlFault::new(value.span(), wrong));
    };
    let digits = toml_text::string("a database id", id)?;
    let database_id =
        hex::decode(digits).ok_or_else(|| TomlFault::new(id.span(), "a database id has 32 hexadecimal digits"))?;
    Ok(PathPin {
        database_id: DatabaseId(database_id),
        commitments: words.map(commitment).collect::<Result<_, _>>()?,
    })
}

fn commitment(value: &Value<'_>) -> Result<[u8; 32], TomlFault> {
    hex::decode(toml_text::string("a commitment", value)?)
        .ok_or_else(|| TomlFault::new(value.span(), "a commitment has 64 hexadecimal digits"))
}

const HEADING: &str = "\
# Selenite keyring: database id = commitment of its master key; path = both, of its first use. No secrets.
# Rewritten by `selenite`; comments are not kept.
";

/// 16 MiB: more than a hundred thousand databases.
const KEYRING_SIZE_MAX: usize = 16 << 20;

#[cfg(test)]
mod tests;
