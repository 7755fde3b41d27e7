//! The keyring file: which master key a database had when it was last trusted.
//!
//! A superblock's MAC proves that the file agrees with its master key, not who chose that key: whoever knows a
//! public age recipient can seal a database of their own to it. The keyring file pins a database id to the
//! commitment of its master key (FORMAT 4.2), which such a forgery does not have.
//!
//! ```toml
//! only_listed = true
//! [databases]
//! "00112233445566778899aabbccddeeff" = "commitment, 64 digits"
//! ```
//!
//! K1. A file is replaced whole or not at all, and two processes that change it at once both take effect.
//! K2. While a master key is renewed both commitments are listed, `["old", "new"]`: nobody is refused in between, and a kill
//!     leaves no pin that is wrong.
//! K3. Without `only_listed`, a database that is not listed opens: a forgery under a *new* id is only kept out
//!     with it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use selenite_cipher::DatabaseId;
use toml::de::DeTable;

use crate::toml_text::{self, Fault, Key, Value};
use crate::{KeyError, hex, secret_file};

/// Databases and the commitments of their master keys, as a value. The default one is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring {
    only_listed: bool,
    databases: BTreeMap<DatabaseId, Vec<[u8; 32]>>,
}

/// What a keyring file says about a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// It is listed, with this master key.
    Pinned,
    /// It is not listed.
    Unknown,
    /// It is listed, with another master key.
    Mismatch,
}

impl Keyring {
    /// Reads the file at `path`, which must be there.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let contents = secret_file::read_trusted(path, KEYRING_SIZE_MAX)?;
        let text = std::str::from_utf8(&contents).map_err(|_| KeyError::BadConfig {
            path: path.to_owned(),
            line: None,
            problem: "not UTF-8".into(),
        })?;
        Self::parse(text, path)
    }

    /// Reads the file at `path`; where there is none, the keyring is empty.
    pub fn load_if_there(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            loaded => loaded,
        }
    }

    /// Parses the text of a keyring file that was, or might have been, read from `path`.
    pub fn parse(text: &str, path: &Path) -> Result<Self, KeyError> {
        toml_text::parse(path, text, Self::from_table)
    }

    /// Changes the file at `path`, which is made, with its folder, if need be: reads it, lets `change` work on it and, unless that is
    /// an error, replaces it in one step. Who else does the same waits meanwhile.
    pub fn update<R>(path: &Path, change: impl FnOnce(&mut Self) -> Result<R, KeyError>) -> Result<R, KeyError> {
        let failed = |source| KeyError::Io {
            verb: "write",
            path: path.to_owned(),
            source,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(secret_file::OWNER_ONLY)
            .open(secret_file::beside(path, ".lock"))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut keyring = Self::load_if_there(path)?;
        let result = change(&mut keyring)?;
        secret_file::replace(path, keyring.encode().as_bytes()).map_err(failed)?;
        Ok(result)
    }

    /// What this keyring says about a database whose master key has this commitment.
    pub fn check(&self, database_id: DatabaseId, commitment: [u8; 32]) -> Pin {
        match self.databases.get(&database_id) {
            Some(pinned) if pinned.contains(&commitment) => Pin::Pinned,
            Some(_) => Pin::Mismatch,
            None => Pin::Unknown,
        }
    }

    /// Whether databases that are not listed are refused.
    pub fn only_listed(&self) -> bool {
        self.only_listed
    }

    /// Says whether databases that are not listed are refused.
    pub fn set_only_listed(&mut self, only_listed: bool) {
        self.only_listed = only_listed;
    }

    /// Lists a database. Refuses (`DatabaseReplaced`) one that is listed with another commitment: that is what
    /// [`Keyring::replace`] is for, after a look.
    pub fn add(&mut self, database_id: DatabaseId, commitment: [u8; 32]) -> Result<(), KeyError> {
        match self.check(database_id, commitment) {
            Pin::Mismatch => Err(KeyError::DatabaseReplaced { database_id }),
            Pin::Pinned | Pin::Unknown => {
                self.replace(database_id, commitment);
                Ok(())
            }
        }
    }

    /// Lists a database with this commitment, whatever was listed before: its master key was renewed.
    pub fn replace(&mut self, database_id: DatabaseId, commitment: [u8; 32]) {
        self.databases.insert(database_id, vec![commitment]);
    }

    /// Lists a database with its present commitment and the one that it is about to have. [`Keyring::replace`] ends that.
    pub fn expect(&mut self, database_id: DatabaseId, present: [u8; 32], next: [u8; 32]) {
        self.databases.insert(database_id, vec![present, next]);
    }

    /// Takes a database off the list, and says whether it was on it.
    pub fn remove(&mut self, database_id: DatabaseId) -> bool {
        self.databases.remove(&database_id).is_some()
    }

    /// The databases and their commitments, in the order of their ids.
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
        text
    }

    fn from_table(table: &DeTable<'_>) -> Result<Self, Fault> {
        let mut keyring = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "only_listed" => {
                    let flag = value.get_ref().as_bool();
                    keyring.only_listed =
                        flag.ok_or_else(|| Fault::new(value.span(), "only_listed has to be true or false"))?;
                }
                "databases" => {
                    for (key, value) in toml_text::table("databases", value)? {
                        let (database_id, commitments) = entry(key, value)?;
                        if keyring.databases.insert(database_id, commitments).is_some() {
                            return Err(Fault::new(key.span(), "this database is listed twice"));
                        }
                    }
                }
                _ => return Err(Fault::unknown_key(key, &["only_listed", "databases"])),
            }
        }
        Ok(keyring)
    }
}

fn entry(key: &Key<'_>, value: &Value<'_>) -> Result<(DatabaseId, Vec<[u8; 32]>), Fault> {
    let id =
        hex::decode(key.get_ref()).ok_or_else(|| Fault::new(key.span(), "a database id has 32 hexadecimal digits"))?;
    let commitments = match value.get_ref().as_array() {
        Some(both) if both.len() == 2 => both.iter().map(commitment).collect::<Result<_, _>>()?,
        Some(_) => return Err(Fault::new(value.span(), "a database has one commitment, or two")),
        None => vec![commitment(value)?],
    };
    Ok((DatabaseId(id), commitments))
}

fn commitment(value: &Value<'_>) -> Result<[u8; 32], Fault> {
    hex::decode(toml_text::string("a commitment", value)?)
        .ok_or_else(|| Fault::new(value.span(), "a commitment has 64 hexadecimal digits"))
}

const HEADING: &str = "\
# Selenite keyring: database id = commitment of its master key. No secrets.
# Rewritten by `selenite`; comments are not kept.
";

/// 16 MiB: more than a hundred thousand databases.
const KEYRING_SIZE_MAX: usize = 16 << 20;

#[cfg(test)]
mod tests;
