//! Makes names and texts from files safe for a terminal.
//!
//! - no-cursor-movement: no character moves the cursor or changes the text direction.
//! - paths-reversible: different paths have different representations: [`path`] can be reversed.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path. A backslash is doubled; bytes that are not UTF-8, and unprintable characters, are written as `\xNN`.
pub fn path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' {
                text.push_str("\\\\");
            } else if is_harmless(character) {
                text.push(character);
            } else {
                let mut bytes = [0; 4];
                escape(&mut text, character.encode_utf8(&mut bytes).as_bytes());
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// A text in one line, with `?` for unprintable characters.
pub fn line(text: &str) -> String {
    text.replace(|character: char| !is_harmless(character), "?")
}

/// A text of several lines, with `?` for other unprintable characters.
pub fn lines(text: &str) -> String {
    text.replace(|character: char| character != '\n' && !is_harmless(character), "?")
}

/// JSON in one line: characters that serde does not escape and a terminal might interpret are escaped.
pub fn json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        if is_harmless(character) {
            text.push(character);
        } else {
            text.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    text
}

/// At most `width` characters, with dots in place of the omitted middle. More is kept of the end,
/// because it contains the name.
pub fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let Some(kept) = width.checked_sub(DOTS.len()) else {
        return text.chars().skip(count - width).collect();
    };
    let front: String = text.chars().take(kept / 3).collect();
    let back: String = text.chars().skip(count - (kept - kept / 3)).collect();
    format!("{front}{DOTS}{back}")
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push_str(&format!("\\x{byte:02x}"));
    }
}

/// Neither a control character, nor one that changes the text direction (Unicode's Bidi_Control) or
/// ends a line.
pub fn is_harmless(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

const DOTS: &str = "...";

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn of(bytes: &[u8]) -> String {
        path(Path::new(OsStr::from_bytes(bytes)))
    }

    #[test]
    fn a_path_is_shown_without_control_characters_and_never_like_another() {
        assert_eq!(of(b"/srv/app.db"), "/srv/app.db");
        assert_eq!(of("/\u{e9}t\u{e9}".as_bytes()), "/\u{e9}t\u{e9}");
        assert_eq!(of(b"a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
        assert_eq!(of("a\u{202e}b\u{9b}".as_bytes()), "a\\xe2\\x80\\xaeb\\xc2\\x9b");
        assert_eq!(of(b"a\xff"), "a\\xff");
        assert_eq!(of(b"a\\xff"), "a\\\\xff");
    }

    #[test]
    fn json_has_no_control_character_and_says_the_same() {
        let value = serde_json::json!({ "path": "a\u{1b}\u{7f}\u{9b}\u{202e}b\"" });
        let text = json(&value);
        assert!(text.chars().all(is_harmless), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn what_is_too_long_is_shortened_in_the_middle() {
        assert_eq!(shortened("/srv/data/app.db", 16), "/srv/data/app.db");
        assert_eq!(shortened("/srv/data/app.db", 12), "/sr...app.db");
        for width in 0..20 {
            assert_eq!(shortened("/srv/data/app.db", width).chars().count(), width.min(16));
        }
    }
}
