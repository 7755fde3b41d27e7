//! Splits a text into tokens.
//!
//! - `tokens-are-made-once`: all tokens are produced in one pass, in linear time; the last is `End`
//!   or the error that ends the pass.
//! - `only-blanks-and-comments-between`: between tokens there are only whitespace and comments,
//!   which nest.

use crate::{
    ast::Position,
    keyword::Keyword,
    token::{Token, TokenKind},
};

mod number;
#[cfg(test)]
mod tests;

/// All tokens of `text`, which has at most `u32::MAX` bytes; the last token ends it.
///
/// `None` if `should_continue`, polled every few thousand tokens, returns false.
pub(crate) fn tokens(text: &str, should_continue: &dyn Fn() -> bool) -> Option<Vec<Token>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 1,
        tokens: Vec::with_capacity(text.len() / BYTES_PER_TOKEN + 1),
    };
    lexer.run(should_continue).then_some(lexer.tokens)
}

/// Whether SQL Server treats the character as whitespace; control characters are.
pub(crate) fn is_blank(character: char) -> bool {
    character <= ' ' || character.is_whitespace() || character == '\u{feff}'
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    /// Whether the pass reached the end of the text.
    fn run(&mut self, should_continue: &dyn Fn() -> bool) -> bool {
        loop {
            let count = self.tokens.len();
            if count > 0 && count.is_multiple_of(crate::TOKENS_BETWEEN_POLLS) && !should_continue() {
                return false;
            }
            let Ok(()) = self.skip_blanks() else {
                return true;
            };
            let (start, line) = (self.at, self.line);
            let kind = self.token();
            self.push(kind, start, line);
            if matches!(
                kind,
                TokenKind::End | TokenKind::UnclosedQuote | TokenKind::LongIdentifier
            ) {
                return true;
            }
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, line: u32) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let position = Position {
            line,
            start: offset(start),
            end: offset(self.at),
        };
        self.tokens.push(Token { kind, position });
    }

    /// Skips whitespace and comments; an unclosed comment becomes the last token.
    fn skip_blanks(&mut self) -> Result<(), ()> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    self.at += 1;
                }
                b'-' if self.byte(1) == b'-' => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                b'/' if self.byte(1) == b'*' => self.skip_comment()?,
                byte if byte.is_ascii() => {
                    if byte > b' ' || self.at >= self.bytes.len() {
                        return Ok(());
                    }
                    self.at += 1;
                }
                _ => match self.character() {
                    Some(character) if is_blank(character) => self.at += character.len_utf8(),
                    _ => return Ok(()),
                },
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), ()> {
        let (start, line) = (self.at, self.line);
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match (self.byte(0), self.byte(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (byte, _) => {
                    self.line = self.line.saturating_add(u32::from(byte == b'\n'));
                    self.at += 1;
                }
            }
        }
        self.push(TokenKind::UnclosedComment, start, line);
        Err(())
    }

    /// The byte at offset `ahead`; 0 beyond the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn character(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn token(&mut self) -> TokenKind {
        let symbol = match self.byte(0) {
            0 if self.at >= self.bytes.len() => return TokenKind::End,
            b'\'' => return self.quoted(b'\'', TokenKind::String),
            b'"' => return self.quoted(b'"', TokenKind::DoubleQuoted),
            b'[' => return self.quoted(b']', TokenKind::Bracketed),
            b'N' | b'n' if self.byte(1) == b'\'' => {
                self.at += 1;
                return self.quoted(b'\'', TokenKind::National);
            }
            b'0'..=b'9' => return self.number(),
            b'.' if self.byte(1).is_ascii_digit() => return self.number(),
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'#' | b'@' | b'$' | 0x80.. => return self.word(),
            b',' => TokenKind::Comma,
            b'.' => TokenKind::Point,
            b';' => TokenKind::Semicolon,
            b'(' => TokenKind::LeftParen,
            b')' => TokenKind::RightParen,
            b'{' => TokenKind::LeftBrace,
            b'}' => TokenKind::RightBrace,
            b'+' => TokenKind::Plus,
            b'-' => TokenKind::Minus,
            b'*' => TokenKind::Star,
            b'/' => TokenKind::Slash,
            b'%' => TokenKind::Percent,
            b'&' => TokenKind::Ampersand,
            b'|' => TokenKind::Pipe,
            b'^' => TokenKind::Caret,
            b'~' => TokenKind::Tilde,
            b'=' => TokenKind::Equal,
            b'<' => TokenKind::Less,
            b'>' => TokenKind::Greater,
            b'!' => TokenKind::Bang,
            b':' => TokenKind::Colon,
            _ => TokenKind::Unknown,
        };
        self.at += 1;
        symbol
    }

    /// A token up to the next `close` delimiter that is not doubled.
    fn quoted(&mut self, close: u8, kind: TokenKind) -> TokenKind {
        self.at += 1;
        let start = self.at;
        loop {
            match self.bytes.get(self.at) {
                None => return TokenKind::UnclosedQuote,
                Some(b'\n') => self.line = self.line.saturating_add(1),
                Some(byte) if *byte == close => {
                    if self.byte(1) != close {
                        break;
                    }
                    self.at += 1;
                }
                Some(_) => {}
            }
            self.at += 1;
        }
        let body = &self.text[start..self.at];
        self.at += 1;
        // A string in quotation marks may be longer: the parser checks again when it uses one as a name.
        if kind == TokenKind::Bracketed && is_long(body) && is_long(&body.replace("]]", "]")) {
            return TokenKind::LongIdentifier;
        }
        kind
    }

    /// A name, variable, money constant, or an unknown character.
    fn word(&mut self) -> TokenKind {
        let start = self.at;
        let Some(first) = self.character() else {
            return TokenKind::End;
        };
        if is_currency_sign(first) {
            let next = self.text[start + first.len_utf8()..].chars().next();
            if first != '$' || !next.is_some_and(begins_word) {
                return self.money(first.len_utf8());
            }
        } else if !begins_word(first) && !matches!(first, '#' | '@') {
            self.at += first.len_utf8();
            return TokenKind::Unknown;
        }
        self.at += first.len_utf8();
        self.skip_word();
        let word = &self.text[start..self.at];
        if is_long(word) {
            return TokenKind::LongIdentifier;
        }
        match (first, word.as_bytes().get(1)) {
            ('@', Some(b'@')) => TokenKind::Global,
            ('@', _) => TokenKind::Variable,
            _ => Keyword::of(word).map_or(TokenKind::Word, TokenKind::Keyword),
        }
    }

    fn skip_word(&mut self) {
        loop {
            match self.byte(0) {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'#' | b'@' | b'$' => self.at += 1,
                0x80.. => match self.character() {
                    Some(character) if character.is_alphanumeric() => self.at += character.len_utf8(),
                    _ => return,
                },
                _ => return,
            }
        }
    }
}

/// Whether a name may begin with the character; `#` and `@` are handled separately.
fn begins_word(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

/// The currency signs of money constants.
fn is_currency_sign(character: char) -> bool {
    matches!(
        character,
        '$' | '\u{a2}'..='\u{a5}'
            | '\u{9f2}'
            | '\u{9f3}'
            | '\u{e3f}'
            | '\u{17db}'
            | '\u{20a0}'..='\u{20b1}'
            | '\u{fdfc}'
            | '\u{fe69}'
            | '\u{ff04}'
            | '\u{ffe0}'
            | '\u{ffe1}'
            | '\u{ffe5}'
            | '\u{ffe6}'
    )
}

/// Whether a name exceeds SQL Server's maximum length in UTF-16 units.
pub(crate) fn is_long(name: &str) -> bool {
    name.len() > IDENTIFIER_LENGTH_MAX && name.encode_utf16().nth(IDENTIFIER_LENGTH_MAX).is_some()
}

/// 128 UTF-16 units: SQL Server's maximum.
pub(crate) const IDENTIFIER_LENGTH_MAX: usize = 128;
/// A typical value, to reserve capacity; a text with more tokens reallocates.
const BYTES_PER_TOKEN: usize = 4;
