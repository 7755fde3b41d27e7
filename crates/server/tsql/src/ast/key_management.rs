//! Extensible key management: cryptographic providers, credentials and the keys of providers.

use super::{Name, Setting};

/// A statement of extensible key management.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyManagement {
    /// `CREATE CRYPTOGRAPHIC PROVIDER`
    CreateProvider(CreateProvider),
    /// `ALTER CRYPTOGRAPHIC PROVIDER`
    AlterProvider(AlterProvider),
    /// `CREATE CREDENTIAL`, `ALTER CREDENTIAL`
    Credential(Credential),
    /// `CREATE ASYMMETRIC KEY`
    CreateAsymmetricKey(CreateAsymmetricKey),
}

/// `CREATE CRYPTOGRAPHIC PROVIDER name FROM FILE = '..'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateProvider {
    /// The provider's name.
    pub name: Name,
    /// The path of its library.
    pub path: String,
}

/// `ALTER CRYPTOGRAPHIC PROVIDER name [FROM FILE = '..'] [ENABLE | DISABLE]`; at least one of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterProvider {
    /// The provider's name.
    pub name: Name,
    /// The path of its new library.
    pub path: Option<String>,
    /// `ENABLE` or `DISABLE`.
    pub is_enabled: Option<bool>,
}

/// CREATE CREDENTIAL and ALTER CREDENTIAL.
///
/// The secret is not in the tree: nothing that is done with it can show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Whether it is ALTER CREDENTIAL.
    pub alter: bool,
    /// The credential's name.
    pub name: Name,
    /// `IDENTITY = '..'`
    pub identity: String,
    /// Whether there is `SECRET = '..'`.
    pub has_secret: bool,
    /// `FOR CRYPTOGRAPHIC PROVIDER name`, only in CREATE CREDENTIAL.
    pub provider: Option<Name>,
}

/// `CREATE ASYMMETRIC KEY name [AUTHORIZATION user] FROM PROVIDER name WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateAsymmetricKey {
    /// The key's name.
    pub name: Name,
    /// `AUTHORIZATION user`.
    pub authorization: Option<Name>,
    /// The provider.
    pub provider: Name,
    /// ALGORITHM, PROVIDER_KEY_NAME and CREATION_DISPOSITION; at least one.
    pub options: Vec<Setting>,
}
