//! The tokens of XQuery.

use std::collections::VecDeque;

use selenite_types::{is_xml_name, is_xml_name_part, referenced_character};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name without a colon.
    Name(String),
    /// A number, as it is written.
    Number(String),
    /// A text in quotes.
    Text(String),
    /// A sign, such as `//`.
    Sign(&'static str),
    /// A text in quotes with a `&` that begins no reference, and what is behind it.
    BadReference(String),
    /// A character that begins no token.
    Other(char),
}

/// Reads tokens as they are asked for: what is inside of a direct constructor has other ones.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Where the next token is read.
    place: usize,
    /// What was read ahead, each with where it ends.
    ahead: VecDeque<(Token, usize)>,
    /// Where the last token that was taken ends.
    taken: usize,
}

impl<'a> Lexer<'a> {
    /// The tokens of a text.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            place: 0,
            ahead: VecDeque::new(),
            taken: 0,
        }
    }

    /// The token so many places ahead.
    pub fn peek(&mut self, ahead: usize) -> Option<&Token> {
        while self.ahead.len() <= ahead {
            let rest = without_comments(self.text.get(self.place..).unwrap_or_default());
            let first = rest.chars().next()?;
            let (token, length) = next(rest, first);
            self.place = self.text.len() - rest.len() + length;
            self.ahead.push_back((token, self.place));
        }
        self.ahead.get(ahead).map(|(token, _)| token)
    }

    /// Takes so many tokens.
    pub fn skip(&mut self, count: usize) {
        for _ in 0..count {
            if let Some((_, end)) = self.ahead.pop_front() {
                self.taken = end;
            }
        }
    }

    /// The text behind the last token that was taken.
    pub fn rest(&self) -> &'a str {
        self.text.get(self.taken..).unwrap_or_default()
    }

    /// Goes on with the last so many bytes of the text.
    pub fn resume(&mut self, remaining: usize) {
        self.ahead.clear();
        self.taken = self.text.len().saturating_sub(remaining);
        self.place = self.taken;
    }
}

/// Without white space and comments at the beginning.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(inside) = rest.strip_prefix("(:") {
        match inside.split_once(":)") {
            Some((_, behind)) => rest = behind.trim_start(),
            None => return rest,
        }
    }
    rest
}

fn next(rest: &str, first: char) -> (Token, usize) {
    if first == '"' || first == '\'' {
        return quoted(rest, first);
    }
    let digits = |text: &str| text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    if first.is_ascii_digit() || first == '.' && digits(&rest[1..]) > 0 {
        let mut length = digits(rest);
        if rest[length..].starts_with('.') {
            length += 1 + digits(&rest[length + 1..]);
        }
        let exponent = &rest[length..];
        if exponent.starts_with(['e', 'E']) {
            let sign = usize::from(exponent[1..].starts_with(['+', '-']));
            let count = digits(&exponent[1 + sign..]);
            length += if count > 0 { 1 + sign + count } else { 0 };
        }
        return (Token::Number(rest[..length].to_owned()), length);
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return (Token::Sign(sign), sign.len());
    }
    let length = rest.find(|sign| !is_xml_name_part(sign)).unwrap_or(rest.len());
    match rest.get(..length).filter(|name| is_xml_name(name)) {
        Some(name) => (Token::Name(name.to_owned()), length),
        None => (Token::Other(first), first.len_utf8()),
    }
}

/// A text in quotes; a quote within is doubled.
fn quoted(rest: &str, quote: char) -> (Token, usize) {
    let mut text = String::new();
    let mut signs = rest.char_indices().skip(1).peekable();
    while let Some((at, sign)) = signs.next() {
        if sign != quote {
            text.push(sign);
        } else if signs.peek().is_some_and(|(_, next)| *next == quote) {
            text.push(quote);
            signs.next();
        } else {
            return (resolved(&text), at + 1);
        }
    }
    (Token::Other(quote), 1)
}

/// A text with the characters that entities and references stand for.
fn resolved(text: &str) -> Token {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        match reference(behind) {
            Some((character, length)) => {
                out.push(character);
                rest = &behind[length..];
            }
            None => return Token::BadReference(behind.to_owned()),
        }
    }
    out.push_str(rest);
    Token::Text(out)
}

/// The character that a reference without its `&` stands for, and the reference's length.
pub(super) fn reference(behind: &str) -> Option<(char, usize)> {
    let end = behind.bytes().take(REFERENCE_SIZE_MAX).position(|byte| byte == b';')?;
    Some((referenced_character(&behind[..end]).ok()?, end + 1))
}

/// Why what follows a `&` is no reference: 2282, 2283 or 2285, and its text.
pub(super) fn reference_fault(behind: &str) -> (i32, String) {
    let length = behind.find(|sign| !is_xml_name_part(sign)).unwrap_or(behind.len());
    match behind[length..].chars().next() {
        Some('#') if length == 0 => (2285, "Invalid numeric entity reference".to_owned()),
        Some(sign) if length > 0 && sign != ';' => (
            2283,
            format!("The character '{sign}' may not be part of an entity reference"),
        ),
        Some(_) | None => (2282, "Invalid entity reference".to_owned()),
    }
}

/// Of `#x10FFFF;`, and some zeros.
const REFERENCE_SIZE_MAX: usize = 16;

/// Longer ones first.
const SIGNS: [&str; 29] = [
    "//", "/", "..", ".", "::", ":=", ":", "@", "*", "[", "]", "(", ")", ",", "!=", "=", "<<", "<=", "<", ">>", ">=",
    ">", ";", "$", "+", "-", "|", "{", "}",
];
