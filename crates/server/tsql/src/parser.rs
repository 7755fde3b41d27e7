//! From tokens to the tree: recursive descent, and precedence climbing for expressions.
//!
//! - `first-error-ends-the-parse`: the first error ends the parse; it is at the token that is not
//!   allowed where it is.
//! - `linear-time`: time is linear: a token is read a bounded number of times.
//! - `nesting-is-counted`: whatever nests is counted ([`Parser::nested`]): neither this parser nor
//!   a walk over its trees needs more than a part of a stack of 2 MiB.
//! - `unsupported-is-a-statement`: T-SQL that is not supported makes its whole statement
//!   [`Unsupported`](crate::ast::Unsupported).
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the tokens that may stand somewhere; each other one is an error or another rule's"
)]

use std::{borrow::Cow, collections::BTreeSet};

use crate::{
    DEPTH_MAX, TOKENS_BETWEEN_LOOKS,
    ast::{Name, Position, Tree},
    error::{Fault, SyntaxError},
    keyword::Keyword,
    lexer,
    token::{Token, TokenKind},
};

mod administration;
mod alter_table;
mod change;
mod control;
mod create;
mod database;
mod declare;
mod definition;
mod drop;
mod encryption;
mod execute;
mod expression;
mod function;
mod index;
mod label;
mod name;
mod odbc;
mod permission;
mod predicate;
mod query;
mod refused;
mod security;
mod select;
mod set_option;
mod setting;
mod source;
mod statement;
mod table;
mod text;
mod type_name;
mod unsupported;
mod window;

/// What a parse may end with.
type Parse<T> = Result<T, Box<SyntaxError>>;

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// QUOTED_IDENTIFIER of the session: whether `"a"` is a name (true) or a string. A SET of it in the batch holds
    /// from there on.
    pub quoted_identifier: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            quoted_identifier: true,
        }
    }
}

/// Parses a batch.
///
/// # Errors
///
/// The first fault of the text, as SQL Server says it; nothing of the batch may run then.
pub fn parse(text: &str, options: Options) -> Result<Tree, SyntaxError> {
    parse_while(text, options, &|| true)
}

/// As [`parse`], as long as `goes_on` returns true: it is polled every few thousand tokens, and may check the memory
/// in use, or for a cancellation by the client.
///
/// # Errors
///
/// As [`parse`]; 701 where it does not continue.
pub fn parse_while(text: &str, options: Options, goes_on: &dyn Fn() -> bool) -> Result<Tree, SyntaxError> {
    if text.len() > TEXT_SIZE_MAX {
        return Err(*Fault::TOO_DEEP.at(Position::default()));
    }
    let Some(tokens) = lexer::tokens(text, goes_on) else {
        return Err(*Fault::STOPPED.at(Position::default()));
    };
    let mut parser = Parser::new(text, tokens, options, goes_on);
    parser.batch().map_err(|error| *error)
}

