//! The keys of a database that encrypt values, as functions see them.

use std::sync::Arc;

use selenite_types::Guid;
use zeroize::Zeroizing;

/// The bytes of an open symmetric key, which are overwritten when the last holder drops them.
pub type KeySecret = Arc<Zeroizing<Vec<u8>>>;

/// The kind of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyClass {
    /// A symmetric key.
    Symmetric,
    /// A pair of keys: CREATE ASYMMETRIC KEY.
    Asymmetric,
    /// A certificate.
    Certificate,
}

/// What identifies a key among those of its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyReference<'a> {
    /// Its name.
    Name(&'a str),
    /// Its number.
    Id(i32),
    /// `key_guid` in sys.symmetric_keys.
    Guid(Guid),
}

/// A key.
#[derive(Clone, Debug)]
pub struct KeyFacts {
    /// Its number.
    pub id: i32,
    /// Its GUID.
    pub guid: Guid,
    /// Its name.
    pub name: Arc<str>,
    /// What only a certificate has.
    pub certificate: Option<CertificateFacts>,
}

/// A certificate.
#[derive(Clone, Debug)]
pub struct CertificateFacts {
    /// The certificate in DER: CERTENCODED.
    pub der: Arc<[u8]>,
    /// Its subject, which is its issuer, too.
    pub subject: Arc<str>,
    /// Its serial number in hexadecimal digits.
    pub serial: Arc<str>,
    /// The beginning of its validity: seconds since 1970-01-01 UTC.
    pub not_before: i64,
    /// The end of its validity.
    pub not_after: i64,
}

/// A key pair, and the password of its private key.
#[derive(Clone, Copy)]
pub struct KeyPair<'a> {
    /// [`KeyClass::Asymmetric`] or [`KeyClass::Certificate`].
    pub class: KeyClass,
    /// Its number.
    pub id: i32,
    /// Without one the database master key decrypts the private key.
    pub password: Option<&'a str>,
}

/// What is done with a key pair.
#[derive(Clone, Copy)]
pub enum KeyPairOperation<'a> {
    /// Encrypts a cleartext.
    Encrypt(&'a [u8]),
    /// Decrypts a message.
    Decrypt(&'a [u8]),
    /// Signs data.
    Sign(&'a [u8]),
    /// Compares a signature with data: no bytes if it is of them, `None` if it is not.
    Verify {
        /// The data.
        data: &'a [u8],
        /// The signature.
        signature: &'a [u8],
    },
}
