//! ENCRYPTBYCERT, SIGNBYASYMKEY and related functions: what is done with key pairs.

use std::sync::Arc;

use selenite_types::Value;

use super::argument::{BYTES_MAX, bytes, optional_text};
use crate::functions::Arguments;
use crate::{KeyClass, KeyPair, KeyPairOperation, SqlError};

/// ENCRYPTBYCERT.
pub(super) fn encrypt_by_certificate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Certificate, |bytes| KeyPairOperation::Encrypt(bytes))
}

/// ENCRYPTBYASYMKEY.
pub(super) fn encrypt_by_asymmetric_key(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Asymmetric, |bytes| KeyPairOperation::Encrypt(bytes))
}

/// DECRYPTBYCERT.
pub(super) fn decrypt_by_certificate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Certificate, |bytes| KeyPairOperation::Decrypt(bytes))
}

/// DECRYPTBYASYMKEY.
pub(super) fn decrypt_by_asymmetric_key(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Asymmetric, |bytes| KeyPairOperation::Decrypt(bytes))
}

/// SIGNBYCERT.
pub(super) fn sign_by_certificate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Certificate, |bytes| KeyPairOperation::Sign(bytes))
}

/// SIGNBYASYMKEY.
pub(super) fn sign_by_asymmetric_key(call: &Arguments<'_>) -> Result<Value, SqlError> {
    on_data(call, KeyClass::Asymmetric, |bytes| KeyPairOperation::Sign(bytes))
}

/// VERIFYSIGNEDBYCERT.
pub(super) fn verify_by_certificate(call: &Arguments<'_>) -> Result<Value, SqlError> {
    verify(call, KeyClass::Certificate)
}

/// VERIFYSIGNEDBYASYMKEY.
pub(super) fn verify_by_asymmetric_key(call: &Arguments<'_>) -> Result<Value, SqlError> {
    verify(call, KeyClass::Asymmetric)
}

/// NULL if the key or the data is, or the operation does not succeed.
fn on_data(
    call: &Arguments<'_>,
    class: KeyClass,
    operation: impl for<'b> FnOnce(&'b [u8]) -> KeyPairOperation<'b>,
) -> Result<Value, SqlError> {
    let (Some(pair), Some(data)) = (pair(call, class)?, bytes(call, 1)?) else {
        return Ok(Value::Null);
    };
    if data.len() > BYTES_MAX {
        return Ok(Value::Null);
    }
    let done = call.environment.on_key_pair(pair, operation(&data))?;
    Ok(done.map_or(Value::Null, |bytes| Value::Binary(Arc::from(bytes))))
}

/// 1 if the signature is of the data, 0 if not; NULL if an argument is.
fn verify(call: &Arguments<'_>, class: KeyClass) -> Result<Value, SqlError> {
    let (Some(pair), Some(data), Some(signature)) = (pair(call, class)?, bytes(call, 1)?, bytes(call, 2)?) else {
        return Ok(Value::Null);
    };
    let operation = KeyPairOperation::Verify {
        data: &data,
        signature: &signature,
    };
    let pair = KeyPair { password: None, ..pair };
    let is_right = data.len() <= BYTES_MAX && call.environment.on_key_pair(pair, operation)?.is_some();
    Ok(Value::Int(i32::from(is_right)))
}

fn pair<'a>(call: &Arguments<'a>, class: KeyClass) -> Result<Option<KeyPair<'a>>, SqlError> {
    if *call.value(0) == Value::Null {
        return Ok(None);
    }
    let has_password = call.exprs.len() > 2 && call.data_type(2).is_national();
    Ok(Some(KeyPair {
        class,
        id: call.int(0)?,
        password: if has_password { optional_text(call, 2)? } else { None },
    }))
}
