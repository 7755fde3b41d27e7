//! The tokens of XQuery.

use selenite_types::{is_xml_name, referenced_character};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name without a colon.
    Name(String),
    /// A number.
    Number(f64),
    /// A text in quotes.
    Text(String),
    /// A sign, such as `//`.
    Sign(&'static str),
    /// A character that begins no token.
    Other(char),
}

/// The tokens of a text, each with whether white space is before it.
pub(super) fn tokens(text: &str) -> Vec<(Token, bool)> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = without_comments(rest);
        let spaced = trimmed.len() < rest.len();
        rest = trimmed;
        let Some(first) = rest.chars().next() else { return out };
        let (token, length) = next(rest, first);
        out.push((token, spaced));
        rest = rest.get(length..).unwrap_or_default();
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
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return (Token::Sign(sign), sign.len());
    }
    if first == '"' || first == '\'' {
        return quoted(rest, first);
    }
    let digits = |text: &str| text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    if first.is_ascii_digit() || first == '.' && digits(&rest[1..]) > 0 {
        let mut length = digits(rest);
        if rest[length..].starts_with('.') {
            length += 1 + digits(&rest[length + 1..]);
        }
        let number = rest[..length].parse();
        return (number.map_or(Token::Other(first), Token::Number), length);
    }
    if first == '.' {
        return (Token::Sign("."), 1);
    }
    let is_part = |sign: char| is_xml_name(&format!("a{sign}"));
    let length = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
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
            return (Token::Text(resolved(&text)), at + 1);
        }
    }
    (Token::Other(quote), 1)
}

/// With the characters that entities and references stand for.
fn resolved(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let end = behind.bytes().take(REFERENCE_SIZE_MAX).position(|byte| byte == b';');
        match end.and_then(|end| Some((referenced_character(&behind[..end]).ok()?, end))) {
            Some((character, end)) => {
                out.push(character);
                rest = &behind[end + 1..];
            }
            None => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Of `#x10FFFF;`, and some zeros.
const REFERENCE_SIZE_MAX: usize = 16;

/// Longer ones first.
const SIGNS: [&str; 23] = [
    "//", "/", "..", "::", ":=", ":", "@", "*", "[", "]", "(", ")", ",", "!=", "=", "<=", ">=", "<", ">", ";", "$",
    "+", "|",
];
