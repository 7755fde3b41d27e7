//! APPLY: SQLite has no lateral join of a query, so a query that depends on the left side is rewritten.
//!
//! - `row-functions-are-joined`: a table-valued function is joined directly: SQLite's virtual tables
//!   take arguments from tables before them.
//! - `independent-queries-are-joined`: a query that does not depend on the left side is joined as
//!   any other.
//! - `known-forms-become-joins`: rows of one SELECT become a join with its own sources; one row of
//!   aggregates becomes a subquery for each column; the first rows of a table become a join with
//!   the rows that have those rowids; VALUES becomes a join with row numbers.
//! - `others-become-json`: any other query becomes one value for each row of the left side, a JSON
//!   array of its rows, which json_each expands: a virtual table as in `row-functions-are-joined`.

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Value};

use super::grouping::conjuncts;
use super::relation::quoted_name;
use super::source::{Bound, column_of, join, rename};
use super::tree::{
    Body, From, JoinKind, Leaf, Limit, OrderKey, OrderTerm, Query, QueryColumn, QueryNode, ROW_ID, Rows, Select,
    SqliteColumn,
};
use super::{Clause, QueryBinder};
use crate::{ColumnRef, Compare, Expr, ExprKind, Predicate, Source, SqlError};

/// The rewritten right side of an APPLY.
struct Lateral {
    from: Option<From>,
    on: Option<Predicate>,
    columns: Vec<SqliteColumn>,
    /// A column that is never NULL in a row that was found.
    marker: Option<Expr>,
}

