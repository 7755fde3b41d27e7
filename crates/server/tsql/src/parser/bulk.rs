//! Bulk load: INSERT BULK and BULK INSERT.

use super::{Parse, Parser};
use crate::{
    ast::{
        BulkLoad, BulkType, ChangeTarget, Insert, InsertSource, Name, ObjectName, Setting, SettingValue, StatementKind,
        With,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// The rest of `INSERT BULK t (a int NULL COLLATE c, ..) WITH (..)`.
    pub(super) fn insert_bulk(&mut self) -> Parse<StatementKind> {
        let target = self.object_name()?;
        let columns = match self.is(TokenKind::LeftParen) {
            true => self.list_in_parens(Self::bulk_column)?,
            false => Vec::new(),
        };
        let options = self.bulk_options(INSERT_BULK, &[])?;
        let (columns, types) = columns.into_iter().unzip();
        let bulk = BulkLoad {
            file: None,
            types,
            options,
        };
        Ok(statement(target, columns, bulk))
    }

    /// `BULK INSERT t FROM 'file' WITH (..)`.
    pub(super) fn bulk_insert(&mut self) -> Parse<StatementKind> {
        self.advance();
        self.expect_keyword(Keyword::Insert)?;
        let target = self.object_name()?;
        self.expect_keyword(Keyword::From)?;
        let file = self.string()?;
        let options = self.bulk_options(BULK_INSERT, REFUSED)?;
        let bulk = BulkLoad {
            file: Some(file),
            types: Vec::new(),
            options,
        };
        Ok(statement(target, Vec::new(), bulk))
    }

    /// A column with its type, and NULL, NOT NULL and COLLATE in any order.
    fn bulk_column(&mut self) -> Parse<(Name, BulkType)> {
        let name = self.name()?;
        let mut column = BulkType {
            type_name: self.type_name()?,
            nullable: None,
            collation: None,
        };
        loop {
            if self.eat_keyword(Keyword::Collate) {
                column.collation = Some(self.name()?);
            } else if self.eat_keyword(Keyword::Not) {
                self.expect_keyword(Keyword::Null)?;
                column.nullable = Some(false);
            } else if self.eat_keyword(Keyword::Null) {
                column.nullable = Some(true);
            } else {
                return Ok((name, column));
            }
        }
    }

    /// `WITH (..)` of these options; those of `refused` are refused by name, and others are errors.
    fn bulk_options(&mut self, known: &[&str], refused: &[&str]) -> Parse<Vec<Setting>> {
        if !self.eat_keyword(Keyword::With) {
            return Ok(Vec::new());
        }
        self.list_in_parens(|p| p.bulk_option(known, refused))
    }

    fn bulk_option(&mut self, known: &[&str], refused: &[&str]) -> Parse<Setting> {
        let start = self.here();
        let word = self.text(self.peek());
        let is_known = |name: &&str| name.eq_ignore_ascii_case(word);
        if let Some(name) = refused.iter().find(|name| is_known(name)) {
            let option = self.setting()?;
            self.refuse(format!("BULK INSERT WITH {name}"), option.position);
            return Ok(option);
        }
        if !known.iter().any(is_known) {
            return Err(self.unexpected());
        }
        if !self.is_keyword(Keyword::Order) {
            return self.setting();
        }
        let name = self.any_word();
        let columns = self.list_in_parens(|p| {
            let column = p.simple_value()?;
            let _ = p.eat_keyword(Keyword::Asc) || p.eat_keyword(Keyword::Desc);
            Ok(column)
        })?;
        Ok(Setting {
            name,
            equals: false,
            value: Some(SettingValue::Values(columns)),
            position: self.since(start),
        })
    }
}

fn statement(target: ObjectName, columns: Vec<Name>, bulk: BulkLoad) -> StatementKind {
    StatementKind::Insert(Box::new(Insert {
        with: With::default(),
        top: None,
        target: ChangeTarget::Table(target),
        hints: Vec::new(),
        columns,
        output: Vec::new(),
        source: InsertSource::Bulk(Box::new(bulk)),
        options: Vec::new(),
    }))
}

/// The options of INSERT BULK.
const INSERT_BULK: &[&str] = &[
    "CHECK_CONSTRAINTS",
    "FIRE_TRIGGERS",
    "KEEP_NULLS",
    "KILOBYTES_PER_BATCH",
    "ORDER",
    "ROWS_PER_BATCH",
    "TABLOCK",
];
/// The options of BULK INSERT.
const BULK_INSERT: &[&str] = &[
    "BATCHSIZE",
    "CHECK_CONSTRAINTS",
    "CODEPAGE",
    "DATAFILETYPE",
    "FIELDQUOTE",
    "FIELDTERMINATOR",
    "FIRE_TRIGGERS",
    "FIRSTROW",
    "FORMAT",
    "KEEPIDENTITY",
    "KEEPNULLS",
    "KILOBYTES_PER_BATCH",
    "LASTROW",
    "MAXERRORS",
    "ORDER",
    "ROWS_PER_BATCH",
    "ROWTERMINATOR",
    "TABLOCK",
];
/// The options of BULK INSERT that are refused.
const REFUSED: &[&str] = &[
    "DATA_SOURCE",
    "ERRORFILE",
    "ERRORFILE_DATA_SOURCE",
    "FORMATFILE",
    "FORMATFILE_DATA_SOURCE",
];
