//! TOML files written by users: every error has the file and the line.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::KeyError;

/// A key of a table, with its position.
pub type Key<'a> = Spanned<Cow<'a, str>>;
/// A value, with its position.
pub type Value<'a> = Spanned<DeValue<'a>>;

/// An error and its position in the text.
pub struct TomlFault {
    at: Range<usize>,
    problem: String,
}

impl TomlFault {
    /// An error about the text at `at`. `problem` must not contain a value, which may be secret.
    pub fn new(at: Range<usize>, problem: impl Into<String>) -> Self {
        Self {
            at,
            problem: problem.into(),
        }
    }

    /// An error about an unknown key; suggests a known key with a similar name.
    pub fn unknown_key(key: &Key<'_>, known: &[&str]) -> Self {
        let name = key.get_ref();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("known are {}", known.join(", ")),
        };
        Self::new(key.span(), format!("unknown key {name:?}, {hint}"))
    }

    fn in_file(self, path: &Path, text: &str) -> KeyError {
        let before = text.get(..self.at.start).unwrap_or(text);
        let line = Some(1 + before.matches('\n').count());
        KeyError::BadConfig {
            path: path.to_owned(),
            line,
            problem: self.problem.into(),
        }
    }
}

/// Parses `text` and converts it with `read`.
pub fn parse<T>(
    path: &Path,
    text: &str,
    read: impl FnOnce(&DeTable<'_>) -> Result<T, TomlFault>,
) -> Result<T, KeyError> {
    let document = DeTable::parse(text).map_err(|error| {
        TomlFault::new(error.span().unwrap_or(0..0), format!("not TOML: {}", error.message())).in_file(path, text)
    })?;
    read(document.get_ref()).map_err(|fault| fault.in_file(path, text))
}

/// The text of a value that must be a string.
pub fn string<'a>(key: &str, value: &'a Value<'_>) -> Result<&'a str, TomlFault> {
    value
        .get_ref()
        .as_str()
        .ok_or_else(|| TomlFault::new(value.span(), format!("{key} must be a quoted string")))
}

/// The entries of a value that must be a table.
pub fn table<'a, 'b>(key: &str, value: &'a Value<'b>) -> Result<&'a DeTable<'b>, TomlFault> {
    value
        .get_ref()
        .as_table()
        .ok_or_else(|| TomlFault::new(value.span(), format!("{key} must be a table: [{key}]")))
}

/// The known word with the most similar spelling, if it is similar enough.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, near) = known.map(|known| (edits(word, known), known)).min()?;
    (distance <= near.chars().count().div_ceil(EDIT_SHARE)).then_some(near)
}

/// The number of characters to insert, remove or replace to change `from` to `to` (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above_index, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above_index + 1);
        for index in 0..to.len() {
            let replaced = diagonal + usize::from(to[index] != letter);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

/// One letter in three may differ: `identiy`, `keyrings`, `comands`; but not `color` for `commands`.
const EDIT_SHARE: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_counts_insertions_removals_and_replacements() {
        for (from, to, count) in [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "", 2),
            ("identiy", "identity", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edits(from, to), count, "{from} {to}");
        }
    }

    #[test]
    fn nearest_finds_similar_words_only() {
        let known = ["identity", "keyring", "commands"];
        assert_eq!(nearest("identiy", known.into_iter()), Some("identity"));
        assert_eq!(nearest("command", known.into_iter()), Some("commands"));
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }

    #[test]
    fn parse_names_the_line_of_broken_toml() {
        let error = parse(Path::new("a.toml"), "a = 1\nb = = 2\n", |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("a.toml, line 2: not TOML: "), "{error}");
    }
}
