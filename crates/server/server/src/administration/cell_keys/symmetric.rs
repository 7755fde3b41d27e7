//! CREATE, ALTER, OPEN and CLOSE SYMMETRIC KEY.

use std::sync::Arc;

use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{CreateSymmetricKey, KeyProtector, Name, Setting};

use super::{KeyWork, new_guid, now, refused, wrong_decryptor};
use crate::administration::Administration;
use crate::catalog::permission::error;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::stored_keys::{self, KeyEncryption, KeyEncryptor, StoredKey, StoredKeyKind};
use crate::execution_context::ExecutionContext;
use crate::key_wrap::{KeyBytes, Wrapped, new_secret};
use crate::sealing::check_password;

/// An encryption of a secret before it is stored.
type Encryption = (KeyEncryptor, Vec<u8>);

impl Administration<'_, '_> {
    /// CREATE SYMMETRIC KEY.
    pub(super) fn create_symmetric_key(
        &mut self,
        create: &CreateSymmetricKey,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let name = create.name.text.as_str();
        if name.starts_with('#') {
            return Err(refused("A temporary symmetric key").into());
        }
        let (algorithm, size) = algorithm_of(&create.options)?;
        self.with_keys(|work| work.check_creation(StoredKeyKind::Symmetric))?;
        let (guid, secret) = (new_guid(), new_secret(size));
        let wrapped = Wrapped {
            guid: &guid,
            bytes: &secret,
        };
        let by_password = self.by_passwords(wrapped, &create.protectors)?;
        self.change_keys(execution, |work| {
            work.check_creation(StoredKeyKind::Symmetric)?;
            if work.keys().named(StoredKeyKind::Symmetric, name).is_some() {
                return Err(taken(name));
            }
            let owner = work.owner(create.authorization.as_ref(), StoredKeyKind::Symmetric)?;
            let mut encryptions = work.by_keys(wrapped, &create.protectors)?;
            encryptions.extend(by_password);
            let new = StoredKey::of_secret(StoredKeyKind::Symmetric, (name, owner), algorithm, guid, now());
            stored_keys::add(work.connection, &new, &encryptions)
        })
    }

