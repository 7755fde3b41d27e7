//! Parses tokens into the tree: recursive descent, with precedence climbing for expressions.
//!
//! - `first-error-ends-the-parse`: the first error ends the parse; its position is the first token
//!   that the grammar does not allow.
//! - `linear-time`: a token is read a bounded number of times.
//! - `nesting-is-counted`: all recursion is counted ([`Parser::nested`]): neither the parser nor a
//!   traversal of its trees exceeds a fraction of a 2 MiB stack.
//! - `unsupported-is-a-statement`: a statement with an unsupported feature becomes
//!   [`Unsupported`](crate::ast::Unsupported) as a whole.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the tokens that may stand somewhere; each other one is an error or another rule's"
)]

use std::{borrow::Cow, collections::BTreeSet};

use crate::{
    DEPTH_MAX, TOKENS_BETWEEN_POLLS,
    ast::{Name, Position, Tree, TypeReference, UserType},
    error::{SyntaxError, SyntaxFault},
    keyword::Keyword,
    lexer,
    token::{Token, TokenKind},
};

mod administration;
mod alter_table;
mod bulk;
mod cell_key;
mod change;
mod control;
mod create;
mod cursor;
mod database;
mod declare;
mod definition;
mod drop;
mod encryption;
mod execute;
mod expression;
mod function;
mod index;
mod key_management;
mod label;
mod merge;
mod name;
mod odbc;
mod permission;
mod predicate;
mod query;
mod refused;
mod rowset;
mod security;
mod select;
mod sequence;
mod set_option;
mod setting;
mod source;
mod statement;
mod table;
mod text;
mod trigger;
mod type_name;
mod unsupported;
mod user_function;
mod window;

/// The result of a parse function.
type Parse<T> = Result<T, Box<SyntaxError>>;

/// Session options that affect the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The session's QUOTED_IDENTIFIER: whether `"a"` is a name (true) or a string. A SET of it in the batch applies
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
/// The first error of the text, as SQL Server reports it; no statement of the batch may be executed then.
pub fn parse(text: &str, options: Options) -> Result<Tree, SyntaxError> {
    parse_while(text, options, &|| true)
}

/// Like [`parse`], while `should_continue` returns true: it is polled every few thousand tokens, and may check the
/// memory in use or a cancellation by the client.
///
/// # Errors
///
/// Those of [`parse`]; 701 if `should_continue` returns false.
pub fn parse_while(text: &str, options: Options, should_continue: &dyn Fn() -> bool) -> Result<Tree, SyntaxError> {
    parse_typed(text, options, should_continue, &|_| None)
}

/// What a name of a type means, if it is one of a user.
pub type UserTypes<'a> = dyn Fn(&TypeReference) -> Option<UserType> + 'a;

/// Like [`parse_while`] with types of users: [`TypeName::user_type`](crate::ast::TypeName::user_type) is set.
///
/// # Errors
///
/// Those of [`parse_while`].
pub fn parse_typed(
    text: &str,
    options: Options,
    should_continue: &dyn Fn() -> bool,
    types: &UserTypes<'_>,
) -> Result<Tree, SyntaxError> {
    if text.len() > TEXT_SIZE_MAX {
        return Err(*SyntaxFault::TOO_DEEP.at(Position::default()));
    }
    let Some(tokens) = lexer::tokens(text, should_continue) else {
        return Err(*SyntaxFault::STOPPED.at(Position::default()));
    };
    let mut parser = Parser::new(text, tokens, options, (should_continue, types));
    parser.batch().map_err(|error| *error)
}

/// The parser's state.
struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    /// The `End` token.
    last: Token,
    at: usize,
    quoted_identifier: bool,
    /// The weight of the active levels of [`Parser::nested`].
    stack: u32,
    /// The height of the highest completed child of the current node.
    height: u32,
    /// The number of open CASEs.
    case_depth: u32,
    /// The number of open WHILEs.
    loop_depth: u32,
    /// The number of open CATCHes.
    catch_depth: u32,
    /// The number of open statements.
    statement_depth: u32,
    /// The number of open queries that are nested in a statement or query.
    query_depth: u32,
    /// Whether no token of the batch has been consumed.
    batch_start: bool,
    /// Whether the next SELECT is the first of its statement.
    top_select: bool,
    /// Whether a procedure's body is being parsed.
    in_procedure: bool,
    /// The first unsupported feature of the current statement.
    refused: Option<(Cow<'static, str>, Position)>,
    labels: label::Labels,
    /// [`Tree::functions`], and their names in lower case.
    functions: Vec<Name>,
    known_functions: BTreeSet<String>,
    /// [`Tree::types`], and their schemas and names in lower case.
    types: Vec<TypeReference>,
    known_types: BTreeSet<(Option<String>, String)>,
    user_types: &'a UserTypes<'a>,
    should_continue: &'a dyn Fn() -> bool,
    /// The index of the token at which `should_continue` is polled next.
    next_poll: usize,
}

