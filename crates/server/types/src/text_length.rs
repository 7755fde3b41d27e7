//! Text length in T-SQL's units.

/// The length of `text` in UTF-16 units, as in nchar, nvarchar, and LEN and SUBSTRING of them.
#[must_use]
pub fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(char::len_utf16).sum()
    }
}

/// The length of `text` in bytes of code page 1252, as in char and varchar.
///
/// A character outside of the code page counts as its replacement: one question mark, or two if it is beyond U+FFFF.
#[must_use]
pub fn narrow_length(text: &str) -> usize {
    utf16_length(text)
}

/// The longest prefix of `text` with at most `units` UTF-16 units, in whole characters.
#[must_use]
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    // A character never has more units than bytes.
    if text.len() <= units {
        return text;
    }
    let mut left = units;
    for (at, character) in text.char_indices() {
        match left.checked_sub(character.len_utf16()) {
            Some(rest) => left = rest,
            None => return text.get(..at).unwrap_or(text),
        }
    }
    text
}

/// Encodes text as UTF-16LE.
pub(crate) fn utf16_of(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_beyond_the_bmp_counts_two() {
        assert_eq!(utf16_length(""), 0);
        assert_eq!(utf16_length("abc"), 3);
        assert_eq!(utf16_length("\u{e9}t\u{e9}"), 3);
        assert_eq!(utf16_length("a\u{1f600}"), 3);
        assert_eq!(narrow_length("a\u{1f600}"), 3);
    }

    #[test]
    fn a_prefix_never_splits_a_character() {
        assert_eq!(utf16_prefix("abc", 2), "ab");
        assert_eq!(utf16_prefix("abc", 9), "abc");
        assert_eq!(utf16_prefix("\u{e9}t\u{e9}", 2), "\u{e9}t");
        assert_eq!(utf16_prefix("\u{1f600}b", 1), "");
        assert_eq!(utf16_prefix("\u{1f600}b", 2), "\u{1f600}");
        assert_eq!(utf16_prefix("abc", 0), "");
    }
}
