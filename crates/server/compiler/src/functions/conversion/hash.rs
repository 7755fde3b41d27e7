//! HASHBYTES.

use std::sync::Arc;

use md5::Md5;
use selenite_types::Value;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use crate::SqlError;
use crate::functions::Arguments;

/// HASHBYTES: NULL for an unknown algorithm.
pub(super) fn hash_bytes(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let bytes = if let Value::Binary(bytes) = call.value(1) {
        bytes.to_vec()
    } else {
        call.data_type(1).encoded(call.text(1)?)
    };
    let digest = match call.text(0)?.to_ascii_uppercase().as_str() {
        "MD5" => Md5::digest(&bytes).to_vec(),
        "SHA" | "SHA1" => Sha1::digest(&bytes).to_vec(),
        "SHA2_256" => Sha256::digest(&bytes).to_vec(),
        "SHA2_512" => Sha512::digest(&bytes).to_vec(),
        "MD2" | "MD4" => return Err(SqlError::unsupported("HASHBYTES with MD2 or MD4")),
        _ => return Ok(Value::Null),
    };
    Ok(Value::Binary(Arc::from(digest)))
}