    /// ALTER SYMMETRIC KEY, of a key that is open.
    pub(super) fn alter_symmetric_key(
        &mut self,
        name: &Name,
        (add, protectors): (bool, &[KeyProtector]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let named = (StoredKeyKind::Symmetric, name.text.as_str());
        let (guid, secret, removed) = self.with_keys(|work| {
            let key = work.permitted(named, PermissionKind::Alter, "alter")?;
            let secret = work.chain().secret(key).ok_or_else(|| not_open(&key.name))?;
            let removed = if add {
                Vec::new()
            } else {
                work.removed_passwords(key, protectors)?
            };
            Ok((key.guid, secret, removed))
        })?;
        let wrapped = Wrapped {
            guid: &guid,
            bytes: &secret,
        };
        let by_password = if add {
            self.by_passwords(wrapped, protectors)?
        } else {
            Vec::new()
        };
        self.change_keys(execution, |work| {
            let key = work.permitted(named, PermissionKind::Alter, "alter")?;
            if key.guid != guid {
                return Err(not_open(&key.name));
            }
            let (mut added, mut removed) = (Vec::new(), work.numbers_of(&removed)?);
            if add {
                work.check_password_count(key, by_password.len())?;
                added = work.by_keys(wrapped, protectors)?;
                work.check_not_encrypted(key, &added, protectors)?;
                added.extend(by_password);
            } else {
                removed.extend(work.removed_keys(key, protectors)?);
                if removed.len() >= work.keys().encryptions_of(key).count() {
                    return Err(no_encryption(&protectors[0]));
                }
            }
            stored_keys::change_encryptions(work.connection, (key.kind, key.id), &removed, &added, now())
        })
    }

    /// OPEN SYMMETRIC KEY: nothing happens if it is open.
    pub(super) fn open_symmetric_key(&mut self, name: &Name, protector: &KeyProtector) -> Result<(), SqlError> {
        self.with_keys(|work| {
            let key = work.seen(StoredKeyKind::Symmetric, &name.text)?;
            if work.chain().secret(key).is_some() {
                return Ok(());
            }
            let secret = work.decrypted(key, protector)?;
            work.open.open((work.database_id, key.guid), Arc::new(secret), now());
            Ok(())
        })
    }

    /// CLOSE SYMMETRIC KEY, and CLOSE ALL SYMMETRIC KEYS.
    pub(super) fn close_symmetric_key(&mut self, name: Option<&Name>) -> Result<(), SqlError> {
        let Some(name) = name else {
            self.open_keys.close_all();
            return Ok(());
        };
        self.with_keys(|work| {
            let key = work.seen(StoredKeyKind::Symmetric, &name.text)?;
            match work.open.close(work.database_id, &key.guid) {
                true => Ok(()),
                false => Err(not_open(&key.name)),
            }
        })
    }

    /// The encryptions by passwords.
    ///
    /// # Errors
    /// 15116 to 15118; 8645.
    fn by_passwords(&self, wrapped: Wrapped<'_>, protectors: &[KeyProtector]) -> Result<Vec<Encryption>, SqlError> {
        let passwords: Vec<&String> = protectors.iter().filter_map(password).collect();
        if passwords.len() > PASSWORD_COUNT_MAX {
            return Err(refused("More than ten passwords of a key"));
        }
        passwords.iter().try_for_each(|password| check_password(password))?;
        let sealed = passwords.iter().map(|password| {
            let sealed = wrapped.seal_by_password(self.session.instance, password)?;
            Ok((KeyEncryptor::Password, sealed))
        });
        sealed.collect()
    }
}

impl KeyWork<'_> {
    /// The encryptions by keys.
    ///
    /// # Errors
    /// 15151, 15315.
    fn by_keys(&self, wrapped: Wrapped<'_>, protectors: &[KeyProtector]) -> Result<Vec<Encryption>, SqlError> {
        let mut encryptions: Vec<Encryption> = Vec::new();
        for protector in protectors.iter().filter(|protector| password(protector).is_none()) {
            let other = self.other(protector, PermissionKind::ViewDefinition)?;
            let sealed = match other.kind {
                StoredKeyKind::Symmetric => {
                    let secret = self.chain().secret(other).ok_or_else(|| not_open(&other.name))?;
                    wrapped.seal_by_symmetric(&secret)?
                }
                StoredKeyKind::Master | StoredKeyKind::Asymmetric | StoredKeyKind::Certificate => wrapped
                    .seal_by_public(&other.public)
                    .ok_or_else(|| error(15507, "A key required by this operation appears to be corrupted."))?,
            };
            let encryptor = KeyEncryptor::of_key(other.kind, other.id);
            if encryptions.iter().any(|(known, _)| *known == encryptor) {
                return Err(encrypted_already(other));
            }
            encryptions.push((encryptor, sealed));
        }
        Ok(encryptions)
    }

    /// The key that encrypts or decrypts another.
    fn other(&self, protector: &KeyProtector, wanted: PermissionKind) -> Result<&StoredKey, SqlError> {
        let (kind, name) = match protector {
            KeyProtector::Certificate(name, _) => (StoredKeyKind::Certificate, name),
            KeyProtector::AsymmetricKey(name, _) => (StoredKeyKind::Asymmetric, name),
            KeyProtector::SymmetricKey(name) => return self.seen(StoredKeyKind::Symmetric, &name.text),
            KeyProtector::Password(_) => return Err(SqlError::internal("a password is no key")),
        };
        self.permitted((kind, &name.text), wanted, "find")
    }