/// The state of a parse.
struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    /// The last token, which ends the text.
    last: Token,
    at: usize,
    quoted_identifier: bool,
    /// What is on the stack now, in [`Parser::nested`]'s weights.
    stack: u32,
    /// The levels of the highest node that ended in the node that is being made.
    height: u32,
    /// How many CASEs are open.
    case_depth: u32,
    /// How many WHILEs are open.
    loop_depth: u32,
    /// How many CATCHes are open.
    catch_depth: u32,
    /// How many statements are open.
    statement_depth: u32,
    /// How many queries are open that are nested in another statement or query.
    query_depth: u32,
    /// Whether nothing of the batch was taken yet.
    batch_start: bool,
    /// Whether the next SELECT is a statement's first.
    top_select: bool,
    /// Whether a procedure's body is being parsed.
    in_procedure: bool,
    /// What the statement that is being made has that is not supported.
    refused: Option<(Cow<'static, str>, Position)>,
    labels: label::Labels,
    /// The functions of [`Tree::functions`], and their names in small letters.
    functions: Vec<Name>,
    known_functions: BTreeSet<String>,
    goes_on: &'a dyn Fn() -> bool,
    /// The token at which to poll next.
    look_at: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, tokens: Vec<Token>, options: Options, goes_on: &'a dyn Fn() -> bool) -> Self {
        let none = Token {
            kind: TokenKind::End,
            position: Position::default(),
        };
        Self {
            source,
            last: tokens.last().copied().unwrap_or(none),
            tokens,
            at: 0,
            quoted_identifier: options.quoted_identifier,
            stack: 0,
            height: 0,
            case_depth: 0,
            loop_depth: 0,
            catch_depth: 0,
            statement_depth: 0,
            query_depth: 0,
            batch_start: false,
            top_select: false,
            in_procedure: false,
            refused: None,
            labels: label::Labels::default(),
            functions: Vec::new(),
            known_functions: BTreeSet::new(),
            goes_on,
            look_at: TOKENS_BETWEEN_LOOKS,
        }
    }

    /// Runs `parse` one level deeper; `weight` says how much stack it takes.
    ///
    /// The levels of what it makes are one more than those of the highest node in it.
    fn nested<T>(&mut self, weight: u32, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.at >= self.look_at {
            self.look_at = self.at + TOKENS_BETWEEN_LOOKS;
            if !(self.goes_on)() {
                return Err(Fault::STOPPED.at(self.peek().position));
            }
        }
        self.stack += weight;
        if self.stack > STACK_MAX {
            return Err(Fault::TOO_DEEP.at(self.peek().position));
        }
        let beside = core::mem::take(&mut self.height);
        let made = parse(self)?;
        self.stack -= weight;
        self.raise()?;
        self.height = self.height.max(beside);
        Ok(made)
    }

    /// Counts one more level above all that ended in the node that is being made.
    fn raise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height > DEPTH_MAX {
            return Err(Fault::TOO_DEEP.at(self.peek().position));
        }
        Ok(())
    }

    /// The token that is next; at the end always the last.
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).copied().unwrap_or(self.last)
    }

    fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn is_at(&self, ahead: usize, kind: TokenKind) -> bool {
        self.peek_at(ahead).kind == kind
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        self.is(TokenKind::Keyword(keyword))
    }

    /// Whether the token is this word, which is not reserved, letters' case aside.
    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek_at(ahead);
        token.kind == TokenKind::Word && self.text(token).eq_ignore_ascii_case(word)
    }

    /// Takes the token if it is of the kind.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.is(kind);
        if found {
            self.advance();
        }
        found
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        self.eat(TokenKind::Keyword(keyword))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind) -> Parse<Token> {
        if self.is(kind) {
            return Ok(self.advance());
        }
        Err(self.unexpected())
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> Parse<Token> {
        self.expect(TokenKind::Keyword(keyword))
    }

    fn expect_word(&mut self, word: &str) -> Parse<Token> {
        if self.is_word(word) {
            return Ok(self.advance());
        }
        Err(self.unexpected())
    }

    /// A list with commas between, at least one.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list in parentheses, at least one.
    fn list_in_parens<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.expect(TokenKind::LeftParen)?;
        let items = self.list(item)?;
        self.expect(TokenKind::RightParen)?;
        Ok(items)
    }

    /// Where the next token begins: with [`Parser::since`] a node's position.
    fn here(&self) -> Position {
        self.peek().position
    }

    /// From `start` to the token that was taken last.
    fn since(&self, start: Position) -> Position {
        match self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) {
            Some(last) => start.to(last.position),
            None => start,
        }
    }

    /// Notes that the statement has what is not supported; the first of several is kept.
    fn refuse(&mut self, what: impl Into<Cow<'static, str>>, position: Position) {
        if self.refused.is_none() {
            self.refused = Some((what.into(), position));
        }
    }

    /// The error of a token that cannot stand its position.
    fn unexpected(&self) -> Box<SyntaxError> {
        self.unexpected_at(self.peek())
    }

    fn unexpected_at(&self, token: Token) -> Box<SyntaxError> {
        if let Some(fault) = self.lexical_fault(token) {
            return fault.at(token.position);
        }
        match token.kind {
            // SQL Server names the last token before the end, and with 102 even if it is a keyword.
            TokenKind::End => {
                let last = self.blamed(token);
                Fault::near(&self.echo(last)).at(last.position)
            }
            TokenKind::Keyword(_) => Fault::near_keyword(self.text(token)).at(token.position),
            _ => Fault::near(&self.echo(token)).at(token.position),
        }
    }

    /// The token that an error names: at the end the last before it.
    fn blamed(&self, token: Token) -> Token {
        let last = self.tokens.len().checked_sub(2).and_then(|at| self.tokens.get(at));
        match token.kind {
            TokenKind::End => last.copied().unwrap_or(token),
            _ => token,
        }
    }

    /// As [`Parser::unexpected`], but 102 for keywords too.
    fn near(&self) -> Box<SyntaxError> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(_) => Fault::near(self.text(token)).at(token.position),
            _ => self.unexpected(),
        }
    }

    /// What is wrong with the token itself.
    fn lexical_fault(&self, token: Token) -> Option<Fault> {
        match token.kind {
            TokenKind::UnclosedQuote => Some(Fault::unclosed_quote(&self.unclosed_body(token))),
            TokenKind::UnclosedComment => Some(Fault::UNCLOSED_COMMENT),
            TokenKind::LongIdentifier => Some(Fault::long_identifier(&self.identifier_start(token))),
            _ => None,
        }
    }
}

/// 64 Ki packets of 4,096 bytes: no batch that a client sends is longer.
const TEXT_SIZE_MAX: usize = 256 << 20;
/// How much may be on the stack, in units of at most 1.5 KiB as measured in a debug build: half of 2 MiB.
const STACK_MAX: u32 = 700;
/// An expression in an expression.
const WEIGHT_EXPRESSION: u32 = 2;
/// A table in a table.
const WEIGHT_SOURCE: u32 = 4;
/// A query in whatever contains it.
const WEIGHT_QUERY: u32 = 6;
/// A statement in a statement.
const WEIGHT_STATEMENT: u32 = 6;
