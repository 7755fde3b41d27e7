//! RSA key pairs: encryption and signatures of PKCS #1, keys in DER.
//!
//! - `two-paddings`: values that T-SQL encrypts have the padding of PKCS #1 1.5, whose length is the one
//!   that ENCRYPTBYASYMKEY documents; keys are wrapped with OAEP.
//! - `numbers-are-big-endian`: as RFC 8017 has them. SQL Server documents no order of bytes.

use std::time::Duration;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, Pkcs1PrivateDecryptingKey,
    Pkcs1PublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey,
};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, PKCS_RSA_SHA256, PublicKeyData, SerialNumber, SignatureAlgorithm,
    SigningKey,
};
use selenite_keyring::os_random;
use zeroize::Zeroizing;

/// A new key pair.
pub struct NewPair {
    /// The private key in DER (PKCS #8).
    pub private: Zeroizing<Vec<u8>>,
    /// The public key in DER (SubjectPublicKeyInfo).
    pub public: Vec<u8>,
}

/// A certificate that its own key has signed.
pub struct NewCertificate {
    /// The certificate in DER.
    pub der: Vec<u8>,
    /// Its serial number.
    pub serial: Vec<u8>,
}

/// Makes a key pair of an algorithm; `None` for one that is not supported, or if the machine makes none.
pub fn new_pair(algorithm: &str) -> Option<NewPair> {
    let (_, size) = SIZES
        .into_iter()
        .find(|(name, _)| algorithm.eq_ignore_ascii_case(name))?;
    let made = PrivateDecryptingKey::generate(size).ok()?;
    let private = AsDer::<Pkcs8V1Der<'_>>::as_der(&made).ok()?;
    let public = AsDer::<PublicKeyX509Der<'_>>::as_der(&made.public_key()).ok()?;
    Some(NewPair {
        private: Zeroizing::new(private.as_ref().to_vec()),
        public: public.as_ref().to_vec(),
    })
}

/// Makes a certificate. Moments are seconds since 1970-01-01 UTC; what is before that is taken for it.
pub fn new_certificate(pair: &NewPair, subject: &str, validity: (i64, i64)) -> Option<NewCertificate> {
    let signer = Signer(RsaKeyPair::from_pkcs8(&pair.private).ok()?);
    let mut serial = [0; 16];
    os_random(&mut serial);
    // A positive number whose first byte is not left out.
    serial[0] = serial[0] & 0x3f | 0x40;
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, subject);
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let moment = |seconds: i64| epoch + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    params.not_before = moment(validity.0);
    params.not_after = moment(validity.1);
    Some(NewCertificate {
        der: params.self_signed(&signer).ok()?.der().to_vec(),
        serial: serial.to_vec(),
    })
}

/// rcgen's own would keep a copy of the private key that is not wiped.
struct Signer(RsaKeyPair);

impl PublicKeyData for Signer {
    fn der_bytes(&self) -> &[u8] {
        self.0.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_RSA_SHA256
    }
}

impl SigningKey for Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        sign_with(&self.0, message).ok_or(rcgen::Error::RemoteKeyError)
    }
}

/// Encrypts a text of at most the key's size less 11 bytes.
pub fn encrypt(public: &[u8], clear: &[u8]) -> Option<Vec<u8>> {
    let key = Pkcs1PublicEncryptingKey::new(PublicEncryptingKey::from_der(public).ok()?).ok()?;
    let mut message = vec![0; key.ciphertext_size()];
    let size = key.encrypt(clear, &mut message).ok()?.len();
    message.truncate(size);
    Some(message)
}

/// Decrypts what [`encrypt`] has encrypted.
pub fn decrypt(private: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let key = Pkcs1PrivateDecryptingKey::new(PrivateDecryptingKey::from_pkcs8(private).ok()?).ok()?;
    let mut clear = Zeroizing::new(vec![0; key.min_output_size()]);
    let clear = key.decrypt(message, &mut clear).ok()?;
    Some(clear.to_vec())
}

/// Encrypts a key.
pub fn wrap(public: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(public).ok()?).ok()?;
    let mut wrapped = vec![0; key.ciphertext_size()];
    let size = key
        .encrypt(&OAEP_SHA256_MGF1SHA256, secret, &mut wrapped, None)
        .ok()?
        .len();
    wrapped.truncate(size);
    Some(wrapped)
}

/// Decrypts what [`wrap`] has encrypted.
pub fn unwrap_key(private: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let key = OaepPrivateDecryptingKey::new(PrivateDecryptingKey::from_pkcs8(private).ok()?).ok()?;
    let mut secret = Zeroizing::new(vec![0; key.min_output_size()]);
    let size = key
        .decrypt(&OAEP_SHA256_MGF1SHA256, wrapped, &mut secret, None)
        .ok()?
        .len();
    secret.truncate(size);
    Some(secret)
}

/// Signs data, by SHA-256.
pub fn sign(private: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    sign_with(&RsaKeyPair::from_pkcs8(private).ok()?, data)
}

fn sign_with(key: &RsaKeyPair, data: &[u8]) -> Option<Vec<u8>> {
    let mut signature = vec![0; key.public_modulus_len()];
    let random = SystemRandom::new();
    key.sign(&RSA_PKCS1_SHA256, &random, data, &mut signature).ok()?;
    Some(signature)
}

/// Whether a signature is one of the data.
pub fn is_signature(public: &[u8], data: &[u8], signature: &[u8]) -> bool {
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public);
    key.verify(data, signature).is_ok()
}

const SIZES: [(&str, KeySize); 3] = [
    ("RSA_2048", KeySize::Rsa2048),
    ("RSA_3072", KeySize::Rsa3072),
    ("RSA_4096", KeySize::Rsa4096),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_encrypts_wraps_and_signs() {
        let (pair, other) = (new_pair("rsa_2048").unwrap(), new_pair("RSA_2048").unwrap());
        let message = encrypt(&pair.public, b"clear").unwrap();
        assert_eq!(message.len(), 256);
        assert_eq!(decrypt(&pair.private, &message).unwrap(), b"clear");
        assert!(encrypt(&pair.public, &[0; 245]).is_some() && encrypt(&pair.public, &[0; 246]).is_none());
        let wrapped = wrap(&pair.public, &[7; 48]).unwrap();
        assert_eq!(**unwrap_key(&pair.private, &wrapped).unwrap(), [7; 48]);
        assert!(unwrap_key(&other.private, &wrapped).is_none());
        assert!(unwrap_key(&pair.private, &message).is_none());
        let signature = sign(&pair.private, b"data").unwrap();
        assert!(is_signature(&pair.public, b"data", &signature));
        assert!(!is_signature(&pair.public, b"other", &signature));
        assert!(!is_signature(&other.public, b"data", &signature));
        for size in 0..message.len() {
            assert!(decrypt(&pair.private, &message[..size]).is_none(), "{size}");
            assert!(!is_signature(&pair.public, b"data", &signature[..size]), "{size}");
        }
        assert!(new_pair("RSA_1024").is_none());
    }

    #[test]
    fn a_certificate_has_its_subject_and_its_key() {
        let pair = new_pair("RSA_2048").unwrap();
        let made = new_certificate(&pair, "Shipping", (0, 253_402_300_799)).unwrap();
        let has = |bytes: &[u8]| made.der.windows(bytes.len()).any(|window| window == bytes);
        assert!(has(b"Shipping") && has(&made.serial) && has(&pair.public));
    }
}
