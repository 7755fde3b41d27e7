//! Parses a procedure's name in a variable.

use selenite_tsql::ast::{Name, ObjectName, Position};

/// The name of up to four parts in a text; `None` if the text is not a name.
pub(super) fn parse(text: &str) -> Option<ObjectName> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, tail) = part(rest)?;
        parts.push(part);
        let tail = tail.trim_start();
        if tail.is_empty() {
            break;
        }
        rest = tail.strip_prefix('.')?.trim_start();
    }
    let mut parts = parts.into_iter().rev();
    let name = parts.next()?.filter(|name| !name.text.is_empty())?;
    let object = ObjectName {
        name,
        schema: parts.next().flatten(),
        database: parts.next().flatten(),
        server: parts.next().flatten(),
        position: Position::default(),
    };
    parts.next().is_none().then_some(object)
}

/// One part, possibly empty, and the remaining text.
fn part(text: &str) -> Option<(Option<Name>, &str)> {
    let close = match text.chars().next() {
        Some('[') => ']',
        Some('"') => '"',
        _ => {
            let end = text.find('.').unwrap_or(text.len());
            let (word, tail) = text.split_at(end);
            let word = word.trim();
            return Some(((!word.is_empty()).then(|| name(word.to_owned(), false)), tail));
        }
    };
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char != close {
            inner.push(char);
            continue;
        }
        if chars.peek().is_some_and(|(_, next)| *next == close) {
            inner.push(close);
            chars.next();
            continue;
        }
        return Some((Some(name(inner, true)), &text[at + close.len_utf8()..]));
    }
    None
}

fn name(text: String, quoted: bool) -> Name {
    Name {
        text,
        quoted,
        position: Position::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<String> {
        let name = parse(text)?;
        let text = |part: &Option<Name>| part.as_ref().map_or("-".to_owned(), |name| name.text.clone());
        Some(format!(
            "{}/{}/{}/{}",
            text(&name.server),
            text(&name.database),
            text(&name.schema),
            name.name.text
        ))
    }

    #[test]
    fn a_variable_holds_a_name_of_up_to_four_parts() {
        assert_eq!(parts("p").unwrap(), "-/-/-/p");
        assert_eq!(parts(" [my proc] ").unwrap(), "-/-/-/my proc");
        assert_eq!(parts("dbo . \"a\"\"b\"").unwrap(), "-/-/dbo/a\"b");
        assert_eq!(parts("s.d..[a]].b]").unwrap(), "s/d/-/a].b");
    }

    #[test]
    fn an_invalid_name_is_none() {
        for text in ["", "a.b.c.d.e", "[a", "[a]b", "a.", "[]"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
