//! How long text is, in the units that T-SQL counts.

/// How many units of UTF-16 `text` has: what nchar and nvarchar count, and LEN and SUBSTRING of them.
#[must_use]
pub fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().map(char::len_utf16).sum()
    }
}

/// How many bytes of code page 1252 `text` has: what char and varchar count.
///
/// A character outside the page counts as the question marks that it becomes there: one, or two if it is beyond U+FFFF.
#[must_use]
pub fn narrow_length(text: &str) -> usize {
    utf16_length(text)
}

/// The longest beginning of `text` that has at most `units` of UTF-16, and never half a character.
#[must_use]
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    // A character has at most as many units as bytes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_beyond_the_plane_counts_two() {
        assert_eq!(utf16_length(""), 0);
        assert_eq!(utf16_length("abc"), 3);
        assert_eq!(utf16_length("\u{e9}t\u{e9}"), 3);
        assert_eq!(utf16_length("a\u{1f600}"), 3);
        assert_eq!(narrow_length("a\u{1f600}"), 3);
    }

    #[test]
    fn a_beginning_is_never_half_a_character() {
        assert_eq!(utf16_prefix("abc", 2), "ab");
        assert_eq!(utf16_prefix("abc", 9), "abc");
        assert_eq!(utf16_prefix("\u{e9}t\u{e9}", 2), "\u{e9}t");
        assert_eq!(utf16_prefix("\u{1f600}b", 1), "");
        assert_eq!(utf16_prefix("\u{1f600}b", 2), "\u{1f600}");
        assert_eq!(utf16_prefix("abc", 0), "");
    }
}
