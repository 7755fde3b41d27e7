//! Keys of a database that encrypt values: symmetric keys, key pairs, and what protects them.
//!
//! The tree contains passwords in plaintext: code that logs a statement must omit them.

use super::{Name, Setting};

/// A statement about keys that encrypt values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellKeyStatement {
    /// `CREATE SYMMETRIC KEY`
    CreateSymmetricKey(CreateSymmetricKey),
    /// `ALTER SYMMETRIC KEY name ADD | DROP ENCRYPTION BY ..`
    AlterSymmetricKey {
        /// The key's name.
        name: Name,
        /// Whether encryptions are added.
        add: bool,
        /// The encryptions; at least one.
        protectors: Vec<KeyProtector>,
    },
    /// `OPEN SYMMETRIC KEY name DECRYPTION BY ..`
    OpenSymmetricKey {
        /// The key's name.
        name: Name,
        /// What decrypts it.
        protector: KeyProtector,
    },
    /// `CLOSE SYMMETRIC KEY name`; `CLOSE ALL SYMMETRIC KEYS` has no name.
    CloseSymmetricKey(Option<Name>),
    /// `CREATE ASYMMETRIC KEY name [AUTHORIZATION user] WITH ALGORITHM = .. [ENCRYPTION BY PASSWORD = '..']`
    CreateKeyPair {
        /// The key's name.
        name: Name,
        /// `AUTHORIZATION user`.
        authorization: Option<Name>,
        /// RSA_2048 and others.
        algorithm: Name,
        /// The password that protects the private key; without it the database master key does.
        password: Option<String>,
    },
    /// `ALTER CERTIFICATE | ASYMMETRIC KEY name WITH PRIVATE KEY (..)`
    AlterPrivateKey {
        /// Whether it is of a certificate.
        of_certificate: bool,
        /// The name of the certificate or key.
        name: Name,
        /// `DECRYPTION BY PASSWORD = '..'`
        decryption_password: Option<String>,
        /// `ENCRYPTION BY PASSWORD = '..'`
        encryption_password: Option<String>,
    },
    /// `ALTER MASTER KEY ADD | DROP ENCRYPTION BY ..`
    AlterMasterKey {
        /// Whether an encryption is added.
        add: bool,
        /// `PASSWORD = '..'`; without it `SERVICE MASTER KEY`.
        password: Option<String>,
    },
}

/// CREATE SYMMETRIC KEY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSymmetricKey {
    /// The key's name.
    pub name: Name,
    /// `AUTHORIZATION user`.
    pub authorization: Option<Name>,
    /// ALGORITHM, KEY_SOURCE and IDENTITY_VALUE; at least one.
    pub options: Vec<Setting>,
    /// The encryptions; at least one.
    pub protectors: Vec<KeyProtector>,
}

/// What encrypts or decrypts a symmetric key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyProtector {
    /// `PASSWORD = '..'`
    Password(String),
    /// `CERTIFICATE name [WITH PASSWORD = '..']`
    Certificate(Name, Option<String>),
    /// `ASYMMETRIC KEY name [WITH PASSWORD = '..']`
    AsymmetricKey(Name, Option<String>),
    /// `SYMMETRIC KEY name`
    SymmetricKey(Name),
}
