//! DECLARE, and SET of a variable.

use super::{Parse, Parser};
use crate::{
    ast::{Declaration, SetVariable, StatementKind, VariableType},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn declare(&mut self) -> Parse<StatementKind> {
        let start = self.advance().position;
        if self.is_name() {
            self.refused_cursor(start)?;
            return Ok(StatementKind::Declare(Vec::new()));
        }
        self.list(Self::declaration).map(StatementKind::Declare)
    }

    fn declaration(&mut self) -> Parse<Declaration> {
        let start = self.here();
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        let mut initial = None;
        let variable_type = if self.eat_keyword(Keyword::Table) {
            VariableType::Table(self.table_elements()?)
        } else if self.is_keyword(Keyword::Cursor) {
            let at = self.advance().position;
            self.refuse("cursor variable", at);
            VariableType::Table(Vec::new())
        } else {
            match self.type_or_table()? {
                (type_name, Some(table)) => VariableType::TableType(type_name, table),
                (type_name, None) => {
                    if self.eat(TokenKind::Equal) {
                        initial = Some(self.expression()?);
                    }
                    VariableType::Scalar(type_name)
                }
            }
        };
        Ok(Declaration {
            name,
            variable_type,
            initial,
            position: self.since(start),
        })
    }

    /// `SET @v = ..`, after SET.
    pub(super) fn set_variable(&mut self) -> Parse<StatementKind> {
        let start = self.here();
        let variable = self.variable()?;
        if self.is(TokenKind::Point) {
            // SET @x.modify (..)
            self.advance();
            self.name()?;
            match self.eat(TokenKind::Equal) {
                true => drop(self.expression()?),
                false => self.skip_parens()?,
            }
            self.refuse("method call", self.since(start));
            return Ok(StatementKind::Declare(Vec::new()));
        }
        let operator = self.assignment_operator()?;
        if self.is_keyword(Keyword::Cursor) {
            self.cursor_definition(start)?;
            return Ok(StatementKind::Declare(Vec::new()));
        }
        let value = self.expression()?;
        Ok(StatementKind::SetVariable(SetVariable {
            variable,
            operator,
            value,
        }))
    }
}
