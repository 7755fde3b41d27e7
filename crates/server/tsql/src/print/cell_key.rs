//! Keys that encrypt values.

use core::fmt;

use super::{List, Optional, Text, word};
use crate::ast::{CellKeyStatement, CreateSymmetricKey, KeyProtector};

impl fmt::Display for CellKeyStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSymmetricKey(it) => write!(f, "{it}"),
            Self::AlterSymmetricKey { name, add, protectors } => {
                let verb = if *add { "ADD" } else { "DROP" };
                let protectors = List(protectors);
                write!(f, "ALTER SYMMETRIC KEY {name} {verb} ENCRYPTION BY {protectors}")
            }
            Self::OpenSymmetricKey { name, protector } => {
                write!(f, "OPEN SYMMETRIC KEY {name} DECRYPTION BY {protector}")
            }
            Self::CloseSymmetricKey(Some(name)) => write!(f, "CLOSE SYMMETRIC KEY {name}"),
            Self::CloseSymmetricKey(None) => f.write_str("CLOSE ALL SYMMETRIC KEYS"),
            Self::CreateKeyPair {
                name,
                authorization,
                algorithm,
                password,
            } => {
                let authorization = Optional("AUTHORIZATION ", authorization.as_ref(), "");
                write!(
                    f,
                    "CREATE ASYMMETRIC KEY {name}{authorization} WITH ALGORITHM = {algorithm}"
                )?;
                by_password(f, " ENCRYPTION BY ", password.as_deref())
            }
            Self::AlterPrivateKey {
                of_certificate,
                name,
                decryption_password,
                encryption_password,
            } => {
                let kind = if *of_certificate {
                    "CERTIFICATE"
                } else {
                    "ASYMMETRIC KEY"
                };
                write!(f, "ALTER {kind} {name} WITH PRIVATE KEY (")?;
                by_password(f, "DECRYPTION BY ", decryption_password.as_deref())?;
                let has_both = decryption_password.is_some() && encryption_password.is_some();
                f.write_str(word(has_both, ", "))?;
                by_password(f, "ENCRYPTION BY ", encryption_password.as_deref())?;
                f.write_str(")")
            }
            Self::AlterMasterKey { add, password } => {
                let verb = if *add { "ADD" } else { "DROP" };
                write!(f, "ALTER MASTER KEY {verb} ENCRYPTION BY ")?;
                match password {
                    Some(password) => write!(f, "PASSWORD = {}", Text(password)),
                    None => f.write_str("SERVICE MASTER KEY"),
                }
            }
        }
    }
}

fn by_password(f: &mut fmt::Formatter<'_>, before: &str, password: Option<&str>) -> fmt::Result {
    match password {
        Some(password) => write!(f, "{before}PASSWORD = {}", Text(password)),
        None => Ok(()),
    }
}

impl fmt::Display for CreateSymmetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authorization = Optional("AUTHORIZATION ", self.authorization.as_ref(), "");
        let (options, protectors) = (List(&self.options), List(&self.protectors));
        write!(
            f,
            "CREATE SYMMETRIC KEY {}{authorization} WITH {options} ENCRYPTION BY {protectors}",
            self.name
        )
    }
}

impl fmt::Display for KeyProtector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name, password) = match self {
            Self::Password(password) => return write!(f, "PASSWORD = {}", Text(password)),
            Self::SymmetricKey(name) => return write!(f, "SYMMETRIC KEY {name}"),
            Self::Certificate(name, password) => ("CERTIFICATE", name, password),
            Self::AsymmetricKey(name, password) => ("ASYMMETRIC KEY", name, password),
        };
        write!(f, "{kind} {name}")?;
        by_password(f, " WITH ", password.as_deref())
    }
}
