//! Hexadecimal, as ids are written in keyring files and on the command line.

/// The bytes in lower-case hexadecimal.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Exactly `N` bytes from hexadecimal of either case, or `None`.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_reads_what_encode_writes_in_either_case() {
        let bytes = [0x00, 0x7f, 0x80, 0xff, 0xab];
        assert_eq!(encode(&bytes), "007f80ffab");
        assert_eq!(decode::<5>("007f80ffab"), Some(bytes));
        assert_eq!(decode::<5>("007F80FFAB"), Some(bytes));
    }

    #[test]
    fn decode_refuses_other_lengths_and_other_characters() {
        for text in ["", "0", "000", "00000", "0g", "+1", " 1", "\u{e9}"] {
            assert_eq!(decode::<1>(text), None, "{text:?}");
        }
    }
}
