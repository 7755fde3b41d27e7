//! ENCRYPTBYKEY, DECRYPTBYKEY, and the functions that open the key themselves.
//!
//! A message begins with the GUID of its key and a version in four bytes. Version 1 is documented and written; 2, which
//! later servers are said to write, is read, too: its layout is the same, or it does not decrypt.

use std::sync::Arc;

use selenite_types::{Guid, Value};

use super::argument::{BYTES_MAX, authenticator, bytes, guid, optional_text};
use super::message::{self, Algorithm};
use crate::functions::Arguments;
use crate::{KeyClass, KeyPair, KeySecret, SqlError};

/// NULL if the key is not open, or the cleartext or a requested authenticator is NULL.
///
/// Errors: 8152 if the result has more than 8000 bytes.
pub(super) fn encrypt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (Some(guid), Some(clear), Ok(authenticator)) = (guid(call, 0)?, bytes(call, 1)?, authenticator(call, 3)?)
    else {
        return Ok(Value::Null);
    };
    let Some(secret) = call.environment.open_key(guid)? else {
        return Ok(Value::Null);
    };
    let mut iv = [0; 16];
    call.environment.random_bytes(&mut iv);
    let sealed = match clear.len() <= BYTES_MAX {
        true => message::seal(Algorithm::Aes, &secret, &iv, &clear, authenticator.as_deref()),
        false => None,
    };
    let written = sealed.map(|sealed| [&guid.0[..], &VERSION_1, &iv, &sealed].concat());
    match written.filter(|written| written.len() <= BYTES_MAX) {
        Some(written) => Ok(Value::Binary(Arc::from(written))),
        None => Err(SqlError::encrypted_value_too_large()),
    }
}

/// NULL if the key of the message is not open, or the message was altered or has another authenticator.
pub(super) fn decrypt(call: &Arguments<'_>) -> Result<Value, SqlError> {
    decrypt_by(call, 0, |guid| call.environment.open_key(guid))
}

/// DECRYPTBYKEYAUTOCERT.
pub(super) fn decrypt_by_certificate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    decrypt_by_pair(call, KeyClass::Certificate)
}

/// DECRYPTBYKEYAUTOASYMKEY.
pub(super) fn decrypt_by_asymmetric_key(call: &Arguments<'_>) -> Result<Value, SqlError> {
    decrypt_by_pair(call, KeyClass::Asymmetric)
}

fn decrypt_by_pair(call: &Arguments<'_>, class: KeyClass) -> Result<Value, SqlError> {
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let pair = KeyPair {
        class,
        id: call.int(0)?,
        password: optional_text(call, 1)?,
    };
    decrypt_by(call, 2, |guid| call.environment.key_of_pair(guid, pair))
}

fn decrypt_by(
    call: &Arguments<'_>,
    at: usize,
    key: impl FnOnce(Guid) -> Result<Option<KeySecret>, SqlError>,
) -> Result<Value, SqlError> {
    let (Value::Binary(message), Ok(authenticator)) = (call.value(at), authenticator(call, at + 2)?) else {
        return Ok(Value::Null);
    };
    let Some((guid, iv, sealed)) = parts(message) else {
        return Ok(Value::Null);
    };
    let Some(secret) = key(guid)? else {
        return Ok(Value::Null);
    };
    let opened = message::open(Algorithm::Aes, &secret, iv, sealed, authenticator.as_deref());
    Ok(opened.map_or(Value::Null, |clear| Value::Binary(Arc::from(clear))))
}

/// The GUID, the initialization vector, and what is encrypted.
fn parts(message: &[u8]) -> Option<(Guid, &[u8], &[u8])> {
    let (guid, rest) = message.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let (iv, sealed) = rest.split_at_checked(16)?;
    [VERSION_1, VERSION_2]
        .contains(version)
        .then_some((Guid(*guid), iv, sealed))
}

/// The GUID of a message's key.
pub(super) fn guid_of_message(message: &[u8]) -> Option<Guid> {
    parts(message).map(|(guid, ..)| guid)
}

const VERSION_1: [u8; 4] = [1, 0, 0, 0];
const VERSION_2: [u8; 4] = [2, 0, 0, 0];
