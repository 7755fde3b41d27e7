//! Views and procedures.

use super::{Parse, Parser};
use crate::{
    ast::{Create, ModuleContext, Name, Parameter, Procedure, SelectStatement, StatementKind, View},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn view(&mut self, create: Create) -> Parse<StatementKind> {
        let view = self.view_definition(create)?;
        if !self.is(TokenKind::Semicolon) && !self.is(TokenKind::End) {
            return Err(self.unexpected());
        }
        Ok(view)
    }

    /// A view in CREATE SCHEMA, which other elements may follow.
    pub(super) fn view_element(&mut self) -> Parse<StatementKind> {
        self.view_definition(Create::New)
    }

    fn view_definition(&mut self, create: Create) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let columns = self.optional_names()?;
        let options = match self.eat_keyword(Keyword::With) {
            true => self.list(Self::word)?,
            false => Vec::new(),
        };
        self.expect_keyword(Keyword::As)?;
        let with = self.optional_with()?;
        let query = self.nested_query()?;
        let check_option = self.eat_keyword(Keyword::With);
        if check_option {
            self.expect_keyword(Keyword::Check)?;
            self.expect_keyword(Keyword::Option)?;
        }
        Ok(StatementKind::View(Box::new(View {
            create,
            name,
            columns,
            options,
            select: SelectStatement {
                with,
                query,
                options: Vec::new(),
            },
            check_option,
        })))
    }

    /// A word that is not a reserved keyword.
    pub(super) fn word(&mut self) -> Parse<Name> {
        match self.is(TokenKind::Word) {
            true => Ok(self.any_word()),
            false => Err(self.unexpected()),
        }
    }

    /// A procedure; its body extends to the end of the batch.
    pub(super) fn procedure(&mut self, create: Create) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let number = self.procedure_number()?;
        let parameters = if self.eat(TokenKind::LeftParen) {
            let parameters = self.list(Self::parameter)?;
            self.expect(TokenKind::RightParen)?;
            parameters
        } else if self.is(TokenKind::Variable) {
            self.list(Self::parameter)?
        } else {
            Vec::new()
        };
        let (options, execute_as) = match self.eat_keyword(Keyword::With) {
            true => self.procedure_options()?,
            false => (Vec::new(), None),
        };
        let for_replication = self.eat_keyword(Keyword::For);
        if for_replication {
            self.expect_keyword(Keyword::Replication)?;
        }
        let start = self.expect_keyword(Keyword::As)?.position;
        if self.is_keyword(Keyword::External) {
            self.skip_batch()?;
            self.refuse("AS EXTERNAL NAME", self.since(start));
        }
        self.in_procedure = true;
        let body = self.statements(|p| p.is(TokenKind::End))?;
        self.in_procedure = false;
        Ok(StatementKind::Procedure(Box::new(Procedure {
            create,
            name,
            number,
            parameters,
            options,
            execute_as,
            for_replication,
            body,
        })))
    }

    /// The options of a procedure or trigger, and its EXECUTE AS.
    pub(super) fn procedure_options(&mut self) -> Parse<(Vec<Name>, Option<ModuleContext>)> {
        let (mut options, mut execute_as) = (Vec::new(), None);
        loop {
            match self.module_context()? {
                Some(_) if execute_as.is_some() => return Err(self.unexpected()),
                Some(found) => execute_as = Some(found),
                None => options.push(self.word()?),
            }
            if !self.eat(TokenKind::Comma) {
                return Ok((options, execute_as));
            }
        }
    }

    /// `EXECUTE AS ..`, if that is next.
    pub(super) fn module_context(&mut self) -> Parse<Option<ModuleContext>> {
        if !self.eat_keyword(Keyword::Execute) && !self.eat_keyword(Keyword::Exec) {
            return Ok(None);
        }
        self.expect_keyword(Keyword::As)?;
        if self.is_string() {
            return Ok(Some(ModuleContext::User(self.string()?)));
        }
        let words = [
            ("caller", ModuleContext::Caller),
            ("self", ModuleContext::Creator),
            ("owner", ModuleContext::Owner),
        ];
        for (word, context) in words {
            if self.eat_word(word) {
                return Ok(Some(context));
            }
        }
        Err(self.unexpected())
    }

    pub(super) fn parameter(&mut self) -> Parse<Parameter> {
        let start = self.here();
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        let (type_name, table) = match self.is_keyword(Keyword::Cursor) {
            true => {
                let word = self.any_word();
                self.eat_keyword(Keyword::Varying);
                let type_name = crate::ast::TypeName {
                    position: word.position,
                    name: Self::single(word),
                    arguments: Vec::new(),
                    user_type: None,
                };
                (type_name, None)
            }
            false => self.type_or_table()?,
        };
        let nullable = self.optional_null()?;
        let default = match self.eat(TokenKind::Equal) {
            true => Some(self.simple_value()?),
            false => None,
        };
        let output = self.eat_word("output") || self.eat_word("out");
        let read_only = self.eat_word("readonly");
        Ok(Parameter {
            name,
            type_name,
            table,
            nullable,
            default,
            output,
            read_only,
            position: self.since(start),
        })
    }

    /// `NULL` (true), `NOT NULL` (false) or neither.
    pub(super) fn optional_null(&mut self) -> Parse<Option<bool>> {
        if self.eat_keyword(Keyword::Null) {
            return Ok(Some(true));
        }
        if self.is_keyword(Keyword::Not) && self.is_at(1, TokenKind::Keyword(Keyword::Null)) {
            self.advance();
            self.advance();
            return Ok(Some(false));
        }
        Ok(None)
    }
}