    /// 15579.
    fn check_not_encrypted(
        &self,
        key: &StoredKey,
        added: &[Encryption],
        protectors: &[KeyProtector],
    ) -> Result<(), SqlError> {
        let by_keys = protectors.iter().filter(|protector| password(protector).is_none());
        for (protector, (encryptor, _)) in by_keys.zip(added) {
            if self.chain().encryption(key, *encryptor).is_some() {
                return Err(encrypted_already(
                    self.other(protector, PermissionKind::ViewDefinition)?,
                ));
            }
            if *encryptor == KeyEncryptor::Symmetric(key.id) {
                return Err(refused("A symmetric key encrypted by itself"));
            }
        }
        Ok(())
    }

    /// The encryptions by passwords that are dropped.
    fn removed_passwords(&self, key: &StoredKey, protectors: &[KeyProtector]) -> Result<Vec<KeyEncryption>, SqlError> {
        let mut removed = Vec::new();
        for password in protectors.iter().filter_map(password) {
            let (seen, _) = self.chain().by_password(key, password)?.ok_or_else(wrong_decryptor)?;
            if !removed.contains(&seen) {
                removed.push(seen);
            }
        }
        Ok(removed)
    }

    /// The numbers of encryptions that were read before the statement waited to write.
    ///
    /// # Errors
    /// 15313 if one is gone since.
    fn numbers_of(&self, seen: &[KeyEncryption]) -> Result<Vec<i64>, SqlError> {
        let numbers = seen.iter().map(|one| self.keys().number_of(one));
        numbers.map(|number| number.ok_or_else(wrong_decryptor)).collect()
    }

    /// A key with these passwords in addition.
    ///
    /// # Errors
    /// 40510 above the maximum.
    pub(super) fn check_password_count(&self, key: &StoredKey, added: usize) -> Result<(), SqlError> {
        match self.keys().password_count(key) + added > PASSWORD_COUNT_MAX {
            true => Err(refused("More than ten passwords of a key")),
            false => Ok(()),
        }
    }

    /// The numbers of the encryptions by keys that are dropped.
    fn removed_keys(&self, key: &StoredKey, protectors: &[KeyProtector]) -> Result<Vec<i64>, SqlError> {
        let mut removed = Vec::new();
        for protector in protectors.iter().filter(|protector| password(protector).is_none()) {
            let other = self.other(protector, PermissionKind::Control)?;
            let chain = self.chain();
            let encryption = chain.encryption(key, KeyEncryptor::of_key(other.kind, other.id));
            let number = encryption.ok_or_else(|| no_encryption(protector))?.number;
            if !removed.contains(&number) {
                removed.push(number);
            }
        }
        Ok(removed)
    }

    /// The secret of a symmetric key, as OPEN decrypts it.
    ///
    /// # Errors
    /// 15313 by the wrong password or key, 15315, 15334, 15466, 15581.
    fn decrypted(&self, key: &StoredKey, protector: &KeyProtector) -> Result<KeyBytes, SqlError> {
        let chain = self.chain();
        let password = match protector {
            KeyProtector::Password(password) => {
                let opened = chain.by_password(key, password)?;
                return opened.map(|(_, secret)| secret).ok_or_else(wrong_decryptor);
            }
            KeyProtector::Certificate(_, password) | KeyProtector::AsymmetricKey(_, password) => password.as_deref(),
            KeyProtector::SymmetricKey(_) => None,
        };
        let other = self.other(protector, PermissionKind::Control)?;
        if chain
            .encryption(key, KeyEncryptor::of_key(other.kind, other.id))
            .is_none()
        {
            return Err(wrong_decryptor());
        }
        if other.kind == StoredKeyKind::Symmetric {
            let is_open = chain.secret(other).is_some();
            let refused = || {
                if is_open {
                    decryption_failed()
                } else {
                    not_open(&other.name)
                }
            };
            return chain.by_symmetric(key, other).ok_or_else(refused);
        }
        if password.is_none() && chain.needs_password(other) {
            return Err(super::key_pair::password_needed(other));
        }
        chain.by_pair(key, other, password)?.ok_or_else(decryption_failed)
    }
}

