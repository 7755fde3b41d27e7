//! ALTER TABLE.

use super::{Parse, Parser};
use crate::{
    ast::{AlterColumn, AlterTable, AlterTableAction, ConstraintChange, DropElement, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// Parses after ALTER.
    pub(super) fn alter_table(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.object_name()?;
        let check = self.with_check()?;
        let action = match self.kind() {
            TokenKind::Keyword(Keyword::Add) => {
                self.advance();
                let elements = self.list(Self::table_element)?;
                AlterTableAction::Add { check, elements }
            }
            TokenKind::Keyword(Keyword::Check | Keyword::Nocheck) => {
                let enable = self.eat_keyword(Keyword::Check);
                if !enable {
                    self.advance();
                }
                self.expect_keyword(Keyword::Constraint)?;
                let names = match self.eat_keyword(Keyword::All) {
                    true => Vec::new(),
                    false => self.list(Self::name)?,
                };
                AlterTableAction::Constraints(ConstraintChange { check, enable, names })
            }
            _ if check.is_some() => return Err(self.unexpected()),
            TokenKind::Keyword(Keyword::Drop) => {
                self.advance();
                AlterTableAction::Drop(self.dropped_elements()?)
            }
            TokenKind::Keyword(Keyword::Alter) => {
                self.advance();
                return self.alter_column(name);
            }
            TokenKind::Keyword(Keyword::Set) => return self.refused_statement("ALTER TABLE SET"),
            TokenKind::Word if self.is_word("rebuild") => {
                self.advance();
                AlterTableAction::Rebuild(self.index_work_options()?)
            }
            TokenKind::Word if self.is_word("switch") => return self.refused_statement("ALTER TABLE SWITCH"),
            TokenKind::Word
                if (self.is_word("enable") || self.is_word("disable"))
                    && self.is_at(1, TokenKind::Keyword(Keyword::Trigger)) =>
            {
                self.table_trigger_switch()?
            }
            TokenKind::Word if self.is_word("enable") => return self.refused_statement("ALTER TABLE ENABLE"),
            TokenKind::Word if self.is_word("disable") => return self.refused_statement("ALTER TABLE DISABLE"),
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })))
    }

    /// `WITH CHECK` (true), `WITH NOCHECK` (false) or neither.
    fn with_check(&mut self) -> Parse<Option<bool>> {
        if !self.eat_keyword(Keyword::With) {
            return Ok(None);
        }
        if self.eat_keyword(Keyword::Check) {
            return Ok(Some(true));
        }
        self.expect_keyword(Keyword::Nocheck)?;
        Ok(Some(false))
    }

    /// `[CONSTRAINT | COLUMN] [IF EXISTS] name, ..`: a keyword applies until the next one.
    fn dropped_elements(&mut self) -> Parse<Vec<DropElement>> {
        let mut column = false;
        let mut if_exists = false;
        self.list(|p| {
            let word = match p.kind() {
                TokenKind::Keyword(Keyword::Column) => Some(true),
                TokenKind::Keyword(Keyword::Constraint) => Some(false),
                _ => None,
            };
            if let Some(is_column) = word {
                p.advance();
                column = is_column;
                if_exists = false;
            }
            if p.eat_keyword(Keyword::If) {
                p.expect_keyword(Keyword::Exists)?;
                if_exists = true;
            }
            Ok(DropElement {
                column,
                if_exists,
                name: p.name()?,
                options: p.optional_with_settings()?,
            })
        })
    }

    /// `COLUMN name type ..`
    fn alter_column(&mut self, table: crate::ast::ObjectName) -> Parse<StatementKind> {
        self.expect_keyword(Keyword::Column)?;
        let name = self.name()?;
        if self.is_keyword(Keyword::Add) || self.is_keyword(Keyword::Drop) {
            return self.refused_statement("ALTER COLUMN ADD or DROP");
        }
        let type_name = self.type_name()?;
        let collation = match self.eat_keyword(Keyword::Collate) {
            true => Some(self.name()?),
            false => None,
        };
        let nullable = self.optional_null()?;
        if self.is_word("sparse") || self.is_keyword(Keyword::With) {
            return self.refused_statement("ALTER COLUMN SPARSE or WITH");
        }
        let action = AlterTableAction::AlterColumn(AlterColumn {
            name,
            type_name,
            collation,
            nullable,
        });
        Ok(StatementKind::AlterTable(Box::new(AlterTable { name: table, action })))
    }
}
