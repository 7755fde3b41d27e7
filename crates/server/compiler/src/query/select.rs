//! Binds one SELECT, and the query that contains it.

use std::sync::Arc;

use selenite_tsql::ast;

use super::grouping::GroupCheck;
use super::pivot::reference_of;
use super::tree::{Query, QueryColumn, Select};
use super::{Clause, QueryBinder};
use crate::{ColumnRef, Expr, ExprKind, Source, SqlError, written_object};

/// An item of a select list.
pub(crate) struct Item {
    /// Its value.
    pub value: Expr,
    /// Its name; empty if it has none.
    pub name: String,
}

impl QueryBinder<'_> {
    /// Binds a query whose rows have no order: a derived table, a subquery, a view.
    ///
    /// Errors: 1033 for an ORDER BY without TOP or OFFSET.
    pub(crate) fn bind_rows(&mut self, query: &ast::Query) -> Result<Query, SqlError> {
        let cut = match &query.body {
            ast::QueryBody::Select(select) => select.top.is_some(),
            ast::QueryBody::Combined(_) | ast::QueryBody::Nested(_) => false,
        };
        let is_allowed = cut || query.offset.is_some() || query.for_clause.is_some();
        if let (Some(item), false) = (query.order_by.first(), is_allowed) {
            return Err(SqlError::order_in_view().on_line(item.value.position.line));
        }
        self.bind_query(query)
    }

    /// Binds a query.
    ///
    /// Errors: any error of the query.
    pub(crate) fn bind_query(&mut self, query: &ast::Query) -> Result<Query, SqlError> {
        match &query.for_clause {
            Some(clause) => self.bind_for(query, clause),
            None => self.bind_bare_query(query),
        }
    }

    /// Binds a query without its FOR clause.
    ///
    /// Errors: any error of the query.
    pub(super) fn bind_bare_query(&mut self, query: &ast::Query) -> Result<Query, SqlError> {
        match &query.body {
            ast::QueryBody::Select(select) => self.bind_select(select, &query.order_by, query.offset.as_ref()),
            ast::QueryBody::Combined(combined) => {
                let mut bound = self.bind_combination(combined)?;
                bound.order = self.order_of_combined(&bound, &combined.first, &query.order_by)?;
                bound.limit = self.bind_limit(None, query.offset.as_ref(), false)?;
                Ok(bound)
            }
            ast::QueryBody::Nested(inner) => self.nested(|binder| binder.bind_rows(inner)),
        }
    }

    pub(super) fn bind_body(&mut self, body: &ast::QueryBody) -> Result<Query, SqlError> {
        match body {
            ast::QueryBody::Select(select) => self.bind_select(select, &[], None),
            ast::QueryBody::Combined(combined) => self.nested(|binder| binder.bind_combination(combined)),
            ast::QueryBody::Nested(query) => self.nested(|binder| binder.bind_rows(query)),
        }
    }

    /// Binds one SELECT with the ORDER BY and OFFSET after it.
    ///
    /// Errors: any error of the SELECT, with its line or a more exact one.
    pub(super) fn bind_select(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        offset: Option<&ast::Offset>,
    ) -> Result<Query, SqlError> {
        let line = select.position.line;
        let items = |binder: &mut Self| binder.bind_items(&select.items, Clause::Items);
        self.bind_select_of(select, order_by, offset, items)
            .map_err(|error| error.on_line(line))
    }

    /// Binds one SELECT whose select list `items` binds.
    ///
    /// Errors: as [`QueryBinder::bind_select`].
    pub(crate) fn bind_select_of(
        &mut self,
        select: &ast::Select,
        order_by: &[ast::OrderItem],
        offset: Option<&ast::Offset>,
        items: impl FnOnce(&mut Self) -> Result<Vec<Item>, SqlError>,
    ) -> Result<Query, SqlError> {
        let limit = self.bind_limit(select.top.as_ref(), offset, !order_by.is_empty())?;
        let (from, sources) = match self.bind_from(&select.from)? {
            Some(bound) => (Some(bound.from), bound.sources),
            None => (None, Vec::new()),
        };
        self.scoped(sources, |binder| {
            let filter = match &select.filter {
                Some(filter) => Some(binder.condition(Clause::Where, filter)?),
                None => None,
            };
            let groups = binder.bind_groups(&select.group_by)?;
            if let Some(scope) = binder.scope() {
                scope.groups.clone_from(&groups.exprs);
                scope.marks = groups.marks;
                scope.windows = Arc::from(select.windows.as_slice());
            }
            binder.check_windows(&select.windows)?;
            let having = match &select.having {
                Some(having) => Some(binder.condition(Clause::Having, having)?),
                None => None,
            };
            let bound = items(binder)?;
            let mut order = binder.bind_order(&bound, order_by, select.distinct)?;
            let aggregates = binder.scope().is_some_and(|scope| scope.has_aggregate);
            let grouped = !select.group_by.is_empty() || having.is_some() || aggregates;
            let mut columns: Vec<_> = bound.iter().map(|item| binder.column_of(item)).collect();
            let items: Vec<Expr> = bound.into_iter().map(|item| item.value).collect();
            binder.check_next_values(&items, (select.distinct, !order.is_empty(), limit.is_some()))?;
            let mut select = Select {
                distinct: select.distinct,
                items,
                from,
                filter,
                group_by: groups.exprs.clone(),
                having,
                grouped,
            };
            if grouped {
                binder.check_grouped(&GroupCheck {
                    select: &select,
                    order: &order,
                })?;
            }
            select = binder.group_by_sets(select, &mut order, &groups)?;
            for (column, item) in columns.iter_mut().zip(&select.items) {
                column.nullable |= item.nullable;
            }
            binder.note_output_sources();
            let mut query = Query::of_select(select, columns);
            query.order = order;
            query.limit = limit;
            Ok(query)
        })
    }

    /// Binds a select list; `*` is expanded.
    ///
    /// Errors: 107 and 263 for a `*` of no table, 141 for an assignment among the items.
    pub(crate) fn bind_items(&mut self, items: &[ast::SelectItem], clause: Clause) -> Result<Vec<Item>, SqlError> {
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            match item {
                ast::SelectItem::Star { table, position } => {
                    let noted = self.catalog.note_star();
                    noted.map_err(|error| error.on_line(position.line))?;
                    let columns = self
                        .star(table.as_ref())
                        .map_err(|error| error.on_line(position.line))?;
                    self.spend(columns.len())?;
                    let read = columns.iter().filter_map(|item| reference_of(&item.value));
                    read.for_each(|column| self.note_read(column));
                    bound.extend(columns);
                }
                ast::SelectItem::Value { value, alias } => {
                    let name = match alias {
                        Some(alias) => alias.text.clone(),
                        None => written_name(value),
                    };
                    let value = match clause == Clause::Items {
                        true => self.item(value, bound.len() + 1)?,
                        false => self.value(clause, value)?,
                    };
                    bound.push(Item { value, name });
                }
                ast::SelectItem::Assign { position, .. } => {
                    return Err(SqlError::assignment_and_rows().on_line(position.line));
                }
            }
        }
        Ok(bound)
    }

    fn star(&mut self, table: Option<&ast::ObjectName>) -> Result<Vec<Item>, SqlError> {
        let sources = self.scope().map_or(&[][..], |scope| &scope.columns.sources);
        let mut items = Vec::new();
        let mut known = false;
        for source in sources {
            if table.is_some_and(|table| !source.is_named(table)) {
                continue;
            }
            known = true;
            items.extend(columns_of(source));
        }
        match (table, known) {
            (Some(table), false) => Err(SqlError::unknown_star(&written_object(table))),
            (None, false) => Err(SqlError::star_of_nothing()),
            (Some(_) | None, true) => Ok(items),
        }
    }

    fn column_of(&self, item: &Item) -> QueryColumn {
        let mut column = QueryColumn::of(item.name.clone(), &item.value);
        if let ExprKind::Column(reference) = item.value.kind {
            column.origin = Some(reference);
        }
        column
    }
}

