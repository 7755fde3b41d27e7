//! The table sources of FROM.

use super::function::method_operand;
use super::{Parse, Parser, WEIGHT_SOURCE};
use crate::{
    ast::{
        BulkContents, DerivedAlias, Expr, ExprKind, FunctionCall, Join, JoinHint, JoinKind, Name, ObjectName, Position,
        Query, Setting, SettingValue, TableSource, TableSourceKind,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

mod parens;
mod refused;

impl Parser<'_> {
    /// A table source, including joins.
    pub(super) fn source(&mut self) -> Parse<TableSource> {
        self.nested(WEIGHT_SOURCE, |p| {
            let start = p.here();
            let left = p.single_source()?;
            p.joined(start, left)
        })
    }

    /// The joins after `left`, which begins at `start`.
    fn joined(&mut self, start: Position, mut left: TableSource) -> Parse<TableSource> {
        while let Some((kind, hint)) = self.join_operator()? {
            self.raise()?;
            let (right, on) = match kind {
                JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply => (self.single_source()?, None),
                JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full => {
                    // A join before ON belongs to the right side.
                    let right = self.source()?;
                    self.expect_keyword(Keyword::On)?;
                    (right, Some(self.condition()?))
                }
            };
            left = TableSource {
                kind: TableSourceKind::Join(Box::new(Join {
                    kind,
                    hint,
                    left,
                    right,
                    on,
                })),
                position: self.since(start),
            };
        }
        Ok(left)
    }

    /// JOIN or APPLY with all its keywords, if one is next.
    fn join_operator(&mut self) -> Parse<Option<(JoinKind, Option<JoinHint>)>> {
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Join | Keyword::Inner) => JoinKind::Inner,
            TokenKind::Keyword(Keyword::Left) => JoinKind::Left,
            TokenKind::Keyword(Keyword::Right) => JoinKind::Right,
            TokenKind::Keyword(Keyword::Full) => JoinKind::Full,
            TokenKind::Keyword(Keyword::Cross) => {
                self.advance();
                if self.eat_word("apply") {
                    return Ok(Some((JoinKind::CrossApply, None)));
                }
                self.expect_keyword(Keyword::Join)?;
                return Ok(Some((JoinKind::Cross, None)));
            }
            TokenKind::Keyword(Keyword::Outer) => {
                self.advance();
                self.expect_word("apply")?;
                return Ok(Some((JoinKind::OuterApply, None)));
            }
            _ => return Ok(None),
        };
        let mut hint = None;
        if !self.eat_keyword(Keyword::Join) {
            self.advance();
            if kind != JoinKind::Inner {
                self.eat_keyword(Keyword::Outer);
            }
            hint = self.join_hint();
            self.expect_keyword(Keyword::Join)?;
        }
        Ok(Some((kind, hint)))
    }

    fn join_hint(&mut self) -> Option<JoinHint> {
        let hint = match self.kind() {
            TokenKind::Keyword(Keyword::Merge) => JoinHint::Merge,
            TokenKind::Word if self.is_word("loop") => JoinHint::Loop,
            TokenKind::Word if self.is_word("hash") => JoinHint::Hash,
            TokenKind::Word if self.is_word("remote") => JoinHint::Remote,
            _ => return None,
        };
        self.advance();
        Some(hint)
    }

    /// One table source without joins.
    fn single_source(&mut self) -> Parse<TableSource> {
        let start = self.here();
        let source = match self.kind() {
            TokenKind::LeftParen => self.source_in_parens()?,
            TokenKind::LeftBrace => self.odbc_outer_join()?,
            TokenKind::Variable => {
                let name = self.variable()?;
                if self.is(TokenKind::Point) {
                    let variable = self.expr_since(start, ExprKind::Variable(name));
                    return self.nodes_of(start, variable);
                }
                let alias = self.optional_alias()?;
                let hints = self.table_hints()?;
                self.source_since(start, TableSourceKind::Variable { name, alias, hints })
            }
            TokenKind::Keyword(Keyword::Openrowset) => self.open_rowset()?,
            TokenKind::Keyword(keyword) => self.refused_rowset(keyword)?,
            TokenKind::Colon if self.is_at(1, TokenKind::Colon) => self.system_function()?,
            _ => self.table_or_function()?,
        };
        self.pivoted(source)
    }

    pub(super) fn source_since(&self, start: Position, kind: TableSourceKind) -> TableSource {
        let position = self.since(start);
        TableSource { kind, position }
    }

    /// `::f(..)`, the deprecated form of `sys.f(..)`.
    fn system_function(&mut self) -> Parse<TableSource> {
        let start = self.advance().position;
        self.advance();
        let colons = self.since(start);
        let name = self.name()?;
        if !self.is(TokenKind::LeftParen) {
            return Err(self.unexpected());
        }
        let schema = Name {
            text: String::from("sys"),
            quoted: false,
            position: colons,
        };
        let name = ObjectName {
            schema: Some(schema),
            position: self.since(start),
            ..Self::single(name)
        };
        let (call, schema) = self.table_function(name)?;
        let alias = self.optional_derived_alias()?;
        Ok(self.source_since(start, TableSourceKind::Function { call, schema, alias }))
    }

    /// `OPENROWSET (BULK 'file', SINGLE_BLOB | SINGLE_CLOB | SINGLE_NCLOB)`; other forms are refused.
    fn open_rowset(&mut self) -> Parse<TableSource> {
        let found = BulkContents::ALL
            .into_iter()
            .find(|contents| self.is_word_at(5, contents.word()) && self.is_at(6, TokenKind::RightParen));
        let is_bulk = self.is_at(1, TokenKind::LeftParen) && self.is_at(2, TokenKind::Keyword(Keyword::Bulk));
        let Some(contents) = found.filter(|_| is_bulk && self.is_at(4, TokenKind::Comma)) else {
            return self.refused_rowset(Keyword::Openrowset);
        };
        let start = self.here();
        for _ in 0..3 {
            self.advance();
        }
        let path = self.string()?;
        for _ in 0..3 {
            self.advance();
        }
        let alias = self.optional_derived_alias()?;
        let kind = TableSourceKind::BulkFile { path, contents, alias };
        Ok(self.source_since(start, kind))
    }

    fn table_or_function(&mut self) -> Parse<TableSource> {
        let start = self.here();
        let name = self.object_name()?;
        if self.is(TokenKind::LeftParen)
            && let Some(column) = method_operand(&name)
        {
            let position = column.name.position;
            let kind = ExprKind::Column(Box::new(column));
            let call = self.method(Expr { kind, position }, name.name)?;
            return self.nodes_source(start, call);
        }
        if self.is(TokenKind::LeftParen) && !self.is_hint_list() {
            let (call, schema) = self.table_function(name)?;
            let alias = self.optional_derived_alias()?;
            return Ok(self.source_since(start, TableSourceKind::Function { call, schema, alias }));
        }
        self.refused_system_time()?;
        let mut hints = Vec::new();
        if self.is_hint_list() {
            hints = self.hints_in_parens()?;
        }
        let alias = self.optional_alias()?;
        self.refused_sample()?;
        if self.is_hint_list() {
            hints.extend(self.hints_in_parens()?);
        }
        hints.extend(self.table_hints()?);
        Ok(self.source_since(start, TableSourceKind::Table { name, alias, hints }))
    }

    /// `@x.nodes (..) AS a(b)`, from the point on.
    fn nodes_of(&mut self, start: Position, operand: Expr) -> Parse<TableSource> {
        self.expect(TokenKind::Point)?;
        let name = self.name()?;
        let call = self.method(operand, name)?;
        self.nodes_source(start, call)
    }

    fn nodes_source(&mut self, start: Position, call: FunctionCall) -> Parse<TableSource> {
        let alias = self.optional_derived_alias()?;
        let kind = TableSourceKind::Function {
            call: Box::new(call),
            schema: Vec::new(),
            alias,
        };
        Ok(self.source_since(start, kind))
    }

    /// An optional `[AS] name`.
    pub(super) fn optional_alias(&mut self) -> Parse<Option<Name>> {
        match self.eat_keyword(Keyword::As) || (self.is_name() && !self.is_label() && !self.is_window_clause()) {
            true => self.name().map(Some),
            false => Ok(None),
        }
    }

    fn optional_derived_alias(&mut self) -> Parse<Option<DerivedAlias>> {
        let Some(name) = self.optional_alias()? else {
            return Ok(None);
        };
        let columns = self.optional_names()?;
        Ok(Some(DerivedAlias { name, columns }))
    }

    /// The required alias of a source that has no name.
    pub(super) fn derived_alias(&mut self) -> Parse<DerivedAlias> {
        match self.optional_derived_alias()? {
            Some(alias) => Ok(alias),
            None => Err(self.unexpected()),
        }
    }

    /// An optional `WITH (..)` after a table.
    pub(super) fn table_hints(&mut self) -> Parse<Vec<Setting>> {
        if !self.is_keyword(Keyword::With) {
            return Ok(Vec::new());
        }
        match self.peek_at(1).kind {
            TokenKind::LeftParen => {
                self.advance();
                self.hints_in_parens()
            }
            // The common table expression of a following statement, whose WITH looks like a table hint.
            TokenKind::Word | TokenKind::Bracketed | TokenKind::DoubleQuoted if !self.is_word_at(1, "ties") => {
                let token = self.peek_at(1);
                Err(SyntaxFault::not_common_table(&self.echo(token)).at(token.position))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// `(NOLOCK, INDEX (1))`; commas are optional.
    fn hints_in_parens(&mut self) -> Parse<Vec<Setting>> {
        self.expect(TokenKind::LeftParen)?;
        let mut hints = vec![self.table_hint()?];
        while !self.eat(TokenKind::RightParen) {
            self.eat(TokenKind::Comma);
            hints.push(self.table_hint()?);
        }
        Ok(hints)
    }

    fn table_hint(&mut self) -> Parse<Setting> {
        let start = self.here();
        if !self.is_any_word() {
            return Err(self.unexpected());
        }
        let name = self.any_word();
        if self.is(TokenKind::LeftParen) || self.is(TokenKind::Equal) {
            return self.setting_after(start, name);
        }
        Ok(Setting {
            name,
            equals: false,
            value: None::<SettingValue>,
            position: self.since(start),
        })
    }

    /// Whether parentheses without WITH begin with a hint: a deprecated form.
    fn is_hint_list(&self) -> bool {
        let word = self.text(self.peek_at(1));
        self.is(TokenKind::LeftParen)
            && matches!(self.peek_at(1).kind, TokenKind::Word | TokenKind::Keyword(_))
            && matches!(self.peek_at(2).kind, TokenKind::RightParen | TokenKind::Comma)
            && HINTS.iter().any(|hint| word.eq_ignore_ascii_case(hint))
    }

    /// `VALUES (1, 2), (3, 4)`, after VALUES.
    fn value_rows(&mut self) -> Parse<Vec<Vec<Expr>>> {
        let start = self.here();
        let rows = self.list(|p| p.list_in_parens(Self::expression))?;
        let widths_differ = rows.windows(2).any(|pair| pair[0].len() != pair[1].len());
        if widths_differ {
            return Err(SyntaxFault::ROWS_DIFFER.at(self.since(start)));
        }
        Ok(rows)
    }

    fn derived(&mut self, start: Position, query: Query) -> Parse<TableSource> {
        let alias = self.derived_alias()?;
        let query = Box::new(query);
        Ok(self.source_since(start, TableSourceKind::Derived { query, alias }))
    }

    fn derived_values(&mut self, start: Position, rows: Vec<Vec<Expr>>) -> Parse<TableSource> {
        let alias = self.derived_alias()?;
        Ok(self.source_since(start, TableSourceKind::Values { rows, alias }))
    }
}

/// The hints that are allowed in parentheses without WITH.
const HINTS: &[&str] = &[
    "FASTFIRSTROW",
    "FORCESEEK",
    "HOLDLOCK",
    "NOLOCK",
    "NOWAIT",
    "PAGLOCK",
    "READCOMMITTED",
    "READCOMMITTEDLOCK",
    "READPAST",
    "READUNCOMMITTED",
    "REPEATABLEREAD",
    "ROWLOCK",
    "SERIALIZABLE",
    "SNAPSHOT",
    "TABLOCK",
    "TABLOCKX",
    "UPDLOCK",
    "XLOCK",
];
