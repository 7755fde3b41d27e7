//! Triggers.

use super::{Parse, Parser, expression::Term};
use crate::{
    ast::{
        AlterTableAction, ConditionKind, Create, Name, StatementKind, TableTriggerSwitch, Trigger, TriggerEvents,
        TriggerSwitch, TriggerTiming,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A trigger; its body extends to the end of the batch.
    pub(super) fn trigger(&mut self, create: Create) -> Parse<StatementKind> {
        let start = self.advance().position;
        let name = self.object_name()?;
        self.expect_keyword(Keyword::On)?;
        let is_of_database = self.is_keyword(Keyword::Database);
        if is_of_database || self.is_keyword(Keyword::All) {
            // DDL triggers, and LOGON triggers.
            self.skip_batch()?;
            let what = if is_of_database {
                "A DDL trigger"
            } else {
                "A trigger ON ALL SERVER"
            };
            self.refuse(what, self.since(start));
            return Ok(StatementKind::Break);
        }
        let table = self.object_name()?;
        let (options, execute_as) = match self.eat_keyword(Keyword::With) {
            true => self.procedure_options()?,
            false => (Vec::new(), None),
        };
        let timing = match self.kind() {
            TokenKind::Keyword(Keyword::For) => TriggerTiming::After,
            TokenKind::Word if self.is_word("after") => TriggerTiming::After,
            TokenKind::Word if self.is_word("instead") && self.is_at(1, TokenKind::Keyword(Keyword::Of)) => {
                self.advance();
                TriggerTiming::InsteadOf
            }
            _ => return Err(self.unexpected()),
        };
        self.advance();
        let events = self.trigger_events()?;
        if self.eat_keyword(Keyword::With) {
            self.expect_word("append")?;
        }
        if self.eat_keyword(Keyword::Not) {
            self.expect_keyword(Keyword::For)?;
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
        Ok(StatementKind::Trigger(Box::new(Trigger {
            create,
            name,
            table,
            options,
            execute_as,
            timing,
            events,
            body,
        })))
    }

    fn trigger_events(&mut self) -> Parse<TriggerEvents> {
        let mut events = TriggerEvents::default();
        loop {
            let event = match self.kind() {
                TokenKind::Keyword(Keyword::Insert) => &mut events.insert,
                TokenKind::Keyword(Keyword::Update) => &mut events.update,
                TokenKind::Keyword(Keyword::Delete) => &mut events.delete,
                _ => return Err(self.unexpected()),
            };
            *event = true;
            self.advance();
            if !self.eat(TokenKind::Comma) {
                return Ok(events);
            }
        }
    }

    /// `ENABLE TRIGGER` or `DISABLE TRIGGER`, which is next.
    pub(super) fn trigger_switch(&mut self) -> Parse<StatementKind> {
        let enable = self.is_word("enable");
        let start = self.advance().position;
        self.advance();
        let names = match self.eat_keyword(Keyword::All) {
            true => Vec::new(),
            false => self.list(Self::object_name)?,
        };
        self.expect_keyword(Keyword::On)?;
        if self.is_keyword(Keyword::Database) || self.is_keyword(Keyword::All) {
            self.skip_statement()?;
            self.refuse("A DDL trigger", self.since(start));
            return Ok(StatementKind::Break);
        }
        let table = self.object_name()?;
        Ok(StatementKind::TriggerSwitch(Box::new(TriggerSwitch {
            enable,
            names,
            table,
        })))
    }

    /// `ENABLE TRIGGER` or `DISABLE TRIGGER` of ALTER TABLE, whose first word is next.
    pub(super) fn table_trigger_switch(&mut self) -> Parse<AlterTableAction> {
        let enable = self.is_word("enable");
        self.advance();
        self.expect_keyword(Keyword::Trigger)?;
        let names = match self.eat_keyword(Keyword::All) {
            true => Vec::new(),
            false => self.list(Self::name)?,
        };
        Ok(AlterTableAction::Triggers(TableTriggerSwitch { enable, names }))
    }

    /// `UPDATE (column)`
    pub(super) fn updated(&mut self) -> Parse<Term> {
        let start = self.advance().position;
        self.expect(TokenKind::LeftParen)?;
        let column: Name = self.name()?;
        self.expect(TokenKind::RightParen)?;
        Ok(self.condition_since(start, ConditionKind::Updated(column)))
    }
}
