//! Conversion to uniqueidentifier.

use crate::{
    Guid, Value,
    convert::{ConversionError, ConversionFault, bytes_text::hex_digit, request::Request},
    format::GUID_ORDER,
};

/// Text of 36 characters with optional braces; bytes in wire order, zero-padded at the end.
pub(crate) fn to_guid(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    match value {
        Value::Text(text) => guid_of_text(text)
            .map(Value::Guid)
            .ok_or_else(|| request.fail(ConversionFault::GuidSyntax)),
        Value::Binary(bytes) => {
            let mut guid = [0; 16];
            for (into, byte) in guid.iter_mut().zip(bytes.iter()) {
                *into = *byte;
            }
            Ok(Value::Guid(Guid(guid)))
        }
        Value::Guid(guid) => Ok(Value::Guid(*guid)),
        Value::Null
        | Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::SqlVariant(_) => Err(request.misfit()),
    }
}

/// Characters after the 36 are ignored.
fn guid_of_text(text: &str) -> Option<Guid> {
    let bytes = match text.as_bytes() {
        [b'{', rest @ ..] if rest.get(36) == Some(&b'}') => rest,
        [b'{', ..] => return None,
        bytes => bytes,
    };
    let mut guid = [0; 16];
    let mut at = 0;
    for (count, index) in GUID_ORDER.iter().enumerate() {
        if matches!(count, 4 | 6 | 8 | 10) {
            if bytes.get(at) != Some(&b'-') {
                return None;
            }
            at += 1;
        }
        guid[*index] = hex_digit(bytes.get(at)?)? << 4 | hex_digit(bytes.get(at + 1)?)?;
        at += 2;
    }
    Some(Guid(guid))
}
