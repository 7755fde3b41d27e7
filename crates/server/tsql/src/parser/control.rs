//! Control of flow.

use std::borrow::Cow;

use super::{Parse, Parser};
use crate::{
    ast::{
        Condition, Expr, ExprKind, If, Literal, Position, RaiseError, RaiseErrorOption, Statement, StatementKind,
        Throw, Transaction, Try, UnaryOperator, Unsupported, WaitFor, WaitKind, While,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

/// An IF without its ELSE.
struct Branch {
    start: Position,
    condition: Condition,
    then: Statement,
    refused: Option<(Cow<'static, str>, Position)>,
}

impl Parser<'_> {
    /// IF; a chain of ELSE IF is parsed in a loop, because chains are long.
    pub(super) fn if_statement(&mut self) -> Parse<StatementKind> {
        let mut branches: Vec<Branch> = Vec::new();
        let mut otherwise = loop {
            let start = self.expect_keyword(Keyword::If)?.position;
            let condition = self.condition()?;
            let refused = self.refused.take();
            let then = self.statement(true)?;
            branches.push(Branch {
                start,
                condition,
                then,
                refused,
            });
            if self.is(TokenKind::Semicolon) && self.is_at(1, TokenKind::Keyword(Keyword::Else)) {
                self.advance();
            }
            if !self.eat_keyword(Keyword::Else) {
                break None;
            }
            if !self.is_keyword(Keyword::If) {
                break Some(self.statement(true)?);
            }
        };
        loop {
            let Some(branch) = branches.pop() else {
                return Err(self.unexpected());
            };
            let kind = StatementKind::If(Box::new(If {
                condition: branch.condition,
                then: branch.then,
                otherwise,
            }));
            if branches.is_empty() {
                self.refused = branch.refused;
                return Ok(kind);
            }
            self.raise()?;
            let position = self.since(branch.start);
            let kind = match branch.refused {
                Some((what, at)) => StatementKind::Unsupported(Unsupported {
                    what: what.into_owned(),
                    text: String::from(position.text(self.source)),
                    position: at,
                }),
                None => kind,
            };
            otherwise = Some(Statement { kind, position });
        }
    }

    pub(super) fn while_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        let condition = self.condition()?;
        self.loop_depth += 1;
        let body = self.statement(true)?;
        self.loop_depth -= 1;
        Ok(StatementKind::While(Box::new(While { condition, body })))
    }

    pub(super) fn leave_loop(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        let (kind, fault) = match keyword {
            Keyword::Break => (StatementKind::Break, SyntaxFault::BREAK_OUTSIDE),
            _ => (StatementKind::Continue, SyntaxFault::CONTINUE_OUTSIDE),
        };
        let token = self.advance();
        match self.loop_depth {
            0 => Err(fault.at(token.position)),
            _ => Ok(kind),
        }
    }

    /// BEGIN: a block, a transaction, or TRY.
    pub(super) fn begin(&mut self) -> Parse<StatementKind> {
        let start = self.advance().position;
        match self.kind() {
            TokenKind::Keyword(Keyword::Tran | Keyword::Transaction) => self.begin_transaction(start),
            TokenKind::Keyword(Keyword::Distributed) => {
                self.advance();
                self.begin_transaction(start)?;
                self.refuse("BEGIN DISTRIBUTED TRANSACTION", self.since(start));
                Ok(StatementKind::Transaction(Transaction::Begin(None)))
            }
            TokenKind::Word if self.is_word("try") => self.try_statement(),
            TokenKind::Word if self.is_word("conversation") || self.is_word("dialog") => {
                self.refused_statement("BEGIN CONVERSATION")
            }
            _ => {
                let body = self.statements(Self::is_block_end)?;
                if body.is_empty() {
                    return Err(self.near());
                }
                self.expect_keyword(Keyword::End)?;
                Ok(StatementKind::Block(body))
            }
        }
    }

    /// Whether the next token is END, but not of END CONVERSATION.
    fn is_block_end(&self) -> bool {
        self.is_keyword(Keyword::End) && !self.is_word_at(1, "conversation")
    }

    fn begin_transaction(&mut self, start: Position) -> Parse<StatementKind> {
        if !self.eat_keyword(Keyword::Tran) {
            self.expect_keyword(Keyword::Transaction)?;
        }
        let name = match self.is_transaction_name() {
            true => Some(self.transaction_name()?),
            false => None,
        };
        if name.is_some() && self.is_keyword(Keyword::With) && self.is_word_at(1, "mark") {
            self.advance();
            self.advance();
            if self.is_string() {
                self.advance();
            }
            self.refuse("BEGIN TRANSACTION WITH MARK", self.since(start));
        }
        Ok(StatementKind::Transaction(Transaction::Begin(name)))
    }

    fn try_statement(&mut self) -> Parse<StatementKind> {
        self.expect_word("try")?;
        let body = self.statements(Self::is_block_end)?;
        if body.is_empty() {
            return Err(self.near());
        }
        self.expect_keyword(Keyword::End)?;
        self.expect_word("try")?;
        self.expect_keyword(Keyword::Begin)?;
        self.expect_word("catch")?;
        self.catch_depth += 1;
        let handler = self.statements(Self::is_block_end)?;
        self.catch_depth -= 1;
        self.expect_keyword(Keyword::End)?;
        self.expect_word("catch")?;
        Ok(StatementKind::Try(Box::new(Try { body, handler })))
    }

    pub(super) fn return_statement(&mut self) -> Parse<StatementKind> {
        let token = self.advance();
        if !self.is_return_value() {
            return Ok(StatementKind::Return(None));
        }
        if !self.in_procedure {
            return Err(SyntaxFault::RETURN_VALUE.at(token.position));
        }
        self.expression().map(Some).map(StatementKind::Return)
    }

    /// Whether a return value begins here, and not the next statement.
    fn is_return_value(&self) -> bool {
        match self.kind() {
            TokenKind::Semicolon | TokenKind::End => false,
            TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted => !self.is_at(1, TokenKind::Colon),
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                Keyword::Null
                    | Keyword::Case
                    | Keyword::Coalesce
                    | Keyword::Convert
                    | Keyword::CurrentTimestamp
                    | Keyword::CurrentUser
                    | Keyword::Left
                    | Keyword::Nullif
                    | Keyword::Right
                    | Keyword::SessionUser
                    | Keyword::SystemUser
                    | Keyword::TryConvert
                    | Keyword::User
            ),
            _ => true,
        }
    }

    pub(super) fn print(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expression().map(StatementKind::Print)
    }

    /// RAISERROR, whose arguments are constants or variables.
    pub(super) fn raise_error(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let message = self.required_constant()?;
        self.expect(TokenKind::Comma)?;
        let severity = self.required_constant()?;
        self.expect(TokenKind::Comma)?;
        let state = self.required_constant()?;
        let mut arguments = Vec::new();
        while self.eat(TokenKind::Comma) {
            arguments.push(self.required_constant()?);
        }
        self.expect(TokenKind::RightParen)?;
        let mut options = Vec::new();
        if self.is_keyword(Keyword::With) && self.is_raise_error_option(1) {
            self.advance();
            options = self.list(Self::raise_error_option)?;
        }
        Ok(StatementKind::RaiseError(Box::new(RaiseError {
            message,
            severity,
            state,
            arguments,
            options,
        })))
    }

    fn is_raise_error_option(&self, ahead: usize) -> bool {
        RAISE_ERROR_OPTIONS.iter().any(|(word, _)| self.is_word_at(ahead, word))
    }

    fn raise_error_option(&mut self) -> Parse<RaiseErrorOption> {
        let option = RAISE_ERROR_OPTIONS.iter().find(|(word, _)| self.is_word(word));
        match option {
            Some((_, option)) => {
                self.advance();
                Ok(*option)
            }
            None => Err(self.unexpected()),
        }
    }

    pub(super) fn required_constant(&mut self) -> Parse<Expr> {
        match self.constant_or_variable()? {
            Some(value) => Ok(value),
            None => Err(self.unexpected()),
        }
    }

    pub(super) fn throw(&mut self) -> Parse<StatementKind> {
        let start = self.advance().position;
        let alone = match self.kind() {
            TokenKind::Semicolon | TokenKind::End => true,
            TokenKind::Keyword(keyword) => keyword != Keyword::Null,
            _ => false,
        };
        if alone {
            return match self.catch_depth {
                0 => Err(SyntaxFault::RETHROW_OUTSIDE.at(start)),
                _ => Ok(StatementKind::Throw(None)),
            };
        }
        let number = self.throw_integer()?;
        self.expect(TokenKind::Comma)?;
        if !self.is_string() && !self.is(TokenKind::Variable) {
            return Err(self.unexpected());
        }
        let message = self.required_constant()?;
        self.expect(TokenKind::Comma)?;
        let state = self.throw_integer()?;
        Ok(StatementKind::Throw(Some(Box::new(Throw { number, message, state }))))
    }

    /// A variable, or an int with an optional minus.
    fn throw_integer(&mut self) -> Parse<Expr> {
        if !matches!(
            self.kind(),
            TokenKind::Variable | TokenKind::Minus | TokenKind::Integer | TokenKind::Decimal | TokenKind::Float
        ) {
            return Err(self.unexpected());
        }
        let value = self.required_constant()?;
        let digits = match &value.kind {
            ExprKind::Unary {
                operator: UnaryOperator::Minus,
                operand,
            } => &operand.kind,
            kind => kind,
        };
        match digits {
            ExprKind::Literal(Literal::Integer(text)) if text.parse::<i32>().is_ok() => Ok(value),
            ExprKind::Literal(_) => {
                let text = value.position.text(self.source);
                Err(SyntaxFault::integer_range(text).at(value.position))
            }
            _ => Ok(value),
        }
    }

    pub(super) fn wait_for(&mut self) -> Parse<StatementKind> {
        let start = self.advance().position;
        if self.is(TokenKind::LeftParen) {
            self.skip_parens()?;
            if self.eat(TokenKind::Comma) {
                self.expect_word("timeout")?;
                self.required_constant()?;
            }
            self.refuse("WAITFOR RECEIVE", self.since(start));
            return Ok(StatementKind::Break);
        }
        let kind = if self.eat_word("delay") {
            WaitKind::Delay
        } else {
            self.expect_word("time")?;
            WaitKind::Time
        };
        if !self.is_string() && !self.is(TokenKind::Variable) {
            return Err(self.unexpected());
        }
        let value = self.required_constant()?;
        Ok(StatementKind::WaitFor(WaitFor { kind, value }))
    }

    pub(super) fn goto(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.add_goto(&name);
        Ok(StatementKind::Goto(name))
    }
}

const RAISE_ERROR_OPTIONS: &[(&str, RaiseErrorOption)] = &[
    ("LOG", RaiseErrorOption::Log),
    ("NOWAIT", RaiseErrorOption::NoWait),
    ("SETERROR", RaiseErrorOption::SetError),
];
