//! B_VARCHAR and US_VARCHAR: text with a prefix that counts its UTF-16 units (MS-TDS 2.2.5.1.1).

use crate::{TdsError, utf16};

/// 128: the maximum length of a SQL Server name.
const NAME_SIZE_MAX: usize = 128;

/// Appends a name as B_VARCHAR.
///
/// Errors: `Misfit` if it exceeds a name's maximum length.
pub(super) fn append_name(name: &str, out: &mut Vec<u8>) -> Result<(), TdsError> {
    let size = u8::try_from(utf16::len(name)).unwrap_or(u8::MAX);
    if usize::from(size) > NAME_SIZE_MAX {
        return Err(TdsError::Misfit { what: "a name" });
    }
    out.push(size);
    utf16::encode(name, out);
    Ok(())
}

/// Appends text as B_VARCHAR, truncated to a name's maximum length.
pub(super) fn append_short(text: &str, out: &mut Vec<u8>) {
    let text = cut(text, NAME_SIZE_MAX);
    out.push(u8::try_from(utf16::len(text)).unwrap_or(0));
    utf16::encode(text, out);
}

/// Appends text as US_VARCHAR, truncated to `size_max` units.
pub(super) fn append_long(text: &str, size_max: u16, out: &mut Vec<u8>) {
    let text = cut(text, size_max.into());
    out.extend(u16::try_from(utf16::len(text)).unwrap_or(0).to_le_bytes());
    utf16::encode(text, out);
}

/// The longest prefix of whole characters with at most `size_max` units.
fn cut(text: &str, size_max: usize) -> &str {
    let mut size = 0;
    let end = text.char_indices().find(|(_, character)| {
        size += character.len_utf16();
        size > size_max
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_truncated_between_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("a\u{1F600}b", 2), "a");
        assert_eq!(cut("a\u{1F600}b", 3), "a\u{1F600}");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn a_name_has_at_most_128_units() {
        let mut out = Vec::new();
        append_name(&"n".repeat(128), &mut out).unwrap();
        assert_eq!((out[0], out.len()), (128, 257));
        assert!(append_name(&"n".repeat(129), &mut out).is_err());
        assert!(append_name(&"n".repeat(300), &mut out).is_err());
        out.clear();
        append_short(&"\u{1F600}".repeat(100), &mut out);
        assert_eq!((out[0], out.len()), (128, 257));
    }
}
