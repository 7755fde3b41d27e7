//! GROUP BY, WINDOW, PIVOT, the columns of OPENJSON, and FOR JSON and FOR XML.

use super::{Parse, Parser};
use crate::{
    ast::{
        Expr, ForClause, ForFormat, ForMode, GroupItem, JsonArguments, JsonColumn, NamedWindow, Pivot, TableSource,
        TableSourceKind, Unpivot,
    },
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// An optional `GROUP BY ..`.
    pub(super) fn optional_group_by(&mut self) -> Parse<Vec<GroupItem>> {
        if !self.eat_keyword(Keyword::Group) {
            return Ok(Vec::new());
        }
        self.expect_keyword(Keyword::By)?;
        if self.is_keyword(Keyword::All) {
            self.refuse("GROUP BY ALL", self.here());
            self.advance();
        }
        let items = self.list(Self::group_item)?;
        if self.is_keyword(Keyword::With) && (self.is_word_at(1, "rollup") || self.is_word_at(1, "cube")) {
            self.advance();
            self.raise()?;
            let is_rollup = self.is_word("rollup");
            self.advance();
            return Ok(vec![match is_rollup {
                true => GroupItem::Rollup(items),
                false => GroupItem::Cube(items),
            }]);
        }
        Ok(items)
    }

    fn group_item(&mut self) -> Parse<GroupItem> {
        let paren = self.is_at(1, TokenKind::LeftParen);
        if paren && self.is_word("rollup") {
            return self.group_list().map(GroupItem::Rollup);
        }
        if paren && self.is_word("cube") {
            return self.group_list().map(GroupItem::Cube);
        }
        if self.is_word("grouping") && self.is_word_at(1, "sets") {
            self.advance();
            return self.group_list().map(GroupItem::Sets);
        }
        if self.is(TokenKind::LeftParen) && self.is_at(1, TokenKind::RightParen) {
            self.advance();
            self.advance();
            return Ok(GroupItem::Tuple(Vec::new()));
        }
        if !self.is(TokenKind::LeftParen) || !self.is_tuple() {
            return self.expression().map(GroupItem::Value);
        }
        self.list_in_parens(Self::expression).map(GroupItem::Tuple)
    }

    /// The items in parentheses after a word.
    fn group_list(&mut self) -> Parse<Vec<GroupItem>> {
        self.advance();
        self.nested(super::WEIGHT_EXPRESSION, |p| p.list_in_parens(Self::group_item))
    }

    /// Whether the parentheses that are next have a comma of their own.
    fn is_tuple(&self) -> bool {
        let mut depth = 0_u32;
        for ahead in 0..self.tokens.len().saturating_sub(self.at) {
            match self.peek_at(ahead).kind {
                TokenKind::LeftParen => depth += 1,
                TokenKind::RightParen => depth = depth.saturating_sub(1),
                TokenKind::Comma if depth == 1 => return true,
                TokenKind::End => return false,
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    /// Whether `WINDOW w AS (` is next; WINDOW is not reserved.
    pub(super) fn is_window_clause(&self) -> bool {
        self.is_word("window")
            && self.is_name_token(self.peek_at(1))
            && self.is_at(2, TokenKind::Keyword(Keyword::As))
            && self.is_at(3, TokenKind::LeftParen)
    }

    /// An optional `WINDOW w AS (..)`.
    pub(super) fn optional_windows(&mut self) -> Parse<Vec<NamedWindow>> {
        if !self.is_window_clause() {
            return Ok(Vec::new());
        }
        self.advance();
        self.list(|p| {
            let name = p.name()?;
            p.expect_keyword(Keyword::As)?;
            let window = p.window()?;
            Ok(NamedWindow { name, window })
        })
    }

    /// PIVOT and UNPIVOT after a source.
    pub(super) fn pivoted(&mut self, mut source: TableSource) -> Parse<TableSource> {
        loop {
            let kind = match self.kind() {
                TokenKind::Keyword(Keyword::Pivot) => self.pivot(source.clone())?,
                TokenKind::Keyword(Keyword::Unpivot) => self.unpivot(source.clone())?,
                _ => return Ok(source),
            };
            self.raise()?;
            source = self.source_since(source.position, kind);
        }
    }

    fn pivot(&mut self, source: TableSource) -> Parse<TableSourceKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let aggregate = self.expression()?;
        self.expect_keyword(Keyword::For)?;
        let column = self.expression()?;
        self.expect_keyword(Keyword::In)?;
        let values = self.list_in_parens(Self::name)?;
        self.expect(TokenKind::RightParen)?;
        let alias = self.derived_alias()?;
        Ok(TableSourceKind::Pivot(Box::new(Pivot {
            source,
            aggregate,
            column,
            values,
            alias,
        })))
    }

    fn unpivot(&mut self, source: TableSource) -> Parse<TableSourceKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let value = self.name()?;
        self.expect_keyword(Keyword::For)?;
        let name = self.name()?;
        self.expect_keyword(Keyword::In)?;
        let columns = self.list_in_parens(Self::name)?;
        self.expect(TokenKind::RightParen)?;
        let alias = self.derived_alias()?;
        Ok(TableSourceKind::Unpivot(Box::new(Unpivot {
            source,
            value,
            name,
            columns,
            alias,
        })))
    }

    /// An optional `WITH (..)` after the arguments of OPENJSON.
    pub(super) fn json_schema(&mut self) -> Parse<Vec<JsonColumn>> {
        if !self.is_keyword(Keyword::With) || !self.is_at(1, TokenKind::LeftParen) {
            return Ok(Vec::new());
        }
        self.advance();
        self.list_in_parens(Self::json_column)
    }

    fn json_column(&mut self) -> Parse<JsonColumn> {
        let start = self.here();
        let name = self.name()?;
        let type_name = self.type_name()?;
        let collation = match self.eat_keyword(Keyword::Collate) {
            true => Some(self.name()?),
            false => None,
        };
        let path = match self.is_string() {
            true => Some(self.string_constant()?),
            false => None,
        };
        let as_json = self.eat_keyword(Keyword::As);
        if as_json {
            self.expect_word("json")?;
        }
        Ok(JsonColumn {
            name,
            type_name,
            collation,
            path,
            as_json,
            position: self.since(start),
        })
    }

    /// A string constant's text.
    pub(super) fn string_constant(&mut self) -> Parse<String> {
        if !self.is_string() {
            return Err(self.unexpected());
        }
        let token = self.advance();
        Ok(self.string_value(token))
    }

    /// The parentheses of JSON_OBJECT (`named`) and JSON_ARRAY.
    pub(super) fn json_arguments(&mut self, named: bool) -> Parse<JsonArguments> {
        self.expect(TokenKind::LeftParen)?;
        let mut list: Vec<Expr> = Vec::new();
        let mut null_on_null = self.null_clause();
        while null_on_null.is_none() && !self.is(TokenKind::RightParen) {
            if !list.is_empty() {
                self.expect(TokenKind::Comma)?;
            }
            list.push(self.expression()?);
            if named {
                self.expect(TokenKind::Colon)?;
                list.push(self.expression()?);
            }
            null_on_null = self.null_clause();
        }
        self.expect(TokenKind::RightParen)?;
        Ok(JsonArguments {
            list,
            named,
            null_on_null,
        })
    }

    /// `NULL ON NULL` (true) or `ABSENT ON NULL`.
    fn null_clause(&mut self) -> Option<bool> {
        let null = TokenKind::Keyword(Keyword::Null);
        let is_clause = self.is_at(1, TokenKind::Keyword(Keyword::On)) && self.is_at(2, null);
        let found = match () {
            () if is_clause && self.is(null) => true,
            () if is_clause && self.is_word("absent") => false,
            () => return None,
        };
        for _ in 0..3 {
            self.advance();
        }
        Some(found)
    }

    /// An optional `FOR JSON ..` or `FOR XML ..`; FOR BROWSE is refused.
    pub(super) fn optional_for_clause(&mut self) -> Parse<Option<Box<ForClause>>> {
        if !self.is_keyword(Keyword::For) {
            return Ok(None);
        }
        let start = self.here();
        let format = match self.peek_at(1).kind {
            TokenKind::Keyword(Keyword::Browse) => {
                self.advance();
                self.advance();
                self.refuse("FOR BROWSE", self.since(start));
                return Ok(None);
            }
            _ if self.is_word_at(1, "xml") => ForFormat::Xml,
            _ if self.is_word_at(1, "json") => ForFormat::Json,
            _ => return Ok(None),
        };
        self.advance();
        let word = self.advance();
        let mode = match () {
            () if self.is_word("auto") => ForMode::Auto,
            () if self.is_word("path") => ForMode::Path,
            () if self.is_word("raw") && format == ForFormat::Xml => ForMode::Raw,
            () if self.is_word("explicit") && format == ForFormat::Xml => ForMode::Explicit,
            () => return Err(self.unexpected()),
        };
        self.advance();
        let mut clause = ForClause {
            format,
            mode,
            element: None,
            root: None,
            include_null_values: false,
            without_array_wrapper: false,
            elements: None,
            binary_base64: false,
            typed: false,
            position: start,
        };
        if matches!(mode, ForMode::Raw | ForMode::Path) && format == ForFormat::Xml && self.is(TokenKind::LeftParen) {
            clause.element = Some(self.string_in_parens()?);
        }
        while self.is(TokenKind::Comma) {
            self.advance();
            if !self.for_option(&mut clause)? {
                // An option twice.
                return Err(self.unexpected_at(word));
            }
        }
        clause.position = self.since(start);
        Ok(Some(Box::new(clause)))
    }

    fn string_in_parens(&mut self) -> Parse<String> {
        self.expect(TokenKind::LeftParen)?;
        let text = self.string_constant()?;
        self.expect(TokenKind::RightParen)?;
        Ok(text)
    }

    /// One option of a FOR clause; false if the clause has it already.
    fn for_option(&mut self, clause: &mut ForClause) -> Parse<bool> {
        let is_json = clause.format == ForFormat::Json;
        let flag = |flag: &mut bool| !std::mem::replace(flag, true);
        if self.eat_word("root") {
            let name = match self.is(TokenKind::LeftParen) {
                true => Some(self.string_in_parens()?),
                false => None,
            };
            return Ok(clause.root.replace(name).is_none());
        }
        if is_json {
            if self.eat_word("include_null_values") {
                return Ok(flag(&mut clause.include_null_values));
            }
            self.expect_word("without_array_wrapper")?;
            return Ok(flag(&mut clause.without_array_wrapper));
        }
        if self.eat_word("elements") {
            let xsinil = self.eat_word("xsinil");
            if !xsinil {
                self.eat_word("absent");
            }
            return Ok(clause.elements.replace(xsinil).is_none());
        }
        if self.eat_word("type") {
            return Ok(flag(&mut clause.typed));
        }
        if self.is_word("xmlschema") || self.is_word("xmldata") {
            let start = self.advance().position;
            if self.is(TokenKind::LeftParen) {
                self.skip_parens()?;
            }
            self.refuse("XMLSCHEMA and XMLDATA of FOR XML", self.since(start));
            return Ok(true);
        }
        self.expect_word("binary")?;
        self.expect_word("base64")?;
        Ok(flag(&mut clause.binary_base64))
    }
}
