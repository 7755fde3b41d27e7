//! Statements: dispatch by keyword, and boundaries between statements.

use super::{Parse, Parser, WEIGHT_STATEMENT};
use crate::{
    ast::{CursorStatement, NameOrVariable, Statement, StatementKind, Transaction, Tree, Unsupported, With},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A complete batch.
    pub(super) fn batch(&mut self) -> Parse<Tree> {
        self.batch_start = true;
        let statements = self.statements(|p| p.is(TokenKind::End))?;
        self.check_labels()?;
        Ok(Tree {
            statements,
            functions: core::mem::take(&mut self.functions),
            types: core::mem::take(&mut self.types),
        })
    }

    /// Statements up to the token where `ends` returns true.
    pub(super) fn statements(&mut self, ends: impl Fn(&Self) -> bool) -> Parse<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut separated = true;
        loop {
            while self.eat(TokenKind::Semicolon) {
                separated = true;
            }
            if ends(self) {
                return Ok(statements);
            }
            statements.push(self.statement(separated)?);
            separated = false;
        }
    }

    /// One statement; `separated` states whether a semicolon or a keyword such as BEGIN precedes it.
    pub(super) fn statement(&mut self, separated: bool) -> Parse<Statement> {
        self.nested(WEIGHT_STATEMENT, |p| {
            let start = p.here();
            let outer = p.refused.take();
            let first = core::mem::take(&mut p.batch_start);
            p.statement_depth += 1;
            let kind = p.statement_kind(first, separated)?;
            p.statement_depth -= 1;
            let position = p.since(start);
            let kind = match core::mem::replace(&mut p.refused, outer) {
                Some((what, at)) => StatementKind::Unsupported(Unsupported {
                    what: what.into_owned(),
                    text: String::from(position.text(p.source)),
                    position: at,
                }),
                None => kind,
            };
            Ok(Statement { kind, position })
        })
    }

    fn statement_kind(&mut self, first: bool, separated: bool) -> Parse<StatementKind> {
        match self.kind() {
            TokenKind::Keyword(Keyword::With) if separated => self.statement_with_tables(),
            TokenKind::Keyword(Keyword::With) => Err(SyntaxFault::WITH_AFTER_STATEMENT.at(self.here())),
            TokenKind::Keyword(Keyword::Create) => self.create(first),
            TokenKind::Keyword(Keyword::Alter) => self.alter(first),
            TokenKind::Keyword(keyword) => self.keyword_statement(keyword),
            TokenKind::LeftParen => self
                .select_statement(With::default())
                .map(Box::new)
                .map(StatementKind::Select),
            TokenKind::LeftBrace => self.odbc_call(),
            TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted => self.name_statement(first, separated),
            _ => Err(self.unexpected()),
        }
    }

    /// Statements that are identified by their first keyword.
    fn keyword_statement(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        match keyword {
            Keyword::Select => self
                .select_statement(With::default())
                .map(Box::new)
                .map(StatementKind::Select),
            Keyword::Insert => self.insert(With::default()),
            Keyword::Update => self.update(With::default()),
            Keyword::Delete => self.delete(With::default()),
            Keyword::Merge => self.merge(With::default()),
            Keyword::Set => self.set(),
            Keyword::Declare => self.declare(),
            Keyword::If => self.if_statement(),
            Keyword::While => self.while_statement(),
            Keyword::Begin => self.begin(),
            Keyword::Exec | Keyword::Execute => self.execute_statement(),
            Keyword::Return => self.return_statement(),
            Keyword::Break | Keyword::Continue => self.leave_loop(keyword),
            Keyword::Print => self.print(),
            Keyword::Raiserror => self.raise_error(),
            Keyword::Waitfor => self.wait_for(),
            Keyword::Goto => self.goto(),
            Keyword::Commit | Keyword::Rollback | Keyword::Save => self.end_transaction(keyword),
            Keyword::Use => {
                let start = self.advance().position;
                match self.in_procedure {
                    true => Err(SyntaxFault::USE_IN_PROCEDURE.at(start)),
                    false => self.name().map(StatementKind::Use),
                }
            }
            Keyword::Bulk => self.bulk_insert(),
            Keyword::Truncate => self.truncate(),
            Keyword::Drop => self.drop(),
            Keyword::Grant | Keyword::Deny | Keyword::Revoke => self.permission(keyword),
            Keyword::Backup => self.backup(),
            Keyword::Restore => self.restore(),
            Keyword::Dbcc => self.dbcc(),
            Keyword::Kill => self.kill(),
            Keyword::Checkpoint => self.checkpoint(),
            Keyword::Reconfigure => self.reconfigure(),
            Keyword::Shutdown => self.shutdown(),
            Keyword::Open | Keyword::Close => self.open_or_close(keyword),
            Keyword::Fetch => self.fetch(),
            Keyword::Deallocate => {
                self.advance();
                self.cursor_of(CursorStatement::Deallocate)
            }
            _ => self.refused_keyword(keyword),
        }
    }

    /// `WITH a AS (..)` and the statement after it.
    fn statement_with_tables(&mut self) -> Parse<StatementKind> {
        self.advance();
        let with = self.with_clause()?;
        match self.kind() {
            TokenKind::Keyword(Keyword::Select) | TokenKind::LeftParen => {
                self.select_statement(with).map(Box::new).map(StatementKind::Select)
            }
            TokenKind::Keyword(Keyword::Insert) => self.insert(with),
            TokenKind::Keyword(Keyword::Update) => self.update(with),
            TokenKind::Keyword(Keyword::Delete) => self.delete(with),
            TokenKind::Keyword(Keyword::Merge) => self.merge(with),
            _ => Err(self.unexpected()),
        }
    }

    /// A statement that begins with a name: a label, THROW, or at the beginning of a batch a procedure call.
    fn name_statement(&mut self, first: bool, separated: bool) -> Parse<StatementKind> {
        if self.is_label() {
            let name = self.name()?;
            self.advance();
            self.declare_label(&name)?;
            return Ok(StatementKind::Label(name));
        }
        if self.is_word("throw") && separated && !self.is_at(1, TokenKind::Point) {
            return self.throw();
        }
        if (self.is_word("enable") || self.is_word("disable")) && self.is_at(1, TokenKind::Keyword(Keyword::Trigger)) {
            return self.trigger_switch();
        }
        if let Some(what) = self.refused_words() {
            return self.refused_statement(what);
        }
        if first && self.is_name() {
            return self.call_without_exec();
        }
        Err(self.unexpected())
    }

    /// COMMIT, ROLLBACK and SAVE.
    fn end_transaction(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        self.advance();
        let named = self.eat_keyword(Keyword::Tran) || self.eat_keyword(Keyword::Transaction);
        let transaction = match keyword {
            Keyword::Commit | Keyword::Rollback => {
                if !named {
                    self.eat_word("work");
                }
                let name = match named && self.is_transaction_name() {
                    true => Some(self.transaction_name()?),
                    false => None,
                };
                if keyword == Keyword::Commit {
                    let delayed_durability = self.delayed_durability()?;
                    Transaction::Commit {
                        name,
                        delayed_durability,
                    }
                } else {
                    Transaction::Rollback(name)
                }
            }
            _ if named => Transaction::Save(self.transaction_name()?),
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::Transaction(transaction))
    }

    /// Whether a transaction's name is next, and not a label.
    pub(super) fn is_transaction_name(&self) -> bool {
        self.is(TokenKind::Variable) || (self.is_name() && !self.is_at(1, TokenKind::Colon))
    }

    /// The name of a transaction or savepoint; a written name must fit, a variable's value is truncated at execution.
    pub(super) fn transaction_name(&mut self) -> Parse<NameOrVariable> {
        let name = self.name_or_variable()?;
        if let NameOrVariable::Name(name) = &name
            && name.text.encode_utf16().nth(TRANSACTION_NAME_LENGTH_MAX).is_some()
        {
            let start: String = name.text.chars().take(TRANSACTION_NAME_LENGTH_MAX + 1).collect();
            return Err(SyntaxFault::long_transaction_name(&start).at(name.position));
        }
        Ok(name)
    }

    fn delayed_durability(&mut self) -> Parse<Option<bool>> {
        if !self.is_keyword(Keyword::With) || !self.is_at(1, TokenKind::LeftParen) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        self.expect_word("delayed_durability")?;
        self.expect(TokenKind::Equal)?;
        let delayed = self.on_or_off()?;
        self.expect(TokenKind::RightParen)?;
        Ok(Some(delayed))
    }
}

/// SQL Server's maximum length.
const TRANSACTION_NAME_LENGTH_MAX: usize = 32;
