//! Unsupported table sources, and table-valued functions.

use super::super::{Parse, Parser};
use crate::{
    ast::{CallForm, FunctionCall, JsonColumn, Name, ObjectName, Position, TableSource, TableSourceKind},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A function's arguments, after its name.
    pub(super) fn table_function(&mut self, name: ObjectName) -> Parse<(Box<FunctionCall>, Vec<JsonColumn>)> {
        let arguments = self.arguments()?;
        let is_open_json = name.single().is_some_and(|name| name.is_word("OPENJSON"));
        let schema = match is_open_json {
            true => self.json_schema()?,
            false => Vec::new(),
        };
        let call = Box::new(FunctionCall {
            name,
            arguments,
            within_group: Vec::new(),
            null_treatment: None,
            over: None,
            odbc: false,
            form: CallForm::Function,
        });
        Ok((call, schema))
    }

    /// OPENROWSET and similar functions.
    pub(super) fn refused_rowset(&mut self, keyword: Keyword) -> Parse<TableSource> {
        let what = match keyword {
            Keyword::Openrowset => "OPENROWSET other than BULK with SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB",
            Keyword::Openquery => "OPENQUERY",
            Keyword::Openxml => "OPENXML",
            Keyword::Opendatasource => "OPENDATASOURCE",
            Keyword::Containstable => "CONTAINSTABLE",
            Keyword::Freetexttable => "FREETEXTTABLE",
            Keyword::Semantickeyphrasetable => "SEMANTICKEYPHRASETABLE",
            Keyword::Semanticsimilaritytable => "SEMANTICSIMILARITYTABLE",
            Keyword::Semanticsimilaritydetailstable => "SEMANTICSIMILARITYDETAILSTABLE",
            _ => return Err(self.unexpected()),
        };
        let start = self.here();
        let name = self.any_word();
        self.skip_parens()?;
        while self.eat(TokenKind::Point) {
            self.name()?;
        }
        if self.is_keyword(Keyword::With) && self.is_at(1, TokenKind::LeftParen) {
            self.advance();
            self.skip_parens()?;
        }
        self.refuse(what, self.since(start));
        self.optional_derived_alias()?;
        Ok(self.placeholder(start, name))
    }

    /// `FOR SYSTEM_TIME ..`
    pub(super) fn refused_system_time(&mut self) -> Parse<()> {
        if !self.is_keyword(Keyword::For) || !self.is_word_at(1, "system_time") {
            return Ok(());
        }
        let start = self.advance().position;
        self.advance();
        if self.eat_keyword(Keyword::All) {
            self.refuse("FOR SYSTEM_TIME", self.since(start));
            return Ok(());
        }
        if self.eat_word("contained") {
            self.expect_keyword(Keyword::In)?;
            self.skip_parens()?;
        } else {
            // AS OF a; FROM a TO b; BETWEEN a AND b
            self.advance();
            self.eat_keyword(Keyword::Of);
            self.expression()?;
            if self.eat_keyword(Keyword::To) || self.eat_keyword(Keyword::And) {
                self.expression()?;
            }
        }
        self.refuse("FOR SYSTEM_TIME", self.since(start));
        Ok(())
    }

    /// `TABLESAMPLE [SYSTEM] (..) [REPEATABLE (..)]`
    pub(super) fn refused_sample(&mut self) -> Parse<()> {
        let start = self.here();
        if !self.eat_keyword(Keyword::Tablesample) {
            return Ok(());
        }
        self.eat_word("system");
        self.skip_parens()?;
        if self.eat_word("repeatable") {
            self.skip_parens()?;
        }
        self.refuse("TABLESAMPLE", self.since(start));
        Ok(())
    }

    /// A placeholder in a tree that is discarded because its statement is refused.
    fn placeholder(&self, start: Position, name: Name) -> TableSource {
        let name = Self::single(name);
        let kind = TableSourceKind::Table {
            name,
            alias: None,
            hints: Vec::new(),
        };
        self.source_since(start, kind)
    }
}
