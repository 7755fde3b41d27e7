//! DBCC, KILL and other server administration.

use super::{Parse, Parser};
use crate::{
    ast::{Dbcc, Kill, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn dbcc(&mut self) -> Parse<StatementKind> {
        self.advance();
        let command = self.word()?;
        let mut arguments = Vec::new();
        if self.eat(TokenKind::LeftParen) {
            if !self.is(TokenKind::RightParen) {
                arguments = self.list(Self::simple_value)?;
            }
            self.expect(TokenKind::RightParen)?;
        }
        let options = match self.eat_keyword(Keyword::With) {
            true => self.list(Self::setting)?,
            false => Vec::new(),
        };
        Ok(StatementKind::Dbcc(Box::new(Dbcc {
            command,
            arguments,
            options,
        })))
    }

    pub(super) fn kill(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("stats") || self.is_word("query") {
            return self.refused_statement("KILL STATS JOB or QUERY NOTIFICATION");
        }
        let session = self.required_constant()?;
        let status_only = self.is_keyword(Keyword::With) && self.is_word_at(1, "statusonly");
        if status_only {
            self.advance();
            self.advance();
        }
        Ok(StatementKind::Kill(Kill { session, status_only }))
    }

    pub(super) fn checkpoint(&mut self) -> Parse<StatementKind> {
        self.advance();
        let seconds = match self.is(TokenKind::Integer) {
            true => Some(self.unsigned()?),
            false => None,
        };
        Ok(StatementKind::Checkpoint(seconds))
    }

    pub(super) fn reconfigure(&mut self) -> Parse<StatementKind> {
        self.advance();
        let with_override = self.is_keyword(Keyword::With) && self.is_word_at(1, "override");
        if with_override {
            self.advance();
            self.advance();
        }
        Ok(StatementKind::Reconfigure { with_override })
    }

    pub(super) fn shutdown(&mut self) -> Parse<StatementKind> {
        self.advance();
        let no_wait = self.is_keyword(Keyword::With) && self.is_word_at(1, "nowait");
        if no_wait {
            self.advance();
            self.advance();
        }
        Ok(StatementKind::Shutdown { no_wait })
    }
}
