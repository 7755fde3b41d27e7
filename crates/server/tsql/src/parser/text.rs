//! The text of tokens, as written and as quoted in errors.

use std::borrow::Cow;

use super::{Parse, Parser};
use crate::{
    ast::{Expr, ExprKind, Literal},
    keyword::Keyword,
    lexer::IDENTIFIER_LENGTH_MAX,
    token::{Token, TokenKind},
};

impl<'a> Parser<'a> {
    /// The token as written.
    pub(super) fn text(&self, token: Token) -> &'a str {
        token.position.text(self.source)
    }

    /// The text of a token in errors: strings and names without their delimiters.
    pub(super) fn echo(&self, token: Token) -> Cow<'a, str> {
        match token.kind {
            TokenKind::String | TokenKind::National => Cow::Owned(self.string_value(token)),
            TokenKind::Bracketed | TokenKind::DoubleQuoted => self.delimited(token),
            _ => Cow::Borrowed(self.text(token)),
        }
    }

    /// The name in brackets or quotation marks, with doubled closing delimiters undoubled.
    pub(super) fn delimited(&self, token: Token) -> Cow<'a, str> {
        let text = self.text(token);
        let body = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        let (double, single) = match token.kind {
            TokenKind::DoubleQuoted => ("\"\"", "\""),
            _ => ("]]", "]"),
        };
        if body.contains(double) {
            Cow::Owned(body.replace(double, single))
        } else {
            Cow::Borrowed(body)
        }
    }

    /// The characters of a string: doubled quotes are undoubled, and a backslash at the end of a line joins the lines.
    pub(super) fn string_value(&self, token: Token) -> String {
        let text = self.text(token);
        let start = match token.kind {
            TokenKind::National => 2,
            _ => 1,
        };
        let body = text.get(start..text.len().saturating_sub(1)).unwrap_or("");
        let (double, single) = match token.kind {
            TokenKind::DoubleQuoted => ("\"\"", "\""),
            _ => ("''", "'"),
        };
        joined(&body.replace(double, single))
    }

    /// The text after an unclosed delimiter.
    pub(super) fn unclosed_body(&self, token: Token) -> String {
        let text = self.source.get(token.position.range().start..).unwrap_or("");
        let text = text
            .strip_prefix(['N', 'n'])
            .filter(|rest| rest.starts_with('\''))
            .unwrap_or(text);
        text.chars().skip(1).collect()
    }

    /// The prefix of a too long name with the maximum length.
    pub(super) fn identifier_start(&self, token: Token) -> String {
        let text = self.text(token);
        let delimiters: &[char] = match token.kind {
            TokenKind::National => &['N', 'n', '\''],
            _ => &['[', '"', '\''],
        };
        let text = text.trim_start_matches(delimiters);
        let mut units = 0;
        let within = |character: &char| {
            units += character.len_utf16();
            units <= IDENTIFIER_LENGTH_MAX
        };
        text.chars().take_while(within).collect()
    }

    /// Whether the token is a string; one in quotation marks is a string if QUOTED_IDENTIFIER is off.
    pub(super) fn is_string(&self) -> bool {
        self.is_string_token(self.peek())
    }

    pub(super) fn is_string_token(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::String | TokenKind::National => true,
            TokenKind::DoubleQuoted => !self.quoted_identifier,
            _ => false,
        }
    }

    /// The characters of a required string.
    pub(super) fn string(&mut self) -> Parse<String> {
        if !self.is_string() {
            return Err(self.unexpected());
        }
        let token = self.advance();
        Ok(self.string_value(token))
    }

    /// The next token as a constant, if it is one.
    pub(super) fn literal(&mut self) -> Option<Literal> {
        let token = self.peek();
        let text = self.text(token);
        let literal = match token.kind {
            TokenKind::Integer => Literal::Integer(String::from(text)),
            TokenKind::Decimal => Literal::Decimal(String::from(text)),
            TokenKind::Float => Literal::Float(String::from(text)),
            TokenKind::Money => Literal::Money(String::from(text)),
            TokenKind::Binary => Literal::Binary(text.chars().skip(2).filter(char::is_ascii_hexdigit).collect()),
            TokenKind::National => Literal::National(self.string_value(token)),
            TokenKind::Keyword(Keyword::Null) => Literal::Null,
            _ if self.is_string() => Literal::String(self.string_value(token)),
            _ => return None,
        };
        self.advance();
        Some(literal)
    }

    /// The next token as a constant expression, if it is one.
    pub(super) fn literal_expr(&mut self) -> Option<Expr> {
        let start = self.here();
        let literal = self.literal()?;
        Some(Expr {
            kind: ExprKind::Literal(literal),
            position: self.since(start),
        })
    }
}

/// The text without backslashes at the ends of lines and the line breaks after them.
fn joined(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (line, after) = rest.split_at(at + 1);
        match after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
            Some(next) => {
                whole.push_str(&line[..at]);
                rest = next;
            }
            None => {
                whole.push_str(line);
                rest = after;
            }
        }
    }
    whole.push_str(rest);
    whole
}
