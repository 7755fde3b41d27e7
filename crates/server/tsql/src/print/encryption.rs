//! Certificates and database encryption keys.

use core::fmt;

use super::{List, Optional, Text, on_or_off};
use crate::ast::{
    AlterEncryptionKey, BackupCertificate, CertificateSource, CreateCertificate, EncryptionKey, Encryptor, PrivateKey,
};

impl fmt::Display for CreateCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authorization = Optional("AUTHORIZATION ", self.authorization.as_ref(), "");
        write!(f, "CREATE CERTIFICATE {}{authorization} {}", self.name, self.source)?;
        match self.active_for_begin_dialog {
            Some(active) => write!(f, " ACTIVE FOR BEGIN_DIALOG = {}", on_or_off(active)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for CertificateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New { password, options } => {
                if let Some(password) = password {
                    write!(f, "ENCRYPTION BY PASSWORD = {} ", Text(password))?;
                }
                write!(f, "WITH {}", List(options))
            }
            Self::File { path, private_key } => {
                write!(
                    f,
                    "FROM FILE = {}{}",
                    Text(path),
                    Optional("", private_key.as_ref(), "")
                )
            }
            Self::Binary { bytes, private_key } => {
                write!(f, "FROM BINARY = {bytes}{}", Optional("", private_key.as_ref(), ""))
            }
        }
    }
}

impl fmt::Display for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        options.extend(self.path.as_ref().map(|path| format!("FILE = {}", Text(path))));
        options.extend(self.bytes.as_ref().map(|bytes| format!("BINARY = {bytes}")));
        let decryption = self.decryption_password.as_ref();
        options.extend(decryption.map(|password| format!("DECRYPTION BY PASSWORD = {}", Text(password))));
        let encryption = self.encryption_password.as_ref();
        options.extend(encryption.map(|password| format!("ENCRYPTION BY PASSWORD = {}", Text(password))));
        write!(f, "WITH PRIVATE KEY ({})", List(&options))
    }
}

impl fmt::Display for BackupCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let private_key = Optional("", self.private_key.as_ref(), "");
        write!(
            f,
            "BACKUP CERTIFICATE {} TO FILE = {}{private_key}",
            self.name,
            Text(&self.path)
        )
    }
}

impl fmt::Display for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = {} {}",
            self.algorithm, self.encryptor
        )
    }
}

impl fmt::Display for AlterEncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = Optional("REGENERATE WITH ALGORITHM = ", self.algorithm.as_ref(), "");
        let encryptor = Optional("", self.encryptor.as_ref(), "");
        write!(f, "ALTER DATABASE ENCRYPTION KEY{algorithm}{encryptor}")
    }
}

impl fmt::Display for Encryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(name) => write!(f, "ENCRYPTION BY SERVER CERTIFICATE {name}"),
            Self::AsymmetricKey(name) => write!(f, "ENCRYPTION BY SERVER ASYMMETRIC KEY {name}"),
        }
    }
}
