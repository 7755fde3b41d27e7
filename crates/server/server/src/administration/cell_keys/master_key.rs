//! The database master key: it encrypts the private keys of certificates and key pairs.

use std::sync::Arc;

use selenite_compiler::{KeySecret, SqlError};
use selenite_runtime::machine::Failure;

use super::{KeyWork, encrypts_another, new_guid, now, refused, wrong_decryptor};
use crate::administration::Administration;
use crate::catalog::permission::error;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::{DBO, not_there};
use crate::catalog::stored_keys::{self, KeyEncryption, KeyEncryptor, StoredKey, StoredKeyKind};
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::key_chain::no_master_key;
use crate::key_wrap::{MASTER_KEY_SIZE, Wrapped, new_secret};
use crate::sealing::check_password;

impl Administration<'_, '_> {
    /// CREATE MASTER KEY: encrypted by the password and by the server.
    pub(super) fn create_own_master_key(
        &mut self,
        password: Option<&str>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.with_keys(|work| work.check_creation(StoredKeyKind::Master))?;
        let password = password.ok_or_else(|| {
            let text = "Database master keys without password are not supported in this version of SQL Server.";
            error(33161, text).with_severity(15)
        })?;
        let (guid, secret) = (new_guid(), new_secret(MASTER_KEY_SIZE));
        let encryptions = self.master_encryptions(&guid, &secret, password)?;
        self.change_keys(execution, |work| {
            work.check_creation(StoredKeyKind::Master)?;
            if work.keys().master().is_some() {
                let text =
                    "There is already a master key in the database. Please drop it before performing this statement.";
                return Err(error(15578, text));
            }
            let named = ("##MS_DatabaseMasterKey##", DBO);
            let new = StoredKey::of_secret(StoredKeyKind::Master, named, "AES_256", guid, now());
            stored_keys::add(work.connection, &new, &encryptions)
        })
    }

    /// A new master key, encrypted by its password and by the server.
    fn master_encryptions(
        &self,
        guid: &[u8; 16],
        secret: &[u8],
        password: &str,
    ) -> Result<[(KeyEncryptor, Vec<u8>); 2], SqlError> {
        check_password(password)?;
        let wrapped = Wrapped { guid, bytes: secret };
        let by_password = wrapped.seal_by_password(self.session.instance, password)?;
        let by_service = self.by_service(wrapped)?;
        Ok([
            (KeyEncryptor::Password, by_password),
            (KeyEncryptor::Service, by_service),
        ])
    }

    fn by_service(&self, wrapped: Wrapped<'_>) -> Result<Vec<u8>, SqlError> {
        let service = self.session.instance.master().service_master_key();
        wrapped.seal(&service.map_err(|fault| of_master(&fault))?)
    }

