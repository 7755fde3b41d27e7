//! What functions do with the keys of a database that encrypt values.
//!
//! - `unseen-is-missing`: a key on which the session's user has no permission is as one that does not
//!   exist; private keys need CONTROL.

use std::sync::Arc;

use selenite_compiler::{
    CertificateFacts, KeyClass, KeyFacts, KeyPair, KeyPairOperation, KeyReference, KeySecret, SqlError,
};
use selenite_types::Guid;

use crate::catalog::effective_permissions::Securable;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::stored_keys::{StoredKey, StoredKeyKind};
use crate::key_chain::KeyChain;
use crate::key_wrap::rsa_key;
use crate::names::session_objects::SessionObjects;

impl SessionObjects {
    /// What decrypts the keys of the database in use.
    pub fn key_chain(&self) -> KeyChain<'_> {
        KeyChain {
            instance: &self.instance,
            database_id: self.database_id,
            keys: self.catalog.schema.keys(),
            open: &self.open_keys,
        }
    }

    /// As `selenite_compiler::Environment::open_key`.
    pub fn open_key(&self, guid: Guid) -> Option<KeySecret> {
        let key = self.catalog.schema.keys().of_guid(&guid.0)?;
        self.key_chain().secret(key)
    }

    /// As `selenite_compiler::Environment::key_of_pair`.
    ///
    /// # Errors
    /// 15581, 8645, 15507.
    pub fn key_of_pair(&self, guid: Guid, pair: KeyPair<'_>) -> Result<Option<KeySecret>, SqlError> {
        let Some(key) = self
            .catalog
            .schema
            .keys()
            .of_guid(&guid.0)
            .filter(|key| self.sees_key(key))
        else {
            return Ok(None);
        };
        let Some(with) = self.key_pair(pair).filter(|with| self.controls_key(with)) else {
            return Ok(None);
        };
        Ok(self.key_chain().by_pair(key, with, pair.password)?.map(Arc::new))
    }

    /// As `selenite_compiler::Environment::on_key_pair`.
    ///
    /// # Errors
    /// 15581, 8645, 15507.
    pub fn on_key_pair(&self, pair: KeyPair<'_>, operation: KeyPairOperation<'_>) -> Result<Option<Vec<u8>>, SqlError> {
        let Some(key) = self.key_pair(pair) else {
            return Ok(None);
        };
        let private = |key: &StoredKey| match self.controls_key(key) {
            true => self.key_chain().private_key(key, pair.password),
            false => Ok(None),
        };
        Ok(match operation {
            KeyPairOperation::Encrypt(clear) => rsa_key::encrypt(&key.public, clear),
            KeyPairOperation::Decrypt(message) => private(key)?.and_then(|private| rsa_key::decrypt(&private, message)),
            KeyPairOperation::Sign(data) => private(key)?.and_then(|private| rsa_key::sign(&private, data)),
            KeyPairOperation::Verify { data, signature } => {
                rsa_key::is_signature(&key.public, data, signature).then(Vec::new)
            }
        })
    }

    /// As `selenite_compiler::Environment::key`.
    pub fn key(&self, class: KeyClass, reference: KeyReference<'_>) -> Option<KeyFacts> {
        let keys = self.catalog.schema.keys();
        let kind = StoredKeyKind::from(class);
        let found = match reference {
            KeyReference::Name(name) => keys.named(kind, name),
            KeyReference::Id(id) => keys.of_id(kind, id),
            KeyReference::Guid(guid) => keys.of_guid(&guid.0),
        };
        let key = found.filter(|key| self.sees_key(key))?;
        let serial: Vec<String> = key.serial.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(KeyFacts {
            id: key.id,
            guid: Guid(key.guid),
            name: Arc::from(key.name.as_str()),
            certificate: (class == KeyClass::Certificate).then(|| CertificateFacts {
                der: Arc::from(key.certificate.as_slice()),
                subject: Arc::from(key.subject.as_str()),
                serial: Arc::from(serial.join(" ")),
                not_before: key.validity.0,
                not_after: key.validity.1,
            }),
        })
    }

    /// A key pair that the session's user sees.
    fn key_pair(&self, pair: KeyPair<'_>) -> Option<&StoredKey> {
        let found = self.catalog.schema.keys().of_id(pair.class.into(), pair.id);
        found.filter(|key| key.kind != StoredKeyKind::Symmetric && self.sees_key(key))
    }

    /// Whether the session's user sees a key.
    pub fn sees_key(&self, key: &StoredKey) -> bool {
        self.permissions().sees_key(securable(key))
    }

    fn controls_key(&self, key: &StoredKey) -> bool {
        self.permissions().may_on_key(PermissionKind::Control, securable(key))
    }
}

/// What permissions on a key are asked about.
pub fn securable(key: &StoredKey) -> Securable<'_> {
    match key.kind {
        StoredKeyKind::Master => Securable::Database,
        StoredKeyKind::Symmetric | StoredKeyKind::Asymmetric | StoredKeyKind::Certificate => {
            Securable::Key(key.kind.class(), key.id, key.owner)
        }
    }
}
