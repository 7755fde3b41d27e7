//! Names with several parts in an argument of a procedure.

use selenite_compiler::definition::bracketed;
use selenite_tsql::ast::ColumnName;

/// The parts between points, in brackets, quotes or neither; `None` if it is no name. A part that is left out is empty.
#[must_use]
pub fn name_parts(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, behind) = match rest.chars().next() {
            Some('[') => delimited(rest, ']')?,
            Some('"') => delimited(rest, '"')?,
            _ => {
                let (part, behind) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                (part.to_owned(), behind)
            }
        };
        parts.push(part);
        if behind.is_empty() {
            return parts.last().is_some_and(|part| !part.is_empty()).then_some(parts);
        }
        rest = behind.strip_prefix('.')?;
    }
}

/// The name that was written as a column: of several parts, which [`name_parts`] finds again, or the one that it has.
#[must_use]
pub fn name_of_column(column: &ColumnName) -> String {
    let Some(table) = &column.table else {
        return column.name.text.clone();
    };
    let places = [&table.server, &table.database, &table.schema].into_iter().flatten();
    let parts = places.chain([&table.name, &column.name]);
    parts.map(|part| bracketed(&part.text)).collect::<Vec<_>>().join(".")
}

/// A part up to `close`, which stands twice where it is meant itself, and what follows.
fn delimited(text: &str, close: char) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == close && chars.next_if(|(_, next)| *next == close).is_none() {
            return Some((inner, text.get(at + char.len_utf8()..)?));
        }
        inner.push(char);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_brackets_and_points_make_of_them() {
        let parts = |text: &str| name_parts(text).map(|parts| parts.join("|"));
        assert_eq!(parts("t").as_deref(), Some("t"));
        assert_eq!(parts(" dbo.[a.b].\"c]\"\"d\"").as_deref(), Some("dbo|a.b|c]\"d"));
        assert_eq!(parts("[a]]b]..c").as_deref(), Some("a]b||c"));
        for text in ["", "a.", "[a", "[a]b", "[]"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
