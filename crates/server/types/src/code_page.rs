//! Code page 1252, the encoding of char and varchar.
//!
//! - `every-byte-round-trips`: every byte decodes to one character, which encodes to the same byte:
//!   the five undefined bytes map to the control characters of the same number, as in Windows.
//! - `no-best-fit`: a character outside of the code page becomes `?`, without best-fit mapping. A
//!   character beyond U+FFFF becomes two.

use std::borrow::Cow;

/// Whether the code page contains the character.
#[must_use]
pub fn in_code_page(character: char) -> bool {
    code_page_byte(character).is_some()
}

/// The code page's byte for a character, if the code page contains it.
#[must_use]
pub fn code_page_byte(character: char) -> Option<u8> {
    let code = u32::from(character);
    match u8::try_from(code) {
        Ok(byte) if !(0x80..=0x9f).contains(&byte) => Some(byte),
        Ok(_) | Err(_) => {
            let at = HIGH_CONTROLS.iter().position(|of_page| *of_page == character)?;
            u8::try_from(at).ok().map(|at| 0x80 + at)
        }
    }
}

/// The character of a byte in the code page.
#[must_use]
pub fn code_page_char(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH_CONTROLS
            .get(usize::from(byte - 0x80))
            .copied()
            .unwrap_or(char::from(byte)),
        0x00..=0x7f | 0xa0..=0xff => char::from(byte),
    }
}

/// Encodes `text` in the code page.
#[must_use]
pub fn encode_code_page(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    if text.is_ascii() {
        bytes.extend_from_slice(text.as_bytes());
        return bytes;
    }
    for character in text.chars() {
        match code_page_byte(character) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(std::iter::repeat_n(b'?', character.len_utf16())),
        }
    }
    bytes
}

/// Decodes bytes of the code page.
#[must_use]
pub fn decode_code_page(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| code_page_char(*byte)).collect()
}

/// `text` with `?` for each character outside of the code page, as in a conversion of nvarchar to varchar.
#[must_use]
pub fn narrow(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(in_code_page) {
        return Cow::Borrowed(text);
    }
    let mut narrowed = String::with_capacity(text.len());
    for character in text.chars() {
        if in_code_page(character) {
            narrowed.push(character);
        } else {
            narrowed.extend(std::iter::repeat_n('?', character.len_utf16()));
        }
    }
    Cow::Owned(narrowed)
}

/// The characters of the bytes 0x80 to 0x9f.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}',
    '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}',
    '\u{17e}', '\u{178}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_round_trips() {
        for byte in 0..=u8::MAX {
            let character = code_page_char(byte);
            assert_eq!(code_page_byte(character), Some(byte), "{byte:#x}");
            assert_eq!(encode_code_page(&character.to_string()), [byte]);
        }
    }

    #[test]
    fn every_character_of_the_code_page_has_one_byte() {
        let count = (0..=0x2_ffff)
            .filter_map(char::from_u32)
            .filter(|character| in_code_page(*character))
            .count();
        assert_eq!(count, 256);
    }

    #[test]
    fn the_euro_and_the_quotes_are_where_windows_has_them() {
        assert_eq!(
            encode_code_page("\u{20ac}\u{201c}\u{201d}\u{178}"),
            [0x80, 0x93, 0x94, 0x9f]
        );
        assert_eq!(
            decode_code_page(&[0x80, 0x93, 0x94, 0x9f, 0xe9]),
            "\u{20ac}\u{201c}\u{201d}\u{178}\u{e9}"
        );
        assert_eq!(encode_code_page("\u{80}"), b"?", "U+0080 is not the euro");
    }

    #[test]
    fn a_character_outside_of_the_code_page_becomes_a_question_mark() {
        assert_eq!(encode_code_page("a\u{3b1}b"), b"a?b");
        assert_eq!(encode_code_page("\u{1f600}"), b"??");
        assert_eq!(narrow("a\u{3b1}\u{e9}\u{1f600}"), "a?\u{e9}??");
        assert!(matches!(narrow("caf\u{e9}"), Cow::Borrowed(_)));
        assert!(matches!(narrow("plain"), Cow::Borrowed(_)));
    }
}
