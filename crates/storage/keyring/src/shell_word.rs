//! Paths in commands that a message gives, which readers paste into a shell.

use std::path::Path;

/// A path as one word of a POSIX shell, which is no option.
///
/// A name that another user chose (`x; rm -r y`) is quoted, so that it is never a command. Bytes
/// that are not UTF-8 are replaced.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    let shown = path.to_string_lossy();
    let shown = match shown.starts_with('-') {
        true => format!("./{shown}"),
        false => shown.into_owned(),
    };
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+,:@%".contains(character);
    if !shown.is_empty() && shown.chars().all(is_plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_and_never_a_command() {
        for (name, word) in [
            ("app.db", "app.db"),
            ("/srv/a-b_c/1.db", "/srv/a-b_c/1.db"),
            ("\u{e9}.db", "\u{e9}.db"),
            ("my app.db", "'my app.db'"),
            ("x; rm -r y", "'x; rm -r y'"),
            ("$(id)", "'$(id)'"),
            ("it's", "'it'\\''s'"),
            ("~/a", "'~/a'"),
            ("*", "'*'"),
            ("--help", "./--help"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(Path::new(name)), word);
        }
    }
}
