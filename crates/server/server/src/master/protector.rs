//! What protects a database encryption key: a certificate, or the key of a provider.

use super::keys::ProtectorId;
use super::{AsymmetricKeyRecord, CertificateRecord, Master, MasterError};

/// A protector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Protector {
    /// A certificate.
    Certificate(CertificateRecord),
    /// The key of a provider.
    AsymmetricKey(AsymmetricKeyRecord),
}

impl Protector {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> ProtectorId {
        match self {
            Self::Certificate(certificate) => ProtectorId::Certificate(certificate.id),
            Self::AsymmetricKey(key) => ProtectorId::AsymmetricKey(key.id),
        }
    }

    /// What distinguishes it from others of its kind.
    #[must_use]
    pub fn thumbprint(&self) -> &[u8] {
        match self {
            Self::Certificate(certificate) => &certificate.thumbprint,
            Self::AsymmetricKey(key) => &key.thumbprint,
        }
    }

    /// Its kind, in lower case.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Certificate(_) => CERTIFICATE,
            Self::AsymmetricKey(_) => ASYMMETRIC_KEY,
        }
    }

    /// The label of its key slot.
    #[must_use]
    pub fn label(&self) -> String {
        let digits: String = self.thumbprint().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {digits}", self.kind())
    }

    /// The recipient for its key slot.
    #[must_use]
    pub fn recipient(&self) -> String {
        match self {
            Self::Certificate(certificate) => certificate.recipient.clone(),
            Self::AsymmetricKey(key) => format!("command:{}", key.command),
        }
    }
}

impl Master {
    /// All certificates and keys of providers.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn protectors(&self) -> Result<Vec<Protector>, MasterError> {
        let certificates = self.certificates()?.into_iter().map(Protector::Certificate);
        let keys = self.asymmetric_keys()?.into_iter().map(Protector::AsymmetricKey);
        Ok(certificates.chain(keys).collect())
    }
}

/// A certificate, in lower case, as in the labels of key slots.
pub const CERTIFICATE: &str = "certificate";
/// The key of a provider, likewise.
pub const ASYMMETRIC_KEY: &str = "asymmetric key";