fn password(protector: &KeyProtector) -> Option<&String> {
    match protector {
        KeyProtector::Password(password) => Some(password),
        KeyProtector::Certificate(..) | KeyProtector::AsymmetricKey(..) | KeyProtector::SymmetricKey(_) => None,
    }
}

/// The algorithm, and the size of its key.
///
/// # Errors
/// 40510; 15314 without one.
fn algorithm_of(options: &[Setting]) -> Result<(&'static str, usize), SqlError> {
    let is = |option: &&Setting, name: &str| option.name.is(name);
    if options
        .iter()
        .any(|option| is(&option, "KEY_SOURCE") || is(&option, "IDENTITY_VALUE"))
    {
        // How SQL Server derives the key and its GUID is not documented: another derivation makes another key.
        return Err(refused(
            "CREATE SYMMETRIC KEY WITH KEY_SOURCE or IDENTITY_VALUE, whose derivation is not documented,",
        ));
    }
    let mut algorithms = options.iter().filter(|option| is(option, "ALGORITHM"));
    let word = match (algorithms.next(), algorithms.next()) {
        (Some(option), None) => option.word().map(|word| word.text.as_str()),
        (Some(_) | None, _) => None,
    };
    let word = word.ok_or_else(|| {
        let text = "Either no algorithm has been specified or the bitlength and the algorithm specified for the key are not \
            available in this installation of this operating system.";
        error(15314, text)
    })?;
    if let Some(found) = ALGORITHMS.into_iter().find(|(name, _)| same_name(name, word)) {
        return Ok(found);
    }
    match DEPRECATED.iter().any(|name| same_name(name, word)) {
        true => Err(refused(&format!(
            "ALGORITHM = {}, which is deprecated,",
            word.to_ascii_uppercase()
        ))),
        false => Err(SqlError::syntax_near(word)),
    }
}

/// 15282.
fn taken(name: &str) -> SqlError {
    let text = format!(
        "A key with name '{name}' or user defined unique identifier already exists or you do not have permissions to create it."
    );
    error(15282, text)
}

/// 15315.
fn not_open(name: &str) -> SqlError {
    error(
        15315,
        format!("The key '{name}' is not open. Please open the key before using it."),
    )
}

/// 15466.
fn decryption_failed() -> SqlError {
    error(15466, "An error occurred during decryption.")
}

/// 15579.
fn encrypted_already(other: &StoredKey) -> SqlError {
    let (kind, name) = (other.kind.name(), &other.name);
    let text = format!(
        "Adding an encryption to the symmetric key failed. An encryption by the same {kind} '{name}' may already exist."
    );
    error(15579, text)
}

/// 15558: an encryption that there is not, or the last one.
fn no_encryption(protector: &KeyProtector) -> SqlError {
    let by = match protector {
        KeyProtector::Password(_) => "password".to_owned(),
        KeyProtector::Certificate(name, _) => format!("certificate '{}'", name.text),
        KeyProtector::AsymmetricKey(name, _) => format!("asymmetric key '{}'", name.text),
        KeyProtector::SymmetricKey(name) => format!("symmetric key '{}'", name.text),
    };
    error(15558, format!("Cannot drop encryption by {by}."))
}

/// The algorithms, each with the size of its key.
const ALGORITHMS: [(&str, usize); 3] = [("AES_128", 16), ("AES_192", 24), ("AES_256", 32)];
/// SQL Server refuses them at compatibility levels above 120.
const DEPRECATED: [&str; 7] = ["DES", "TRIPLE_DES", "TRIPLE_DES_3KEY", "RC2", "RC4", "RC4_128", "DESX"];
/// Each of them is tried when the key is opened.
const PASSWORD_COUNT_MAX: usize = 10;
