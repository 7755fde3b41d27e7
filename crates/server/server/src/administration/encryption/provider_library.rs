//! The key commands that a cryptographic provider consists of.
//!
//! - `programs-from-configuration`: no statement names a program or a library that is run. FROM FILE selects among
//!   the key commands of the server's configuration: the one of that name, or those with that PKCS#11 module.
//! - `read-at-each-use`: the configuration is read whenever a provider is used, so a key command that the
//!   administrator removes is not used by any statement after that.

use selenite_compiler::SqlError;
use selenite_keyring::{CommandIdentity, Config, KeyError, ServiceFailure};

use super::error;
use crate::Instance;
use crate::master::ProviderRecord;

/// The key commands of a provider.
pub struct ProviderLibrary {
    config: Config,
    path: String,
}

impl ProviderLibrary {
    /// The key commands that FROM FILE selects.
    ///
    /// # Errors
    /// 33027 if there are none; 50823 if the configuration is not valid.
    pub fn load(path: &str) -> Result<Self, SqlError> {
        let library = Self::read(path)?;
        if library.is_empty() {
            // 33027: FROM FILE names no key command of the server's configuration.
            let shown: String = path.chars().take(PATH_COUNT_MAX).collect();
            let text = format!(
                "Cannot load library '{shown}'. It is neither the name nor the PKCS#11 module of a key command in the server's \
                 configuration."
            );
            return Err(error(33027, text));
        }
        Ok(library)
    }

    /// The key commands of a provider that statements may use.
    ///
    /// # Errors
    /// 33031 if it is disabled; 33030 if none of its key commands is left.
    pub fn of(provider: &ProviderRecord) -> Result<Self, SqlError> {
        if !provider.is_enabled {
            // 33031: the cryptographic provider is disabled.
            let text = format!("Cryptographic provider '{}' is in disabled.", provider.name);
            return Err(error(33031, text));
        }
        let library = Self::read(&provider.path)?;
        match library.is_empty() {
            true => Err(not_available()),
            false => Ok(library),
        }
    }

    fn read(path: &str) -> Result<Self, SqlError> {
        let config = Config::load(&|variable| std::env::var_os(variable));
        let config = config.map_err(|failed| error(50823, format!("The server's configuration says: {failed}.")))?;
        let path = path.to_owned();
        Ok(Self { config, path })
    }

    fn commands(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.config
            .commands()
            .filter(|(name, argv)| *name == self.path || values(argv, MODULE).contains(&self.path))
    }

    fn is_empty(&self) -> bool {
        self.commands().next().is_none()
    }

    /// Whether a key command belongs to it.
    pub fn has(&self, command: &str) -> bool {
        self.commands().any(|(name, _)| name == command)
    }

    /// The only key command of that name, or whose key has that name.
    pub fn command_of(&self, key: &str) -> Option<String> {
        let is_it = |(name, argv): &(&str, &[String])| *name == key || values(argv, KEY).iter().any(|own| own == key);
        let mut found = self.commands().filter(is_it);
        match (found.next(), found.next()) {
            (Some((name, _)), None) => Some(name.to_owned()),
            _ => None,
        }
    }

    /// Lets a key command wrap and unwrap a key.
    ///
    /// # Errors
    /// 33030 if it does not belong to the provider; 33028 if it fails, whose reason is in the log, too.
    pub fn check(&self, provider: &str, command: &str, instance: &Instance) -> Result<(), SqlError> {
        let argv = self.commands().find(|(name, _)| *name == command);
        let (name, argv) = argv.ok_or_else(not_available)?;
        let failed = match CommandIdentity::new(name, argv).check() {
            Ok(()) => return Ok(()),
            Err(failed) => failed,
        };
        instance
            .log()
            .line(&format!("Cryptographic provider '{provider}': {failed}."));
        // 33028: the key command of a cryptographic provider failed.
        let code = exit_code(&failed).unwrap_or(1);
        let text = format!(
            "Cannot open session for cryptographic provider '{provider}'. Provider error code: {code}. ({failed})"
        );
        Err(error(33028, text))
    }
}

fn exit_code(failed: &KeyError) -> Option<i32> {
    if let KeyError::KeyServiceUnavailable {
        failure: ServiceFailure::Exited(status),
        ..
    } = failed
    {
        return status.code();
    }
    None
}

/// 33030: none of a provider's key commands is left in the configuration.
fn not_available() -> SqlError {
    error(33030, "Cryptographic provider is not available.")
}

/// The values that a command's words give to an option, or to an attribute of a PKCS#11 URI.
fn values(argv: &[String], (option, attribute): (&str, &str)) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        if word == option {
            found.extend(words.next().cloned());
        } else if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            found.push(value.to_owned());
        } else if let Some(uri) = word.strip_prefix("--uri=").unwrap_or(word).strip_prefix("pkcs11:") {
            let parts = uri.split([';', '?', '&']).filter_map(|part| part.split_once('='));
            found.extend(
                parts
                    .filter(|(name, _)| *name == attribute)
                    .map(|(_, value)| decoded(value)),
            );
        }
    }
    found
}

/// A value of a URI without its percent-encoding.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The option of a key command for its module, and the attribute of a PKCS#11 URI.
const MODULE: (&str, &str) = ("--module", "module-path");
/// The same for its key.
const KEY: (&str, &str) = ("--key", "object");
/// What sys.cryptographic_providers has room for.
const PATH_COUNT_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn library(path: &str) -> ProviderLibrary {
        let uri = |key: &str| format!("pkcs11:token=app;object={key}?module-path=/usr/lib/m.so&pin-source=/p");
        let config = Config::default()
            .with_command("one", &["selenite", "key-service", "pkcs11", "--uri", &uri("tde")])
            .with_command(
                "two",
                &["selenite", "--uri=pkcs11:object=a%20key%", "--module", "/usr/lib/m.so"],
            )
            .with_command("twin", &["selenite", "--uri", &uri("same")])
            .with_command("same", &["selenite", "--module=/usr/lib/m.so"])
            .with_command("kms", &["selenite", "key-service", "aws-kms", "--key", "alias/app"]);
        let path = path.to_owned();
        ProviderLibrary { config, path }
    }

    #[test]
    fn a_provider_is_a_key_command_or_all_that_have_its_module() {
        let names = |path: &str| {
            let library = library(path);
            library.commands().map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names("kms"), ["kms"]);
        assert_eq!(names("/usr/lib/m.so"), ["one", "same", "twin", "two"]);
        for path in [
            "",
            "selenite",
            "KMS",
            "/usr/lib/m.so ",
            "/usr/lib/other.so",
            "pkcs11",
            "alias/app",
            "/p",
        ] {
            assert!(names(path).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_key_is_named_by_its_command_or_by_its_own_name() {
        let module = library("/usr/lib/m.so");
        for (key, command) in [
            ("one", Some("one")),
            ("tde", Some("one")),
            ("a key%", Some("two")),
            ("a%20key%", None),
            // The name of one command, and the key of another.
            ("same", None),
            ("kms", None),
            ("alias/app", None),
            ("", None),
        ] {
            assert_eq!(module.command_of(key).as_deref(), command, "{key}");
        }
        assert_eq!(library("kms").command_of("alias/app").as_deref(), Some("kms"));
        assert!(module.has("two") && !module.has("kms"));
    }
}
