//! Unsupported statements, which are recognized and refused by name.

use std::borrow::Cow;

use super::{Parse, Parser};
use crate::{ast::StatementKind, keyword::Keyword, token::TokenKind};

impl Parser<'_> {
    /// The rest of an unsupported statement, at least one token.
    pub(super) fn refused_statement(&mut self, what: impl Into<Cow<'static, str>>) -> Parse<StatementKind> {
        let start = self.here();
        if self.is(TokenKind::Semicolon) || self.is(TokenKind::End) {
            return Err(self.unexpected());
        }
        self.advance();
        self.skip_statement()?;
        self.refuse(what, self.since(start));
        Ok(StatementKind::Break)
    }

    /// The name of an unsupported statement whose first word is not a reserved keyword.
    pub(super) fn refused_words(&self) -> Option<&'static str> {
        let conversation = self.is_word_at(1, "conversation");
        let on = self.is_at(1, TokenKind::Keyword(Keyword::On));
        let top = self.is_at(1, TokenKind::Keyword(Keyword::Top)) || self.is_at(1, TokenKind::Star);
        match () {
            () if conversation && self.is_word("move") => Some("MOVE CONVERSATION"),
            () if conversation && self.is_word("get") => Some("GET CONVERSATION GROUP"),
            () if on && self.is_word("send") => Some("SEND"),
            () if top && self.is_word("receive") => Some("RECEIVE"),
            () => None,
        }
    }

    /// Unsupported statements whose first word is reserved; any other keyword is a syntax error.
    pub(super) fn refused_keyword(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        match keyword {
            Keyword::End if self.is_word_at(1, "conversation") => self.refused_statement("END CONVERSATION"),
            Keyword::Add if self.is_word_at(1, "signature") => self.refused_statement("ADD SIGNATURE"),
            Keyword::Revert => self.revert(),
            Keyword::Setuser => self.refused_statement("SETUSER"),
            Keyword::Lineno => self.refused_statement("LINENO"),
            Keyword::Readtext => self.refused_statement("READTEXT"),
            Keyword::Writetext => self.refused_statement("WRITETEXT"),
            Keyword::Updatetext => self.refused_statement("UPDATETEXT"),
            _ => Err(self.unexpected()),
        }
    }
}
