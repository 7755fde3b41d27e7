//! What is T-SQL but not supported: how its end is found.

use super::{Parse, Parser};
use crate::{keyword::Keyword, token::TokenKind};

impl Parser<'_> {
    /// Skips parentheses and all that stands in them.
    pub(super) fn skip_parens(&mut self) -> Parse<()> {
        self.expect(TokenKind::LeftParen)?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.kind() {
                TokenKind::LeftParen => depth = depth.saturating_add(1),
                TokenKind::RightParen => depth -= 1,
                TokenKind::End
                | TokenKind::UnclosedQuote
                | TokenKind::UnclosedComment
                | TokenKind::LongIdentifier
                | TokenKind::Unknown => return Err(self.unexpected()),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    /// Skips to the end of a statement: to a semicolon, or to a word that begins another one or ends what is around
    /// it, outside parentheses.
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

    /// Skips to the next semicolon outside parentheses, or to the end.
    pub(super) fn skip_to_semicolon(&mut self) -> Parse<()> {
        loop {
            match self.kind() {
                TokenKind::LeftParen => self.skip_parens()?,
                TokenKind::Semicolon | TokenKind::End => return Ok(()),
                _ => self.skip_token()?,
            }
        }
    }

    /// Skips all that is left.
    pub(super) fn skip_batch(&mut self) -> Parse<()> {
        while !self.is(TokenKind::End) {
            self.skip_token()?;
        }
        Ok(())
    }

    /// Skips one token; what is no token, or closes what is not open, is an error all the same.
    fn skip_token(&mut self) -> Parse<()> {
        if self.lexical_fault(self.peek()).is_some() {
            return Err(self.unexpected());
        }
        self.advance();
        Ok(())
    }
}

/// Whether the word begins a statement, or ends one in a block.
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
