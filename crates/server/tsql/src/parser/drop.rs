//! DROP.

use super::{Parse, Parser};
use crate::{
    ast::{Drop, DropIndex, DropKind, ObjectName, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn drop(&mut self) -> Parse<StatementKind> {
        self.advance();
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Table) => DropKind::Table,
            TokenKind::Keyword(Keyword::View) => DropKind::View,
            TokenKind::Keyword(Keyword::Proc | Keyword::Procedure) => DropKind::Procedure,
            TokenKind::Keyword(Keyword::Function) => DropKind::Function,
            TokenKind::Keyword(Keyword::Trigger) => DropKind::Trigger,
            TokenKind::Keyword(Keyword::Database) => return self.drop_database(),
            TokenKind::Keyword(Keyword::Index) => return self.drop_index(),
            TokenKind::Keyword(Keyword::Schema) => return self.drop_one(DropKind::Schema, true),
            TokenKind::Keyword(Keyword::User) => return self.drop_one(DropKind::User, true),
            TokenKind::Word if self.is_word("sequence") => DropKind::Sequence,
            TokenKind::Word if self.is_word("synonym") => DropKind::Synonym,
            TokenKind::Keyword(Keyword::Statistics) => return self.drop_statistics(),
            TokenKind::Word if self.is_word("type") => DropKind::Type,
            TokenKind::Word if self.is_word("role") => return self.drop_one(DropKind::Role, true),
            TokenKind::Word if self.is_server_role() => {
                self.advance();
                return self.drop_one(DropKind::ServerRole, false);
            }
            TokenKind::Word if self.is_word("login") => return self.drop_one(DropKind::Login, false),
            TokenKind::Word if self.is_word("certificate") => return self.drop_one(DropKind::Certificate, false),
            TokenKind::Word if self.is_key_management("credential") => {
                return self.drop_one(DropKind::Credential, false);
            }
            TokenKind::Word if self.is_key_management("cryptographic") => {
                self.advance();
                return self.drop_one(DropKind::CryptographicProvider, false);
            }
            TokenKind::Word if self.is_key_management("asymmetric") => return self.drop_asymmetric_key(),
            TokenKind::Word if self.is_symmetric_key() => {
                self.advance();
                return self.drop_one(DropKind::SymmetricKey, false);
            }
            TokenKind::Word if self.is_word("master") => {
                self.advance();
                self.expect_keyword(Keyword::Key)?;
                return Ok(StatementKind::DropMasterKey);
            }
            _ => return self.refused_object("DROP"),
        };
        self.advance();
        let if_exists = self.optional_if_exists()?;
        let names = match kind {
            DropKind::Type => vec![self.object_name()?],
            _ => self.list(Self::object_name)?,
        };
        if kind == DropKind::Trigger && self.is_keyword(Keyword::On) {
            let start = self.advance().position;
            match self.eat_keyword(Keyword::All) {
                true => self.expect_word("server")?,
                false => self.expect_keyword(Keyword::Database)?,
            };
            self.refuse("DROP TRIGGER ON", self.since(start));
        }
        Ok(StatementKind::Drop(Drop { kind, if_exists, names }))
    }

    /// `STATISTICS t.s, ..`
    fn drop_statistics(&mut self) -> Parse<StatementKind> {
        self.advance();
        let names = self.list(Self::object_name)?;
        Ok(StatementKind::Drop(Drop {
            kind: DropKind::Statistics,
            if_exists: false,
            names,
        }))
    }

    pub(super) fn optional_if_exists(&mut self) -> Parse<bool> {
        let found = self.eat_keyword(Keyword::If);
        if found {
            self.expect_keyword(Keyword::Exists)?;
        }
        Ok(found)
    }

    /// DROP of a single object; with `optional` IF EXISTS is allowed.
    fn drop_one(&mut self, kind: DropKind, optional: bool) -> Parse<StatementKind> {
        self.advance();
        let if_exists = optional && self.optional_if_exists()?;
        let names = vec![Self::single(self.name()?)];
        Ok(StatementKind::Drop(Drop { kind, if_exists, names }))
    }

    /// `ASYMMETRIC KEY name [REMOVE PROVIDER KEY]`
    fn drop_asymmetric_key(&mut self) -> Parse<StatementKind> {
        self.advance();
        let dropped = self.drop_one(DropKind::AsymmetricKey, false)?;
        if self.is_word("remove") && self.is_word_at(1, "provider") {
            let start = self.advance().position;
            self.advance();
            self.expect_keyword(Keyword::Key)?;
            self.refuse("DROP ASYMMETRIC KEY REMOVE PROVIDER KEY", self.since(start));
        }
        Ok(dropped)
    }

    /// DROP DATABASE, and DROP DATABASE ENCRYPTION KEY.
    fn drop_database(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.is_word("encryption") && self.is_at(1, TokenKind::Keyword(Keyword::Key)) {
            self.advance();
            self.advance();
            return Ok(StatementKind::DropEncryptionKey);
        }
        if self.is_word("audit") && self.is_word_at(1, "specification") {
            return self.refused_statement("DROP DATABASE AUDIT SPECIFICATION");
        }
        if self.is_word("scoped") && self.is_word_at(1, "credential") {
            return self.refused_statement("DROP DATABASE SCOPED CREDENTIAL");
        }
        let if_exists = self.optional_if_exists()?;
        let names = self.list(|p| p.name().map(Self::single))?;
        Ok(StatementKind::Drop(Drop {
            kind: DropKind::Database,
            if_exists,
            names,
        }))
    }

    fn drop_index(&mut self) -> Parse<StatementKind> {
        self.advance();
        let if_exists = self.optional_if_exists()?;
        let indexes = self.list(Self::dropped_index)?;
        Ok(StatementKind::DropIndex { if_exists, indexes })
    }

    /// `i ON t [WITH (..)]` or `t.i`
    fn dropped_index(&mut self) -> Parse<DropIndex> {
        let name = self.object_name()?;
        if name.single().is_none() {
            return self.index_of_table(name);
        }
        self.expect_keyword(Keyword::On)?;
        Ok(DropIndex {
            name: name.name,
            table: self.object_name()?,
            options: self.optional_with_settings()?,
        })
    }

    /// `t.i`: the last part is the index's name.
    fn index_of_table(&mut self, name: ObjectName) -> Parse<DropIndex> {
        let column = super::name::column_of(name);
        match column.table {
            Some(table) => Ok(DropIndex {
                name: column.name,
                table,
                options: Vec::new(),
            }),
            None => Err(self.unexpected()),
        }
    }
}
