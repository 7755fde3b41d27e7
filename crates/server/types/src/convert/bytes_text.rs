//! Conversion between bytes and text.

use crate::format::push_hex;

/// The bytes contain an unpaired surrogate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LoneSurrogate;

/// Encodes bytes as hexadecimal digits with an optional `0x`, at most `length_max` characters, and only whole bytes.
pub(crate) fn hex_of(bytes: &[u8], with_prefix: bool, length_max: usize) -> String {
    let prefix = if with_prefix { "0x" } else { "" };
    let count = length_max.saturating_sub(prefix.len()) / 2;
    let shown = bytes.get(..count).unwrap_or(bytes);
    let mut text = String::with_capacity(prefix.len() + shown.len() * 2);
    text.push_str(prefix);
    for byte in shown {
        push_hex(&mut text, *byte);
    }
    text
}

/// Decodes hexadecimal digits; `None` if the prefix is absent or present contrary to `with_prefix`, or the number of
/// digits is odd.
pub(crate) fn bytes_of_hex(text: &str, with_prefix: bool) -> Option<Vec<u8>> {
    let digits = if with_prefix {
        text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?
    } else {
        text
    };
    if digits.len() % 2 != 0 {
        return None;
    }
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| Some(hex_digit(pair.first()?)? << 4 | hex_digit(pair.get(1)?)?))
        .collect()
}

pub(crate) fn hex_digit(byte: &u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Decodes UTF-16LE to at most `units_max` units; an odd last byte is extended with a zero byte.
///
/// A surrogate pair that the limit would split is omitted. Errors: an unpaired surrogate.
pub(crate) fn text_of_utf16(bytes: &[u8], units_max: usize) -> Result<String, LoneSurrogate> {
    let units = || {
        bytes
            .chunks(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
    };
    let is_first_half = |unit: u16| (0xd800..0xdc00).contains(&unit);
    let cut = units().nth(units_max).is_some() && units().nth(units_max.saturating_sub(1)).is_some_and(is_first_half);
    let count = if cut { units_max.saturating_sub(1) } else { units_max };
    char::decode_utf16(units().take(count))
        .collect::<Result<String, _>>()
        .map_err(|_| LoneSurrogate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_length::utf16_of;

    #[test]
    fn hex_has_only_complete_bytes() {
        assert_eq!(hex_of(&[0x4e, 0x61, 0x6d, 0x65], true, 30), "0x4E616D65");
        assert_eq!(hex_of(&[0x4e, 0x61, 0x6d, 0x65], false, 5), "4E61");
        assert_eq!(hex_of(&[0x4e], true, 1), "0x");
        assert_eq!(bytes_of_hex("0x4e616D65", true), Some(b"Name".to_vec()));
        assert_eq!(bytes_of_hex("4e616D65", false), Some(b"Name".to_vec()));
        assert_eq!(bytes_of_hex("0x", true), Some(Vec::new()));
        assert_eq!(bytes_of_hex("", false), Some(Vec::new()));
        for (text, with_prefix) in [
            ("4E", true),
            ("0x4E", false),
            ("0x4", true),
            ("4G", false),
            ("", true),
            ("\u{e9}", false),
        ] {
            assert_eq!(bytes_of_hex(text, with_prefix), None, "{text:?}");
        }
    }

    #[test]
    fn utf16_extends_an_odd_byte_and_splits_no_surrogate_pair() {
        assert_eq!(text_of_utf16(&[0x41], 9), Ok("A".to_owned()));
        assert_eq!(text_of_utf16(&utf16_of("a\u{1f600}b"), 9), Ok("a\u{1f600}b".to_owned()));
        assert_eq!(text_of_utf16(&utf16_of("a\u{1f600}b"), 2), Ok("a".to_owned()));
        assert_eq!(text_of_utf16(&utf16_of("a\u{1f600}b"), 3), Ok("a\u{1f600}".to_owned()));
        assert_eq!(text_of_utf16(&[0x00, 0xd8], 9), Err(LoneSurrogate));
        assert_eq!(text_of_utf16(&[0x00, 0xdc, 0x41, 0x00], 9), Err(LoneSurrogate));
        assert_eq!(text_of_utf16(&[], 0), Ok(String::new()));
    }
}
