//! How the secrets of a database's keys are decrypted: by the master key, passwords and each other.

use std::sync::Arc;

use selenite_compiler::{Ends, KeySecret, SqlError};

use crate::Instance;
use crate::catalog::stored_keys::{KeyEncryption, KeyEncryptor, StoredKey, StoredKeyKind, StoredKeys};
use crate::database_error::of_master;
use crate::key_wrap::{KeyBytes, Wrapped};
use crate::open_keys::OpenKeys;

/// What decrypts the secrets of a database's keys in a session.
pub struct KeyChain<'a> {
    /// The server.
    pub instance: &'a Instance,
    /// The database.
    pub database_id: i32,
    /// Its keys.
    pub keys: &'a StoredKeys,
    /// Those that the session has opened.
    pub open: &'a OpenKeys,
}

impl KeyChain<'_> {
    /// The database master key: opened by the session, or encrypted by the server's service master key.
    ///
    /// # Errors
    /// 15581 without one that can be decrypted; the error of master.db.
    pub fn master_key(&self) -> Result<KeySecret, SqlError> {
        let key = self.keys.master().ok_or_else(no_master_key)?;
        if let Some(open) = self.open.master(self.database_id, &key.guid) {
            return Ok(open);
        }
        let sealed = self.encryption(key, KeyEncryptor::Service).ok_or_else(no_master_key)?;
        let service = self.instance.master().service_master_key();
        let service = service.map_err(|fault| of_master(&fault))?;
        let opened = wrapped(key, sealed).open(&service).ok_or_else(no_master_key)?;
        Ok(Arc::new(opened))
    }

    /// The database master key, by a password of it.
    ///
    /// # Errors
    /// 8645, 15507.
    pub fn master_key_by(&self, password: &str) -> Result<Option<KeyBytes>, SqlError> {
        match self.keys.master() {
            Some(key) => self
                .by_password(key, password)
                .map(|found| found.map(|(_, secret)| secret)),
            None => Ok(None),
        }
    }

    /// A secret by one of its passwords, with that encryption.
    ///
    /// # Errors
    /// 8645, 15507.
    pub fn by_password(&self, key: &StoredKey, password: &str) -> Result<Option<(KeyEncryption, KeyBytes)>, SqlError> {
        let by_password = self.keys.encryptions_of(key);
        for sealed in by_password.filter(|one| one.encryptor == KeyEncryptor::Password) {
            if let Some(secret) = wrapped(key, sealed).open_by_password(self.instance, password)? {
                return Ok(Some((sealed.clone(), secret)));
            }
        }
        Ok(None)
    }

    /// The private key of a key pair or certificate; `None` if the password is wrong, or is needed and absent, or the
    /// other way round.
    ///
    /// # Errors
    /// 15581, 8645, 15507.
    pub fn private_key(&self, key: &StoredKey, password: Option<&str>) -> Result<Option<KeyBytes>, SqlError> {
        if let Some(password) = password {
            return Ok(self.by_password(key, password)?.map(|(_, secret)| secret));
        }
        match self.encryption(key, KeyEncryptor::Master) {
            Some(sealed) => Ok(wrapped(key, sealed).open(&self.master_key()?)),
            None => Ok(None),
        }
    }

    /// A symmetric key, by the private key of a key pair or certificate that encrypts it.
    ///
    /// # Errors
    /// As [`KeyChain::private_key`].
    pub fn by_pair(
        &self,
        key: &StoredKey,
        pair: &StoredKey,
        password: Option<&str>,
    ) -> Result<Option<KeyBytes>, SqlError> {
        let Some(sealed) = self.encryption(key, KeyEncryptor::of_key(pair.kind, pair.id)) else {
            return Ok(None);
        };
        let private = self.private_key(pair, password)?;
        Ok(private.and_then(|private| wrapped(key, sealed).open_by_private(&private)))
    }

    /// A symmetric key, by another one that is open.
    pub fn by_symmetric(&self, key: &StoredKey, other: &StoredKey) -> Option<KeyBytes> {
        let sealed = self.encryption(key, KeyEncryptor::Symmetric(other.id))?;
        wrapped(key, sealed).open_by_symmetric(&self.secret(other)?)
    }

    /// The bytes of a symmetric key that the session has opened.
    pub fn secret(&self, key: &StoredKey) -> Option<KeySecret> {
        self.open.secret(self.database_id, &key.guid)
    }

    /// The encryption of a key's secret by something.
    pub fn encryption(&self, key: &StoredKey, encryptor: KeyEncryptor) -> Option<&KeyEncryption> {
        self.keys.encryptions_of(key).find(|one| one.encryptor == encryptor)
    }

    /// Whether the private key of a key pair or certificate is encrypted by a password.
    pub fn needs_password(&self, key: &StoredKey) -> bool {
        key.kind != StoredKeyKind::Symmetric && self.encryption(key, KeyEncryptor::Password).is_some()
    }
}

fn wrapped<'a>(key: &'a StoredKey, sealed: &'a KeyEncryption) -> Wrapped<'a> {
    Wrapped {
        guid: &key.guid,
        bytes: &sealed.sealed,
    }
}

/// 15581.
pub fn no_master_key() -> SqlError {
    let text = "Please create a master key in the database or open the master key in the session before performing this \
        operation.";
    SqlError::new(15581, Ends::Statement, text)
}
