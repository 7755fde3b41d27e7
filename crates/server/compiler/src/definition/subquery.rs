//! Refuses subqueries in a table's rules.

use std::fmt::Display;

use crate::SqlError;

/// Refuses a value or condition with a subquery.
///
/// # Errors
/// 1046.
pub(super) fn check_scalar(rule: &impl Display) -> Result<(), SqlError> {
    match has_query(&rule.to_string()) {
        true => Err(SqlError::subquery_not_allowed()),
        false => Ok(()),
    }
}

/// Whether a value or condition has no subquery.
pub fn is_scalar(rule: &impl Display) -> bool {
    !has_query(&rule.to_string())
}

/// Whether a text contains the keyword SELECT outside strings and delimited names.
fn has_query(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|char: char| matches!(char, '\'' | '"' | '[') || is_name(char)) {
        let tail = rest.get(at..).unwrap_or_default();
        let size = match tail.as_bytes().first() {
            Some(b'[') => delimited(tail, b']'),
            Some(quote @ (b'\'' | b'"')) => delimited(tail, *quote),
            Some(_) | None => {
                let size = tail.find(|char| !is_name(char)).unwrap_or(tail.len());
                if tail.get(..size).is_some_and(|word| word.eq_ignore_ascii_case("SELECT")) {
                    return true;
                }
                size
            }
        };
        rest = tail.get(size..).unwrap_or_default();
    }
    false
}

/// The size of a string or delimited name, up to the closing delimiter; a doubled one does not close.
fn delimited(text: &str, close: u8) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        if byte == close && bytes.next_if(|(_, next)| *next == close).is_none() {
            return at + 1;
        }
    }
    text.len()
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '@' | '#' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_distinguished_from_names_and_strings() {
        for text in [
            "(SELECT 1)",
            "a IN (select b FROM t)",
            "N'x''y' = (Select 1)",
            "[a]]b] > (SELECT 1)",
        ] {
            assert!(has_query(text), "{text}");
        }
        for text in [
            "[select]",
            "'SELECT'",
            "selects",
            "@select",
            "N'it''s SELECT'",
            "\"select\"",
            "[a]]select]",
            "'open",
            "",
        ] {
            assert!(!has_query(text), "{text}");
        }
    }
}
