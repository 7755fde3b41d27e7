//! CREATE, ALTER and DROP CRYPTOGRAPHIC PROVIDER, and the same of credentials.
//!
//! `secrets-are-not-kept`: a credential's SECRET is not even in the syntax tree. A key command authenticates by what
//! its words in the configuration name.

use selenite_compiler::{SqlError, same_name};
use selenite_keyring::os_random;
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{self, Name};

use super::provider_library::ProviderLibrary;
use super::{error, info, missing, unsupported};
use crate::administration::Administration;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{CredentialRecord, LoginRecord, Mapping, MasterError, ProviderRecord, Removal};

/// Cryptographic providers.
impl Administration<'_, '_> {
    /// CREATE CRYPTOGRAPHIC PROVIDER.
    pub(crate) fn create_provider(&self, create: &ast::CreateProvider) -> Result<(), SqlError> {
        let master = self.session.instance.master();
        ProviderLibrary::load(&create.path)?;
        let present = master.providers().map_err(|fault| of_master(&fault))?;
        if present.iter().any(|one| same_name(&one.name, &create.name.text)) {
            return Err(taken(PROVIDER, &MasterError::Taken(create.name.text.clone())));
        }
        check_library(present.iter(), &create.path)?;
        let mut guid = [0; 16];
        os_random(&mut guid);
        let added = master.add_provider(&create.name.text, guid, &create.path);
        added.map_err(|fault| taken(PROVIDER, &fault))
    }

    /// ALTER CRYPTOGRAPHIC PROVIDER.
    pub(crate) fn alter_provider(&self, alter: &ast::AlterProvider) -> Result<(), SqlError> {
        let master = self.session.instance.master();
        let present = master.providers().map_err(|fault| of_master(&fault))?;
        let name = &alter.name.text;
        let found = present.iter().find(|one| same_name(&one.name, name));
        let found = found.ok_or_else(|| missing("alter", PROVIDER, name))?;
        if let Some(path) = &alter.path {
            let library = ProviderLibrary::load(path)?;
            check_library(present.iter().filter(|one| one.id != found.id), path)?;
            let keys = master.asymmetric_keys().map_err(|fault| of_master(&fault))?;
            let mut own = keys.iter().filter(|key| key.provider_id == found.id);
            if !own.all(|key| library.has(&key.command)) {
                let text = format!(
                    "Cryptographic provider guid in dll is different from the guid recorded in system catalog for provider \
                     with id {}: it does not have all of the provider's keys.",
                    found.id
                );
                return Err(error(33024, text));
            }
        }
        // A new library has to be enabled.
        let is_enabled = alter.is_enabled.unwrap_or(false);
        let path = alter.path.as_ref().unwrap_or(&found.path);
        let changed = master.change_provider(found.id, path, is_enabled);
        changed.map_err(|fault| of_master(&fault))
    }

    /// DROP CRYPTOGRAPHIC PROVIDER.
    pub(crate) fn drop_provider(&self, name: &str) -> Result<(), SqlError> {
        let removed = self.session.instance.master().remove_provider(name);
        match removed.map_err(|fault| of_master(&fault))? {
            Removal::Done => Ok(()),
            Removal::Missing => Err(missing("drop", PROVIDER, name)),
            Removal::Needed(kind) => {
                let text = format!("Cannot drop {PROVIDER} because there is {kind} referencing this provider.");
                Err(error(33044, text))
            }
        }
    }

    /// The provider of that name.
    ///
    /// # Errors
    /// 15151; the error of master.db.
    pub(super) fn provider(&self, name: &Name) -> Result<ProviderRecord, SqlError> {
        let present = self.session.instance.master().providers();
        let mut present = present.map_err(|fault| of_master(&fault))?.into_iter();
        let found = present.find(|one| same_name(&one.name, &name.text));
        found.ok_or_else(|| missing("find", PROVIDER, &name.text))
    }
}

