//! Seals a key, or 64 bytes that contain one, in an age file, and opens it.
//!
//! Crate `age` zeroes the buffer of decrypted data, but not the one that it encrypts from: a
//! process that makes a slot leaves a copy of the master key in freed memory. A process that only
//! opens slots does not.

use std::io::{Read, Write};
use std::iter;

use age::{DecryptError, Decryptor, EncryptError, Encryptor};
use selenite_cipher::Secret;

/// Encrypts `plain` to a binary age file.
pub fn seal<const N: usize>(recipient: &dyn age::Recipient, plain: &Secret<N>) -> Result<Vec<u8>, EncryptError> {
    let mut sealed = Vec::new();
    let mut writer = Encryptor::with_recipients(iter::once(recipient))?.wrap_output(&mut sealed)?;
    writer.write_all(plain.expose())?;
    writer.finish()?;
    Ok(sealed)
}

/// Decrypts a file made by [`seal`]; content of any other size is an error.
///
/// Errors of kind `Io` come from the identity only: a truncated file is reported as an invalid file.
pub fn open<const N: usize>(identity: &dyn age::Identity, sealed: &[u8]) -> Result<Secret<N>, DecryptError> {
    let decryptor = Decryptor::new_buffered(sealed).map_err(|_| DecryptError::InvalidHeader)?;
    let mut reader = decryptor.decrypt(iter::once(identity))?;
    let mut read = Ok(());
    let plain = Secret::fill(|bytes: &mut [u8; N]| read = reader.read_exact(bytes));
    match (read, reader.read(&mut [0])) {
        (Ok(()), Ok(0)) => Ok(plain),
        _ => Err(DecryptError::DecryptionFailed),
    }
}