    /// ALTER MASTER KEY ADD or DROP ENCRYPTION.
    pub(super) fn alter_own_master_key(
        &mut self,
        add: bool,
        password: Option<&str>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let (guid, secret, removed) = self.with_keys(|work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.keys().master().ok_or_else(no_master_key)?;
            let removed = match (add, password) {
                (false, Some(password)) => Some(work.by_password(key, password)?),
                (true, _) | (false, None) => None,
            };
            Ok((key.guid, work.chain().master_key()?, removed))
        })?;
        let wrapped = Wrapped {
            guid: &guid,
            bytes: &secret,
        };
        let added = match (add, password) {
            (true, Some(password)) => {
                check_password(password)?;
                let sealed = wrapped.seal_by_password(self.session.instance, password)?;
                Some((KeyEncryptor::Password, sealed))
            }
            (true, None) => Some((KeyEncryptor::Service, self.by_service(wrapped)?)),
            (false, _) => None,
        };
        let by_service = password.is_none();
        self.change_keys(execution, |work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.same_master(&guid)?;
            let service = work
                .chain()
                .encryption(key, KeyEncryptor::Service)
                .map(|one| one.number);
            let removed = match (by_service, service) {
                // Another encryption by the server takes the place of the old one.
                (true, number @ Some(_)) => number,
                (true, None) if !add => {
                    return Err(error(15558, "Cannot drop encryption by service master key."));
                }
                (true, None) => None,
                (false, _) if add => {
                    work.check_password_count(key, 1)?;
                    None
                }
                (false, _) => removed
                    .as_ref()
                    .map(|seen| work.password_number(key, seen))
                    .transpose()?,
            };
            let added: Vec<_> = added.into_iter().collect();
            let removed: Vec<i64> = removed.into_iter().collect();
            stored_keys::change_encryptions(work.connection, (key.kind, key.id), &removed, &added, now())
        })
    }

    /// ALTER MASTER KEY REGENERATE: another key, with which all private keys are encrypted.
    pub(super) fn regenerate_own_master_key(
        &mut self,
        force: bool,
        password: &str,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        if force {
            return Err(refused("ALTER MASTER KEY FORCE REGENERATE").into());
        }
        let old = self.with_keys(|work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.keys().master().ok_or_else(no_master_key)?;
            work.chain().master_key().map(|_| key.guid)
        })?;
        // Another secret has another GUID: a session that has the old one open would encrypt with it.
        let (guid, secret) = (new_guid(), new_secret(MASTER_KEY_SIZE));
        let [by_password, by_service] = self.master_encryptions(&guid, &secret, password)?;
        self.change_keys(execution, |work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.same_master(&old)?;
            work.seal_again(&work.chain().master_key()?, &secret)?;
            let has_service = work.chain().encryption(key, KeyEncryptor::Service).is_some();
            let mut added = vec![by_password];
            added.extend(has_service.then_some(by_service));
            let removed: Vec<i64> = work.keys().encryptions_of(key).map(|one| one.number).collect();
            stored_keys::change_encryptions(work.connection, (key.kind, key.id), &removed, &added, now())?;
            stored_keys::set_guid(work.connection, key, &guid)
        })?;
        self.open_keys.close_master(self.transactions.current);
        Ok(())
    }

    /// OPEN MASTER KEY.
    pub(super) fn open_own_master_key(&mut self, password: &str) -> Result<(), SqlError> {
        self.with_keys(|work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.keys().master();
            let key = key.ok_or_else(|| not_there("find", "symmetric key", "master key"))?;
            let secret = work.chain().master_key_by(password)?.ok_or_else(wrong_decryptor)?;
            work.open.open_master(work.database_id, key.guid, Arc::new(secret));
            Ok(())
        })
    }

    /// CLOSE MASTER KEY.
    pub(super) fn close_own_master_key(&mut self) -> Result<(), SqlError> {
        self.with_keys(|work| {
            work.check_in_database(PermissionKind::Control)?;
            work.open.close_master(work.database_id);
            Ok(())
        })
    }

    /// DROP MASTER KEY.
    pub(super) fn drop_own_master_key(&mut self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        self.change_keys(execution, |work| {
            work.check_in_database(PermissionKind::Control)?;
            let key = work.keys().master();
            let key = key.ok_or_else(|| not_there("drop", "symmetric key", "master key"))?;
            if let Some(other) = work.keys().first_encrypted_by(KeyEncryptor::Master) {
                return Err(encrypts_another(key, other));
            }
            stored_keys::remove(work.connection, key)
        })
    }
}

impl KeyWork<'_> {
    /// The encryption of the master key by a password.
    fn by_password(&self, key: &StoredKey, password: &str) -> Result<KeyEncryption, SqlError> {
        let found = self.chain().by_password(key, password)?;
        found.map(|(seen, _)| seen).ok_or_else(wrong_decryptor)
    }

    /// The number of an encryption of the master key by a password, which is not the only one by a password.
    fn password_number(&self, key: &StoredKey, seen: &KeyEncryption) -> Result<i64, SqlError> {
        match self.keys().password_count(key) {
            0 | 1 => Err(error(15558, "Cannot drop encryption by password.")),
            _ => self.keys().number_of(seen).ok_or_else(wrong_decryptor),
        }
    }

    /// The master key, if it is still the one of before.
    fn same_master(&self, guid: &[u8; 16]) -> Result<&StoredKey, SqlError> {
        let key = self.keys().master().filter(|key| key.guid == *guid);
        key.ok_or_else(no_master_key)
    }

    /// Encrypts with a new master key what the old one encrypts.
    fn seal_again(&self, old: &KeySecret, new: &[u8]) -> Result<(), SqlError> {
        let sealed = self.keys().encryptions().iter();
        for one in sealed.filter(|one| one.encryptor == KeyEncryptor::Master) {
            let (kind, id) = one.key;
            let Some(key) = self.keys().of_id(kind, id) else {
                continue;
            };
            let wrapped = |bytes| Wrapped { guid: &key.guid, bytes };
            let private = wrapped(&one.sealed).open(old).ok_or_else(|| {
                let text = format!(
                    "An error occurred while decrypting {} '{}' that was encrypted by the old master key. The FORCE option \
                     can be used to ignore this error and continue the operation, but data that cannot be decrypted by the \
                     old master key will become unavailable.",
                    kind.name(),
                    key.name
                );
                error(15320, text)
            })?;
            let again = [(KeyEncryptor::Master, wrapped(&private).seal(new)?)];
            stored_keys::change_encryptions(self.connection, one.key, &[one.number], &again, now())?;
        }
        Ok(())
    }
}
