//! INSERT, UPDATE, DELETE, TRUNCATE.

use super::{Parse, Parser};
use crate::{
    ast::{
        Assignment, AssignmentOperator, AssignmentTarget, ChangeTarget, ColumnName, Condition, CursorName, Delete,
        Expr, Insert, InsertSource, Name, Output, OutputInto, StatementKind, Top, Update, ValueOrDefault, With,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn insert(&mut self, with: With) -> Parse<StatementKind> {
        self.advance();
        if with.is_empty() && self.eat_keyword(Keyword::Bulk) {
            return self.insert_bulk();
        }
        let top = self.optional_change_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.change_target()?;
        let hints = self.table_hints()?;
        let query = self.is_at(1, TokenKind::Keyword(Keyword::Select)) || self.is_at(1, TokenKind::LeftParen);
        let columns = match self.is(TokenKind::LeftParen) && !query {
            true => self.list_in_parens(Self::unqualified_column)?,
            false => Vec::new(),
        };
        let output = self.outputs()?;
        let source = self.insert_source()?;
        let options = self.query_options()?;
        Ok(StatementKind::Insert(Box::new(Insert {
            with,
            top,
            target,
            hints,
            columns,
            output,
            source,
            options,
        })))
    }

    /// TOP of INSERT, UPDATE or DELETE, whose count requires parentheses.
    pub(super) fn optional_change_top(&mut self) -> Parse<Option<Top>> {
        if self.is_keyword(Keyword::Top) && !self.is_at(1, TokenKind::LeftParen) {
            self.advance();
            return Err(self.unexpected());
        }
        self.optional_top()
    }

    /// A column of a column list; its qualifier is ignored, as in SQL Server.
    pub(super) fn unqualified_column(&mut self) -> Parse<Name> {
        self.column_name().map(|column| column.name)
    }

    fn insert_source(&mut self) -> Parse<InsertSource> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Values) => {
                self.advance();
                self.insert_rows().map(InsertSource::Values)
            }
            TokenKind::Keyword(Keyword::Default) => {
                self.advance();
                self.expect_keyword(Keyword::Values)?;
                Ok(InsertSource::DefaultValues)
            }
            TokenKind::Keyword(Keyword::Exec | Keyword::Execute) => {
                self.execute().map(Box::new).map(InsertSource::Execute)
            }
            TokenKind::Keyword(Keyword::Select) | TokenKind::LeftParen => {
                self.query().map(Box::new).map(InsertSource::Query)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn insert_rows(&mut self) -> Parse<Vec<Vec<ValueOrDefault>>> {
        let start = self.here();
        let rows = self.list(|p| p.list_in_parens(Self::value_or_default))?;
        if rows.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(SyntaxFault::ROWS_DIFFER.at(self.since(start)));
        }
        if rows.len() > ROW_COUNT_MAX {
            return Err(SyntaxFault::TOO_MANY_ROWS.at(self.since(start)));
        }
        Ok(rows)
    }

    pub(super) fn value_or_default(&mut self) -> Parse<ValueOrDefault> {
        if self.is_keyword(Keyword::Default) {
            return Ok(ValueOrDefault::Default(self.advance().position));
        }
        self.expression().map(ValueOrDefault::Value)
    }

    pub(super) fn change_target(&mut self) -> Parse<ChangeTarget> {
        if self.is(TokenKind::Variable) {
            let position = self.here();
            let name = self.variable()?;
            return Ok(ChangeTarget::Variable { name, position });
        }
        if let TokenKind::Keyword(Keyword::Openquery | Keyword::Openrowset | Keyword::Opendatasource) = self.kind() {
            let start = self.here();
            let name = self.any_word();
            self.skip_parens()?;
            while self.eat(TokenKind::Point) {
                self.name()?;
            }
            self.refuse(name.text.to_ascii_uppercase(), self.since(start));
            return Ok(ChangeTarget::Table(Self::single(name)));
        }
        self.object_name().map(ChangeTarget::Table)
    }

    /// `OUTPUT .. [INTO ..]`, at most twice.
    pub(super) fn outputs(&mut self) -> Parse<Vec<Output>> {
        let mut outputs = Vec::new();
        while outputs.len() < 2 && self.eat_word("output") {
            let items = self.list(|p| p.select_item(false))?;
            let into = match self.eat_keyword(Keyword::Into) {
                true => Some(OutputInto {
                    target: self.change_target()?,
                    columns: self.optional_names()?,
                }),
                false => None,
            };
            outputs.push(Output { items, into });
        }
        Ok(outputs)
    }

    pub(super) fn update(&mut self, with: With) -> Parse<StatementKind> {
        self.advance();
        if self.is_keyword(Keyword::Statistics) {
            return self.update_statistics();
        }
        let top = self.optional_change_top()?;
        let target = self.change_target()?;
        let hints = self.table_hints()?;
        self.expect_keyword(Keyword::Set)?;
        let assignments = self.list(Self::assignment)?;
        let output = self.outputs()?;
        let from = match self.eat_keyword(Keyword::From) {
            true => self.list(Self::source)?,
            false => Vec::new(),
        };
        let (filter, current_of) = self.change_filter()?;
        let options = self.query_options()?;
        Ok(StatementKind::Update(Box::new(Update {
            with,
            top,
            target,
            hints,
            assignments,
            output,
            from,
            filter,
            current_of,
            options,
        })))
    }

    pub(super) fn assignment(&mut self) -> Parse<Assignment> {
        let start = self.here();
        let target = if self.is(TokenKind::Variable) || self.is(TokenKind::Global) {
            let variable = self.variable()?;
            match self.is(TokenKind::Equal) && self.is_column_assignment_at(1) {
                true => {
                    self.advance();
                    AssignmentTarget::VariableAndColumn(variable, self.column_name()?)
                }
                false => AssignmentTarget::Variable(variable),
            }
        } else {
            AssignmentTarget::Column(self.column_name()?)
        };
        if self.is(TokenKind::LeftParen) && matches!(target, AssignmentTarget::Column(_)) {
            if let AssignmentTarget::Column(ColumnName {
                table: Some(column),
                name,
            }) = &target
                && name.text == "modify"
            {
                let Some(column) = column.single().cloned() else {
                    return Err(self.unexpected());
                };
                let value = self.mutation()?;
                return Ok(Assignment {
                    target: AssignmentTarget::Column(ColumnName {
                        table: None,
                        name: column,
                    }),
                    operator: AssignmentOperator::Modify,
                    value: ValueOrDefault::Value(value),
                    position: self.since(start),
                });
            }
            // a.WRITE (..) and other methods
            self.skip_parens()?;
            let position = self.since(start);
            self.refuse("method call", position);
            return Ok(Assignment {
                target,
                operator: AssignmentOperator::Set,
                value: ValueOrDefault::Default(position),
                position,
            });
        }
        let operator = self.assignment_operator()?;
        let value = self.value_or_default()?;
        Ok(Assignment {
            target,
            operator,
            value,
            position: self.since(start),
        })
    }

    /// The argument of modify().
    pub(super) fn mutation(&mut self) -> Parse<Expr> {
        self.expect(TokenKind::LeftParen)?;
        let value = self.expression()?;
        self.expect(TokenKind::RightParen)?;
        Ok(value)
    }

    /// Whether an assignment to a column begins at offset `ahead`.
    fn is_column_assignment_at(&self, ahead: usize) -> bool {
        let mut at = ahead;
        while at < ahead + NAME_LOOK_AHEAD_MAX && self.is_name_token(self.peek_at(at)) {
            at += 1;
            if !self.is_at(at, TokenKind::Point) {
                return self.is_assignment_at(at);
            }
            at += 1;
        }
        false
    }

    /// WHERE of UPDATE or DELETE: a condition, or CURRENT OF a cursor.
    fn change_filter(&mut self) -> Parse<(Option<Condition>, Option<CursorName>)> {
        if !self.is_keyword(Keyword::Where) || !self.is_at(1, TokenKind::Keyword(Keyword::Current)) {
            return Ok((self.optional_where()?, None));
        }
        self.advance();
        self.advance();
        self.expect_keyword(Keyword::Of)?;
        Ok((None, Some(self.cursor_name()?)))
    }

    pub(super) fn delete(&mut self, with: With) -> Parse<StatementKind> {
        self.advance();
        let top = self.optional_change_top()?;
        self.eat_keyword(Keyword::From);
        let target = self.change_target()?;
        let hints = self.table_hints()?;
        let output = self.outputs()?;
        let from = match self.eat_keyword(Keyword::From) {
            true => self.list(Self::source)?,
            false => Vec::new(),
        };
        let (filter, current_of) = self.change_filter()?;
        let options = self.query_options()?;
        Ok(StatementKind::Delete(Box::new(Delete {
            with,
            top,
            target,
            hints,
            output,
            from,
            filter,
            current_of,
            options,
        })))
    }

    pub(super) fn truncate(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Table)?;
        let name = self.object_name()?;
        if self.is_keyword(Keyword::With) && self.is_at(1, TokenKind::LeftParen) {
            let start = self.advance().position;
            self.skip_parens()?;
            self.refuse("TRUNCATE TABLE WITH PARTITIONS", self.since(start));
        }
        Ok(StatementKind::Truncate(name))
    }
}

/// SQL Server's maximum for a table value constructor.
const ROW_COUNT_MAX: usize = 1_000;
/// A column name of four parts has seven tokens.
const NAME_LOOK_AHEAD_MAX: usize = 8;
