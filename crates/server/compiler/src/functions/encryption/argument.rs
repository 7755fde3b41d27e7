//! Arguments of functions that encrypt.

use selenite_types::{Guid, Value};

use crate::SqlError;
use crate::functions::Arguments;

/// The bytes of an argument: of text those of its type.
pub(super) fn bytes(call: &Arguments<'_>, at: usize) -> Result<Option<Vec<u8>>, SqlError> {
    if *call.value(at) == Value::Null {
        return Ok(None);
    }
    if let Value::Binary(bytes) = call.value(at) {
        return Ok(Some(bytes.to_vec()));
    }
    let text = call.text(at)?;
    Ok(Some(call.data_type(at).encoded(text)))
}

/// The authenticator, if one is requested by the argument before it; the inner `Err` if that is NULL.
pub(super) fn authenticator(call: &Arguments<'_>, at: usize) -> Result<Result<Option<Vec<u8>>, ()>, SqlError> {
    if *call.value(at - 1) == Value::Null || call.int(at - 1)? == 0 {
        return Ok(Ok(None));
    }
    Ok(bytes(call, at)?.map(Some).ok_or(()))
}

/// A GUID; `None` for NULL.
pub(super) fn guid(call: &Arguments<'_>, at: usize) -> Result<Option<Guid>, SqlError> {
    let value = call.value(at);
    if let Value::Guid(guid) = value {
        return Ok(Some(*guid));
    }
    match *value == Value::Null {
        true => Ok(None),
        false => Err(SqlError::internal("a GUID")),
    }
}

/// A text; `None` for NULL.
pub(super) fn optional_text<'a>(call: &Arguments<'a>, at: usize) -> Result<Option<&'a str>, SqlError> {
    match *call.value(at) == Value::Null {
        true => Ok(None),
        false => call.text(at).map(Some),
    }
}

/// What the type of a result holds.
pub(super) const BYTES_MAX: usize = 8000;
