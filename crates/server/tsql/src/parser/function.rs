//! Primary expressions: constants, variables, columns, CASE, functions.

use super::{Parse, Parser, WEIGHT_EXPRESSION, name::column_of};
use crate::{
    ast::{
        Arguments, CallForm, Case, CaseBranches, Cast, CastKind, ColumnName, Expr, ExprKind, FunctionCall, Iif,
        Literal, Name, NullTreatment, ObjectName, Position, SearchedBranch, SimpleBranch,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A primary expression without parentheses around it.
    pub(super) fn primary(&mut self) -> Parse<Expr> {
        if let Some(literal) = self.literal_expr() {
            return Ok(literal);
        }
        let start = self.here();
        match self.kind() {
            TokenKind::Variable => {
                let kind = ExprKind::Variable(self.variable()?);
                let variable = self.expr_since(start, kind);
                self.methods(start, variable)
            }
            TokenKind::Global => {
                let text = self.variable()?;
                self.note_function(&Name {
                    text: text.clone(),
                    quoted: false,
                    position: start,
                });
                Ok(self.expr_since(start, ExprKind::Global(text)))
            }
            TokenKind::LeftBrace => self.odbc_escape(),
            TokenKind::Keyword(keyword) => self.keyword_value(keyword),
            TokenKind::Word if self.is_at(1, TokenKind::LeftParen) => self.word_function(),
            TokenKind::Word if self.is_next_value() => self.next_value(),
            _ => self.column_or_function(),
        }
    }

    /// A primary expression that begins with a reserved keyword.
    fn keyword_value(&mut self, keyword: Keyword) -> Parse<Expr> {
        let start = self.here();
        match keyword {
            Keyword::Case => self.case(),
            Keyword::Convert => self.convert(CastKind::Convert),
            Keyword::TryConvert => self.convert(CastKind::TryConvert),
            Keyword::Coalesce | Keyword::Nullif | Keyword::Left | Keyword::Right
                if self.is_at(1, TokenKind::LeftParen) =>
            {
                let name = Self::single(self.any_word());
                self.call(name, false)
            }
            Keyword::CurrentTimestamp
            | Keyword::CurrentUser
            | Keyword::CurrentDate
            | Keyword::SessionUser
            | Keyword::SystemUser
            | Keyword::User => {
                let name = Self::single(self.any_word());
                Ok(self.expr_since(start, bare_call(name)))
            }
            Keyword::Identitycol | Keyword::Rowguidcol => {
                let column = column_of(Self::single(self.any_word()));
                Ok(self.expr_since(start, ExprKind::Column(Box::new(column))))
            }
            Keyword::Identity if self.is_at(1, TokenKind::LeftParen) => {
                self.advance();
                self.skip_parens()?;
                self.refuse("IDENTITY function", self.since(start));
                Ok(self.null_since(start))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A function with a one-part name; some have a grammar of their own.
    fn word_function(&mut self) -> Parse<Expr> {
        let start = self.here();
        if self.is_word("parse") {
            return self.cast(CastKind::Parse);
        }
        if self.is_word("try_parse") {
            return self.cast(CastKind::TryParse);
        }
        if self.is_word("json_object") || self.is_word("json_array") {
            let named = self.is_word("json_object");
            let name = self.any_word();
            self.note_function(&name);
            let arguments = Arguments::Json(self.json_arguments(named)?);
            let call = FunctionCall {
                name: Self::single(name),
                arguments,
                within_group: Vec::new(),
                null_treatment: None,
                over: None,
                odbc: false,
                form: CallForm::Function,
            };
            return Ok(self.expr_since(start, ExprKind::Function(Box::new(call))));
        }
        if self.is_word("cast") {
            return self.cast(CastKind::Cast);
        }
        if self.is_word("try_cast") {
            return self.cast(CastKind::TryCast);
        }
        if self.is_word("iif") {
            return self.iif();
        }
        if self.is_word("trim") {
            return self.trim();
        }
        let name = self.name()?;
        self.call(Self::single(name), false)
    }

    fn column_or_function(&mut self) -> Parse<Expr> {
        let start = self.here();
        let name = self.written_name()?;
        if self.is(TokenKind::LeftParen) {
            return match method_operand(&name) {
                Some(column) => {
                    let position = column.name.position;
                    let kind = ExprKind::Column(Box::new(column));
                    let call = self.method(Expr { kind, position }, name.name)?;
                    let called = self.expr_since(start, ExprKind::Function(Box::new(call)));
                    self.methods(start, called)
                }
                None => self.call(name, false),
            };
        }
        if self.is(TokenKind::Colon) && self.is_at(1, TokenKind::Colon) {
            return self.refused_method(start);
        }
        let kind = ExprKind::Column(Box::new(column_of(name)));
        Ok(self.expr_since(start, kind))
    }

    /// `TRIM ([LEADING | TRAILING | BOTH] [characters FROM] a)`: with more than `a` it becomes LTRIM, RTRIM or both.
    fn trim(&mut self) -> Parse<Expr> {
        let start = self.here();
        let name = self.any_word();
        if !self.is(TokenKind::LeftParen) {
            return Err(self.unexpected());
        }
        self.advance();
        let sided = self.trim_side();
        let mut value = self.expression()?;
        let mut characters = None;
        if self.eat_keyword(Keyword::From) {
            let text = self.expression()?;
            characters = Some(core::mem::replace(&mut value, text));
        } else if sided.is_none() {
            let mut list = vec![value];
            while self.eat(TokenKind::Comma) {
                list.push(self.expression()?);
            }
            self.expect(TokenKind::RightParen)?;
            self.note_function(&name);
            return Ok(self.expr_since(start, call_of(name, list)));
        }
        self.expect(TokenKind::RightParen)?;
        let (left, right) = sided.unwrap_or((true, true));
        for function in [left.then_some("LTRIM"), right.then_some("RTRIM")]
            .into_iter()
            .flatten()
        {
            let name = Name {
                text: String::from(function),
                ..name.clone()
            };
            self.raise()?;
            self.note_function(&name);
            let arguments = core::iter::once(value).chain(characters.clone()).collect();
            value = self.expr_since(start, call_of(name, arguments));
        }
        Ok(value)
    }

    /// The sides (left, right) of LEADING, TRAILING or BOTH. A column may have such a name.
    fn trim_side(&mut self) -> Option<(bool, bool)> {
        let sides = [
            ("leading", (true, false)),
            ("trailing", (false, true)),
            ("both", (true, true)),
        ];
        let (_, side) = sides.into_iter().find(|(word, _)| self.is_word(word))?;
        let value = [
            TokenKind::Word,
            TokenKind::Bracketed,
            TokenKind::DoubleQuoted,
            TokenKind::String,
            TokenKind::National,
            TokenKind::Variable,
        ];
        if !value.into_iter().any(|kind| self.is_at(1, kind)) {
            return None;
        }
        self.advance();
        Some(side)
    }

    /// The parentheses of a function call, and the clauses after them.
    pub(super) fn call(&mut self, name: ObjectName, odbc: bool) -> Parse<Expr> {
        let start = name.position;
        if let Some(single) = name.single().filter(|_| !odbc) {
            self.note_function(single);
        }
        let arguments = self.arguments()?;
        let within_group = match self.is_word("within") && self.is_at(1, TokenKind::Keyword(Keyword::Group)) {
            true => self.within_group()?,
            false => Vec::new(),
        };
        let null_treatment = self.null_treatment()?;
        let over = match self.eat_keyword(Keyword::Over) {
            true => Some(self.over()?),
            false => None,
        };
        let call = FunctionCall {
            name,
            arguments,
            within_group,
            null_treatment,
            over,
            odbc,
            form: CallForm::Function,
        };
        Ok(self.expr_since(start, ExprKind::Function(Box::new(call))))
    }

    fn note_function(&mut self, name: &Name) {
        if self.known_functions.insert(name.text.to_ascii_lowercase()) {
            self.functions.push(name.clone());
        }
    }

    pub(super) fn arguments(&mut self) -> Parse<Arguments> {
        self.expect(TokenKind::LeftParen)?;
        if self.eat(TokenKind::RightParen) {
            return Ok(Arguments::List(Vec::new()));
        }
        if self.is(TokenKind::Star) && self.is_at(1, TokenKind::RightParen) {
            self.advance();
            self.advance();
            return Ok(Arguments::Star);
        }
        let distinct = self.eat_keyword(Keyword::Distinct);
        if !distinct {
            self.eat_keyword(Keyword::All);
        }
        let list = self.list(Self::function_argument)?;
        self.expect(TokenKind::RightParen)?;
        Ok(match distinct {
            true => Arguments::Distinct(list),
            false => Arguments::List(list),
        })
    }

    fn function_argument(&mut self) -> Parse<Expr> {
        let start = self.here();
        match self.eat_keyword(Keyword::Default) {
            true => Ok(self.expr_since(start, ExprKind::Default)),
            false => self.expression(),
        }
    }

    fn null_treatment(&mut self) -> Parse<Option<NullTreatment>> {
        if !self.is_word_at(1, "nulls") {
            return Ok(None);
        }
        let treatment = match (self.is_word("ignore"), self.is_word("respect")) {
            (true, _) => NullTreatment::Ignore,
            (_, true) => NullTreatment::Respect,
            (false, false) => return Ok(None),
        };
        self.advance();
        self.advance();
        Ok(Some(treatment))
    }

    /// `CAST (a AS t)`, `PARSE (a AS t [USING culture])`
    fn cast(&mut self, kind: CastKind) -> Parse<Expr> {
        let start = self.advance().position;
        self.expect(TokenKind::LeftParen)?;
        let operand = self.expression()?;
        self.expect_keyword(Keyword::As)?;
        let type_name = self.type_name()?;
        let is_parse = matches!(kind, CastKind::Parse | CastKind::TryParse);
        let style = match is_parse && self.eat_word("using") {
            true => Some(self.expression()?),
            false => None,
        };
        self.expect(TokenKind::RightParen)?;
        let cast = Cast {
            kind,
            operand,
            type_name,
            style,
        };
        Ok(self.expr_since(start, ExprKind::Cast(Box::new(cast))))
    }

    /// `CONVERT (t, a [, style])`
    fn convert(&mut self, kind: CastKind) -> Parse<Expr> {
        let start = self.advance().position;
        self.expect(TokenKind::LeftParen)?;
        let type_name = self.type_name()?;
        self.expect(TokenKind::Comma)?;
        let operand = self.expression()?;
        let style = match self.eat(TokenKind::Comma) {
            true => Some(self.expression()?),
            false => None,
        };
        self.expect(TokenKind::RightParen)?;
        let cast = Cast {
            kind,
            operand,
            type_name,
            style,
        };
        Ok(self.expr_since(start, ExprKind::Cast(Box::new(cast))))
    }

    fn open_case(&mut self, fault: SyntaxFault) -> Parse<()> {
        self.case_depth += 1;
        if self.case_depth > CASE_DEPTH_MAX {
            return Err(fault.at(self.here()));
        }
        Ok(())
    }

    fn case(&mut self) -> Parse<Expr> {
        self.open_case(SyntaxFault::CASE_TOO_DEEP)?;
        let start = self.advance().position;
        let branches = if self.is_keyword(Keyword::When) {
            let mut branches = Vec::new();
            while branches.is_empty() || self.is_keyword(Keyword::When) {
                self.expect_keyword(Keyword::When)?;
                let condition = self.condition()?;
                self.expect_keyword(Keyword::Then)?;
                let result = self.expression()?;
                branches.push(SearchedBranch { condition, result });
            }
            CaseBranches::Searched(branches)
        } else {
            let operand = self.expression()?;
            let mut branches = Vec::new();
            while branches.is_empty() || self.is_keyword(Keyword::When) {
                self.expect_keyword(Keyword::When)?;
                let value = self.expression()?;
                self.expect_keyword(Keyword::Then)?;
                let result = self.expression()?;
                branches.push(SimpleBranch { value, result });
            }
            CaseBranches::Simple { operand, branches }
        };
        let otherwise = match self.eat_keyword(Keyword::Else) {
            true => Some(self.expression()?),
            false => None,
        };
        self.expect_keyword(Keyword::End)?;
        self.case_depth -= 1;
        let case = Case { branches, otherwise };
        Ok(self.expr_since(start, ExprKind::Case(Box::new(case))))
    }

    fn iif(&mut self) -> Parse<Expr> {
        self.open_case(SyntaxFault::IIF_TOO_DEEP)?;
        let start = self.advance().position;
        self.expect(TokenKind::LeftParen)?;
        let condition = self.condition()?;
        self.expect(TokenKind::Comma)?;
        let then = self.expression()?;
        self.expect(TokenKind::Comma)?;
        let otherwise = self.expression()?;
        self.expect(TokenKind::RightParen)?;
        self.case_depth -= 1;
        let iif = Iif {
            condition,
            then,
            otherwise,
        };
        Ok(self.expr_since(start, ExprKind::Iif(Box::new(iif))))
    }

    /// The methods of xml behind an operand: `.query('..').value('..', '..')`.
    pub(super) fn methods(&mut self, start: Position, operand: Expr) -> Parse<Expr> {
        let mut operand = operand;
        while self.is(TokenKind::Point) {
            self.raise()?;
            self.advance();
            let name = self.name()?;
            if !is_method(&name) || !self.is(TokenKind::LeftParen) {
                return Err(self.unexpected());
            }
            let call = self.method(operand, name)?;
            operand = self.expr_since(start, ExprKind::Function(Box::new(call)));
        }
        Ok(operand)
    }

    /// A method's call, from its parenthesis on.
    pub(super) fn method(&mut self, operand: Expr, name: Name) -> Parse<FunctionCall> {
        let mut arguments = self.nested(WEIGHT_EXPRESSION, |p| p.list_in_parens(Self::expression))?;
        arguments.insert(0, operand);
        Ok(FunctionCall {
            name: Self::single(name),
            arguments: Arguments::List(arguments),
            within_group: Vec::new(),
            null_treatment: None,
            over: None,
            odbc: false,
            form: CallForm::Method,
        })
    }

    /// `type::method (..)`, from the colons on.
    fn refused_method(&mut self, start: Position) -> Parse<Expr> {
        while matches!(self.kind(), TokenKind::Point | TokenKind::Colon) {
            self.advance();
            if self.is(TokenKind::Colon) {
                self.advance();
            }
            self.name()?;
            if self.is(TokenKind::LeftParen) {
                self.skip_parens()?;
            }
        }
        self.refuse("method call", self.since(start));
        Ok(self.null_since(start))
    }

    fn is_next_value(&self) -> bool {
        let keyword = self.is_at(2, TokenKind::Keyword(Keyword::For));
        keyword && self.is_word("next") && self.is_word_at(1, "value")
    }

    /// A placeholder in a tree that is discarded because its statement is refused.
    pub(super) fn null_since(&self, start: Position) -> Expr {
        self.expr_since(start, ExprKind::Literal(Literal::Null))
    }

    /// The name of a function in `{fn ..}`: any word, reserved or not.
    pub(super) fn odbc_function(&mut self) -> Parse<Expr> {
        let name: Name = if self.is_any_word() {
            self.any_word()
        } else {
            self.name()?
        };
        self.nested(WEIGHT_EXPRESSION, |p| p.call(Self::single(name), true))
    }
}

/// Whether a name is that of a method of xml: case counts.
fn is_method(name: &Name) -> bool {
    METHODS.contains(&name.text.as_str())
}

/// The column before the name of a method: `a.b.value`.
pub(super) fn method_operand(name: &ObjectName) -> Option<ColumnName> {
    let column = name.schema.as_ref().filter(|_| is_method(&name.name))?;
    let table = name.database.as_ref().map(|table| ObjectName {
        name: table.clone(),
        schema: name.server.clone(),
        database: None,
        server: None,
        position: table.position,
    });
    Some(ColumnName {
        table,
        name: column.clone(),
    })
}

const METHODS: [&str; 5] = ["value", "query", "exist", "nodes", "modify"];

fn call_of(name: Name, arguments: Vec<Expr>) -> ExprKind {
    ExprKind::Function(Box::new(FunctionCall {
        name: Parser::single(name),
        arguments: Arguments::List(arguments),
        within_group: Vec::new(),
        null_treatment: None,
        over: None,
        odbc: false,
        form: CallForm::Function,
    }))
}

/// A function call without parentheses.
fn bare_call(name: ObjectName) -> ExprKind {
    ExprKind::Function(Box::new(FunctionCall {
        name,
        arguments: Arguments::Absent,
        within_group: Vec::new(),
        null_treatment: None,
        over: None,
        odbc: false,
        form: CallForm::Function,
    }))
}

/// SQL Server's maximum nesting of CASE.
const CASE_DEPTH_MAX: u32 = 10;
