//! DECLARE, and SET of a variable.

use super::cursor::{cursor, shared_cursor};
use super::{Parse, Parser};
use crate::{
    ast::{AssignmentOperator, CursorStatement, Declaration, SetVariable, StatementKind, VariableType},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn declare(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_name() {
            return self.declare_cursor();
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
            self.advance();
            VariableType::Cursor
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
            self.advance();
            let method = self.name()?;
            if method.text == "modify" && self.is(TokenKind::LeftParen) {
                let value = self.mutation()?;
                return Ok(StatementKind::SetVariable(SetVariable {
                    variable,
                    operator: AssignmentOperator::Modify,
                    value,
                }));
            }
            match self.eat(TokenKind::Equal) {
                true => drop(self.expression()?),
                false => self.skip_parens()?,
            }
            self.refuse("method call", self.since(start));
            return Ok(StatementKind::Declare(Vec::new()));
        }
        let operator = self.assignment_operator()?;
        if self.is_keyword(Keyword::Cursor) && operator == AssignmentOperator::Set {
            let definition = self.cursor_definition()?;
            return Ok(cursor(CursorStatement::Set { variable, definition }));
        }
        let value = self.expression()?;
        if operator == AssignmentOperator::Set
            && let Some(shared) = shared_cursor(&value.kind)
        {
            return Ok(cursor(CursorStatement::Share {
                variable,
                cursor: shared,
            }));
        }
        Ok(StatementKind::SetVariable(SetVariable {
            variable,
            operator,
            value,
        }))
    }
}
