//! Master keys, certificates and database encryption keys.
//!
//! Passwords are in the tree as plain text: code that logs a statement must leave these out.

use super::{Literal, Name, Setting};

/// CREATE CERTIFICATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateCertificate {
    /// Its name.
    pub name: Name,
    /// `AUTHORIZATION user`.
    pub authorization: Option<Name>,
    /// New or from a file.
    pub source: CertificateSource,
    /// `ACTIVE FOR BEGIN_DIALOG = ON | OFF`.
    pub active_for_begin_dialog: Option<bool>,
}

/// Where a certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// `[ENCRYPTION BY PASSWORD = '..'] WITH SUBJECT = '..', EXPIRY_DATE = '..'`
    New {
        /// The password of its private key; the master key without.
        password: Option<String>,
        /// SUBJECT, START_DATE, EXPIRY_DATE.
        options: Vec<Setting>,
    },
    /// `FROM FILE = '..' [WITH PRIVATE KEY (..)]`
    File {
        /// The path.
        path: String,
        /// Its private key.
        private_key: Option<PrivateKey>,
    },
    /// `FROM BINARY = 0x.. [WITH PRIVATE KEY (..)]`
    Binary {
        /// The certificate.
        bytes: Literal,
        /// Its private key.
        private_key: Option<PrivateKey>,
    },
}

/// `WITH PRIVATE KEY (..)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateKey {
    /// `FILE = '..'`
    pub path: Option<String>,
    /// `BINARY = 0x..`
    pub bytes: Option<Literal>,
    /// `DECRYPTION BY PASSWORD = '..'`
    pub decryption_password: Option<String>,
    /// `ENCRYPTION BY PASSWORD = '..'`
    pub encryption_password: Option<String>,
}

/// `BACKUP CERTIFICATE name TO FILE = '..' [WITH PRIVATE KEY (..)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupCertificate {
    /// Its name.
    pub name: Name,
    /// The path.
    pub path: String,
    /// Its private key.
    pub private_key: Option<PrivateKey>,
}

/// CREATE DATABASE ENCRYPTION KEY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptionKey {
    /// `WITH ALGORITHM = ..`: AES_128, AES_192, AES_256, TRIPLE_DES_3KEY, or whatever was written.
    pub algorithm: Name,
    /// `ENCRYPTION BY SERVER ..`
    pub encryptor: Encryptor,
}

/// ALTER DATABASE ENCRYPTION KEY; at least one of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterEncryptionKey {
    /// `REGENERATE WITH ALGORITHM = ..`
    pub algorithm: Option<Name>,
    /// `ENCRYPTION BY SERVER ..`
    pub encryptor: Option<Encryptor>,
}

/// What a database encryption key is wrapped by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryptor {
    /// `SERVER CERTIFICATE name`
    Certificate(Name),
    /// `SERVER ASYMMETRIC KEY name`
    AsymmetricKey(Name),
}
