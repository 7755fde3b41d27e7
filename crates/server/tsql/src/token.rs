//! Tokens.

use crate::{ast::Position, keyword::Keyword};

/// A token: its kind, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) position: Position,
}

/// The kinds of tokens. Operators of several characters are several tokens: T-SQL allows whitespace inside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An undelimited name that is not reserved, including `#t` and `$action`.
    Word,
    /// A reserved keyword.
    Keyword(Keyword),
    /// `[a]`
    Bracketed,
    /// `"a"`: a name or a string, depending on QUOTED_IDENTIFIER.
    DoubleQuoted,
    /// `'a'`
    String,
    /// `N'a'`
    National,
    Integer,
    Decimal,
    Float,
    Money,
    Binary,
    /// `@a`
    Variable,
    /// `@@a`
    Global,
    Comma,
    Point,
    Semicolon,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Ampersand,
    Pipe,
    Caret,
    Tilde,
    Equal,
    Less,
    Greater,
    Bang,
    Colon,
    /// A character that T-SQL does not use.
    Unknown,
    /// A string or delimited name without its closing delimiter.
    UnclosedQuote,
    /// `/*` without `*/`.
    UnclosedComment,
    /// A name of more than 128 characters.
    LongIdentifier,
    /// The end of the text.
    End,
}
