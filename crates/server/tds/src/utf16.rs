//! UTF-16LE, the encoding of all text in MS-TDS except char and varchar.

/// `None` if the byte count is odd or a surrogate is unpaired.
pub(crate) fn parse(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(units.len());
    if units.iter().all(|[low, high]| *high == 0 && low.is_ascii()) {
        // Fast path for ASCII, many units at a time.
        text.extend(units.iter().map(|[low, _]| char::from(*low)));
        return Some(text);
    }
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
    // Fast path for ASCII, many units at a time.
    let start = out.len();
    out.resize(start + text.len() * 2, 0);
    let (pairs, _) = out[start..].as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(text.bytes()) {
        pair[0] = byte;
    }
}

/// The number of UTF-16 units of a text.
pub(crate) fn len(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.encode_utf16().count()
}