/// Credentials.
impl Administration<'_, '_> {
    /// CREATE CREDENTIAL and ALTER CREDENTIAL.
    pub(crate) fn set_credential(
        &self,
        set: &ast::Credential,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let master = self.session.instance.master();
        let name = &set.name.text;
        if set.identity.encode_utf16().count() > IDENTITY_COUNT_MAX {
            let text = format!(
                "The identity string is too long. The identity string should contain no more than {IDENTITY_COUNT_MAX} \
                 characters."
            );
            return Err(error(15540, text).into());
        }
        if set.alter {
            let changed = master.change_credential(name, &set.identity);
            if !changed.map_err(|fault| of_master(&fault))? {
                return Err(missing("alter", CREDENTIAL, name).into());
            }
        } else {
            let Some(provider) = &set.provider else {
                return Err(unsupported("CREATE CREDENTIAL without FOR CRYPTOGRAPHIC PROVIDER").into());
            };
            let provider = self.provider(provider)?;
            let added = master.add_credential(name, &set.identity, provider.id);
            added.map_err(|fault| taken(CREDENTIAL, &fault))?;
        }
        if set.has_secret {
            execution.reply.message(&info(50823, NOT_KEPT))?;
        }
        Ok(())
    }

    /// DROP CREDENTIAL.
    pub(crate) fn drop_credential(&self, name: &str) -> Result<(), SqlError> {
        let removed = self.session.instance.master().remove_credential(name);
        match removed.map_err(|fault| of_master(&fault))? {
            Removal::Done => Ok(()),
            Removal::Missing => Err(missing("drop", CREDENTIAL, name)),
            Removal::Needed(_) => {
                let text = format!("Cannot drop the credential '{name}' because it is used by a server principal.");
                Err(error(15541, text))
            }
        }
    }

    /// ALTER LOGIN .. ADD CREDENTIAL.
    pub(crate) fn add_login_credential(&self, login: &LoginRecord, name: &Name) -> Result<(), SqlError> {
        let credential = self.credential(name)?;
        let mapped = self.session.instance.master().map_credential(login.id, &credential);
        match mapped.map_err(|fault| of_master(&fault))? {
            Mapping::Done => Ok(()),
            Mapping::Taken => {
                let text = format!(
                    "Cannot add {CREDENTIAL} '{}' because there is already {CREDENTIAL} of this provider specified for the \
                     login.",
                    credential.name
                );
                Err(error(33043, text))
            }
        }
    }

    /// ALTER LOGIN .. DROP CREDENTIAL.
    pub(crate) fn drop_login_credential(&self, login: &LoginRecord, name: &Name) -> Result<(), SqlError> {
        let credential = self.credential(name)?;
        let master = self.session.instance.master();
        let unmapped = master.unmap_credential(login.id, credential.id);
        match unmapped.map_err(|fault| of_master(&fault))? {
            true => Ok(()),
            false => {
                let text = format!("Cannot drop {CREDENTIAL} because it is not mapped to this login.");
                Err(error(33045, text))
            }
        }
    }

    fn credential(&self, name: &Name) -> Result<CredentialRecord, SqlError> {
        let present = self.session.instance.master().credentials();
        let mut present = present.map_err(|fault| of_master(&fault))?.into_iter();
        let found = present.find(|one| same_name(&one.name, &name.text));
        found.ok_or_else(|| missing("find", CREDENTIAL, &name.text))
    }
}

/// 33026: another provider has the same library.
fn check_library<'a>(mut others: impl Iterator<Item = &'a ProviderRecord>, path: &str) -> Result<(), SqlError> {
    let Some(same) = others.find(|one| one.path == path) else {
        return Ok(());
    };
    let text = format!(
        "Cryptographic provider '{}' already exists for this library.",
        same.name
    );
    Err(error(33026, text))
}

/// 15530: the name exists already.
fn taken(kind: &str, fault: &MasterError) -> SqlError {
    if let MasterError::Taken(name) = fault {
        return error(15530, format!("The {kind} with name \"{name}\" already exists."));
    }
    of_master(fault)
}

const PROVIDER: &str = "cryptographic provider";
const CREDENTIAL: &str = "credential";
/// What sys.credentials has room for.
const IDENTITY_COUNT_MAX: usize = 4000;
const NOT_KEPT: &str = "The secret of the credential was not stored: the key command of the provider authenticates by what the \
    server's configuration names.";
