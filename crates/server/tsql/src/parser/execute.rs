//! EXEC, and the ODBC call escape.

use super::{Parse, Parser};
use crate::{
    ast::{
        Argument, ArgumentValue, BinaryOperator, Call, Execute, ExecuteAs, Expr, ExprKind, ImpersonatedPrincipal,
        Position, ProcedureName, Setting, StatementKind, TextPrincipal,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn execute_statement(&mut self) -> Parse<StatementKind> {
        if self.is_at(1, TokenKind::Keyword(Keyword::As)) {
            self.advance();
            return self.execute_as().map(Box::new).map(StatementKind::ExecuteAs);
        }
        self.execute().map(Box::new).map(StatementKind::Execute)
    }

    /// EXEC with its operands.
    pub(super) fn execute(&mut self) -> Parse<Execute> {
        let start = self.advance().position;
        if self.is(TokenKind::LeftParen) {
            return self.execute_text(start);
        }
        let status = match self.is(TokenKind::Variable) && self.is_at(1, TokenKind::Equal) {
            true => {
                let status = self.variable()?;
                self.advance();
                Some(status)
            }
            false => None,
        };
        let procedure = match self.is(TokenKind::Variable) {
            true => ProcedureName::Variable(self.variable()?),
            false => ProcedureName::Name(self.object_name()?),
        };
        self.call_after(status, procedure).map(Execute::Procedure)
    }

    /// A procedure call at the beginning of a batch, where EXEC is optional.
    pub(super) fn call_without_exec(&mut self) -> Parse<StatementKind> {
        let procedure = ProcedureName::Name(self.object_name()?);
        let call = self.call_after(None, procedure)?;
        Ok(StatementKind::Execute(Box::new(Execute::Procedure(call))))
    }

    fn call_after(&mut self, status: Option<String>, procedure: ProcedureName) -> Parse<Call> {
        let number = self.procedure_number()?;
        let mut arguments: Vec<Argument> = Vec::new();
        if self.is_argument() {
            loop {
                let argument = self.argument()?;
                let named = arguments.last().is_some_and(|last| last.name.is_some());
                if named && argument.name.is_none() {
                    return Err(SyntaxFault::argument_not_named(arguments.len() + 1).at(argument.position));
                }
                arguments.push(argument);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        Ok(Call {
            status,
            procedure,
            number,
            arguments,
            options: self.call_options()?,
        })
    }

    /// `;1` directly after a procedure's name.
    pub(super) fn procedure_number(&mut self) -> Parse<Option<u32>> {
        let (semicolon, number) = (self.peek(), self.peek_at(1));
        let adjacent = semicolon.position.end == number.position.start;
        if semicolon.kind != TokenKind::Semicolon || number.kind != TokenKind::Integer || !adjacent {
            return Ok(None);
        }
        self.advance();
        self.unsigned().map(Some)
    }

    /// Whether an argument begins here, and not a label or the next statement.
    fn is_argument(&self) -> bool {
        match self.kind() {
            TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted => !self.is_at(1, TokenKind::Colon),
            TokenKind::Keyword(keyword) => matches!(keyword, Keyword::Null | Keyword::Default),
            TokenKind::Semicolon | TokenKind::End | TokenKind::RightParen | TokenKind::RightBrace => false,
            _ => true,
        }
    }

    fn argument(&mut self) -> Parse<Argument> {
        let start = self.here();
        let name = match self.is(TokenKind::Variable) && self.is_at(1, TokenKind::Equal) {
            true => {
                let name = self.variable()?;
                self.advance();
                Some(name)
            }
            false => None,
        };
        let mut output = false;
        let value = if self.eat_keyword(Keyword::Default) {
            ArgumentValue::Default
        } else if let Some(value) = self.constant_or_variable()? {
            if matches!(value.kind, ExprKind::Variable(_)) {
                output = self.eat_word("output") || self.eat_word("out");
            }
            ArgumentValue::Value(value)
        } else {
            ArgumentValue::Word(self.name()?)
        };
        Ok(Argument {
            name,
            value,
            output,
            position: self.since(start),
        })
    }

    /// An optional `WITH RECOMPILE`; RESULT SETS is refused.
    fn call_options(&mut self) -> Parse<Vec<Setting>> {
        let start = self.here();
        if !self.is_keyword(Keyword::With) {
            return Ok(Vec::new());
        }
        if self.is_word_at(1, "result") {
            self.advance();
            self.advance();
            self.expect_word("sets")?;
            match self.is(TokenKind::LeftParen) {
                true => self.skip_parens()?,
                false => drop(self.name()?),
            }
            self.refuse("WITH RESULT SETS", self.since(start));
            return Ok(Vec::new());
        }
        if !self.is_word_at(1, "recompile") {
            return Ok(Vec::new());
        }
        self.advance();
        self.list(Self::setting)
    }

    /// `('text' + @v)`: only a concatenation of strings and variables.
    fn execute_text(&mut self, start: Position) -> Parse<Execute> {
        let parens = self.expect(TokenKind::LeftParen)?.position;
        let first = self.here();
        let mut value = self.text_part()?;
        while self.eat(TokenKind::Plus) {
            self.raise()?;
            let kind = ExprKind::Binary {
                operator: BinaryOperator::Add,
                left: Box::new(value),
                right: Box::new(self.text_part()?),
            };
            value = self.expr_since(first, kind);
        }
        if self.is(TokenKind::Comma) {
            return self.refused_pass_through(start);
        }
        self.expect(TokenKind::RightParen)?;
        value.position = self.since(parens);
        let principal = match self.is_keyword(Keyword::As) {
            true => Some(self.text_principal()?),
            false => None,
        };
        if self.is_word("at") {
            self.advance();
            self.eat_word("data_source");
            self.name()?;
            self.refuse("EXECUTE AT", self.since(start));
        }
        Ok(Execute::Text(value, principal))
    }

    /// `AS LOGIN = 'a'` or `AS USER = 'a'`, behind a text.
    fn text_principal(&mut self) -> Parse<TextPrincipal> {
        self.advance();
        let is_login = !self.eat_keyword(Keyword::User);
        if is_login {
            self.expect_word("login")?;
        }
        self.expect(TokenKind::Equal)?;
        let name = self.string_constant()?;
        Ok(TextPrincipal { is_login, name })
    }

    fn text_part(&mut self) -> Parse<Expr> {
        match self.kind() {
            TokenKind::Variable | TokenKind::Global => self.required_constant(),
            _ if self.is_string() => self.required_constant(),
            _ => Err(self.unexpected()),
        }
    }

    /// `('text', @a) AT server`, from the comma on.
    fn refused_pass_through(&mut self, start: Position) -> Parse<Execute> {
        while self.eat(TokenKind::Comma) {
            self.argument()?;
        }
        self.expect(TokenKind::RightParen)?;
        self.expect_word("at")?;
        self.name()?;
        self.refuse("EXECUTE AT", self.since(start));
        Ok(Execute::Text(self.null_since(start), None))
    }

    /// `AS LOGIN = 'a' [WITH ..]`, `AS USER ..` and `AS CALLER`
    fn execute_as(&mut self) -> Parse<ExecuteAs> {
        self.expect_keyword(Keyword::As)?;
        let principal = if self.eat_word("caller") {
            ImpersonatedPrincipal::Caller
        } else if self.eat_keyword(Keyword::User) {
            self.expect(TokenKind::Equal)?;
            ImpersonatedPrincipal::User(self.text_part()?)
        } else if self.eat_word("login") {
            self.expect(TokenKind::Equal)?;
            ImpersonatedPrincipal::Login(self.text_part()?)
        } else {
            return Err(self.unexpected());
        };
        let mut found = ExecuteAs {
            principal,
            no_revert: false,
            cookie: None,
        };
        let has_option = self.is_word_at(1, "no") || self.is_word_at(1, "cookie");
        if has_option && self.eat_keyword(Keyword::With) {
            if self.eat_word("no") {
                self.expect_keyword(Keyword::Revert)?;
                found.no_revert = true;
            } else {
                self.expect_word("cookie")?;
                self.expect_keyword(Keyword::Into)?;
                found.cookie = Some(self.variable()?);
            }
        }
        Ok(found)
    }

    /// `REVERT [WITH COOKIE = @cookie]`
    pub(super) fn revert(&mut self) -> Parse<StatementKind> {
        self.advance();
        let has_cookie = self.is_word_at(1, "cookie") && self.eat_keyword(Keyword::With);
        if !has_cookie {
            return Ok(StatementKind::Revert(None));
        }
        self.expect_word("cookie")?;
        self.expect(TokenKind::Equal)?;
        let cookie = self.required_constant()?;
        Ok(StatementKind::Revert(Some(Box::new(cookie))))
    }

    /// `{call p (..)}` and `{@rc = call p (..)}`
    pub(super) fn odbc_call(&mut self) -> Parse<StatementKind> {
        self.expect(TokenKind::LeftBrace)?;
        let status = match self.is(TokenKind::Variable) {
            true => {
                let status = self.variable()?;
                self.expect(TokenKind::Equal)?;
                Some(status)
            }
            false => None,
        };
        self.expect_word("call")?;
        let procedure = ProcedureName::Name(self.object_name()?);
        let number = self.procedure_number()?;
        let mut arguments = Vec::new();
        if self.eat(TokenKind::LeftParen) {
            if !self.is(TokenKind::RightParen) {
                arguments = self.list(Self::argument)?;
            }
            self.expect(TokenKind::RightParen)?;
        }
        self.expect(TokenKind::RightBrace)?;
        let call = Call {
            status,
            procedure,
            number,
            arguments,
            options: Vec::new(),
        };
        Ok(StatementKind::Execute(Box::new(Execute::Procedure(call))))
    }
}
