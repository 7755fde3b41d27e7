//! SET of the session's options.

use super::{Parse, Parser};
use crate::{
    ast::{IsolationLevel, Name, SetOption, SetValue, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Parse<StatementKind> {
        self.advance();
        match self.kind() {
            TokenKind::Variable | TokenKind::Global => self.set_variable(),
            _ => self.set_option().map(StatementKind::SetOption),
        }
    }

    fn set_option(&mut self) -> Parse<SetOption> {
        if self.is_keyword(Keyword::Tran) || self.is_keyword(Keyword::Transaction) {
            return self.isolation_level();
        }
        if self.eat_keyword(Keyword::Statistics) {
            let names = self.list(Self::option_name)?;
            let on = self.on_or_off()?;
            return Ok(SetOption::Statistics { names, on });
        }
        if self.eat_keyword(Keyword::IdentityInsert) {
            let table = self.object_name()?;
            let on = self.on_or_off()?;
            return Ok(SetOption::IdentityInsert { table, on });
        }
        let name = self.option_name()?;
        if name.is("offsets") {
            let start = name.position;
            self.list(Self::option_name)?;
            self.on_or_off()?;
            self.refuse("SET OFFSETS", self.since(start));
            return Ok(SetOption::Switch {
                names: vec![name],
                on: false,
            });
        }
        let more = self.is(TokenKind::Comma) || self.is_keyword(Keyword::On) || self.is_keyword(Keyword::Off);
        if !more {
            let value = self.set_value()?;
            return Ok(SetOption::Value { name, value });
        }
        let mut names = vec![name];
        while self.eat(TokenKind::Comma) {
            names.push(self.option_name()?);
        }
        let on = self.on_or_off()?;
        let quotes = |name: &Name| name.is("quoted_identifier") || name.is("ansi_defaults");
        // In a procedure the setting at its creation applies.
        if !self.in_procedure && names.iter().any(quotes) {
            self.quoted_identifier = on;
        }
        Ok(SetOption::Switch { names, on })
    }

    /// An option's name: a word, reserved or not.
    fn option_name(&mut self) -> Parse<Name> {
        let reserved = [Keyword::Rowcount, Keyword::Textsize, Keyword::Offsets];
        match self.kind() {
            TokenKind::Word => Ok(self.any_word()),
            TokenKind::Keyword(keyword) if reserved.contains(&keyword) => Ok(self.any_word()),
            _ => Err(self.unexpected()),
        }
    }

    fn set_value(&mut self) -> Parse<SetValue> {
        if let Some(value) = self.constant_or_variable()? {
            return Ok(SetValue::Value(value));
        }
        self.name().map(SetValue::Word)
    }

    /// `TRANSACTION ISOLATION LEVEL ..`
    fn isolation_level(&mut self) -> Parse<SetOption> {
        self.advance();
        self.expect_word("isolation")?;
        self.expect_word("level")?;
        let level = if self.eat_keyword(Keyword::Read) {
            match self.eat_word("uncommitted") {
                true => IsolationLevel::ReadUncommitted,
                false => {
                    self.expect_word("committed")?;
                    IsolationLevel::ReadCommitted
                }
            }
        } else if self.eat_word("repeatable") {
            self.expect_keyword(Keyword::Read)?;
            IsolationLevel::RepeatableRead
        } else if self.eat_word("snapshot") {
            IsolationLevel::Snapshot
        } else {
            self.expect_word("serializable")?;
            IsolationLevel::Serializable
        };
        Ok(SetOption::IsolationLevel(level))
    }
}
