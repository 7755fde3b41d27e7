//! Parenthesized sources: a query, rows of values, or joins.

use super::super::{Parse, Parser, WEIGHT_SOURCE};
use crate::{
    ast::{Expr, Query, TableSource},
    keyword::Keyword,
    token::TokenKind,
};

/// The contents of the parentheses; `Query` and `Rows` require an alias after them.
enum Content {
    Query(Query),
    Rows(Vec<Vec<Expr>>),
    Source(TableSource),
}

impl Parser<'_> {
    /// `(SELECT ..) AS a`, `(VALUES ..) AS a` or `(a JOIN b ON ..)`.
    pub(super) fn source_in_parens(&mut self) -> Parse<TableSource> {
        let start = self.here();
        let content = self.content_of_source()?;
        self.named(start, content)
    }

    fn named(&mut self, start: crate::ast::Position, content: Content) -> Parse<TableSource> {
        match content {
            Content::Query(query) => self.derived(start, query),
            Content::Rows(rows) => self.derived_values(start, rows),
            Content::Source(source) => Ok(source),
        }
    }

    /// The parentheses with their contents.
    fn content_of_source(&mut self) -> Parse<Content> {
        let start = self.here();
        self.expect(TokenKind::LeftParen)?;
        let mut content = self.nested(WEIGHT_SOURCE, Self::content)?;
        self.expect(TokenKind::RightParen)?;
        let position = self.since(start);
        match &mut content {
            Content::Query(query) => query.position = position,
            Content::Source(source) => source.position = position,
            Content::Rows(_) => {}
        }
        Ok(content)
    }

    fn content(&mut self) -> Parse<Content> {
        let start = self.here();
        match self.kind() {
            TokenKind::Keyword(Keyword::Select) => self.nested_query().map(Content::Query),
            TokenKind::Keyword(Keyword::Values) => {
                self.advance();
                self.value_rows().map(Content::Rows)
            }
            TokenKind::LeftParen => match self.content_of_source()? {
                Content::Query(query) if self.is_set_operator() || self.is(TokenKind::RightParen) => {
                    self.nested_query_after(start, query).map(Content::Query)
                }
                content => {
                    let left = self.named(start, content)?;
                    self.joined(start, left).map(Content::Source)
                }
            },
            TokenKind::Keyword(Keyword::Insert | Keyword::Update | Keyword::Delete | Keyword::Merge) => {
                self.skip_content()?;
                self.refuse("change in FROM", self.since(start));
                Ok(Content::Rows(vec![vec![self.null_since(start)]]))
            }
            _ => self.source().map(Content::Source),
        }
    }

    /// `{oj a LEFT OUTER JOIN b ON ..}`
    pub(super) fn odbc_outer_join(&mut self) -> Parse<TableSource> {
        let start = self.expect(TokenKind::LeftBrace)?.position;
        self.expect_word("oj")?;
        let source = self.source()?;
        self.expect(TokenKind::RightBrace)?;
        Ok(TableSource {
            position: self.since(start),
            ..source
        })
    }
}
