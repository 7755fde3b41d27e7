//! Cryptographic providers, credentials and the keys of providers.

use core::fmt;

use super::{List, Optional, Text, word};
use crate::ast::{AlterProvider, CreateAsymmetricKey, CreateProvider, Credential, KeyManagement};

impl fmt::Display for KeyManagement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateProvider(it) => write!(f, "{it}"),
            Self::AlterProvider(it) => write!(f, "{it}"),
            Self::Credential(it) => write!(f, "{it}"),
            Self::CreateAsymmetricKey(it) => write!(f, "{it}"),
        }
    }
}

impl fmt::Display for CreateProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Text(&self.path);
        write!(f, "CREATE CRYPTOGRAPHIC PROVIDER {} FROM FILE = {path}", self.name)
    }
}

impl fmt::Display for AlterProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER CRYPTOGRAPHIC PROVIDER {}", self.name)?;
        if let Some(path) = &self.path {
            write!(f, " FROM FILE = {}", Text(path))?;
        }
        match self.is_enabled {
            Some(true) => f.write_str(" ENABLE"),
            Some(false) => f.write_str(" DISABLE"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.alter { "ALTER" } else { "CREATE" };
        let identity = Text(&self.identity);
        write!(f, "{verb} CREDENTIAL {} WITH IDENTITY = {identity}", self.name)?;
        f.write_str(word(self.has_secret, ", SECRET = ''"))?;
        let provider = Optional("FOR CRYPTOGRAPHIC PROVIDER ", self.provider.as_ref(), "");
        write!(f, "{provider}")
    }
}

impl fmt::Display for CreateAsymmetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authorization = Optional("AUTHORIZATION ", self.authorization.as_ref(), "");
        let options = List(&self.options);
        write!(
            f,
            "CREATE ASYMMETRIC KEY {}{authorization} FROM PROVIDER {} WITH {options}",
            self.name, self.provider
        )
    }
}
