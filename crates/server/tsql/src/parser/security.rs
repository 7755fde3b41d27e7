//! Logins, users, roles and schemas.

use super::{Parse, Parser};
use crate::{
    ast::{
        AlterLogin, AlterLoginAction, AlterRole, AlterRoleAction, AlterSchema, AlterUser, CreateLogin, CreateRole,
        CreateSchema, CreateUser, Literal, LoginSource, Password, SchemaStatement, Statement, StatementKind,
        UserSource,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn create_login(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let source = if self.eat_keyword(Keyword::With) {
            let password = self.password()?;
            let options = match self.eat(TokenKind::Comma) {
                true => self.list(Self::setting)?,
                false => Vec::new(),
            };
            LoginSource::Password { password, options }
        } else {
            self.expect_keyword(Keyword::From)?;
            if self.eat_word("windows") {
                let options = match self.eat_keyword(Keyword::With) {
                    true => self.list(Self::setting)?,
                    false => Vec::new(),
                };
                LoginSource::Windows(options)
            } else if self.eat_word("certificate") {
                LoginSource::Certificate(self.name()?)
            } else if self.is_word("asymmetric") || self.is_keyword(Keyword::External) {
                return self.refused_statement("CREATE LOGIN FROM");
            } else {
                return Err(self.unexpected());
            }
        };
        Ok(StatementKind::CreateLogin(Box::new(CreateLogin { name, source })))
    }

    /// `PASSWORD = '..' [MUST_CHANGE] [UNLOCK]` or `PASSWORD = 0x.. HASHED ..`
    fn password(&mut self) -> Parse<Password> {
        self.expect_word("password")?;
        self.expect(TokenKind::Equal)?;
        let value = match self.is(TokenKind::Binary) {
            true => self.binary()?,
            false => Literal::String(self.string()?),
        };
        let mut password = Password {
            value,
            hashed: self.eat_word("hashed"),
            must_change: false,
            unlock: false,
        };
        loop {
            if self.eat_word("must_change") {
                password.must_change = true;
            } else if self.eat_word("unlock") {
                password.unlock = true;
            } else {
                return Ok(password);
            }
        }
    }

    pub(super) fn alter_login(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let action = if self.eat_word("enable") {
            AlterLoginAction::Enable
        } else if self.eat_word("disable") {
            AlterLoginAction::Disable
        } else if self.eat_keyword(Keyword::Add) {
            self.expect_word("credential")?;
            AlterLoginAction::AddCredential(self.name()?)
        } else if self.eat_keyword(Keyword::Drop) {
            self.expect_word("credential")?;
            AlterLoginAction::DropCredential(self.name()?)
        } else {
            self.expect_keyword(Keyword::With)?;
            self.login_changes()?
        };
        Ok(StatementKind::AlterLogin(Box::new(AlterLogin { name, action })))
    }

    fn login_changes(&mut self) -> Parse<AlterLoginAction> {
        let (mut password, mut old_password, mut options) = (None, None, Vec::new());
        loop {
            if self.is_word("password") && password.is_none() {
                password = Some(self.password()?);
                if self.eat_word("old_password") {
                    self.expect(TokenKind::Equal)?;
                    old_password = Some(self.string()?);
                }
            } else {
                options.push(self.setting()?);
            }
            if !self.eat(TokenKind::Comma) {
                return Ok(AlterLoginAction::With {
                    password,
                    old_password,
                    options,
                });
            }
        }
    }

    pub(super) fn create_user(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let source = if self.is_keyword(Keyword::For) || self.is_keyword(Keyword::From) {
            self.advance();
            if !self.eat_word("login") {
                return self.refused_statement("CREATE USER FROM");
            }
            UserSource::Login(self.name()?)
        } else if self.eat_word("without") {
            self.expect_word("login")?;
            UserSource::WithoutLogin
        } else {
            UserSource::SameName
        };
        let options = match self.eat_keyword(Keyword::With) {
            true => self.list(Self::setting)?,
            false => Vec::new(),
        };
        Ok(StatementKind::CreateUser(Box::new(CreateUser {
            name,
            source,
            options,
        })))
    }

    pub(super) fn alter_user(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_keyword(Keyword::With)?;
        let options = self.list(Self::setting)?;
        Ok(StatementKind::AlterUser(AlterUser { name, options }))
    }

    /// `ROLE name [AUTHORIZATION owner]`, of the server or of a database.
    pub(super) fn create_role(&mut self, server: bool) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let authorization = self.optional_authorization()?;
        Ok(StatementKind::CreateRole(CreateRole {
            server,
            name,
            authorization,
        }))
    }

    /// `ROLE name ..`, of the server or of a database.
    pub(super) fn alter_role(&mut self, server: bool) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        let action = if self.eat_keyword(Keyword::Add) {
            self.expect_word("member")?;
            AlterRoleAction::AddMember(self.name()?)
        } else if self.eat_keyword(Keyword::Drop) {
            self.expect_word("member")?;
            AlterRoleAction::DropMember(self.name()?)
        } else {
            self.expect_keyword(Keyword::With)?;
            self.expect_word("name")?;
            self.expect(TokenKind::Equal)?;
            AlterRoleAction::Rename(self.name()?)
        };
        Ok(StatementKind::AlterRole(AlterRole { server, name, action }))
    }

    pub(super) fn create_schema(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = match self.is_keyword(Keyword::Authorization) {
            true => None,
            false => Some(self.name()?),
        };
        let authorization = self.optional_authorization()?;
        // Elements without a semicolon before them belong to CREATE SCHEMA.
        let mut elements = Vec::new();
        while matches!(
            self.kind(),
            TokenKind::Keyword(Keyword::Create | Keyword::Grant | Keyword::Deny | Keyword::Revoke)
        ) {
            elements.push(self.schema_element()?);
        }
        Ok(StatementKind::Schema(SchemaStatement::Create(CreateSchema {
            name,
            authorization,
            elements,
        })))
    }

    /// A table, view or permission in CREATE SCHEMA.
    fn schema_element(&mut self) -> Parse<Statement> {
        if !self.is_keyword(Keyword::Create) || self.is_at(1, TokenKind::Keyword(Keyword::Table)) {
            return self.statement(true);
        }
        let start = self.advance().position;
        if !self.is_keyword(Keyword::View) {
            return Err(self.unexpected());
        }
        let kind = self.view_element()?;
        Ok(Statement {
            kind,
            position: self.since(start),
        })
    }

    /// `ALTER SCHEMA name TRANSFER [class ::] object`.
    pub(super) fn alter_schema(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_word("transfer")?;
        let (class, object) = self.classed_name()?;
        Ok(StatementKind::Schema(SchemaStatement::Alter(AlterSchema {
            name,
            class,
            object,
        })))
    }
}
