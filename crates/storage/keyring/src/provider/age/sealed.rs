//! A key, or 64 bytes with one in them, in an age file, and out again.
//!
//! Crate `age` zeroes what it decrypts, but not the buffer that it encrypts from: a process that makes a slot leaves
//! a copy of the master key in memory that was given back. One that only opens slots does not.

use std::io::{Read, Write};
use std::iter;

use age::{DecryptError, Decryptor, EncryptError, Encryptor};
use selenite_cipher::Secret;

/// A binary age file of `plain`.
pub fn seal<const N: usize>(recipient: &dyn age::Recipient, plain: &Secret<N>) -> Result<Vec<u8>, EncryptError> {
    let mut sealed = Vec::new();
    let mut writer = Encryptor::with_recipients(iter::once(recipient))?.wrap_output(&mut sealed)?;
    writer.write_all(plain.expose())?;
    writer.finish()?;
    Ok(sealed)
}

/// What [`seal`] sealed; a file of any other size is an error.
///
/// An error of kind `Io` comes from the identity alone: bytes that are cut short are no age file.
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
