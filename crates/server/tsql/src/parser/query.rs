//! Queries: set operators and ORDER BY.

use super::{Parse, Parser, WEIGHT_QUERY};
use crate::{
    ast::{
        Combination, CommonTable, Offset, OrderItem, Position, Query, QueryBody, SelectStatement, SetOperator, SetTerm,
        Setting, With, XmlNamespace,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// A SELECT statement after its common table expressions.
    pub(super) fn select_statement(&mut self, with: With) -> Parse<SelectStatement> {
        self.top_select = true;
        let query = self.query()?;
        self.top_select = false;
        Ok(SelectStatement {
            with,
            query,
            options: self.query_options()?,
        })
    }

    /// A query where ORDER BY is always allowed.
    pub(super) fn query(&mut self) -> Parse<Query> {
        self.nested(WEIGHT_QUERY, |p| {
            let start = p.here();
            let body = p.query_body(start, None)?;
            p.query_after(start, body).map(|(query, _)| query)
        })
    }

    /// `(SELECT ..)`
    pub(super) fn subquery(&mut self) -> Parse<Query> {
        let start = self.here();
        self.expect(TokenKind::LeftParen)?;
        let mut query = self.nested_query()?;
        self.expect(TokenKind::RightParen)?;
        query.position = self.since(start);
        Ok(query)
    }

    /// The contents of a parenthesized query.
    pub(super) fn nested_query(&mut self) -> Parse<Query> {
        self.nested(WEIGHT_QUERY, |p| {
            let start = p.here();
            p.checked_query(start, None)
        })
    }

    /// The rest of a query that begins at `start` with the parenthesized query `first`.
    pub(super) fn nested_query_after(&mut self, start: Position, first: Query) -> Parse<Query> {
        if first.order_by.is_empty() && first.for_clause.is_none() {
            return self.nested(WEIGHT_QUERY, |p| p.checked_query(start, Some(first.body)));
        }
        if !self.is_set_operator() {
            return Ok(first);
        }
        let first = QueryBody::Nested(Box::new(first));
        self.nested(WEIGHT_QUERY, |p| p.checked_query(start, Some(first)))
    }

    /// A nested query, where ORDER BY only determines the rows of TOP and OFFSET.
    fn checked_query(&mut self, start: Position, first: Option<QueryBody>) -> Parse<Query> {
        let outer = core::mem::take(&mut self.top_select);
        self.query_depth += 1;
        let body = self.query_body(start, first)?;
        let query = self.checked_query_after(start, body)?;
        self.query_depth -= 1;
        self.top_select = outer;
        Ok(query)
    }

    fn checked_query_after(&mut self, start: Position, body: QueryBody) -> Parse<Query> {
        let ordered = self.here();
        let (query, for_clause) = self.query_after(start, body)?;
        let cut = match &query.body {
            QueryBody::Select(select) => select.top.is_some(),
            QueryBody::Combined(_) | QueryBody::Nested(_) => false,
        };
        if !query.order_by.is_empty() && !cut && query.offset.is_none() && !for_clause {
            return Err(SyntaxFault::ORDER_BY_NESTED.at(ordered));
        }
        Ok(query)
    }

    pub(super) fn is_set_operator(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Keyword(Keyword::Union | Keyword::Except | Keyword::Intersect)
        )
    }

    /// SELECTs combined by set operators; `first` is one that is already parsed.
    fn query_body(&mut self, start: Position, first: Option<QueryBody>) -> Parse<QueryBody> {
        let first = self.intersection(start, first)?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.kind() {
                TokenKind::Keyword(Keyword::Except) => SetOperator::Except,
                TokenKind::Keyword(Keyword::Union) if self.is_at(1, TokenKind::Keyword(Keyword::All)) => {
                    self.advance();
                    SetOperator::UnionAll
                }
                TokenKind::Keyword(Keyword::Union) => SetOperator::Union,
                _ => break,
            };
            self.advance();
            let start = self.here();
            let body = self.nested(1, |p| p.intersection(start, None))?;
            rest.push(SetTerm { operator, body });
        }
        self.combined(start, first, rest)
    }

    /// SELECTs combined by INTERSECT, which has higher precedence than UNION and EXCEPT.
    fn intersection(&mut self, start: Position, first: Option<QueryBody>) -> Parse<QueryBody> {
        let first = match first {
            Some(first) => first,
            None => self.query_term()?,
        };
        let mut rest = Vec::new();
        while self.eat_keyword(Keyword::Intersect) {
            let body = self.nested(1, Self::query_term)?;
            rest.push(SetTerm {
                operator: SetOperator::Intersect,
                body,
            });
        }
        self.combined(start, first, rest)
    }

    fn combined(&mut self, start: Position, first: QueryBody, rest: Vec<SetTerm>) -> Parse<QueryBody> {
        if rest.is_empty() {
            return Ok(first);
        }
        self.raise()?;
        Ok(QueryBody::Combined(Box::new(Combination {
            first,
            rest,
            position: self.since(start),
        })))
    }

    /// One SELECT, or a parenthesized combination.
    fn query_term(&mut self) -> Parse<QueryBody> {
        if self.is(TokenKind::LeftParen) {
            return self.term_in_parens();
        }
        self.select().map(Box::new).map(QueryBody::Select)
    }

    fn term_in_parens(&mut self) -> Parse<QueryBody> {
        self.advance();
        let body = self.nested(WEIGHT_QUERY, Self::content_of_term)?;
        self.expect(TokenKind::RightParen)?;
        Ok(body)
    }

    /// In the query of a statement ORDER BY is only allowed after the last SELECT.
    fn content_of_term(&mut self) -> Parse<QueryBody> {
        let start = self.here();
        let body = self.query_body(start, None)?;
        if self.query_depth == 0 || !self.is_keyword(Keyword::Order) {
            return Ok(body);
        }
        self.ordered_term(start, body)
    }

    fn ordered_term(&mut self, start: Position, body: QueryBody) -> Parse<QueryBody> {
        let query = self.checked_query_after(start, body)?;
        Ok(QueryBody::Nested(Box::new(query)))
    }

    /// ORDER BY, OFFSET and FOR after a query expression; returns whether FOR is present.
    fn query_after(&mut self, start: Position, body: QueryBody) -> Parse<(Query, bool)> {
        let order_by = self.optional_order_by()?;
        let offset = match !order_by.is_empty() && self.is_word("offset") {
            true => Some(self.offset()?),
            false => None,
        };
        if let (Some(_), QueryBody::Select(select)) = (&offset, &body)
            && select.top.is_some()
        {
            return Err(SyntaxFault::TOP_WITH_OFFSET.at(select.position));
        }
        let start_of_for = self.at;
        let for_clause = self.optional_for_clause()?;
        let has_for = self.at > start_of_for;
        let query = Query {
            body,
            order_by,
            offset,
            for_clause,
            position: self.since(start),
        };
        Ok((query, has_for))
    }

    /// An optional `ORDER BY ..`.
    pub(super) fn optional_order_by(&mut self) -> Parse<Vec<OrderItem>> {
        if !self.eat_keyword(Keyword::Order) {
            return Ok(Vec::new());
        }
        self.expect_keyword(Keyword::By)?;
        self.list(|p| {
            let value = p.expression()?;
            let descending = p.ascending_or_descending();
            Ok(OrderItem { value, descending })
        })
    }

    /// DESC is true; ASC and no keyword are false.
    pub(super) fn ascending_or_descending(&mut self) -> bool {
        let descending = self.eat_keyword(Keyword::Desc);
        if !descending {
            self.eat_keyword(Keyword::Asc);
        }
        descending
    }

    fn offset(&mut self) -> Parse<Offset> {
        self.advance();
        let skip = self.expression()?;
        self.row_or_rows()?;
        let mut fetch = None;
        if self.is_keyword(Keyword::Fetch) && (self.is_word_at(1, "next") || self.is_word_at(1, "first")) {
            // FETCH NEXT FROM is a separate statement.
            if !self.is_at(2, TokenKind::Keyword(Keyword::From)) {
                self.advance();
                self.advance();
                fetch = Some(self.expression()?);
                self.row_or_rows()?;
                self.expect_word("only")?;
            }
        }
        Ok(Offset { skip, fetch })
    }

    fn row_or_rows(&mut self) -> Parse<()> {
        if !self.eat_word("row") {
            self.expect_word("rows")?;
        }
        Ok(())
    }

    /// An optional `OPTION (..)`.
    pub(super) fn query_options(&mut self) -> Parse<Vec<Setting>> {
        match self.eat_keyword(Keyword::Option) {
            true => self.list_in_parens(Self::setting),
            false => Ok(Vec::new()),
        }
    }

    /// An optional WITH of a query.
    pub(super) fn optional_with(&mut self) -> Parse<With> {
        match self.eat_keyword(Keyword::With) {
            true => self.with_clause(),
            false => Ok(With::default()),
        }
    }

    /// What follows WITH: namespaces, and common table expressions.
    pub(super) fn with_clause(&mut self) -> Parse<With> {
        let mut with = With::default();
        let has_list = self.is_at(1, TokenKind::LeftParen);
        if has_list && self.is_word("xmlnamespaces") {
            self.advance();
            with.namespaces = self.list_in_parens(Self::xml_namespace)?;
            if !self.eat(TokenKind::Comma) {
                return Ok(with);
            }
        } else if has_list && self.is_word("change_tracking_context") {
            let start = self.advance().position;
            self.skip_parens()?;
            self.refuse("WITH CHANGE_TRACKING_CONTEXT", self.since(start));
            if !self.eat(TokenKind::Comma) {
                return Ok(with);
            }
        }
        with.tables = self.common_tables()?;
        Ok(with)
    }

    /// `'uri' AS prefix` or `DEFAULT 'uri'`
    fn xml_namespace(&mut self) -> Parse<XmlNamespace> {
        let start = self.here();
        let is_default = self.eat_keyword(Keyword::Default);
        let uri = self.string_constant()?;
        let prefix = match is_default {
            true => None,
            false => {
                self.expect_keyword(Keyword::As)?;
                Some(self.name()?)
            }
        };
        Ok(XmlNamespace {
            prefix,
            uri,
            position: self.since(start),
        })
    }

    fn common_tables(&mut self) -> Parse<Vec<CommonTable>> {
        self.list(|p| {
            let start = p.here();
            let name = p.name()?;
            let columns = p.optional_names()?;
            p.expect_keyword(Keyword::As)?;
            let query = p.subquery()?;
            Ok(CommonTable {
                name,
                columns,
                query,
                position: p.since(start),
            })
        })
    }
}
