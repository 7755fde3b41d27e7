//! CREATE INDEX and ALTER INDEX.

use super::{Parse, Parser};
use crate::{
    ast::{AlterIndex, AlterIndexAction, CreateIndex, IndexColumn, Name, Setting, StatementKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// Parses after CREATE.
    pub(super) fn create_index(&mut self) -> Parse<StatementKind> {
        let start = self.here();
        let unique = self.eat_keyword(Keyword::Unique);
        let clustered = self.clustered();
        if self.is_word("columnstore") {
            self.advance();
            self.expect_keyword(Keyword::Index)?;
            self.skip_statement()?;
            self.refuse("CREATE COLUMNSTORE INDEX", self.since(start));
            return Ok(StatementKind::Break);
        }
        self.expect_keyword(Keyword::Index)?;
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let index = CreateIndex {
            name,
            table: self.object_name()?,
            unique,
            clustered,
            columns: self.index_columns()?,
            include: self.optional_include()?,
            filter: self.optional_where()?,
            options: self.index_options()?,
            filegroup: self.optional_filegroup()?,
        };
        if self.is_word("filestream_on") {
            let start = self.advance().position;
            self.name_or_string()?;
            self.refuse("FILESTREAM_ON", self.since(start));
        }
        Ok(StatementKind::CreateIndex(Box::new(index)))
    }

    /// `(a, b DESC)`
    pub(super) fn index_columns(&mut self) -> Parse<Vec<IndexColumn>> {
        self.list_in_parens(|p| {
            let name = p.name()?;
            let descending = p.ascending_or_descending();
            Ok(IndexColumn { name, descending })
        })
    }

    /// An optional `INCLUDE (a, b)`.
    pub(super) fn optional_include(&mut self) -> Parse<Vec<Name>> {
        match self.eat_word("include") {
            true => self.names_in_parens(),
            false => Ok(Vec::new()),
        }
    }

    /// Parses after ALTER.
    pub(super) fn alter_index(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = match self.eat_keyword(Keyword::All) {
            true => None,
            false => Some(self.name()?),
        };
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let action = if self.eat_word("rebuild") {
            AlterIndexAction::Rebuild(self.index_work_options()?)
        } else if self.eat_word("reorganize") {
            AlterIndexAction::Reorganize(self.index_work_options()?)
        } else if self.eat_word("disable") {
            AlterIndexAction::Disable
        } else if self.eat_keyword(Keyword::Set) {
            AlterIndexAction::Set(self.list_in_parens(Self::setting)?)
        } else if ["resume", "pause", "abort"].iter().any(|word| self.is_word(word)) {
            return self.refused_statement("resumable index");
        } else {
            return Err(self.unexpected());
        };
        Ok(StatementKind::AlterIndex(Box::new(AlterIndex { name, table, action })))
    }

    /// `STATISTICS s ON t (a, b) [WHERE ..] [WITH ..]`, after CREATE.
    pub(super) fn create_statistics(&mut self) -> Parse<StatementKind> {
        self.advance();
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let columns = self.names_in_parens()?;
        if self.is_keyword(Keyword::Where) {
            let start = self.advance().position;
            self.condition()?;
            self.refuse("WHERE of CREATE STATISTICS", self.since(start));
        }
        let mut no_recompute = false;
        if self.eat_keyword(Keyword::With) {
            no_recompute |= self.statistics_option()?;
            while self.eat(TokenKind::Comma) {
                no_recompute |= self.statistics_option()?;
            }
        }
        Ok(StatementKind::AlterIndex(Box::new(AlterIndex {
            name: Some(name),
            table,
            action: AlterIndexAction::CreateStatistics { columns, no_recompute },
        })))
    }

    /// An option of CREATE STATISTICS; returns whether it is NORECOMPUTE.
    fn statistics_option(&mut self) -> Parse<bool> {
        let start = self.here();
        if self.eat_word("norecompute") {
            return Ok(true);
        }
        if self.eat_word("fullscan") {
            return Ok(false);
        }
        if self.eat_word("sample") {
            self.expression()?;
            if !self.eat_keyword(Keyword::Percent) && !self.eat_word("rows") {
                return Err(self.unexpected());
            }
            return Ok(false);
        }
        if self.is_word("stats_stream") {
            self.setting()?;
            self.refuse("STATS_STREAM", self.since(start));
            return Ok(false);
        }
        let known = ["persist_sample_percent", "incremental", "maxdop", "auto_drop"];
        if !known.iter().any(|word| self.is_word(word)) {
            return Err(self.unexpected());
        }
        self.setting()?;
        Ok(false)
    }

    /// `STATISTICS t [i | (i, j)] [WITH ..]`, after UPDATE; there is nothing that the options are about.
    pub(super) fn update_statistics(&mut self) -> Parse<StatementKind> {
        self.advance();
        let table = self.object_name()?;
        let names = match self.is_name() && !self.is_label() {
            true => vec![self.name()?],
            false => self.optional_names()?,
        };
        if self.eat_keyword(Keyword::With) {
            self.skip_statement()?;
        }
        Ok(StatementKind::AlterIndex(Box::new(AlterIndex {
            name: None,
            table,
            action: AlterIndexAction::UpdateStatistics(names),
        })))
    }

    /// `[PARTITION = ALL] [WITH (..)]`; a single partition is refused.
    pub(super) fn index_work_options(&mut self) -> Parse<Vec<Setting>> {
        let start = self.here();
        if self.eat_word("partition") {
            self.expect(TokenKind::Equal)?;
            if !self.eat_keyword(Keyword::All) {
                self.required_constant()?;
                self.refuse("PARTITION", self.since(start));
            }
        }
        self.optional_with_settings()
    }
}
