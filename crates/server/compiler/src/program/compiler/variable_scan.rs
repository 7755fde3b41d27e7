//! Finds variables in a statement's text: the host binds the statement only when it first runs, but an undeclared
//! variable must be refused before.

use selenite_tsql::ast::Position;

use super::Compiler;
use crate::{NameKey, SqlError};

impl Compiler<'_> {
    /// Refuses variables that are not declared yet.
    ///
    /// Errors: 137, or 1087 where a table is expected.
    pub(super) fn check_variables(&mut self, position: Position) -> Result<(), SqlError> {
        let source = self.source;
        let text = position.text(source);
        let mut refused: Vec<NameKey> = Vec::new();
        for found in names(text) {
            let key = NameKey::new(found.name);
            if self.variables.find(found.name).is_ok()
                || self.tables.contains_key(&key)
                || self.cursors.contains(&key)
                || refused.contains(&key)
            {
                continue;
            }
            let error = if found.is_table {
                SqlError::undeclared_table(found.name)
            } else {
                SqlError::undeclared_variable(found.name)
            };
            let lines = text[..found.at].bytes().filter(|&byte| byte == b'\n').count();
            let line = position.line.saturating_add(super::number(lines));
            refused.push(key);
            self.error(error, line);
        }
        Ok(())
    }
}

/// A variable in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct VariableReference<'a> {
    /// The name with its `@`.
    name: &'a str,
    /// The position of its first character.
    at: usize,
    /// Whether it is where a table is expected.
    is_table: bool,
}

/// The variables of a text in order. Strings, comments, delimited names and `@@` names are skipped.
fn names(text: &str) -> Vec<VariableReference<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut word = "";
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        at = match (byte, next) {
            (b'\'' | b'"', _) => after_quoted(bytes, at + 1, byte),
            (b'[', _) => after_quoted(bytes, at + 1, b']'),
            (b'-', Some(b'-')) => after_line(bytes, at),
            (b'/', Some(b'*')) => after_comment(bytes, at + 2),
            (b'@', Some(b'@')) => after_name(text, at + 2),
            (b'@', _) => {
                let end = after_name(text, at + 1);
                let is_table = TABLE_WORDS.iter().any(|table| word.eq_ignore_ascii_case(table));
                let name = &text[at..end];
                found.push(VariableReference { name, at, is_table });
                word = "";
                end
            }
            _ if is_name(char_at(text, at)) => {
                let end = after_name(text, at);
                word = &text[at..end];
                end
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    word = "";
                }
                at + char_at(text, at).len_utf8()
            }
        };
    }
    found
}

fn char_at(text: &str, at: usize) -> char {
    text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('\0')
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '#' | '$' | '@')
}

fn after_name(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    at + rest.find(|char| !is_name(char)).unwrap_or(rest.len())
}

/// The position after the closing delimiter; a doubled one does not close.
fn after_quoted(bytes: &[u8], mut at: usize, close: u8) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte != close {
            continue;
        }
        if bytes.get(at) != Some(&close) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

fn after_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter()
        .position(|&byte| byte == b'\n')
        .map_or(bytes.len(), |end| at + end)
}

/// The position after the comment, which may be nested.
fn after_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 1;
    while depth > 0 {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'/'), Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (Some(b'*'), Some(b'/')) => {
                depth -= 1;
                at += 2;
            }
            (Some(_), _) => at += 1,
            (None, _) => return bytes.len(),
        }
    }
    at
}

/// Keywords after which a variable is a table.
const TABLE_WORDS: [&str; 7] = ["FROM", "JOIN", "INTO", "UPDATE", "DELETE", "INSERT", "APPLY"];

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Vec<(&str, bool)> {
        names(text)
            .into_iter()
            .map(|found| (found.name, found.is_table))
            .collect()
    }

    #[test]
    fn variables_are_seen_and_globals_are_not() {
        assert_eq!(scan("SELECT @a, @@ROWCOUNT+@b1"), [("@a", false), ("@b1", false)]);
    }

    #[test]
    fn a_table_variable_is_distinguished_from_a_scalar_variable() {
        let text = "insert into @t select x from @u join\n@v on 1=@w";
        assert_eq!(scan(text), [("@t", true), ("@u", true), ("@v", true), ("@w", false)]);
    }

    #[test]
    fn strings_comments_and_delimited_names_hold_no_variables() {
        for text in [
            "'@a''@b'",
            "[@a]]@b]",
            "\"@a\"",
            "-- @a",
            "/* /* @a */ @b */",
            "a@b",
            "'@a",
            "/*@a",
            "[@a",
        ] {
            assert_eq!(scan(text), [], "{text}");
        }
    }

    #[test]
    fn letters_beyond_ascii_are_letters() {
        assert_eq!(
            scan("@gr\u{f6}\u{df}e+\u{1f600}@a"),
            [("@gr\u{f6}\u{df}e", false), ("@a", false)]
        );
    }
}
