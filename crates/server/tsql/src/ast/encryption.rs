//! Master keys, certificates and database encryption keys.
//!
//! The tree contains passwords in plaintext: code that logs a statement must omit them.

use super::{Literal, Name, Setting};

/// CREATE CERTIFICATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateCertificate {
    /// The certificate's name.
    pub name: Name,
    /// `AUTHORIZATION user`.
    pub authorization: Option<Name>,
    /// The origin of the certificate.
    pub source: CertificateSource,
    /// `ACTIVE FOR BEGIN_DIALOG = ON | OFF`.
    pub active_for_begin_dialog: Option<bool>,
}

/// The origin of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateSource {
    /// `[ENCRYPTION BY PASSWORD = '..'] WITH SUBJECT = '..', EXPIRY_DATE = '..'`
    New {
        /// The password that protects the private key; without it the database master key does.
        password: Option<String>,
        /// SUBJECT, START_DATE, EXPIRY_DATE.
        options: Vec<Setting>,
    },
    /// `FROM FILE = '..' [WITH PRIVATE KEY (..)]`
    File {
        /// The path of the certificate file.
        path: String,
        /// The private key.
        private_key: Option<PrivateKey>,
    },
    /// `FROM BINARY = 0x.. [WITH PRIVATE KEY (..)]`
    Binary {
        /// The certificate in DER.
        bytes: Literal,
        /// The private key.
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
    /// The certificate's name.
    pub name: Name,
    /// The path of the certificate file.
    pub path: String,
    /// The private key.
    pub private_key: Option<PrivateKey>,
}

/// CREATE DATABASE ENCRYPTION KEY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptionKey {
    /// `WITH ALGORITHM = ..`: AES_128, AES_192, AES_256, TRIPLE_DES_3KEY, or any other name as written.
    pub algorithm: Name,
    /// `ENCRYPTION BY SERVER ..`
    pub encryptor: Encryptor,
}

/// ALTER DATABASE ENCRYPTION KEY; at least one of the two clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterEncryptionKey {
    /// `REGENERATE WITH ALGORITHM = ..`
    pub algorithm: Option<Name>,
    /// `ENCRYPTION BY SERVER ..`
    pub encryptor: Option<Encryptor>,
}

/// The certificate or key that protects a database encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryptor {
    /// `SERVER CERTIFICATE name`
    Certificate(Name),
    /// `SERVER ASYMMETRIC KEY name`
    AsymmetricKey(Name),
}
