//! CREATE TABLE: columns and constraints.

use super::{Parse, Parser};
use crate::{
    ast::{
        ColumnDefinition, ColumnKind, Constraint, ConstraintKind, CreateTable, Expr, Identity, Name, StatementKind,
        TableElement, TypeName,
    },
    keyword::Keyword,
    token::TokenKind,
};

mod constraint;

impl Parser<'_> {
    pub(super) fn create_table(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        if self.is_keyword(Keyword::As) {
            // AS FILETABLE, AS NODE, AS EDGE before or after the columns.
            return self.refused_statement("CREATE TABLE AS");
        }
        let elements = self.table_elements()?;
        if self.is_keyword(Keyword::As) {
            return self.refused_statement("CREATE TABLE AS");
        }
        let (mut filegroup, mut text_filegroup, mut options) = (None, None, Vec::new());
        loop {
            if self.is_keyword(Keyword::On) {
                filegroup = self.optional_filegroup()?;
            } else if self.eat_word("textimage_on") {
                text_filegroup = Some(self.name_or_string()?);
            } else if self.is_word("filestream_on") {
                let start = self.advance().position;
                self.name_or_string()?;
                self.refuse("FILESTREAM_ON", self.since(start));
            } else if self.is_keyword(Keyword::With) && self.is_at(1, TokenKind::LeftParen) {
                if self.is_table_kind_at(2) {
                    let start = self.advance().position;
                    self.skip_parens()?;
                    self.refuse("CREATE TABLE WITH", self.since(start));
                } else {
                    options = self.optional_with_settings()?;
                }
            } else {
                break;
            }
        }
        Ok(StatementKind::CreateTable(Box::new(CreateTable {
            name,
            elements,
            filegroup,
            text_filegroup,
            options,
        })))
    }

    /// Whether an option at offset `ahead` declares another kind of table.
    fn is_table_kind_at(&self, ahead: usize) -> bool {
        let kinds = [
            "system_versioning",
            "memory_optimized",
            "ledger",
            "data_deletion",
            "remote_data_archive",
        ];
        kinds.iter().any(|kind| self.is_word_at(ahead, kind))
    }

    /// Columns and constraints in parentheses; a trailing comma is allowed.
    pub(super) fn table_elements(&mut self) -> Parse<Vec<TableElement>> {
        self.expect(TokenKind::LeftParen)?;
        let mut elements = vec![self.table_element()?];
        while self.eat(TokenKind::Comma) && !self.is(TokenKind::RightParen) {
            elements.push(self.table_element()?);
        }
        self.expect(TokenKind::RightParen)?;
        Ok(elements)
    }

    pub(super) fn table_element(&mut self) -> Parse<TableElement> {
        let start = self.here();
        match self.kind() {
            TokenKind::Keyword(Keyword::Index) => self.table_index().map(Box::new).map(TableElement::Index),
            TokenKind::Keyword(
                Keyword::Constraint
                | Keyword::Primary
                | Keyword::Unique
                | Keyword::Foreign
                | Keyword::Check
                | Keyword::Default,
            ) => {
                let constraint = self.constraint(false)?;
                Ok(TableElement::Constraint(Box::new(constraint)))
            }
            TokenKind::Word if self.is_word("period") && self.is_at(1, TokenKind::Keyword(Keyword::For)) => {
                self.advance();
                self.advance();
                self.expect_word("system_time")?;
                self.skip_parens()?;
                self.refuse("PERIOD FOR SYSTEM_TIME", self.since(start));
                let kind = ConstraintKind::Default {
                    value: self.null_since(start),
                    column: None,
                    with_values: false,
                };
                let position = self.since(start);
                let name = None;
                Ok(TableElement::Constraint(Box::new(Constraint { name, kind, position })))
            }
            _ => self.column_definition().map(Box::new).map(TableElement::Column),
        }
    }

    fn column_definition(&mut self) -> Parse<ColumnDefinition> {
        let start = self.here();
        let name = self.name()?;
        let kind = self.column_kind(&name)?;
        let mut column = ColumnDefinition {
            name,
            kind,
            collation: None,
            nullable: None,
            identity: None,
            row_guid: false,
            constraints: Vec::new(),
            index: None,
            position: start,
        };
        while self.column_option(&mut column)? {}
        column.position = self.since(start);
        Ok(column)
    }

    fn column_kind(&mut self, name: &Name) -> Parse<ColumnKind> {
        if self.eat_keyword(Keyword::As) {
            let value = self.expression()?;
            let persisted = self.eat_word("persisted");
            return Ok(ColumnKind::Computed { value, persisted });
        }
        // A column named timestamp needs no type.
        let alone = matches!(
            self.kind(),
            TokenKind::Comma | TokenKind::RightParen | TokenKind::Keyword(Keyword::Not | Keyword::Null)
        );
        if alone && name.is_word("timestamp") {
            return Ok(ColumnKind::Typed(TypeName {
                name: Self::single(name.clone()),
                arguments: Vec::new(),
                position: name.position,
                user_type: None,
            }));
        }
        self.type_name().map(ColumnKind::Typed)
    }

    /// An option after a column's type, in any order; returns whether one is present.
    fn column_option(&mut self, column: &mut ColumnDefinition) -> Parse<bool> {
        let start = self.here();
        match self.kind() {
            TokenKind::Keyword(Keyword::Collate) => {
                self.advance();
                column.collation = Some(self.name()?);
            }
            TokenKind::Keyword(Keyword::Null | Keyword::Not) => {
                column.nullable = self.optional_null()?;
                if column.nullable.is_none() {
                    return Err(self.unexpected());
                }
            }
            TokenKind::Keyword(Keyword::Identity) => column.identity = Some(self.identity()?),
            TokenKind::Keyword(Keyword::Rowguidcol) => {
                self.advance();
                column.row_guid = true;
            }
            TokenKind::Keyword(Keyword::Index) => column.index = Some(self.table_index()?),
            TokenKind::Keyword(
                Keyword::Constraint
                | Keyword::Default
                | Keyword::Primary
                | Keyword::Unique
                | Keyword::Check
                | Keyword::Foreign
                | Keyword::References,
            ) => {
                let constraint = self.constraint(true)?;
                column.constraints.push(constraint);
            }
            TokenKind::Word => return self.refused_column_option(),
            _ => return Ok(false),
        }
        debug_assert!(self.here().start > start.start, "an option takes a token");
        Ok(true)
    }

    /// SPARSE and other unsupported options.
    fn refused_column_option(&mut self) -> Parse<bool> {
        let start = self.here();
        let what = if self.eat_word("sparse") {
            "SPARSE"
        } else if self.eat_word("filestream") {
            "FILESTREAM"
        } else if self.eat_word("hidden") {
            "HIDDEN"
        } else if self.eat_word("masked") {
            self.expect_keyword(Keyword::With)?;
            self.skip_parens()?;
            "MASKED"
        } else if self.eat_word("encrypted") {
            self.expect_keyword(Keyword::With)?;
            self.skip_parens()?;
            "ENCRYPTED WITH"
        } else if self.eat_word("generated") {
            while self.is(TokenKind::Word) || self.is_keyword(Keyword::As) || self.is_keyword(Keyword::End) {
                self.advance();
            }
            "GENERATED ALWAYS"
        } else {
            return Ok(false);
        };
        self.refuse(what, self.since(start));
        Ok(true)
    }

    fn identity(&mut self) -> Parse<Identity> {
        self.advance();
        let mut seed_and_increment = None;
        if self.eat(TokenKind::LeftParen) {
            let seed = self.signed_number()?;
            self.expect(TokenKind::Comma)?;
            seed_and_increment = Some((seed, self.signed_number()?));
            self.expect(TokenKind::RightParen)?;
        }
        Ok(Identity {
            seed_and_increment,
            not_for_replication: self.not_for_replication()?,
        })
    }

    fn signed_number(&mut self) -> Parse<Expr> {
        match self.kind() {
            TokenKind::Minus | TokenKind::Plus | TokenKind::Integer | TokenKind::Decimal => self.required_constant(),
            _ => Err(self.unexpected()),
        }
    }

    /// An optional `NOT FOR REPLICATION`.
    fn not_for_replication(&mut self) -> Parse<bool> {
        if !self.is_keyword(Keyword::Not) || !self.is_at(1, TokenKind::Keyword(Keyword::For)) {
            return Ok(false);
        }
        self.advance();
        self.advance();
        self.expect_keyword(Keyword::Replication)?;
        Ok(true)
    }

    /// An optional `ON filegroup`; a partition scheme is refused.
    pub(super) fn optional_filegroup(&mut self) -> Parse<Option<Name>> {
        let start = self.here();
        if !self.eat_keyword(Keyword::On) {
            return Ok(None);
        }
        let name = self.name_or_string()?;
        if self.is(TokenKind::LeftParen) {
            self.skip_parens()?;
            self.refuse("partition scheme", self.since(start));
        }
        Ok(Some(name))
    }
}
