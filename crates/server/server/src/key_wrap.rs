//! Secrets of keys that encrypt values, as the file of a database has them.
//!
//! - `bound-to-its-key`: what is encrypted is the GUID of the key before its secret, so that one
//!   does not open as another, whatever encrypts it.
//! - `one-use-per-secret`: a symmetric key encrypts values as it is, and other keys with a key that is
//!   derived from it (HKDF with SHA-256).

pub mod rsa_key;

use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use selenite_compiler::{Ends, SqlError};
use selenite_keyring::{PasswordFileError, os_random};
use zeroize::Zeroizing;

use crate::Instance;
use crate::sealing::{SealingKey, open_with_password, seal_with_password};

/// A secret, wiped when it is dropped.
pub type KeyBytes = Zeroizing<Vec<u8>>;

/// The secret of a key, with its GUID.
#[derive(Clone, Copy)]
pub struct Wrapped<'a> {
    /// The key's GUID.
    pub guid: &'a [u8; 16],
    /// Its secret, or that encrypted.
    pub bytes: &'a [u8],
}

impl Wrapped<'_> {
    fn framed(self) -> KeyBytes {
        let mut framed = Zeroizing::new(Vec::with_capacity(self.guid.len() + self.bytes.len()));
        framed.extend_from_slice(self.guid);
        framed.extend_from_slice(self.bytes);
        framed
    }

    fn unframed(self, framed: &[u8]) -> Option<KeyBytes> {
        let secret = framed.strip_prefix(self.guid)?;
        Some(Zeroizing::new(secret.to_vec()))
    }

    /// Encrypts it with a master key.
    ///
    /// # Errors
    /// The machine's.
    pub fn seal(self, master_key: &[u8]) -> Result<Vec<u8>, SqlError> {
        sealing_key(master_key)?.seal(&self.framed(), CONTEXT)
    }

    /// Decrypts it with a master key.
    pub fn open(self, master_key: &[u8]) -> Option<KeyBytes> {
        let framed = SealingKey::new(master_key)?.open(self.bytes, CONTEXT).ok()?;
        self.unframed(&framed)
    }

    /// Encrypts it with a symmetric key.
    ///
    /// # Errors
    /// The machine's.
    pub fn seal_by_symmetric(self, key: &[u8]) -> Result<Vec<u8>, SqlError> {
        let derived = derived(key).ok_or_else(|| SqlError::internal("a key that could not be derived"))?;
        self.seal(&*derived)
    }

    /// Decrypts it with a symmetric key.
    pub fn open_by_symmetric(self, key: &[u8]) -> Option<KeyBytes> {
        self.open(&*derived(key)?)
    }

    /// Encrypts it with a public key; `None` if that is none.
    pub fn seal_by_public(self, public: &[u8]) -> Option<Vec<u8>> {
        rsa_key::wrap(public, &self.framed())
    }

    /// Decrypts it with a private key.
    pub fn open_by_private(self, private: &[u8]) -> Option<KeyBytes> {
        self.unframed(&rsa_key::unwrap_key(private, self.bytes)?)
    }

    /// Encrypts it with a password.
    ///
    /// # Errors
    /// 8645; the machine's.
    pub fn seal_by_password(self, instance: &Instance, password: &str) -> Result<Vec<u8>, SqlError> {
        seal_with_password(instance, &self.framed(), password)
    }

    /// Decrypts it with a password.
    ///
    /// # Errors
    /// 8645; 15507 if it was forged or altered.
    pub fn open_by_password(self, instance: &Instance, password: &str) -> Result<Option<KeyBytes>, SqlError> {
        match open_with_password(instance, self.bytes, password, SECRET_SIZE_MAX)? {
            Ok(framed) => Ok(self.unframed(&framed)),
            Err(PasswordFileError::WrongPassword) => Ok(None),
            Err(_) => {
                let text = "A key required by this operation appears to be corrupted.";
                Err(SqlError::new(15507, Ends::Statement, text))
            }
        }
    }
}

/// A new random secret.
pub fn new_secret(size: usize) -> KeyBytes {
    let mut secret = Zeroizing::new(vec![0; size]);
    os_random(&mut secret);
    secret
}

fn sealing_key(secret: &[u8]) -> Result<SealingKey, SqlError> {
    SealingKey::new(secret).ok_or_else(|| SqlError::internal("a master key of another size"))
}

fn derived(key: &[u8]) -> Option<Zeroizing<[u8; MASTER_KEY_SIZE]>> {
    let extracted = Salt::new(HKDF_SHA256, &[]).extract(key);
    let mut derived = Zeroizing::new([0; MASTER_KEY_SIZE]);
    let expanded = extracted.expand(&[CONTEXT], HKDF_SHA256).ok()?;
    expanded.fill(&mut *derived).ok()?;
    Some(derived)
}

/// AES-256.
pub const MASTER_KEY_SIZE: usize = 32;
/// The private key of RSA_4096 has about 2400 bytes.
const SECRET_SIZE_MAX: usize = 4096;
const CONTEXT: &[u8] = b"Selenite key of a database, version 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_as_the_key_that_it_is_of_and_as_no_other() {
        let (guid, other) = ([1; 16], [2; 16]);
        let secret = new_secret(32);
        let clear = Wrapped {
            guid: &guid,
            bytes: &secret,
        };
        let pair = rsa_key::new_pair("RSA_2048").unwrap();
        let sealed = [
            clear.seal(&[9; 32]).unwrap(),
            clear.seal_by_symmetric(&[9; 16]).unwrap(),
            clear.seal_by_public(&pair.public).unwrap(),
        ];
        let open = |guid: &[u8; 16], at: usize, bytes: &[u8]| {
            let wrapped = Wrapped { guid, bytes };
            match at {
                0 => wrapped.open(&[9; 32]),
                1 => wrapped.open_by_symmetric(&[9; 16]),
                _ => wrapped.open_by_private(&pair.private),
            }
        };
        for (at, bytes) in sealed.iter().enumerate() {
            assert_eq!(open(&guid, at, bytes).unwrap(), secret);
            assert!(open(&other, at, bytes).is_none());
            for place in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[place] ^= 1;
                assert!(open(&guid, at, &flipped).is_none(), "{at} {place}");
                assert!(open(&guid, at, &bytes[..place]).is_none(), "{at} {place}");
            }
            assert!(open(&guid, (at + 1) % 3, bytes).is_none());
        }
        assert!(clear.seal(&[9; 31]).is_err());
    }
}