fn columns_of(source: &Source) -> impl Iterator<Item = Item> {
    source.columns.iter().enumerate().map(|(at, column)| {
        let reference = ColumnRef {
            source: source.number,
            column: u32::try_from(at).unwrap_or(u32::MAX),
        };
        let value = Expr::new(ExprKind::Column(reference), column.data_type)
            .with_nullable(column.nullable)
            .with_collation(column.collation.of_column());
        Item {
            value,
            name: column.name.clone(),
        }
    })
}

/// The name of a column without an alias: that of the column it refers to.
fn written_name(value: &ast::Expr) -> String {
    match &value.kind {
        ast::ExprKind::Column(name) => name.name.text.clone(),
        ast::ExprKind::Literal(_)
        | ast::ExprKind::OdbcLiteral(_)
        | ast::ExprKind::Variable(_)
        | ast::ExprKind::Global(_)
        | ast::ExprKind::Unary { .. }
        | ast::ExprKind::Binary { .. }
        | ast::ExprKind::Collate { .. }
        | ast::ExprKind::TimeZone { .. }
        | ast::ExprKind::Function(_)
        | ast::ExprKind::Cast(_)
        | ast::ExprKind::Case(_)
        | ast::ExprKind::Iif(_)
        | ast::ExprKind::Subquery(_)
        | ast::ExprKind::NextValue(_)
        | ast::ExprKind::Default => String::new(),
    }
}
