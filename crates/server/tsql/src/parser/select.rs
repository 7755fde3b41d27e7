//! One SELECT, and the clauses that it shares with other statements.

use super::{Parse, Parser, expression::Term};
use crate::{
    ast::{AssignmentOperator, Select, SelectItem, Top},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// One SELECT from its keyword to HAVING.
    pub(super) fn select(&mut self) -> Parse<Select> {
        let start = self.expect_keyword(Keyword::Select)?.position;
        // Only the first SELECT of a statement may assign variables or have INTO.
        let top_select = core::mem::take(&mut self.top_select);
        let distinct = self.eat_keyword(Keyword::Distinct);
        if !distinct {
            self.eat_keyword(Keyword::All);
        }
        let top = self.optional_top()?;
        let items = self.list(|p| p.select_item(top_select))?;
        let assigning = items
            .iter()
            .filter(|item| matches!(item, SelectItem::Assign { .. }))
            .count();
        if assigning > 0 && assigning < items.len() {
            return Err(SyntaxFault::ASSIGNMENT_MIXED.at(self.since(start)));
        }
        let into = match top_select && self.eat_keyword(Keyword::Into) {
            true => Some(self.object_name()?),
            false => None,
        };
        let from = match self.eat_keyword(Keyword::From) {
            true => self.list(Self::source)?,
            false => Vec::new(),
        };
        let filter = self.optional_where()?;
        let group_by = self.optional_group_by()?;
        let having = match self.eat_keyword(Keyword::Having) {
            true => Some(self.condition()?),
            false => None,
        };
        let windows = self.optional_windows()?;
        Ok(Select {
            distinct,
            top,
            items,
            into,
            from,
            filter,
            group_by,
            having,
            windows,
            position: self.since(start),
        })
    }

    pub(super) fn optional_where(&mut self) -> Parse<Option<crate::ast::Condition>> {
        match self.eat_keyword(Keyword::Where) {
            true => self.condition().map(Some),
            false => Ok(None),
        }
    }

    /// An optional `TOP (n) [PERCENT] [WITH TIES]`.
    pub(super) fn optional_top(&mut self) -> Parse<Option<Top>> {
        if !self.eat_keyword(Keyword::Top) {
            return Ok(None);
        }
        let count = if self.is(TokenKind::LeftParen) {
            match self.parenthesised(false)? {
                Term::Value(count) => count,
                Term::Condition(_) => return Err(self.unexpected()),
            }
        } else {
            let number = matches!(self.kind(), TokenKind::Integer | TokenKind::Decimal | TokenKind::Float);
            match self.literal_expr().filter(|_| number) {
                Some(count) => count,
                None => return Err(self.unexpected()),
            }
        };
        let percent = self.eat_keyword(Keyword::Percent);
        let with_ties = self.is_keyword(Keyword::With) && self.is_word_at(1, "ties");
        if with_ties {
            self.advance();
            self.advance();
        }
        Ok(Some(Top {
            count,
            percent,
            with_ties,
        }))
    }

    /// An item of a select list or of OUTPUT; with `assign` it may assign a variable.
    pub(super) fn select_item(&mut self, assign: bool) -> Parse<SelectItem> {
        let start = self.here();
        if let Some(part_count) = self.star_after() {
            let table = match part_count {
                0 => None,
                _ => Some(self.object_name_before_star()?),
            };
            self.expect(TokenKind::Star)?;
            return Ok(SelectItem::Star {
                table,
                position: self.since(start),
            });
        }
        if assign && matches!(self.kind(), TokenKind::Variable | TokenKind::Global) && self.is_assignment_at(1) {
            let variable = self.variable()?;
            let operator = self.assignment_operator()?;
            let value = self.expression()?;
            return Ok(SelectItem::Assign {
                variable,
                operator,
                value,
                position: self.since(start),
            });
        }
        if (self.is_name() || self.is_string()) && self.is_at(1, TokenKind::Equal) {
            let alias = Some(self.name_or_string()?);
            self.advance();
            let value = self.expression()?;
            return Ok(SelectItem::Value { value, alias });
        }
        let value = self.expression()?;
        let alias = match self.eat_keyword(Keyword::As) || (self.is_name() && !self.is_label()) || self.is_string() {
            true => Some(self.name_or_string()?),
            false => None,
        };
        Ok(SelectItem::Value { value, alias })
    }

    /// The number of parts before the star, if `*` or `a.b.*` is next.
    fn star_after(&self) -> Option<usize> {
        let (mut at, mut part_count) = (0, 0);
        loop {
            if self.is_at(at, TokenKind::Star) {
                return Some(part_count);
            }
            // An omitted part still has its point.
            if self.is_name_token(self.peek_at(at)) {
                at += 1;
            }
            if at > STAR_LOOK_AHEAD_MAX || !self.is_at(at, TokenKind::Point) || at == 0 {
                return None;
            }
            at += 1;
            part_count += 1;
        }
    }

    /// Whether an assignment operator is at offset `ahead`.
    pub(super) fn is_assignment_at(&self, ahead: usize) -> bool {
        match self.peek_at(ahead).kind {
            TokenKind::Equal => true,
            TokenKind::Plus
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Slash
            | TokenKind::Percent
            | TokenKind::Ampersand
            | TokenKind::Caret
            | TokenKind::Pipe => self.is_at(ahead + 1, TokenKind::Equal),
            _ => false,
        }
    }

    /// `=`, `+=` and others; whitespace is allowed between the characters.
    pub(super) fn assignment_operator(&mut self) -> Parse<AssignmentOperator> {
        let operator = match self.kind() {
            TokenKind::Equal => AssignmentOperator::Set,
            TokenKind::Plus => AssignmentOperator::Add,
            TokenKind::Minus => AssignmentOperator::Subtract,
            TokenKind::Star => AssignmentOperator::Multiply,
            TokenKind::Slash => AssignmentOperator::Divide,
            TokenKind::Percent => AssignmentOperator::Modulo,
            TokenKind::Ampersand => AssignmentOperator::BitAnd,
            TokenKind::Caret => AssignmentOperator::BitXor,
            TokenKind::Pipe => AssignmentOperator::BitOr,
            _ => return Err(self.unexpected()),
        };
        if operator != AssignmentOperator::Set {
            if !self.is_assignment_at(0) {
                return Err(self.unexpected());
            }
            self.advance();
        }
        self.advance();
        Ok(operator)
    }
}

/// `server.database.schema.table.*` has nine tokens.
const STAR_LOOK_AHEAD_MAX: usize = 10;
