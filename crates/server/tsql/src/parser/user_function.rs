//! Functions of users, and types.

use super::{Parse, Parser};
use crate::{
    ast::{
        Create, CreateType, Function, FunctionBody, ModuleContext, SelectStatement, Statement, StatementKind,
        TypeDefinition,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A function; nothing but semicolons follows it in its batch.
    pub(super) fn function_definition(&mut self, create: Create) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        self.expect(TokenKind::LeftParen)?;
        let parameters = match self.is(TokenKind::RightParen) {
            true => Vec::new(),
            false => self.list(Self::parameter)?,
        };
        self.expect(TokenKind::RightParen)?;
        self.expect_word("returns")?;
        let ((options, execute_as), body) = if self.is(TokenKind::Variable) {
            let variable = self.variable()?;
            self.expect_keyword(Keyword::Table)?;
            let elements = self.table_elements()?;
            let options = self.function_options()?;
            self.eat_keyword(Keyword::As);
            let body = self.function_body()?;
            let body = FunctionBody::Table {
                variable,
                elements,
                body,
            };
            (options, body)
        } else if self.eat_keyword(Keyword::Table) {
            let options = self.function_options()?;
            let start = self.here();
            self.eat_keyword(Keyword::As);
            if self.is_keyword(Keyword::External) {
                self.skip_batch()?;
                self.refuse("AS EXTERNAL NAME", self.since(start));
                return Ok(StatementKind::Break);
            }
            self.expect_keyword(Keyword::Return)?;
            (options, FunctionBody::Inline(Box::new(self.returned_select()?)))
        } else {
            let returns = self.type_name()?;
            let options = self.function_options()?;
            let start = self.here();
            self.eat_keyword(Keyword::As);
            if self.is_keyword(Keyword::External) {
                self.skip_batch()?;
                self.refuse("AS EXTERNAL NAME", self.since(start));
                return Ok(StatementKind::Break);
            }
            let body = self.function_body()?;
            (options, FunctionBody::Scalar { returns, body })
        };
        if !self.is(TokenKind::Semicolon) && !self.is(TokenKind::End) {
            return Err(self.unexpected());
        }
        Ok(StatementKind::Function(Box::new(Function {
            create,
            name,
            parameters,
            options,
            execute_as,
            body,
        })))
    }

    /// `WITH a, b`, each in upper case, its words separated by one space; and EXECUTE AS.
    fn function_options(&mut self) -> Parse<(Vec<String>, Option<ModuleContext>)> {
        let (mut options, mut execute_as) = (Vec::new(), None);
        if !self.eat_keyword(Keyword::With) {
            return Ok((options, execute_as));
        }
        loop {
            match self.module_context()? {
                Some(_) if execute_as.is_some() => return Err(self.unexpected()),
                Some(found) => execute_as = Some(found),
                None => options.push(self.function_option()?),
            }
            if !self.eat(TokenKind::Comma) {
                return Ok((options, execute_as));
            }
        }
    }

    fn function_option(&mut self) -> Parse<String> {
        let word = self.word()?;
        match word.text.to_ascii_uppercase().as_str() {
            "RETURNS" => {
                self.expect_keyword(Keyword::Null)?;
                self.null_input()?;
                Ok(String::from("RETURNS NULL ON NULL INPUT"))
            }
            "CALLED" => {
                self.null_input()?;
                Ok(String::from("CALLED ON NULL INPUT"))
            }
            "INLINE" => {
                self.expect(TokenKind::Equal)?;
                let on = self.on_or_off()?;
                Ok(format!("INLINE = {}", if on { "ON" } else { "OFF" }))
            }
            option => Ok(option.to_owned()),
        }
    }

    /// `ON NULL INPUT`.
    fn null_input(&mut self) -> Parse<()> {
        self.expect_keyword(Keyword::On)?;
        self.expect_keyword(Keyword::Null)?;
        self.expect_word("input").map(drop)
    }

    /// `BEGIN .. END`.
    fn function_body(&mut self) -> Parse<Vec<Statement>> {
        self.expect_keyword(Keyword::Begin)?;
        self.in_procedure = true;
        let body = self.statements(|p| p.is_keyword(Keyword::End))?;
        self.in_procedure = false;
        if body.is_empty() {
            return Err(self.unexpected());
        }
        self.expect_keyword(Keyword::End)?;
        Ok(body)
    }

    /// The SELECT of an inline function, in parentheses or not; a WITH may precede it.
    fn returned_select(&mut self) -> Parse<SelectStatement> {
        let with_inside = self.is(TokenKind::LeftParen) && self.is_at(1, TokenKind::Keyword(Keyword::With));
        if with_inside {
            self.advance();
        }
        let with = self.optional_with()?;
        let start = self.here();
        if self.is(TokenKind::LeftParen) && self.is_at(1, TokenKind::Keyword(Keyword::Select)) {
            // ORDER BY of TOP stands within the parentheses.
            let first = self.subquery()?;
            let query = self.nested_query_after(start, first)?;
            let options = self.query_options()?;
            if with_inside {
                self.expect(TokenKind::RightParen)?;
            }
            return Ok(SelectStatement { with, query, options });
        }
        let select = self.select_statement(with)?;
        if with_inside {
            self.expect(TokenKind::RightParen)?;
        }
        Ok(select)
    }

    pub(super) fn create_type(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let definition = if self.eat_keyword(Keyword::From) {
            let base = Box::new(self.type_name()?);
            let nullable = self.optional_null()?;
            TypeDefinition::Alias { base, nullable }
        } else if self.is_keyword(Keyword::External) {
            let start = self.here();
            self.skip_statement()?;
            self.refuse("CREATE TYPE EXTERNAL NAME", self.since(start));
            return Ok(StatementKind::Break);
        } else {
            self.expect_keyword(Keyword::As)?;
            self.expect_keyword(Keyword::Table)?;
            TypeDefinition::Table(self.table_elements()?)
        };
        Ok(StatementKind::CreateType(Box::new(CreateType { name, definition })))
    }
}
