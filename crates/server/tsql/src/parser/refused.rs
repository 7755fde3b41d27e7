//! Unsupported statements, which are recognized and refused by name.

use std::borrow::Cow;

use super::{Parse, Parser};
use crate::{
    ast::{Position, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

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
            Keyword::Fetch => self.refused_fetch(),
            Keyword::Deallocate => {
                let start = self.advance().position;
                self.cursor_name()?;
                self.refuse("DEALLOCATE", self.since(start));
                Ok(StatementKind::Break)
            }
            Keyword::End if self.is_word_at(1, "conversation") => self.refused_statement("END CONVERSATION"),
            Keyword::Add if self.is_word_at(1, "signature") => self.refused_statement("ADD SIGNATURE"),
            Keyword::Revert => self.refused_statement("REVERT"),
            Keyword::Setuser => self.refused_statement("SETUSER"),
            Keyword::Lineno => self.refused_statement("LINENO"),
            Keyword::Readtext => self.refused_statement("READTEXT"),
            Keyword::Writetext => self.refused_statement("WRITETEXT"),
            Keyword::Updatetext => self.refused_statement("UPDATETEXT"),
            _ => Err(self.unexpected()),
        }
    }

    /// `name [options] CURSOR ..` in DECLARE, which begins at `start`.
    pub(super) fn refused_cursor(&mut self, start: Position) -> Parse<()> {
        self.name()?;
        while self.is(TokenKind::Word) {
            self.advance();
        }
        if !self.is_keyword(Keyword::Cursor) {
            return Err(self.unexpected());
        }
        self.cursor_definition(start)?;
        self.refused = self.refused.take().map(|(_, at)| (Cow::Borrowed("DECLARE CURSOR"), at));
        Ok(())
    }

    /// `CURSOR [options] FOR query [FOR UPDATE [OF a, b] | READ ONLY]`
    pub(super) fn cursor_definition(&mut self, start: Position) -> Parse<()> {
        self.expect_keyword(Keyword::Cursor)?;
        while self.is(TokenKind::Word) {
            self.advance();
        }
        self.expect_keyword(Keyword::For)?;
        if self.eat_keyword(Keyword::With) {
            self.common_tables()?;
        }
        self.query()?;
        self.query_options()?;
        if self.eat_keyword(Keyword::For) {
            if self.eat_keyword(Keyword::Read) {
                self.expect_word("only")?;
            } else {
                self.expect_keyword(Keyword::Update)?;
                if self.eat_keyword(Keyword::Of) {
                    self.list(Self::column_name)?;
                }
            }
        }
        self.refused = None;
        self.refuse("cursor variable", self.since(start));
        Ok(())
    }

    /// `FETCH [NEXT ..] [FROM] cursor [INTO @a, @b]`
    fn refused_fetch(&mut self) -> Parse<StatementKind> {
        let start = self.advance().position;
        let direction = ["next", "prior", "first", "last"].iter().any(|word| self.is_word(word));
        if self.is_word("absolute") || self.is_word("relative") {
            self.advance();
            self.required_constant()?;
            self.expect_keyword(Keyword::From)?;
        } else if direction && self.is_at(1, TokenKind::Keyword(Keyword::From)) {
            self.advance();
            self.advance();
        } else {
            self.eat_keyword(Keyword::From);
        }
        self.cursor_name()?;
        if self.eat_keyword(Keyword::Into) {
            self.list(Self::variable)?;
        }
        self.refuse("FETCH", self.since(start));
        Ok(StatementKind::Break)
    }

    /// `[GLOBAL] name` or `@name`
    pub(super) fn cursor_name(&mut self) -> Parse<()> {
        if self.is_word("global") && self.is_name_token(self.peek_at(1)) {
            self.advance();
        }
        self.name_or_variable().map(drop)
    }
}
