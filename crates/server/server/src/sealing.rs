//! Secrets, encrypted with a key or with a password.

use std::time::{Duration, Instant};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use selenite_compiler::{Ends, SqlError};
use selenite_keyring::{PasswordFileError, open_by_password, seal_by_password};
use zeroize::Zeroizing;

use crate::Instance;
use crate::password::{RuleBroken, check_new_password};

/// A key that encrypts secrets, at work.
pub struct SealingKey(RandomizedNonceKey);

impl SealingKey {
    /// The key of that secret. None if it has another size.
    pub fn new(secret: &[u8]) -> Option<Self> {
        RandomizedNonceKey::new(&AES_256_GCM, secret).ok().map(Self)
    }

    /// Encrypts a secret, which is bound to `context`. The nonce is drawn at random: of 96 bits, for some thousand
    /// secrets in a key's life.
    ///
    /// # Errors
    /// The machine's.
    pub fn seal(&self, plain: &[u8], context: &[u8]) -> Result<Vec<u8>, SqlError> {
        // Room for the tag at once: a buffer that grows leaves copies behind.
        let mut sealed = Zeroizing::new(Vec::with_capacity(plain.len() + TAG_SIZE));
        sealed.extend_from_slice(plain);
        let nonce = self
            .0
            .seal_in_place_append_tag(Aad::from(context), &mut *sealed)
            .map_err(|_| SqlError::internal("a private key that could not be sealed"))?;
        Ok([nonce.as_ref().as_slice(), &sealed].concat())
    }

    /// Decrypts what [`SealingKey::seal`] has encrypted.
    ///
    /// # Errors
    /// 15466 for anything else.
    pub fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Zeroizing<Vec<u8>>, SqlError> {
        let refused = || error(15466, "An error occurred during decryption.");
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN).ok_or_else(refused)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| refused())?;
        let mut plain = Zeroizing::new(rest.to_vec());
        let size = {
            let opened = self.0.open_in_place(nonce, Aad::from(context), &mut plain);
            opened.map_err(|_| refused())?.len()
        };
        plain.truncate(size);
        Ok(plain)
    }
}

/// Seals something by a password.
///
/// # Errors
/// 8645; the machine's.
pub fn seal_with_password(instance: &Instance, plain: &[u8], password: &str) -> Result<Vec<u8>, SqlError> {
    with_place(instance, || seal_by_password(plain, password))?
        .map_err(|_| error(15209, "An error occurred during encryption."))
}

/// Decrypts what was encrypted with a password.
///
/// # Errors
/// 8645.
pub fn open_with_password(
    instance: &Instance,
    file: &[u8],
    password: &str,
    size_max: usize,
) -> Result<Result<Zeroizing<Vec<u8>>, PasswordFileError>, SqlError> {
    with_place(instance, || open_by_password(file, password, size_max))
}

/// Hashing a password takes memory: the number at a time is limited.
fn with_place<R>(instance: &Instance, stretch: impl FnOnce() -> R) -> Result<R, SqlError> {
    let place = instance.statement_gate().enter(Instant::now() + PATIENCE);
    let _place = place.map_err(|_| {
        let text = "A timeout occurred while waiting for memory resources to execute the query in resource pool 'default' \
            (2). Rerun the query.";
        error(8645, text).with_severity(17)
    })?;
    Ok(stretch())
}

/// Refuses a password that protects nothing.
///
/// # Errors
/// 15116, 15117, 15118.
pub fn check_password(password: &str) -> Result<(), SqlError> {
    let (number, why) = match check_new_password("", password) {
        Ok(()) => return Ok(()),
        Err(RuleBroken::Short) => (15116, "too short"),
        Err(RuleBroken::Long) => (15117, "too long"),
        Err(RuleBroken::Simple) => (15118, "not complex enough"),
    };
    let text = format!(
        "Password validation failed. The password does not meet the operating system policy requirements because it is {why}."
    );
    Err(error(number, text))
}

fn error(number: i32, text: impl Into<String>) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// Of AES-GCM.
const TAG_SIZE: usize = 16;
/// As long as a login waits for its password to be hashed.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_key_seals_opens_under_it_and_in_its_context_alone() {
        let key = SealingKey::new(&[1; 32]).unwrap();
        let sealed = key.seal(b"a secret", b"one").unwrap();
        assert_ne!(key.seal(b"a secret", b"one").unwrap(), sealed);
        assert_eq!(**key.open(&sealed, b"one").unwrap(), *b"a secret");
        assert_eq!(key.open(&sealed, b"two").unwrap_err().number(), 15466);
        assert!(SealingKey::new(&[2; 32]).unwrap().open(&sealed, b"one").is_err());
        for size in 0..sealed.len() {
            assert!(key.open(&sealed[..size], b"one").is_err(), "{size}");
        }
        assert!(SealingKey::new(&[1; 31]).is_none());
    }

    #[test]
    fn a_weak_password_is_refused() {
        assert!(check_password("$ql$h@ck@12").is_ok());
        for (number, password) in [(15116, "aA1-"), (15118, "aaaaaaaaa")] {
            assert_eq!(check_password(password).unwrap_err().number(), number);
        }
        assert_eq!(check_password(&"aA1-".repeat(33)).unwrap_err().number(), 15117);
    }
}
