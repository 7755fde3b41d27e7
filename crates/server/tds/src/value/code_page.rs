//! Code page 1252, the default encoding of char and varchar.

use super::Collation;

/// A character outside of the code page becomes `?`, as in SQL Server.
pub(crate) fn encode(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.extend(text.chars().map(encode_char));
}

pub(crate) fn encode_char(character: char) -> u8 {
    match u8::try_from(u32::from(character)) {
        Ok(byte) if !(0x80..0xA0).contains(&byte) => byte,
        _ => {
            let place = UPPER.iter().position(|upper| *upper == character);
            place.and_then(|place| u8::try_from(0x80 + place).ok()).unwrap_or(b'?')
        }
    }
}

/// Decodes text of a collation; `None` if its encoding is unsupported or the bytes are invalid.
pub(crate) fn parse(bytes: &[u8], collation: Collation) -> Option<String> {
    if let Ok(text) = str::from_utf8(bytes)
        && (bytes.is_ascii() || collation.is_utf8())
    {
        // ASCII is the same in every Windows code page.
        return Some(text.to_owned());
    }
    if !collation.is_code_page_1252() {
        return None;
    }
    Some(bytes.iter().map(|byte| parse_byte(*byte)).collect())
}

fn parse_byte(byte: u8) -> char {
    match byte.checked_sub(0x80).map(usize::from) {
        Some(place) if place < UPPER.len() => UPPER[place],
        _ => char::from(byte),
    }
}

/// 0x80 to 0x9F. The five undefined bytes map to the control characters of the same number.
const UPPER: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}',
    '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}',
    '\u{17E}', '\u{178}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_character_and_the_same_byte_again() {
        let all: Vec<u8> = (0..=255).collect();
        let text = parse(&all, Collation::DEFAULT).unwrap();
        let mut again = Vec::new();
        encode(&text, &mut again);
        assert_eq!(again, all);
        assert_eq!(text.chars().count(), 256);
    }

    #[test]
    fn a_character_outside_of_the_code_page_is_a_question_mark() {
        let mut bytes = Vec::new();
        encode("\u{20AC}1 \u{416}\u{1F600}\u{FC}", &mut bytes);
        assert_eq!(bytes, b"\x801 ??\xFC");
    }

    #[test]
    fn another_encoding_is_decoded_only_if_it_is_known() {
        let cyrillic = Collation([0x19, 0x04, 0xD0, 0, 0]);
        assert_eq!(parse(b"abc", cyrillic).as_deref(), Some("abc"));
        assert_eq!(parse(b"\xC6", cyrillic), None);
        let utf8 = Collation([0x09, 0x04, 0xD0, 0x04, 0]);
        assert_eq!(parse("\u{416}".as_bytes(), utf8).as_deref(), Some("\u{416}"));
        assert_eq!(parse(b"\xC6", utf8), None);
    }
}
