//! Splits scripts into batches at GO, as sqlcmd does on the client.

use crate::lexer::is_blank;

/// A batch of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    /// The text, without the terminating GO.
    pub text: &'a str,
    /// The line of the script, from 1, on which the text begins.
    pub first_line: u32,
    /// The number of executions: the count after GO, otherwise 1.
    pub count: u32,
}

/// Splits a script at each GO that is alone on its line, with an optional count and comment, and not in a comment,
/// string or delimited name. Blank batches are omitted.
#[must_use]
pub fn split_batches(script: &str) -> Vec<Batch<'_>> {
    let mut batches = Vec::new();
    let (mut start, mut first_line, mut at) = (0, 1, 0);
    let mut state = SplitState::Text;
    for (line, text) in (1..).zip(script.split_inclusive('\n')) {
        let end = at + text.len();
        match go_count(text).filter(|_| state == SplitState::Text) {
            Some(count) => {
                add(&mut batches, &script[start..at], first_line, count);
                (start, first_line) = (end, line + 1);
            }
            None => state = state.after(text.as_bytes()),
        }
        at = end;
    }
    add(&mut batches, &script[start..], first_line, 1);
    batches
}

fn add<'a>(batches: &mut Vec<Batch<'a>>, text: &'a str, first_line: u32, count: u32) {
    if !text.chars().all(is_blank) {
        batches.push(Batch {
            text,
            first_line,
            count,
        });
    }
}

/// The count of a GO line; `None` for any other line.
fn go_count(line: &str) -> Option<u32> {
    let line = line.trim_matches(is_blank);
    let (word, rest) = line.split_at_checked(2)?;
    if !word.eq_ignore_ascii_case("GO") {
        return None;
    }
    let blank = rest.starts_with(is_blank);
    let rest = rest.trim_start_matches(is_blank);
    if rest.is_empty() || rest.starts_with("--") {
        return Some(1);
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (count, after) = rest.split_at(digits);
    let after = after.trim_start_matches(is_blank);
    let is_alone = after.is_empty() || after.starts_with("--");
    count.parse().ok().filter(|_| blank && is_alone)
}

/// The lexical state at the beginning of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SplitState {
    Text,
    /// A comment with this nesting depth.
    Comment(usize),
    /// A string or delimited name that ends with this byte.
    Quoted(u8),
}

impl SplitState {
    /// The state after `line`.
    fn after(mut self, line: &[u8]) -> Self {
        let mut at = 0;
        while at < line.len() {
            let next = line.get(at + 1).copied();
            at += 1;
            self = match (self, line[at - 1], next) {
                (Self::Text, b'-', Some(b'-')) => return self,
                (Self::Text, b'/', Some(b'*')) => {
                    at += 1;
                    Self::Comment(1)
                }
                (Self::Text, quote @ (b'\'' | b'"'), _) => Self::Quoted(quote),
                (Self::Text, b'[', _) => Self::Quoted(b']'),
                (Self::Comment(depth), b'/', Some(b'*')) => {
                    at += 1;
                    Self::Comment(depth + 1)
                }
                (Self::Comment(depth), b'*', Some(b'/')) => {
                    at += 1;
                    match depth {
                        0 | 1 => Self::Text,
                        deeper => Self::Comment(deeper - 1),
                    }
                }
                (Self::Quoted(close), byte, Some(next)) if byte == close && next == close => {
                    at += 1;
                    self
                }
                (Self::Quoted(close), byte, _) if byte == close => Self::Text,
                (state, _, _) => state,
            };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(script: &str) -> Vec<(&str, u32, u32)> {
        let batches = split_batches(script);
        batches.iter().map(|b| (b.text, b.first_line, b.count)).collect()
    }

    #[test]
    fn go_splits_in_any_case_and_has_a_count() {
        let script = "a\nGO\nb\r\n Go 10000 \r\n\r\nc\n\tgo -- ready\nGO\nd";
        let expected = [("a\n", 1, 1), ("b\r\n", 3, 10_000), ("\r\nc\n", 5, 1), ("d", 9, 1)];
        assert_eq!(split(script), expected);
    }

    #[test]
    fn go_that_is_not_alone_on_its_line_is_an_ordinary_word() {
        for script in [
            "select 1 go",
            "go to",
            "goto a",
            "go2",
            "go 1 2",
            "a\ngo;\nb",
            "go 99999999999",
        ] {
            assert_eq!(split(script), [(script, 1, 1)]);
        }
    }

    #[test]
    fn go_in_comments_strings_and_delimited_names_does_not_split() {
        for script in [
            "/* /* */\nGO\n*/ a",
            "'x\nGO\n''\nGO\n'",
            "\"\nGO\n\"",
            "[a]]\nGO\n]",
            "'--'\n + '\nGO\n'",
        ] {
            assert_eq!(split(script), [(script, 1, 1)]);
        }
    }

    #[test]
    fn a_quote_in_a_line_comment_begins_no_string() {
        assert_eq!(split("a -- don't\nGO\nb"), [("a -- don't\n", 1, 1), ("b", 3, 1)]);
    }

    #[test]
    fn blank_batches_are_omitted() {
        assert_eq!(split("GO\n \nGO\n\u{feff}\n"), []);
    }
}
