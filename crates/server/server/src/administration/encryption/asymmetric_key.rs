//! CREATE and DROP ASYMMETRIC KEY of a cryptographic provider.

use selenite_compiler::SqlError;
use selenite_keyring::Spec;
use selenite_tsql::ast::{self, Setting};

use super::certificate::text_of;
use super::provider_library::ProviderLibrary;
use super::x509::thumbprint;
use super::{error, missing, unsupported};
use crate::Instance;
use crate::administration::Administration;
use crate::database_error::of_master;
use crate::master::{ASYMMETRIC_KEY, AsymmetricKeyRecord, MasterError, Removal};

impl Administration<'_, '_> {
    /// CREATE ASYMMETRIC KEY .. FROM PROVIDER: a reference to a key that the provider has.
    pub(crate) fn create_asymmetric_key(&self, create: &ast::CreateAsymmetricKey) -> Result<(), SqlError> {
        let instance = self.session.instance;
        if create.authorization.as_ref().is_some_and(|owner| !owner.is("dbo")) {
            return Err(unsupported("CREATE ASYMMETRIC KEY AUTHORIZATION"));
        }
        let key = existing_key(&create.options)?;
        let provider = self.provider(&create.provider)?;
        let library = ProviderLibrary::of(&provider)?;
        let command = library.command_of(key).ok_or_else(|| {
            // 33049: PROVIDER_KEY_NAME names no key of the cryptographic provider.
            let text = format!(
                "Key with name '{key}' does not exist in the provider or access is denied. Provider error code: 4. (no key \
                 command of '{}', or several, have a key of this name)",
                provider.name
            );
            error(33049, text)
        })?;
        library.check(&provider.name, &command, instance)?;
        let added = instance.master().add_asymmetric_key(&AsymmetricKeyRecord {
            id: 0,
            name: create.name.text.clone(),
            provider_id: provider.id,
            // No key command tells a public key, which it may not have.
            thumbprint: thumbprint(format!("command:{command}").as_bytes()),
            command,
        });
        added.map_err(|fault| {
            if let MasterError::Taken(name) = fault {
                let text = format!(
                    "A key with name '{name}' or user defined unique identifier already exists or you do not have permissions \
                     to create it."
                );
                return error(15282, text);
            }
            of_master(&fault)
        })
    }

    /// DROP ASYMMETRIC KEY.
    pub(crate) fn drop_asymmetric_key(&self, name: &str) -> Result<(), SqlError> {
        let removed = self.session.instance.master().remove_asymmetric_key(name);
        match removed.map_err(|fault| of_master(&fault))? {
            Removal::Done => Ok(()),
            Removal::Missing => Err(missing("drop", ASYMMETRIC_KEY, name)),
            Removal::Needed(_) => {
                let text = format!(
                    "The {ASYMMETRIC_KEY} '{name}' cannot be dropped because it is bound to one or more database encryption key."
                );
                Err(error(3716, text))
            }
        }
    }

    /// Whether a key of a provider can be used now.
    ///
    /// # Errors
    /// 33031, 33030 or 33028; the error of master.db.
    pub(super) fn check_asymmetric_key(&self, key: &AsymmetricKeyRecord) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let providers = instance.master().providers().map_err(|fault| of_master(&fault))?;
        let provider = providers.iter().find(|one| one.id == key.provider_id);
        let provider = provider.ok_or_else(|| SqlError::internal("a provider that is gone"))?;
        ProviderLibrary::of(provider)?.check(&provider.name, &key.command, instance)
    }
}

/// The identities of the providers' keys that can be used, to open backups with.
///
/// # Errors
/// The error of master.db.
pub fn usable_keys(instance: &Instance) -> Result<Vec<Spec>, SqlError> {
    let master = instance.master();
    let keys = master.asymmetric_keys().map_err(|fault| of_master(&fault))?;
    let providers = master.providers().map_err(|fault| of_master(&fault))?;
    let is_usable = |key: &AsymmetricKeyRecord| {
        let provider = providers.iter().find(|one| one.id == key.provider_id);
        let library = provider.and_then(|provider| ProviderLibrary::of(provider).ok());
        library.is_some_and(|library| library.has(&key.command))
    };
    let usable = keys.into_iter().filter(is_usable);
    Ok(usable.map(|key| Spec::Command(key.command)).collect())
}

/// PROVIDER_KEY_NAME of a key that exists.
fn existing_key(options: &[Setting]) -> Result<&str, SqlError> {
    let option = |name: &str| options.iter().find(|option| option.name.is(name));
    let disposition = option("CREATION_DISPOSITION").map(|option| option.word());
    match disposition {
        Some(Some(word)) if word.is("OPEN_EXISTING") => {}
        None => return Err(unsupported(CREATE_NEW)),
        Some(Some(word)) if word.is("CREATE_NEW") => return Err(unsupported(CREATE_NEW)),
        Some(word) => {
            let near = word.map_or("CREATION_DISPOSITION", |word| word.text.as_str());
            return Err(error(102, format!("Incorrect syntax near '{near}'.")).with_severity(15));
        }
    }
    if option("ALGORITHM").is_some() {
        return Err(error(33034, "Cannot specify algorithm for existing key."));
    }
    let key = option("PROVIDER_KEY_NAME").and_then(text_of);
    key.ok_or_else(|| unsupported("CREATE ASYMMETRIC KEY without PROVIDER_KEY_NAME"))
}

/// What makes a key of a token or a service is not in the interface of key commands.
const CREATE_NEW: &str = "CREATE_NEW, the default CREATION_DISPOSITION (make the key with the provider's tools, then use \
    OPEN_EXISTING),";

#[cfg(test)]
mod tests {
    use selenite_tsql::ast::StatementKind;
    use selenite_tsql::{Options, parse};

    use super::*;

    #[test]
    fn only_a_key_that_exists_is_referred_to() {
        for (options, number) in [
            ("PROVIDER_KEY_NAME = 'k'", 40510),
            (
                "PROVIDER_KEY_NAME = 'k', CREATION_DISPOSITION = CREATE_NEW, ALGORITHM = RSA_2048",
                40510,
            ),
            ("PROVIDER_KEY_NAME = 'k', CREATION_DISPOSITION = PERHAPS", 102),
            ("PROVIDER_KEY_NAME = 'k', CREATION_DISPOSITION = 'OPEN_EXISTING'", 102),
            (
                "ALGORITHM = RSA_2048, PROVIDER_KEY_NAME = 'k', CREATION_DISPOSITION = OPEN_EXISTING",
                33034,
            ),
            ("CREATION_DISPOSITION = OPEN_EXISTING", 40510),
            ("PROVIDER_KEY_NAME = 7, CREATION_DISPOSITION = OPEN_EXISTING", 40510),
            ("creation_disposition = open_existing, provider_key_name = N'k'", 0),
        ] {
            let text = format!("CREATE ASYMMETRIC KEY a FROM PROVIDER p WITH {options}");
            let tree = parse(&text, Options::default()).unwrap();
            let StatementKind::KeyManagement(manage) = &tree.statements[0].kind else {
                panic!("{text}");
            };
            let ast::KeyManagement::CreateAsymmetricKey(create) = &**manage else {
                panic!("{text}");
            };
            let found = existing_key(&create.options);
            assert_eq!(found.as_ref().err().map_or(0, |error| error.number()), number, "{text}");
            assert!(found.is_err() || found == Ok("k"));
        }
    }
}
