//! Scripts cut into batches at GO, as sqlcmd does it before anything is sent.

use crate::lexer::is_blank;

/// A part of a script that is sent as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    /// Its text, without the GO that ends it.
    pub text: &'a str,
    /// The script's line, from 1, on which the text begins.
    pub first_line: u32,
    /// How often it is sent: the number after GO, 1 without.
    pub count: u32,
}

/// Cuts a script at each GO that is alone on its line, perhaps with a number and a comment after it, and not in
/// a comment, string or delimited name. Batches of blanks alone are left out.
#[must_use]
pub fn split_batches(script: &str) -> Vec<Batch<'_>> {
    let mut batches = Vec::new();
    let (mut start, mut first_line, mut at) = (0, 1, 0);
    let mut state = State::Text;
    for (line, text) in (1..).zip(script.split_inclusive('\n')) {
        let end = at + text.len();
        match go_count(text).filter(|_| state == State::Text) {
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

/// How often GO on this line says; nothing if the line is not GO's.
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
    let alone = after.is_empty() || after.starts_with("--");
    count.parse().ok().filter(|_| blank && alone)
}

/// What a line begins in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// A comment, so deep.
    Comment(usize),
    /// A string or delimited name, up to this byte.
    Quoted(u8),
}

impl State {
    /// What the line after `line` begins in.
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
    fn go_cuts_in_any_case_and_says_how_often() {
        let script = "a\nGO\nb\r\n Go 10000 \r\n\r\nc\n\tgo -- ready\nGO\nd";
        let expected = [("a\n", 1, 1), ("b\r\n", 3, 10_000), ("\r\nc\n", 5, 1), ("d", 9, 1)];
        assert_eq!(split(script), expected);
    }

    #[test]
    fn go_is_a_word_like_any_other_where_it_is_not_alone() {
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
    fn go_in_comments_strings_and_delimited_names_does_not_cut() {
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
    fn a_quote_in_a_line_comment_opens_nothing() {
        assert_eq!(split("a -- don't\nGO\nb"), [("a -- don't\n", 1, 1), ("b", 3, 1)]);
    }

    #[test]
    fn batches_of_blanks_are_left_out() {
        assert_eq!(split("GO\n \nGO\n\u{feff}\n"), []);
    }
}
