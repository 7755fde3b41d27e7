//! GRANT, DENY and REVOKE, and ALTER AUTHORIZATION.

use super::{Parse, Parser};
use crate::{
    ast::{
        AlterAuthorization, Name, ObjectName, Permission, PermissionAction, PermissionChange, Securable, StatementKind,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn permission(&mut self, keyword: Keyword) -> Parse<StatementKind> {
        self.advance();
        let action = match keyword {
            Keyword::Grant => PermissionAction::Grant,
            Keyword::Deny => PermissionAction::Deny,
            _ => PermissionAction::Revoke,
        };
        let mut grant_option = false;
        if action == PermissionAction::Revoke && self.is_keyword(Keyword::Grant) {
            self.advance();
            self.expect_keyword(Keyword::Option)?;
            self.expect_keyword(Keyword::For)?;
            grant_option = true;
        }
        let mut permissions = Vec::new();
        if self.eat_keyword(Keyword::All) {
            self.eat_word("privileges");
        } else {
            permissions = self.list(Self::permission_name)?;
        }
        let securable = match self.eat_keyword(Keyword::On) {
            true => Some(self.securable(&mut permissions)?),
            false => None,
        };
        if !(action == PermissionAction::Revoke && self.eat_keyword(Keyword::From)) {
            self.expect_keyword(Keyword::To)?;
        }
        let principals = self.list(|p| p.name_or(&[Keyword::Public]))?;
        if self.is_keyword(Keyword::With) && self.is_at(1, TokenKind::Keyword(Keyword::Grant)) {
            self.advance();
            self.advance();
            self.expect_keyword(Keyword::Option)?;
            grant_option = true;
        }
        let cascade = self.eat_keyword(Keyword::Cascade);
        let grantor = match self.eat_keyword(Keyword::As) {
            true => Some(self.name()?),
            false => None,
        };
        Ok(StatementKind::Permission(Box::new(PermissionChange {
            action,
            permissions,
            securable,
            principals,
            grant_option,
            cascade,
            grantor,
        })))
    }

    /// `AUTHORIZATION ON [class ::] name TO principal`, or `TO SCHEMA OWNER`.
    pub(super) fn alter_authorization(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::On)?;
        let (class, name) = self.classed_name()?;
        self.expect_keyword(Keyword::To)?;
        let owner = match self.eat_keyword(Keyword::Schema) {
            true => {
                self.expect_word("owner")?;
                None
            }
            false => Some(self.name_or(&[Keyword::Public])?),
        };
        Ok(StatementKind::AlterAuthorization(Box::new(AlterAuthorization {
            securable: Securable { class, name },
            owner,
        })))
    }

    /// `SELECT`, `VIEW SERVER STATE (a, b)`: the words up to a comma, ON, TO or FROM.
    fn permission_name(&mut self) -> Parse<Permission> {
        let name = self.words(&[Keyword::On, Keyword::To, Keyword::From])?;
        let columns = self.optional_names()?;
        Ok(Permission { name, columns })
    }

    /// At least one word, joined by single spaces, up to one of `ends` or a token that is not a word.
    fn words(&mut self, ends: &[Keyword]) -> Parse<String> {
        let mut words = String::new();
        loop {
            match self.kind() {
                TokenKind::Word => {}
                TokenKind::Keyword(keyword) if !ends.contains(&keyword) => {}
                _ if words.is_empty() => return Err(self.unexpected()),
                _ => return Ok(words),
            }
            if !words.is_empty() {
                words.push(' ');
            }
            let word: Name = self.any_word();
            words.push_str(&word.text);
        }
    }

    /// `[class ::] name [(columns)]`; the columns apply to all permissions. ALL is on no columns.
    fn securable(&mut self, permissions: &mut [Permission]) -> Parse<Securable> {
        let (class, name) = self.classed_name()?;
        let columns = match permissions.is_empty() {
            true => Vec::new(),
            false => self.optional_names()?,
        };
        for permission in permissions
            .iter_mut()
            .filter(|permission| permission.columns.is_empty())
        {
            permission.columns.clone_from(&columns);
        }
        Ok(Securable { class, name })
    }

    /// `[class ::] name`.
    pub(super) fn classed_name(&mut self) -> Parse<(Option<String>, ObjectName)> {
        let mut ahead = 0;
        while ahead < CLASS_WORD_COUNT_MAX
            && matches!(self.peek_at(ahead).kind, TokenKind::Word | TokenKind::Keyword(_))
        {
            ahead += 1;
        }
        let mut class = None;
        if self.is_at(ahead, TokenKind::Colon) && self.is_at(ahead + 1, TokenKind::Colon) {
            class = Some(self.words(&[])?);
            self.advance();
            self.advance();
        }
        Ok((class, self.object_name()?))
    }
}

/// The most words that a class has: XML SCHEMA COLLECTION and others.
const CLASS_WORD_COUNT_MAX: usize = 4;