impl QueryBinder<'_> {
    pub(super) fn bind_apply(&mut self, left: Bound, right: &ast::TableSource, outer: bool) -> Result<Bound, SqlError> {
        let kind = if outer { JoinKind::Left } else { JoinKind::Inner };
        let inline = self.inline_function(right)?;
        let alias_of_function = inline.as_ref().map(|function| ast::DerivedAlias {
            name: quoted_name(&function.name, right.position),
            columns: Vec::new(),
        });
        let (query, alias) = match (&right.kind, &inline) {
            (ast::TableSourceKind::Function { call, alias, .. }, Some(function)) => {
                let bound = self.scoped(left.sources.clone(), |binder| {
                    binder.enter_clause(Clause::Where);
                    binder.inline_query(function, call)
                });
                let bound = bound.map_err(|error| error.on_line(right.position.line))?;
                let alias = alias.as_ref().or(alias_of_function.as_ref());
                (
                    bound,
                    alias.ok_or_else(|| SqlError::internal("a function without a name"))?,
                )
            }
            (other, _) => match other {
                ast::TableSourceKind::Derived { query, alias } => {
                    let bound = self.scoped(left.sources.clone(), |binder| {
                        binder.nested(|binder| binder.bind_rows(query))
                    });
                    (bound?, alias)
                }
                ast::TableSourceKind::Values { rows, alias } => {
                    let bound = self.scoped(left.sources.clone(), |binder| binder.bind_values(rows));
                    (bound?, alias)
                }
                ast::TableSourceKind::Table { .. }
                | ast::TableSourceKind::Variable { .. }
                | ast::TableSourceKind::Function { .. }
                | ast::TableSourceKind::BulkFile { .. }
                | ast::TableSourceKind::Pivot(_)
                | ast::TableSourceKind::Unpivot(_)
                | ast::TableSourceKind::Join(_) => {
                    let mut bound = self.scoped(left.sources.clone(), |binder| binder.bind_source(right))?;
                    let inside = matches!(bound.from, From::Join(_)) && outer;
                    if inside && self.depends_on(&left.sources, |parts, visit| parts.visit_from(&bound.from, visit)) {
                        return Err(refused("joined sources that depend on the left side").on_line(right.position.line));
                    }
                    if outer {
                        self.extend_with_null(&bound.from, &bound.sources)?;
                        let columns = bound.sources.iter_mut().flat_map(|source| &mut source.columns);
                        columns.for_each(|column| column.nullable = true);
                    }
                    return join(kind, left, bound, None);
                }
            },
        };
        let mut query = query;
        let line = right.position.line;
        rename(&mut query, &alias.name.text, &alias.columns).map_err(|error| error.on_line(line))?;
        let depends = self.depends_on(&left.sources, |parts, visit| parts.visit_query(&query, visit));
        let mut bound = if depends {
            // An OUTER APPLY needs a marker of whether a row was found.
            let is_enough = |lateral: &Lateral| !outer || lateral.from.is_none() || lateral.marker.is_some();
            let lateral = match self.lateral(&left, query.clone())?.filter(is_enough) {
                Some(lateral) => lateral,
                None => self.lateral_array(query.clone()),
            };
            self.join_lateral(left, lateral, &query, alias, outer)?
        } else {
            let right = self.leaf(query, alias.name.text.clone());
            join(kind, left, right, None)?
        };
        if let (true, Some(source)) = (outer, bound.sources.last_mut()) {
            source.columns.iter_mut().for_each(|column| column.nullable = true);
        }
        Ok(bound)
    }

    /// Whether a walk visits a column of these sources.
    fn depends_on(
        &self,
        sources: &[Source],
        walk: impl FnOnce(&super::tree::Parts, &mut dyn FnMut(crate::Node<'_>)),
    ) -> bool {
        let wanted = |column: ColumnRef| sources.iter().any(|source| source.number == column.source);
        self.parts.mentions(&wanted, walk)
    }

    /// Rewrites a query that depends on the left side; `None` if it has no known form.
    fn lateral(&mut self, left: &Bound, query: Query) -> Result<Option<Lateral>, SqlError> {
        if let Body::Values(rows) = &query.body {
            return Ok(Some(self.lateral_values(rows, &query.columns)));
        }
        let Body::Select(select) = &query.body else {
            return Ok(None);
        };
        let windows = select.items.iter().any(|item| self.parts.has_window(item));
        if windows {
            return Ok(None);
        }
        if select.grouped {
            let single = select.group_by.is_empty() && select.having.is_none() && query.limit.is_none();
            if !single {
                return Ok(None);
            }
            // Each column becomes a query of its own, with all sources.
            self.spend(select.items.len().saturating_mul(select.items.len()))?;
            return Ok(Some(self.lateral_aggregates(select)));
        }
        if select.distinct {
            return Ok(None);
        }
        Ok(match query.limit {
            Some(_) => self.lateral_first_rows(&query, select),
            None => self.lateral_rows(left, select),
        })
    }

    /// Any query, as an array of its rows.
    fn lateral_array(&mut self, query: Query) -> Lateral {
        let elements = query.columns.iter().enumerate();
        let places = elements.map(|(at, column)| SqliteColumn::Element(at, column.data_type.storage_class()));
        let source = self.parts.add_source(places.collect());
        let read = |(at, column): (usize, &QueryColumn)| {
            let column_ref = ColumnRef {
                source,
                column: u32::try_from(at).unwrap_or(u32::MAX),
            };
            column.read(column_ref)
        };
        let columns: Vec<Expr> = query.columns.iter().enumerate().map(read).collect();
        let rows = Rows::Lateral(Box::new(query));
        Lateral {
            from: Some(From::Leaf(Leaf { source, rows })),
            on: None,
            // All columns are NULL where there is no row.
            marker: columns.first().cloned(),
            columns: columns.into_iter().map(SqliteColumn::Inlined).collect(),
        }
    }

    /// One SELECT: its sources, and its filter as the join condition.
    fn lateral_rows(&mut self, left: &Bound, select: &Select) -> Option<Lateral> {
        let columns = select.items.iter().cloned().map(SqliteColumn::Inlined).collect();
        let mut on = Vec::new();
        let from = match &select.from {
            Some(from) => Some(self.independent(left, from.clone(), &mut on)?),
            None => None,
        };
        on.extend(select.filter.clone().map(conjuncts).into_iter().flatten());
        let on = all_of(on);
        let from = match (from, &on) {
            (None, Some(_)) => Some(self.one_row()),
            (from, _) => from,
        };
        let marker = match &from {
            Some(from) => self.marker(from),
            None => None,
        };
        Some(Lateral {
            from,
            on,
            columns,
            marker,
        })
    }

    /// The sources, with the conditions of inner joins extracted; `None` if a source itself depends on the left side.
    fn independent(&self, left: &Bound, from: From, on: &mut Vec<Predicate>) -> Option<From> {
        match from {
            From::Leaf(leaf) => {
                let query = match &leaf.rows {
                    Rows::Query(query) | Rows::Lateral(query) => query,
                    Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Common(_) | Rows::Computed(_) => {
                        return Some(From::Leaf(leaf));
                    }
                };
                let depends = self.depends_on(&left.sources, |parts, visit| parts.visit_query(query, visit));
                (!depends).then_some(From::Leaf(leaf))
            }
            From::Join(mut join) if join.kind == JoinKind::Inner => {
                join.left = self.independent(left, join.left, on)?;
                join.right = self.independent(left, join.right, on)?;
                on.extend(join.on.take().map(conjuncts).into_iter().flatten());
                Some(From::Join(join))
            }
            from @ From::Join(_) => {
                let depends = self.depends_on(&left.sources, |parts, visit| parts.visit_from(&from, visit));
                (!depends).then_some(from)
            }
        }
    }

    /// One row of aggregates: each column becomes a subquery.
    fn lateral_aggregates(&mut self, select: &Select) -> Lateral {
        let mut columns = Vec::with_capacity(select.items.len());
        for item in &select.items {
            let one = Select {
                distinct: select.distinct,
                items: vec![item.clone()],
                from: select.from.clone(),
                filter: select.filter.clone(),
                group_by: select.group_by.clone(),
                having: select.having.clone(),
                grouped: select.grouped,
            };
            let column = QueryColumn::of(String::new(), item);
            let query = Query::of_select(one, vec![column]);
            let value = self.query_node(QueryNode::Scalar(Box::new(query)), item.data_type, item.nullable);
            columns.push(SqliteColumn::Inlined(value.with_collation(item.collation)));
        }
        Lateral {
            from: None,
            on: None,
            columns,
            marker: None,
        }
    }

    /// The first rows of a table, selected by rowid. `None` for other sources and other limits.
    fn lateral_first_rows(&mut self, query: &Query, select: &Select) -> Option<Lateral> {
        let Some(From::Leaf(
            leaf @ Leaf {
                source,
                rows: Rows::Table(_),
            },
        )) = &select.from
        else {
            return None;
        };
        match &query.limit {
            Some(Limit::Top { ties: false, .. } | Limit::Offset { .. }) | None => {}
            Some(Limit::Top { ties: true, .. } | Limit::Percent { .. }) => return None,
        }
        let row_id = Expr::new(
            ExprKind::Column(ColumnRef {
                source: *source,
                column: ROW_ID,
            }),
            DataType::BigInt,
        );
        let row_id = row_id.with_nullable(false);
        let order = query.order.iter().map(|term| OrderTerm {
            key: match &term.key {
                OrderKey::Output(at) => match select.items.get(*at) {
                    Some(item) => OrderKey::Value(item.clone()),
                    None => term.key.clone(),
                },
                OrderKey::Value(_) => term.key.clone(),
            },
            descending: term.descending,
        });
        let inner = Select {
            items: vec![row_id.clone()],
            ..select.clone()
        };
        let mut rows = Query::of_select(inner, vec![QueryColumn::of(String::new(), &row_id)]);
        rows.order = order.collect();
        rows.limit.clone_from(&query.limit);
        let collation = crate::Collation::default();
        let among = QueryNode::In {
            operand: row_id.clone(),
            query: Box::new(rows),
            collation,
        };
        let on = Some(Predicate::QueryNode(self.parts.add_query_node(among)));
        let columns = select.items.iter().cloned().map(SqliteColumn::Inlined).collect();
        Some(Lateral {
            from: Some(From::Leaf(leaf.clone())),
            on,
            columns,
            marker: Some(row_id),
        })
    }

    /// VALUES: row numbers, and a choice by row number for each column.
    fn lateral_values(&mut self, rows: &[Vec<Expr>], columns: &[QueryColumn]) -> Lateral {
        let number = |at: usize| Expr::literal(Value::BigInt(i64::try_from(at).unwrap_or(i64::MAX)), DataType::BigInt);
        let numbers = (0..rows.len()).map(|at| vec![number(at)]).collect();
        let kind = QueryColumn::of(String::new(), &number(0));
        let query = Query {
            body: Body::Values(numbers),
            columns: vec![kind.clone()],
            order: Vec::new(),
            limit: None,
        };
        let bound = self.leaf(query, String::new());
        let source = bound.sources.first().map_or(0, |source| source.number);
        let which = kind.read(ColumnRef { source, column: 0 });
        let places = columns.iter().enumerate().map(|(at, column)| {
            let branches = rows.iter().enumerate().filter_map(|(row_number, row)| {
                let compare = Compare {
                    comparison: Comparison::Equal,
                    left: which.clone(),
                    right: number(row_number),
                    collation: crate::Collation::default(),
                };
                Some((Predicate::Compare(Box::new(compare)), row.get(at)?.clone()))
            });
            let kind = ExprKind::Case {
                branches: branches.collect(),
                otherwise: None,
            };
            SqliteColumn::Inlined(Expr::new(kind, column.data_type).with_collation(column.collation))
        });
        let columns = places.collect();
        Lateral {
            from: Some(bound.from),
            on: None,
            columns,
            marker: Some(which),
        }
    }

    fn join_lateral(
        &mut self,
        left: Bound,
        lateral: Lateral,
        query: &Query,
        alias: &ast::DerivedAlias,
        outer: bool,
    ) -> Result<Bound, SqlError> {
        let Lateral {
            from,
            on,
            mut columns,
            marker,
        } = lateral;
        if let (true, Some(from)) = (outer, &from) {
            let Some(marker) = marker else {
                return Err(refused("such a query on the right of OUTER APPLY"));
            };
            columns
                .iter_mut()
                .for_each(|place| null_unless_found(place, &marker, from));
        }
        let number = self.parts.add_source(columns);
        let source = Source {
            alias: alias.name.text.clone(),
            database_and_schema: None,
            number,
            columns: query.columns.iter().map(column_of).collect(),
        };
        let right = Bound {
            from: left.from.clone(),
            sources: vec![source],
        };
        let kind = if outer { JoinKind::Left } else { JoinKind::Inner };
        // Names are joined only to detect duplicates; the sources follow.
        let mut bound = join(kind, left, right, on)?;
        if let From::Join(joined) = bound.from {
            bound.from = match from {
                Some(from) => From::Join(Box::new(super::tree::Join { right: from, ..*joined })),
                None => joined.left,
            };
        }
        Ok(bound)
    }

    /// Makes columns that are computed from the nullable side of an outer join NULL where that side has no row.
    ///
    /// Errors: 40510 if no column of the side shows whether there is a row.
    pub(crate) fn extend_with_null(&mut self, from: &From, sources: &[Source]) -> Result<(), SqlError> {
        for source in sources {
            let Some(places) = self.parts.sources.get(index(source.number)) else {
                continue;
            };
            let computed = |place: &SqliteColumn| match place {
                SqliteColumn::Inlined(value) => !is_own_column(value, from),
                SqliteColumn::Named(_) | SqliteColumn::Element(..) | SqliteColumn::Numbered(_) => false,
            };
            if !places.iter().any(computed) {
                continue;
            }
            let marker = self
                .marker(from)
                .ok_or_else(|| refused("such a query within an outer join"))?;
            if let Some(places) = self.parts.sources.get_mut(index(source.number)) {
                places
                    .iter_mut()
                    .for_each(|place| null_unless_found(place, &marker, from));
            }
        }
        Ok(())
    }

    /// A source with one row and no name.
    fn one_row(&mut self) -> From {
        let one = Expr::literal(Value::Int(1), DataType::Int);
        let column = QueryColumn::of(String::new(), &one);
        let select = Select {
            items: vec![one],
            ..Select::default()
        };
        self.leaf(Query::of_select(select, vec![column]), String::new()).from
    }

    /// A column of the first source that is never NULL in an existing row.
    fn marker(&self, from: &From) -> Option<Expr> {
        let mut marker = None;
        from.visit_leaves(&mut |leaf| {
            let column = match &leaf.rows {
                Rows::Table(table) if table.row_id().is_some() => Some(ROW_ID),
                Rows::Query(query) => {
                    let at = query.columns.iter().position(|column| !column.nullable);
                    at.and_then(|at| u32::try_from(at).ok())
                }
                Rows::Table(_)
                | Rows::System(_)
                | Rows::Function(..)
                | Rows::Common(_)
                | Rows::Lateral(_)
                | Rows::Computed(_) => None,
            };
            if marker.is_none() {
                marker = column.map(|column| {
                    let column = ColumnRef {
                        source: leaf.source,
                        column,
                    };
                    Expr::new(ExprKind::Column(column), DataType::BigInt)
                });
            }
        });
        let mut inner = true;
        from.visit_joins(&mut |join| inner &= join.kind == JoinKind::Inner);
        marker.filter(|_| inner)
    }
}

/// Makes a column NULL where no row was found; a column of the right side is NULL there without a change.
fn null_unless_found(place: &mut SqliteColumn, marker: &Expr, from: &From) {
    if let SqliteColumn::Inlined(value) = place
        && !is_own_column(value, from)
    {
        let found = Predicate::IsNull(Box::new(marker.clone())).negate();
        let kind = ExprKind::Case {
            branches: vec![(found, value.clone())],
            otherwise: None,
        };
        *value = Expr::new(kind, value.data_type).with_collation(value.collation);
    }
}

/// Whether a value is a column of one of these sources, which is NULL where they have no row.
fn is_own_column(value: &Expr, from: &From) -> bool {
    matches!(value.kind, ExprKind::Column(column) if from.has_leaf(column.source))
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn all_of(mut parts: Vec<Predicate>) -> Option<Predicate> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Predicate::And(parts)),
    }
}

fn refused(what: &str) -> SqlError {
    SqlError::unsupported(&format!("APPLY of {what}"))
}