impl<'a> Parser<'a> {
    fn new(
        source: &'a str,
        tokens: Vec<Token>,
        options: Options,
        (should_continue, user_types): (&'a dyn Fn() -> bool, &'a UserTypes<'a>),
    ) -> Self {
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
            types: Vec::new(),
            known_types: BTreeSet::new(),
            user_types,
            should_continue,
            next_poll: TOKENS_BETWEEN_POLLS,
        }
    }

    /// Runs `parse` one level deeper; `weight` is its use of stack.
    ///
    /// The height of its node is one more than that of the node's highest child.
    fn nested<T>(&mut self, weight: u32, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.at >= self.next_poll {
            self.next_poll = self.at + TOKENS_BETWEEN_POLLS;
            if !(self.should_continue)() {
                return Err(SyntaxFault::STOPPED.at(self.peek().position));
            }
        }
        self.stack += weight;
        if self.stack > STACK_MAX {
            return Err(SyntaxFault::TOO_DEEP.at(self.peek().position));
        }
        let beside = core::mem::take(&mut self.height);
        let made = parse(self)?;
        self.stack -= weight;
        self.raise()?;
        self.height = self.height.max(beside);
        Ok(made)
    }

    /// Adds one level above all completed children of the current node.
    fn raise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height > DEPTH_MAX {
            return Err(SyntaxFault::TOO_DEEP.at(self.peek().position));
        }
        Ok(())
    }

    /// The next token; at the end always the last one.
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

    /// Whether the next token is this word, which is not a reserved keyword, ignoring case.
    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek_at(ahead);
        token.kind == TokenKind::Word && self.text(token).eq_ignore_ascii_case(word)
    }

    /// Consumes the token if it has this kind.
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

    /// A comma-separated list of at least one item.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A comma-separated list of at least one item, in parentheses.
    fn list_in_parens<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.expect(TokenKind::LeftParen)?;
        let items = self.list(item)?;
        self.expect(TokenKind::RightParen)?;
        Ok(items)
    }

    /// The position of the next token; with [`Parser::since`] it gives a node's position.
    fn here(&self) -> Position {
        self.peek().position
    }

    /// The range from `start` to the last consumed token.
    fn since(&self, start: Position) -> Position {
        match self.at.checked_sub(1).and_then(|last| self.tokens.get(last)) {
            Some(last) => start.to(last.position),
            None => start,
        }
    }

    /// Marks the statement as unsupported; of several features the first is kept.
    fn refuse(&mut self, what: impl Into<Cow<'static, str>>, position: Position) {
        if self.refused.is_none() {
            self.refused = Some((what.into(), position));
        }
    }

    /// The error for a token that the grammar does not allow.
    fn unexpected(&self) -> Box<SyntaxError> {
        self.unexpected_at(self.peek())
    }

    fn unexpected_at(&self, token: Token) -> Box<SyntaxError> {
        if let Some(fault) = self.lexical_fault(token) {
            return fault.at(token.position);
        }
        match token.kind {
            // SQL Server reports the last token before the end, and with 102 even if it is a keyword.
            TokenKind::End => {
                let last = self.reported_token(token);
                SyntaxFault::near(&self.echo(last)).at(last.position)
            }
            TokenKind::Keyword(_) => SyntaxFault::near_keyword(self.text(token)).at(token.position),
            _ => SyntaxFault::near(&self.echo(token)).at(token.position),
        }
    }

    /// The token that an error reports: at the end of the batch the last one before it.
    fn reported_token(&self, token: Token) -> Token {
        let last = self.tokens.len().checked_sub(2).and_then(|at| self.tokens.get(at));
        match token.kind {
            TokenKind::End => last.copied().unwrap_or(token),
            _ => token,
        }
    }

    /// Like [`Parser::unexpected`], but with 102 for keywords, too.
    fn near(&self) -> Box<SyntaxError> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(_) => SyntaxFault::near(self.text(token)).at(token.position),
            _ => self.unexpected(),
        }
    }

    /// The lexical error that the token stands for.
    fn lexical_fault(&self, token: Token) -> Option<SyntaxFault> {
        match token.kind {
            TokenKind::UnclosedQuote => Some(SyntaxFault::unclosed_quote(&self.unclosed_body(token))),
            TokenKind::UnclosedComment => Some(SyntaxFault::UNCLOSED_COMMENT),
            TokenKind::LongIdentifier => Some(SyntaxFault::long_identifier(&self.identifier_start(token))),
            _ => None,
        }
    }
}

/// 64 Ki packets of 4,096 bytes: the maximum size of a batch in SQL Server.
const TEXT_SIZE_MAX: usize = 256 << 20;
/// The maximum weight, in units of at most 1.5 KiB as measured in a debug build: half of 2 MiB.
const STACK_MAX: u32 = 700;
/// An expression nested in an expression.
const WEIGHT_EXPRESSION: u32 = 2;
/// A table source nested in a table source.
const WEIGHT_SOURCE: u32 = 4;
/// A query nested in another node.
const WEIGHT_QUERY: u32 = 6;
/// A statement nested in a statement.
const WEIGHT_STATEMENT: u32 = 6;
