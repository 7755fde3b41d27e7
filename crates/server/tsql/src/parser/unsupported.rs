//! Skips unsupported T-SQL and finds its end.

use super::{Parse, Parser};
use crate::{
    keyword::Keyword,
    token::{Token, TokenKind},
};

impl Parser<'_> {
    /// Skips parentheses and their contents.
    pub(super) fn skip_parens(&mut self) -> Parse<()> {
        self.expect(TokenKind::LeftParen)?;
        self.skip_content()?;
        self.advance();
        Ok(())
    }

    /// Skips to the closing parenthesis of the open one.
    pub(super) fn skip_content(&mut self) -> Parse<()> {
        let mut depth = 1_u32;
        loop {
            match self.kind() {
                TokenKind::LeftParen => depth = depth.saturating_add(1),
                TokenKind::RightParen => depth -= 1,
                TokenKind::End => return Err(self.unexpected()),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
            self.skip_token()?;
        }
    }

    /// Skips to the end of a statement outside of parentheses: to a semicolon, or to a keyword that begins another
    /// statement or ends the enclosing block.
    pub(super) fn skip_statement(&mut self) -> Parse<()> {
        loop {
            match self.kind() {
                TokenKind::LeftParen => self.skip_parens()?,
                TokenKind::Semicolon | TokenKind::End => return Ok(()),
                TokenKind::Keyword(keyword) if ends_statement(keyword) => return Ok(()),
                _ => self.skip_token()?,
            }
        }
    }

    /// Skips all tokens except trailing semicolons.
    pub(super) fn skip_batch(&mut self) -> Parse<()> {
        while !self.is(TokenKind::End) {
            self.skip_token()?;
        }
        let last = |token: &Token| !matches!(token.kind, TokenKind::Semicolon | TokenKind::End);
        self.at = self.tokens.iter().rposition(last).map_or(0, |at| at + 1);
        Ok(())
    }

    /// Skips one token; a lexical error is reported all the same.
    fn skip_token(&mut self) -> Parse<()> {
        let token = self.peek();
        if token.kind == TokenKind::Unknown || self.lexical_fault(token).is_some() {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(())
    }
}

/// Whether the keyword begins a statement, or ends one in a block.
fn ends_statement(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Alter
            | Keyword::Backup
            | Keyword::Begin
            | Keyword::Break
            | Keyword::Checkpoint
            | Keyword::Close
            | Keyword::Commit
            | Keyword::Continue
            | Keyword::Create
            | Keyword::Dbcc
            | Keyword::Deallocate
            | Keyword::Declare
            | Keyword::Delete
            | Keyword::Deny
            | Keyword::Drop
            | Keyword::Else
            | Keyword::End
            | Keyword::Exec
            | Keyword::Execute
            | Keyword::Fetch
            | Keyword::Goto
            | Keyword::Grant
            | Keyword::If
            | Keyword::Insert
            | Keyword::Kill
            | Keyword::Merge
            | Keyword::Print
            | Keyword::Raiserror
            | Keyword::Reconfigure
            | Keyword::Restore
            | Keyword::Return
            | Keyword::Revert
            | Keyword::Revoke
            | Keyword::Rollback
            | Keyword::Save
            | Keyword::Select
            | Keyword::Set
            | Keyword::Shutdown
            | Keyword::Truncate
            | Keyword::Update
            | Keyword::Use
            | Keyword::Waitfor
            | Keyword::While
    )
}
