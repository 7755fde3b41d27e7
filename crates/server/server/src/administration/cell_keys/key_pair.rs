//! CREATE ASYMMETRIC KEY, and the passwords of private keys.

use selenite_compiler::SqlError;
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::Name;

use super::{KeyWork, new_guid, now, refused};
use crate::administration::Administration;
use crate::catalog::permission::error;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::stored_keys::{self, KeyEncryptor, StoredKey, StoredKeyKind};
use crate::execution_context::ExecutionContext;
use crate::key_wrap::Wrapped;
use crate::key_wrap::rsa_key::new_pair;
use crate::sealing::check_password;

impl Administration<'_, '_> {
    /// CREATE ASYMMETRIC KEY WITH ALGORITHM.
    pub(super) fn create_key_pair(
        &mut self,
        (name, authorization): (&Name, Option<&Name>),
        (algorithm, password): (&Name, Option<&str>),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.with_keys(|work| work.check_creation(StoredKeyKind::Asymmetric))?;
        let algorithm = algorithm.text.to_ascii_uppercase();
        if ["RSA_512", "RSA_1024"].contains(&algorithm.as_str()) {
            return Err(refused(&format!("ALGORITHM = {algorithm}, which is deprecated,")).into());
        }
        if !["RSA_2048", "RSA_3072", "RSA_4096"].contains(&algorithm.as_str()) {
            return Err(SqlError::syntax_near(&algorithm).into());
        }
        password.map_or(Ok(()), check_password)?;
        let pair = new_pair(&algorithm).ok_or_else(not_generated)?;
        let now = now();
        let new = StoredKey {
            kind: StoredKeyKind::Asymmetric,
            id: 0,
            name: name.text.clone(),
            owner: 0,
            algorithm,
            guid: new_guid(),
            public: pair.public,
            certificate: Vec::new(),
            subject: String::new(),
            serial: Vec::new(),
            validity: (0, 0),
            times: (now, now),
        };
        self.add_private_key(new, &pair.private, (authorization, password), execution)
    }

    /// Stores a key with its private key, encrypted by a password or by the database master key.
    pub(super) fn add_private_key(
        &mut self,
        new: StoredKey,
        private: &[u8],
        (authorization, password): (Option<&Name>, Option<&str>),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let guid = new.guid;
        let wrapped = Wrapped {
            guid: &guid,
            bytes: private,
        };
        let instance = self.session.instance;
        let by_password = password.map(|password| wrapped.seal_by_password(instance, password));
        let by_password = by_password.transpose()?;
        self.change_keys(execution, |work| {
            work.check_creation(new.kind)?;
            if work.keys().named(new.kind, &new.name).is_some() {
                return Err(taken(&new));
            }
            let owner = work.owner(authorization, new.kind)?;
            let encryption = match by_password {
                Some(sealed) => (KeyEncryptor::Password, sealed),
                None => (KeyEncryptor::Master, wrapped.seal(&work.chain().master_key()?)?),
            };
            stored_keys::add(work.connection, &StoredKey { owner, ..new }, &[encryption])
        })
    }

    /// ALTER CERTIFICATE and ALTER ASYMMETRIC KEY WITH PRIVATE KEY: other encryption of the private key.
    pub(super) fn alter_private_key(
        &mut self,
        (kind, name): (StoredKeyKind, &Name),
        (old, new): (Option<&str>, Option<&str>),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let named = (kind, name.text.as_str());
        let (guid, private) = self.with_keys(|work| {
            let key = work.permitted(named, PermissionKind::Alter, "alter")?;
            let chain = work.chain();
            match (old, chain.needs_password(key)) {
                (None, true) => return Err(password_needed(key)),
                (Some(_), false) => return Err(no_password(key)),
                (None, false) | (Some(_), true) => {}
            }
            new.map_or(Ok(()), check_password)?;
            let private = chain.private_key(key, old)?;
            let private = private.ok_or_else(|| error(15465, "The private key password is invalid."))?;
            Ok((key.guid, private))
        })?;
        let wrapped = Wrapped {
            guid: &guid,
            bytes: &private,
        };
        let instance = self.session.instance;
        let by_password = new.map(|password| wrapped.seal_by_password(instance, password));
        let by_password = by_password.transpose()?;
        self.change_keys(execution, |work: &KeyWork<'_>| {
            let key = work.permitted(named, PermissionKind::Alter, "alter")?;
            if key.guid != guid {
                return Err(error(15465, "The private key password is invalid."));
            }
            let removed: Vec<i64> = work.keys().encryptions_of(key).map(|one| one.number).collect();
            let added = match by_password {
                Some(sealed) => (KeyEncryptor::Password, sealed),
                None => (KeyEncryptor::Master, wrapped.seal(&work.chain().master_key()?)?),
            };
            stored_keys::change_encryptions(work.connection, (kind, key.id), &removed, &[added], now())
        })
    }
}

/// 15396, 15232.
fn taken(key: &StoredKey) -> SqlError {
    let (kind, name) = (key.kind.name(), &key.name);
    let article = if key.kind == StoredKeyKind::Asymmetric {
        "An"
    } else {
        "A"
    };
    let number = if key.kind == StoredKeyKind::Asymmetric {
        15396
    } else {
        15232
    };
    let text = format!(
        "{article} {kind} with name '{name}' already exists or this {kind} already has been added to the database."
    );
    error(number, text)
}

/// 15508.
pub(super) fn not_generated() -> SqlError {
    error(
        15508,
        "An error occurred while generating a key required by this operation.",
    )
}

/// 15334.
pub(super) fn password_needed(key: &StoredKey) -> SqlError {
    let text = format!(
        "The {} has a private key that is protected by a user defined password. That password needs to be provided to enable \
         the use of the private key.",
        key.kind.name()
    );
    error(15334, text)
}

/// 15397.
fn no_password(key: &StoredKey) -> SqlError {
    let text = format!(
        "The {} is not protected by a password. A decryption password cannot be used for this operation.",
        key.kind.name()
    );
    error(15397, text)
}
