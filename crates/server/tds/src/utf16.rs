//! Text in UTF-16, little-endian, as MS-TDS has all but char and varchar.

/// `None` if a byte or half a surrogate pair is left over.
pub(crate) fn parse(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(units.len());
    let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
    for character in char::decode_utf16(units) {
        text.push(character.ok()?);
    }
    Some(text)
}

pub(crate) fn encode(text: &str, out: &mut Vec<u8>) {
    if !text.is_ascii() {
        for unit in text.encode_utf16() {
            out.extend_from_slice(&unit.to_le_bytes());
        }
        return;
    }
    // The usual case, many units at a time.
    let start = out.len();
    out.resize(start + text.len() * 2, 0);
    let (pairs, _) = out[start..].as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(text.bytes()) {
        pair[0] = byte;
    }
}

/// How many units a text has.
pub(crate) fn len(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.encode_utf16().count()
}
