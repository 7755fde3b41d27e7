//! KEY_GUID, CERT_ID, CERTPROPERTY and related functions.

use std::sync::Arc;

use selenite_types::{DataType, Moment, Value};

use super::argument::{BYTES_MAX, guid};
use super::key::guid_of_message;
use crate::functions::Arguments;
use crate::functions::conversion::variant_of;
use crate::{KeyClass, KeyFacts, KeyReference, SqlError};

/// KEY_GUID.
pub(super) fn key_guid(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = named(call, KeyClass::Symmetric)?;
    Ok(found.map_or(Value::Null, |key| Value::Guid(key.guid)))
}

/// KEY_ID.
pub(super) fn key_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    id(call, KeyClass::Symmetric)
}

/// CERT_ID.
pub(super) fn certificate_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    id(call, KeyClass::Certificate)
}

/// ASYMKEY_ID.
pub(super) fn asymmetric_key_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    id(call, KeyClass::Asymmetric)
}

/// KEY_NAME, of a GUID or of a message.
pub(super) fn key_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let wanted = if let Value::Binary(message) = call.value(0) {
        guid_of_message(message)
    } else {
        guid(call, 0)?
    };
    let Some(wanted) = wanted else { return Ok(Value::Null) };
    let found = call.environment.key(KeyClass::Symmetric, KeyReference::Guid(wanted))?;
    Ok(found.map_or(Value::Null, |key| Value::Text(key.name)))
}

/// CERTENCODED.
///
/// Errors: 8152 if the certificate has more than 8000 bytes, which none has that is created.
pub(super) fn certificate_bytes(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call
        .environment
        .key(KeyClass::Certificate, KeyReference::Id(call.int(0)?))?;
    let Some(certificate) = found.and_then(|key| key.certificate) else {
        return Ok(Value::Null);
    };
    match certificate.der.len() <= BYTES_MAX {
        true => Ok(Value::Binary(certificate.der)),
        false => Err(SqlError::encrypted_value_too_large()),
    }
}

/// CERTPROPERTY: an unknown property is NULL.
pub(super) fn certificate_property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call
        .environment
        .key(KeyClass::Certificate, KeyReference::Id(call.int(0)?))?;
    let Some(certificate) = found.and_then(|key| key.certificate) else {
        return Ok(Value::Null);
    };
    let text = |text: Arc<str>| {
        variant_of(
            DataType::NVarChar(selenite_types::Width::Limited(4000)),
            Value::Text(text),
        )
    };
    let moment = |seconds: i64| variant_of(DataType::DateTime, Value::DateTime(moment(seconds).local()));
    Ok(match call.text(1)?.to_ascii_lowercase().as_str() {
        "expiry_date" => moment(certificate.not_after),
        "start_date" => moment(certificate.not_before),
        "issuer_name" | "subject" => text(certificate.subject),
        "cert_serial_number" => text(certificate.serial),
        _ => Value::Null,
    })
}

fn moment(seconds: i64) -> Moment {
    Moment {
        unix_ns: u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000),
        offset_minutes: 0,
    }
}

fn id(call: &Arguments<'_>, class: KeyClass) -> Result<Value, SqlError> {
    Ok(named(call, class)?.map_or(Value::Null, |key| Value::Int(key.id)))
}

fn named(call: &Arguments<'_>, class: KeyClass) -> Result<Option<KeyFacts>, SqlError> {
    call.environment.key(class, KeyReference::Name(call.text(0)?))
}
