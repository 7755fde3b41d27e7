//! A database's master key, sealed to a recipient for escrow, in case every identity is lost (FORMAT 13).
//!
//! - leaves-only-encrypted: the key leaves this process only sealed to an age recipient.
//! - mac-decides: a record is trusted only as far as its commitment and the superblock's MAC
//!   confirm it: anyone who knows the recipient can make one.

use std::io;
use std::path::Path;

use selenite_cipher::{DatabaseId, MasterKey, Secret};
use selenite_format::Superblock;

use crate::unlocked::tampered;
use crate::{AgeRecipient, EXPORTED_KEY_SIZE, HeldMaster, Identity, KeyError, Unlocked, secret_file};

/// A master key with the data that identifies its database.
pub struct ExportedKey {
    /// The id of the database.
    pub database_id: DatabaseId,
    /// The time of the export: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The creation time of the master key in the superblock.
    pub master_created: u64,
    master: MasterKey,
}

impl ExportedKey {
    /// The master key of an open database. `now` is in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn of(unlocked: &Unlocked, now: u64) -> Self {
        let database_id = unlocked.superblock.database_id;
        Self {
            database_id,
            made: now,
            master_created: unlocked.superblock.master_created,
            master: MasterKey::new(unlocked.master.secret().duplicate(), database_id),
        }
    }

    /// Identifies the master key without revealing it (FORMAT 4.2).
    #[must_use]
    pub fn commitment(&self) -> [u8; 32] {
        self.master.commitment()
    }

    /// Writes the key atomically to a new file that only its owner can read, or replaces an
    /// existing one if `replace` is set. A symbolic link is itself replaced, not its target.
    ///
    /// `Io`, of kind `AlreadyExists` if the file exists; the errors of a plugin.
    pub fn store(&self, path: &Path, recipient: &AgeRecipient, replace: bool) -> Result<(), KeyError> {
        let sealed = recipient.seal_exported_key(&self.encode())?;
        let written = if replace {
            secret_file::replace_name(path, &sealed)
        } else {
            secret_file::create(path, &sealed)
        };
        written.map_err(|source| KeyError::Io {
            verb: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// Reads a file written by [`ExportedKey::store`], with the first identity that opens it.
    ///
    /// `NoKey` without identities; `ExportedClosed` if none opens it, `KeyServiceUnavailable` if
    /// one was unavailable; `BadFile` for a file that is no exported key; `Io`.
    pub fn load(path: &Path, identities: &[Box<dyn Identity>]) -> Result<Self, KeyError> {
        let sealed = secret_file::read(path, FILE_SIZE_MAX)?;
        let no_key = |problem: &'static str| KeyError::BadFile {
            path: path.to_owned(),
            line: None,
            problem: problem.into(),
        };
        if !sealed.starts_with(AGE_MAGIC) {
            return Err(no_key("not an exported key: not a binary age file"));
        }
        if identities.is_empty() {
            return Err(KeyError::NoKey);
        }
        let mut away = None;
        for identity in identities {
            match identity.open_exported_key(&sealed) {
                Ok(record) => {
                    return Self::parse(&record).ok_or_else(|| no_key("encrypted, but not an exported key"));
                }
                Err(KeyError::WrongKey) => {}
                Err(error) => {
                    away.get_or_insert(error);
                }
            }
        }
        Err(away.unwrap_or_else(|| KeyError::ExportedClosed { path: path.to_owned() }))
    }

    /// Checks by the superblock's MAC that this is the master key of its database.
    ///
    /// `ExportedElsewhere`; `ExportedOther` if the superblock has a master key of another time, else `Tampered`.
    pub fn check(&self, bytes: &[u8], superblock: &Superblock) -> Result<(), KeyError> {
        if superblock.database_id != self.database_id {
            return Err(KeyError::ExportedElsewhere {
                exported: self.database_id,
                database: superblock.database_id,
            });
        }
        let (maced, mac) = Superblock::maced(bytes);
        if self.master.mac_is_valid(maced, mac) {
            return Ok(());
        }
        if superblock.master_created != self.master_created {
            return Err(KeyError::ExportedOther {
                exported: self.master_created,
                database: superblock.master_created,
            });
        }
        Err(tampered("its MAC"))
    }

    /// Holds the key in this process, so that it opens the database, until the result is dropped.
    #[must_use]
    pub fn hold(&self) -> HeldMaster {
        HeldMaster::new(self.database_id, &self.master)
    }

    fn encode(&self) -> Secret<EXPORTED_KEY_SIZE> {
        Secret::fill(|record: &mut [u8; EXPORTED_KEY_SIZE]| {
            record[..16].copy_from_slice(MAGIC);
            record[16..32].copy_from_slice(&self.database_id.0);
            record[32..64].copy_from_slice(self.master.secret().expose());
            record[64..72].copy_from_slice(&self.made.to_be_bytes());
            record[72..80].copy_from_slice(&self.master_created.to_be_bytes());
            record[80..].copy_from_slice(&self.master.commitment());
        })
    }

    fn parse(record: &Secret<EXPORTED_KEY_SIZE>) -> Option<Self> {
        let rest = record.expose().strip_prefix(MAGIC)?;
        let (id, rest) = rest.split_first_chunk()?;
        let (master, rest) = rest.split_first_chunk::<32>()?;
        let (made, rest) = rest.split_first_chunk()?;
        let (master_created, commitment) = rest.split_first_chunk()?;
        let database_id = DatabaseId(*id);
        let master = Secret::fill(|bytes: &mut [u8; 32]| bytes.copy_from_slice(master));
        let found = Self {
            database_id,
            made: u64::from_be_bytes(*made),
            master_created: u64::from_be_bytes(*master_created),
            master: MasterKey::new(master, database_id),
        };
        (found.commitment() == commitment).then_some(found)
    }
}

impl KeyError {
    /// Whether the error is that a file to be created already exists.
    #[must_use]
    pub fn is_exists(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }
}

const MAGIC: &[u8; 16] = b"selenite mkey 1\n";
/// The first line of every binary age file (age-encryption.org/v1).
const AGE_MAGIC: &[u8] = b"age-encryption.org/v1\n";
/// An age file of the record for one recipient has about 300 bytes, for a plugin's recipient somewhat more.
const FILE_SIZE_MAX: usize = 8192;

#[cfg(test)]
mod tests;
