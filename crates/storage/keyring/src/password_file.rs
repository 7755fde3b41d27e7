//! A secret in an age file that is encrypted with a password.
//!
//! - bounded-cost: the cost of the password that a file requests is limited before any of it is
//!   spent.
//! - no-secret-in-errors: no error contains the password or the secret.

use std::fmt;
use std::io::{Read, Write};
use std::iter;

use age::secrecy::SecretString;
use age::{DecryptError, Decryptor, Encryptor, scrypt};
use zeroize::Zeroizing;

/// Why a file could not be opened or made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PasswordFileError {
    /// The file: it is not an age file encrypted with a password, or it was altered.
    NoSuchFile,
    /// The file: its password requires more memory than the limit.
    Costly,
    /// The caller: the password is wrong.
    WrongPassword,
    /// The machine: the file could not be made.
    Machine,
}

/// Encrypts `plain` to a binary age file. scrypt stretches the password with 128 MiB in several tenths of a second.
///
/// # Errors
/// [`PasswordFileError::Machine`].
pub fn seal_by_password(plain: &[u8], password: &str) -> Result<Vec<u8>, PasswordFileError> {
    let mut recipient = scrypt::Recipient::new(SecretString::from(password.to_owned()));
    recipient.set_work_factor(WORK_FACTOR);
    let recipient: &dyn age::Recipient = &recipient;
    let mut sealed = Vec::new();
    let mut write = || -> Option<()> {
        let encryptor = Encryptor::with_recipients(iter::once(recipient)).ok()?;
        let mut writer = encryptor.wrap_output(&mut sealed).ok()?;
        writer.write_all(plain).ok()?;
        writer.finish().ok()?;
        Some(())
    };
    match write() {
        Some(()) => Ok(sealed),
        None => Err(PasswordFileError::Machine),
    }
}

/// Decrypts a binary age file whose content has at most `size_max` bytes.
///
/// # Errors
/// [`PasswordFileError`].
pub fn open_by_password(file: &[u8], password: &str, size_max: usize) -> Result<Zeroizing<Vec<u8>>, PasswordFileError> {
    let decryptor = Decryptor::new_buffered(file).map_err(|_| PasswordFileError::NoSuchFile)?;
    if !decryptor.is_scrypt() {
        return Err(PasswordFileError::NoSuchFile);
    }
    let mut identity = scrypt::Identity::new(SecretString::from(password.to_owned()));
    identity.set_max_work_factor(WORK_FACTOR_MAX);
    let identity: &dyn age::Identity = &identity;
    let mut reader = decryptor.decrypt(iter::once(identity)).map_err(|error| {
        if matches!(error, DecryptError::ExcessiveWork { .. }) {
            PasswordFileError::Costly
        } else {
            PasswordFileError::WrongPassword
        }
    })?;
    // The full capacity is allocated at once: a buffer that grows leaves copies behind.
    let mut plain = Zeroizing::new(Vec::with_capacity(size_max.saturating_add(PROBE_SIZE)));
    let limit = u64::try_from(size_max).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.by_ref().take(limit).read_to_end(&mut plain);
    match read {
        Ok(size) if size <= size_max => Ok(plain),
        Ok(_) | Err(_) => Err(PasswordFileError::NoSuchFile),
    }
}

impl fmt::Display for PasswordFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchFile => "not an age file that a password opens, or an altered one",
            Self::Costly => "its password needs more than 256 MiB to stretch",
            Self::WrongPassword => "wrong password",
            Self::Machine => "age could not encrypt it",
        })
    }
}

impl std::error::Error for PasswordFileError {}

/// 2^17 blocks of 1 KiB: OWASP's recommendation for scrypt.
const WORK_FACTOR: u8 = 17;
/// 256 MiB: the value that age's own command uses.
const WORK_FACTOR_MAX: u8 = 18;
/// `Vec`'s reader probes for the end with 32 spare bytes.
const PROBE_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_password_opens_its_file() {
        let sealed = seal_by_password(b"a secret", "Correct-1").unwrap();
        assert!(!sealed.windows(8).any(|window| window == b"a secret"));
        assert_eq!(*open_by_password(&sealed, "Correct-1", 8).unwrap(), b"a secret");
        let wrong = open_by_password(&sealed, "Correct-2", 8).unwrap_err();
        assert_eq!(wrong, PasswordFileError::WrongPassword);
        let long = open_by_password(&sealed, "Correct-1", 7).unwrap_err();
        assert_eq!(long, PasswordFileError::NoSuchFile);
        let mut altered = sealed.clone();
        *altered.last_mut().unwrap() ^= 1;
        let altered = open_by_password(&altered, "Correct-1", 8).unwrap_err();
        assert_eq!(altered, PasswordFileError::NoSuchFile);
    }

    #[test]
    fn other_files_are_refused_before_any_stretching() {
        let sealed = seal_by_password(b"x", "Correct-1").unwrap();
        let header = sealed.windows(4).position(|window| window == b"---\x20").unwrap();
        for size in [0, 10, header] {
            let cut = open_by_password(&sealed[..size], "Correct-1", 8).unwrap_err();
            assert_eq!(cut, PasswordFileError::NoSuchFile, "{size}");
        }
        let text = String::from_utf8_lossy(&sealed[..header]).replace(" 17\n", " 19\n");
        let costly = [text.as_bytes(), &sealed[header..]].concat();
        let costly = open_by_password(&costly, "Correct-1", 8).unwrap_err();
        assert_eq!(costly, PasswordFileError::Costly);
        let key = age::x25519::Identity::generate().to_public();
        let recipient: &dyn age::Recipient = &key;
        let mut other = Vec::new();
        let encryptor = Encryptor::with_recipients(iter::once(recipient)).unwrap();
        let mut writer = encryptor.wrap_output(&mut other).unwrap();
        writer.write_all(b"x").unwrap();
        writer.finish().unwrap();
        assert_eq!(
            open_by_password(&other, "Correct-1", 8).unwrap_err(),
            PasswordFileError::NoSuchFile
        );
    }
}
