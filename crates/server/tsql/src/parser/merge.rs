//! MERGE.

use super::{Parse, Parser};
use crate::{
    ast::{Merge, MergeAction, MergeClause, MergeMatch, Name, StatementKind, With},
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// MERGE, the only statement that requires a terminating semicolon.
    pub(super) fn merge(&mut self, with: With) -> Parse<StatementKind> {
        self.advance();
        let top = self.optional_change_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.change_target()?;
        let hints = self.table_hints()?;
        let alias = self.merge_alias()?;
        self.expect_word("using")?;
        let source = self.source()?;
        self.expect_keyword(Keyword::On)?;
        let on = self.condition()?;
        let mut clauses = vec![self.merge_clause(&[])?];
        while self.is_keyword(Keyword::When) {
            clauses.push(self.merge_clause(&clauses)?);
        }
        let output = self.outputs()?;
        let options = self.query_options()?;
        if !self.is(TokenKind::Semicolon) {
            let last = self.reported_token(self.peek());
            return Err(SyntaxFault::MERGE_NOT_TERMINATED.at(last.position));
        }
        Ok(StatementKind::Merge(Box::new(Merge {
            with,
            top,
            target,
            hints,
            alias,
            source,
            on,
            clauses,
            output,
            options,
        })))
    }

    fn merge_alias(&mut self) -> Parse<Option<Name>> {
        match self.eat_keyword(Keyword::As) || (self.is_name() && !self.is_word("using")) {
            true => self.name().map(Some),
            false => Ok(None),
        }
    }

    /// One WHEN, after those `before` it.
    fn merge_clause(&mut self, before: &[MergeClause]) -> Parse<MergeClause> {
        let start = self.expect_keyword(Keyword::When)?.position;
        let rows = self.merge_match()?;
        let filter = match self.eat_keyword(Keyword::And) {
            true => Some(self.condition()?),
            false => None,
        };
        self.expect_keyword(Keyword::Then)?;
        let action = self.merge_action()?;
        let clause = MergeClause {
            rows,
            filter,
            action,
            position: self.since(start),
        };
        match fault_of(&clause, before) {
            Some(fault) => Err(fault.at(clause.position)),
            None => Ok(clause),
        }
    }

    fn merge_match(&mut self) -> Parse<MergeMatch> {
        if !self.eat_keyword(Keyword::Not) {
            self.expect_word("matched")?;
            return Ok(MergeMatch::Matched);
        }
        self.expect_word("matched")?;
        if !self.eat_keyword(Keyword::By) {
            return Ok(MergeMatch::NotMatched);
        }
        if self.eat_word("target") {
            return Ok(MergeMatch::NotMatched);
        }
        self.expect_word("source")?;
        Ok(MergeMatch::NotMatchedBySource)
    }

    fn merge_action(&mut self) -> Parse<MergeAction> {
        if self.eat_keyword(Keyword::Update) {
            self.expect_keyword(Keyword::Set)?;
            return self.list(Self::assignment).map(MergeAction::Update);
        }
        if self.eat_keyword(Keyword::Delete) {
            return Ok(MergeAction::Delete);
        }
        self.expect_keyword(Keyword::Insert)?;
        let columns = match self.is(TokenKind::LeftParen) {
            true => self.list_in_parens(Self::unqualified_column)?,
            false => Vec::new(),
        };
        if self.eat_keyword(Keyword::Default) {
            self.expect_keyword(Keyword::Values)?;
            return Ok(MergeAction::Insert { columns, values: None });
        }
        self.expect_keyword(Keyword::Values)?;
        let values = Some(self.list_in_parens(Self::value_or_default)?);
        Ok(MergeAction::Insert { columns, values })
    }
}

/// What SQL Server does not allow of a clause after those `before` it.
fn fault_of(clause: &MergeClause, before: &[MergeClause]) -> Option<SyntaxFault> {
    let (rows, action) = (clause.rows.words(), clause.action.word());
    let is_insert = matches!(clause.action, MergeAction::Insert { .. });
    match (clause.rows, is_insert) {
        (MergeMatch::NotMatched, false) => return Some(SyntaxFault::merge_not_matched(action)),
        (MergeMatch::Matched | MergeMatch::NotMatchedBySource, true) => return Some(SyntaxFault::merge_insert(rows)),
        (MergeMatch::NotMatched, true) | (MergeMatch::Matched | MergeMatch::NotMatchedBySource, false) => {}
    }
    let mut same = before.iter().filter(|other| other.rows == clause.rows);
    let first = same.next()?;
    if first.action.word() == action || same.any(|other| other.action.word() == action) {
        return Some(SyntaxFault::merge_twice(rows, action));
    }
    first.filter.is_none().then(|| SyntaxFault::merge_order(rows))
}
