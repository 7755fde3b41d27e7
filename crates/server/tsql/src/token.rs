//! What the lexer makes of a text.

use crate::{ast::Position, keyword::Keyword};

/// A token: its kind, and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) position: Position,
}

/// The kinds of tokens. Operators of several characters are several tokens: T-SQL allows blanks in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name without delimiters that is not reserved; `#t` and `$action` too.
    Word,
    /// A reserved word.
    Keyword(Keyword),
    /// `[a]`
    Bracketed,
    /// `"a"`: a name or a string, as QUOTED_IDENTIFIER has it.
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
    /// A character that T-SQL has no use for.
    Unknown,
    /// A quotation mark or bracket without its other.
    UnclosedQuote,
    /// `/*` without `*/`.
    UnclosedComment,
    /// A name of more than 128 characters.
    LongIdentifier,
    /// The end of the text.
    End,
}
