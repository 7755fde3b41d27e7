//! Column constraints and table constraints.

use super::super::{Parse, Parser};
use crate::{
    ast::{Constraint, ConstraintKind, ForeignKey, KeyConstraint, Name, ReferentialAction, Setting, TableIndex},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A constraint with an optional name; a column constraint (`of_column`) has no column list.
    pub(in super::super) fn constraint(&mut self, of_column: bool) -> Parse<Constraint> {
        let start = self.here();
        let name = match self.eat_keyword(Keyword::Constraint) {
            true => Some(self.name()?),
            false => None,
        };
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Primary) => {
                self.advance();
                self.expect_keyword(Keyword::Key)?;
                ConstraintKind::PrimaryKey(self.key_constraint(of_column)?)
            }
            TokenKind::Keyword(Keyword::Unique) => {
                self.advance();
                ConstraintKind::Unique(self.key_constraint(of_column)?)
            }
            TokenKind::Keyword(Keyword::Foreign) => {
                self.advance();
                self.expect_keyword(Keyword::Key)?;
                let columns = match of_column {
                    true => self.optional_names()?,
                    false => self.names_in_parens()?,
                };
                ConstraintKind::ForeignKey(self.foreign_key(columns)?)
            }
            TokenKind::Keyword(Keyword::References) if of_column => {
                ConstraintKind::ForeignKey(self.foreign_key(Vec::new())?)
            }
            TokenKind::Keyword(Keyword::Check) => self.check_constraint()?,
            TokenKind::Keyword(Keyword::Default) => self.default_constraint(of_column)?,
            _ => return Err(self.unexpected()),
        };
        let position = self.since(start);
        Ok(Constraint { name, kind, position })
    }

    fn key_constraint(&mut self, of_column: bool) -> Parse<KeyConstraint> {
        let clustered = self.clustered();
        if self.is_word("hash") {
            let at = self.advance().position;
            self.refuse("HASH", at);
        }
        let columns = match of_column && !self.is(TokenKind::LeftParen) {
            true => Vec::new(),
            false => self.index_columns()?,
        };
        let options = self.index_options()?;
        let filegroup = self.optional_filegroup()?;
        Ok(KeyConstraint {
            clustered,
            columns,
            options,
            filegroup,
        })
    }

    /// CLUSTERED (true), NONCLUSTERED (false) or neither.
    pub(in super::super) fn clustered(&mut self) -> Option<bool> {
        if self.eat_keyword(Keyword::Clustered) {
            return Some(true);
        }
        self.eat_keyword(Keyword::Nonclustered).then_some(false)
    }

    /// `WITH (..)`, or the deprecated form `WITH a = 1, b`.
    pub(in super::super) fn index_options(&mut self) -> Parse<Vec<Setting>> {
        let old = matches!(
            self.peek_at(1).kind,
            TokenKind::Word | TokenKind::Keyword(Keyword::Fillfactor)
        );
        if self.is_keyword(Keyword::With) && old {
            self.advance();
            return self.list(Self::setting);
        }
        self.optional_with_settings()
    }

    /// REFERENCES and its clauses.
    fn foreign_key(&mut self, columns: Vec<Name>) -> Parse<ForeignKey> {
        self.expect_keyword(Keyword::References)?;
        let mut key = ForeignKey {
            columns,
            table: self.object_name()?,
            referenced: self.optional_names()?,
            on_delete: None,
            on_update: None,
            not_for_replication: false,
        };
        while self.is_keyword(Keyword::On) {
            match self.peek_at(1).kind {
                TokenKind::Keyword(Keyword::Delete) if key.on_delete.is_none() => {
                    key.on_delete = Some(self.referential_action()?);
                }
                TokenKind::Keyword(Keyword::Update) if key.on_update.is_none() => {
                    key.on_update = Some(self.referential_action()?);
                }
                _ => break,
            }
        }
        key.not_for_replication = self.not_for_replication()?;
        Ok(key)
    }

    /// The action of ON DELETE or ON UPDATE; both keywords are consumed.
    fn referential_action(&mut self) -> Parse<ReferentialAction> {
        self.advance();
        self.advance();
        if self.eat_keyword(Keyword::Cascade) {
            return Ok(ReferentialAction::Cascade);
        }
        if self.eat_word("no") {
            self.expect_word("action")?;
            return Ok(ReferentialAction::NoAction);
        }
        self.expect_keyword(Keyword::Set)?;
        if self.eat_keyword(Keyword::Null) {
            return Ok(ReferentialAction::SetNull);
        }
        self.expect_keyword(Keyword::Default)?;
        Ok(ReferentialAction::SetDefault)
    }

    fn check_constraint(&mut self) -> Parse<ConstraintKind> {
        self.advance();
        let not_for_replication = self.not_for_replication()?;
        let start = self.expect(TokenKind::LeftParen)?.position;
        let mut condition = self.condition()?;
        self.expect(TokenKind::RightParen)?;
        condition.position = self.since(start);
        Ok(ConstraintKind::Check {
            condition,
            not_for_replication,
        })
    }

    fn default_constraint(&mut self, of_column: bool) -> Parse<ConstraintKind> {
        self.advance();
        let value = self.expression()?;
        let column = match !of_column || self.is_keyword(Keyword::For) {
            true => {
                self.expect_keyword(Keyword::For)?;
                Some(self.name()?)
            }
            false => None,
        };
        let with_values = self.is_keyword(Keyword::With) && self.is_at(1, TokenKind::Keyword(Keyword::Values));
        if with_values {
            self.advance();
            self.advance();
        }
        Ok(ConstraintKind::Default {
            value,
            column,
            with_values,
        })
    }

    /// `INDEX name [UNIQUE] [CLUSTERED] [(columns)] ..` in a table definition.
    pub(in super::super) fn table_index(&mut self) -> Parse<TableIndex> {
        self.expect_keyword(Keyword::Index)?;
        let name = self.name()?;
        let unique = self.eat_keyword(Keyword::Unique);
        let clustered = self.clustered();
        if self.is_word("columnstore") || self.is_word("hash") {
            let at = self.advance().position;
            self.refuse("COLUMNSTORE or HASH index", at);
        }
        let columns = match self.is(TokenKind::LeftParen) {
            true => self.index_columns()?,
            false => Vec::new(),
        };
        Ok(TableIndex {
            name,
            unique,
            clustered,
            columns,
            include: self.optional_include()?,
            filter: self.optional_where()?,
            options: self.index_options()?,
            filegroup: self.optional_filegroup()?,
        })
    }
}
