//! ENCRYPTBYPASSPHRASE and DECRYPTBYPASSPHRASE.
//!
//! A message begins with its version, as four bytes: 1 up to SQL Server 2016 (triple DES, SHA-1), 2 since (AES-256,
//! SHA-256). The key is the hash of the passphrase's UTF-16 characters. Both are read; 2 is written.

use std::sync::Arc;

use selenite_types::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::argument::{BYTES_MAX, authenticator, bytes};
use super::message::{self, Algorithm};
use crate::SqlError;
use crate::functions::Arguments;

/// NULL if the passphrase, the cleartext or a requested authenticator is.
///
/// Errors: 8152 if the result has more than 8000 bytes.
pub(super) fn encrypt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (Some(passphrase), Some(clear), Ok(authenticator)) =
        (key_text(call)?, bytes(call, 1)?, authenticator(call, 3)?)
    else {
        return Ok(Value::Null);
    };
    let mut iv = [0; 16];
    call.environment.random_bytes(&mut iv);
    let key = Sha256::digest(&passphrase);
    let sealed = match clear.len() <= BYTES_MAX {
        true => message::seal(Algorithm::Aes, &key, &iv, &clear, authenticator.as_deref()),
        false => None,
    };
    let written = sealed.map(|sealed| [&VERSION_2[..], &iv, &sealed].concat());
    match written.filter(|written| written.len() <= BYTES_MAX) {
        Some(written) => Ok(Value::Binary(Arc::from(written))),
        None => Err(SqlError::encrypted_value_too_large()),
    }
}

/// NULL if the passphrase or the authenticator is another one, or the message was altered.
pub(super) fn decrypt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (Some(passphrase), Value::Binary(message), Ok(authenticator)) =
        (key_text(call)?, call.value(1), authenticator(call, 3)?)
    else {
        return Ok(Value::Null);
    };
    let opened = open(&passphrase, message, authenticator.as_deref());
    Ok(opened.map_or(Value::Null, |clear| Value::Binary(Arc::from(clear))))
}

fn open(passphrase: &[u8], message: &[u8], authenticator: Option<&[u8]>) -> Option<Vec<u8>> {
    let (version, rest) = message.split_first_chunk()?;
    let (algorithm, key) = match *version {
        VERSION_1 => (Algorithm::TripleDes, Sha1::digest(passphrase)[..16].to_vec()),
        VERSION_2 => (Algorithm::Aes, Sha256::digest(passphrase).to_vec()),
        _ => return None,
    };
    let (iv, sealed) = rest.split_at_checked(algorithm.block_size())?;
    message::open(algorithm, &key, iv, sealed, authenticator)
}

/// The bytes of which the key is made: of text of any type those of its UTF-16 characters.
fn key_text(call: &Arguments<'_>) -> Result<Option<Vec<u8>>, SqlError> {
    if let Value::Text(text) = call.value(0) {
        return Ok(Some(text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    }
    bytes(call, 0)
}

const VERSION_1: [u8; 4] = [1, 0, 0, 0];
const VERSION_2: [u8; 4] = [2, 0, 0, 0];
