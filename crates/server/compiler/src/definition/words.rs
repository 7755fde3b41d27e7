//! The words of a value or condition that was printed from a tree: names, keywords and functions, but no strings.

use std::borrow::Cow;

/// A word of a text.
pub(super) struct Word<'a> {
    /// The word, or what a delimited name means.
    pub text: Cow<'a, str>,
    /// Whether it is a name in brackets or quotation marks.
    pub is_delimited: bool,
    /// What follows it.
    pub after: &'a str,
}

impl Word<'_> {
    /// Whether it is a function's name, which a parenthesis follows.
    pub fn is_called(&self) -> bool {
        self.after.starts_with('(')
    }
}

/// All of them, in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(|char: char| matches!(char, '\'' | '"' | '[') || is_name(char))?;
            let tail = rest.get(at..)?;
            let close = match tail.as_bytes().first() {
                Some(b'[') => Some(b']'),
                Some(quote @ (b'\'' | b'"')) => Some(*quote),
                Some(_) | None => None,
            };
            let size = match close {
                Some(close) => delimited(tail, close),
                None => tail.find(|char| !is_name(char)).unwrap_or(tail.len()),
            };
            let (word, after) = tail.split_at_checked(size)?;
            rest = after;
            match close {
                Some(b'\'') => {}
                // The letter before a string belongs to it.
                None if after.starts_with('\'') && word.eq_ignore_ascii_case("N") => {}
                _ => {
                    return Some(Word {
                        text: close.map_or(Cow::Borrowed(word), |close| Cow::Owned(inner(word, close))),
                        is_delimited: close.is_some(),
                        after,
                    });
                }
            }
        }
    })
}

/// What a delimited name means.
fn inner(word: &str, close: u8) -> String {
    let close = char::from(close);
    let own = word.get(1..).unwrap_or_default();
    let own = own.strip_suffix(close).unwrap_or(own);
    own.replace(&format!("{close}{close}"), &close.to_string())
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
    fn words_are_names_and_functions_but_no_strings() {
        let read = |text: &str| -> Vec<String> { words(text).map(|word| word.text.into_owned()).collect() };
        assert_eq!(
            read("Len(a) + N'it''s b' + 'c' + [d]]'e] + \"f\"\"\" + @@g"),
            ["Len", "a", "d]'e", "f\"", "@@g"]
        );
        assert_eq!(read("N + 'open"), ["N"]);
        assert_eq!(read("[]"), [""]);
        let called: Vec<bool> = words("len(a)+[b]").map(|word| word.is_called()).collect();
        assert_eq!(called, [true, false, false]);
        assert!(words("[b]").all(|word| word.is_delimited));
    }
}
