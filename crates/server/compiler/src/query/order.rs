//! ORDER BY: by column number, by alias, or by value.

use selenite_tsql::ast;

use super::select::Item;
use super::tree::{OrderKey, OrderTerm, Query};
use super::{Clause, QueryBinder};
use crate::{Expr, ExprKind, SqlError, same_name};

impl QueryBinder<'_> {
    /// Binds the ORDER BY of one SELECT.
    ///
    /// Errors: 108, 145, 169, 408 and errors of the values.
    pub(super) fn bind_order(
        &mut self,
        items: &[Item],
        order_by: &[ast::OrderItem],
        distinct: bool,
    ) -> Result<Vec<OrderTerm>, SqlError> {
        let mut terms: Vec<OrderTerm> = Vec::with_capacity(order_by.len());
        for (at, item) in order_by.iter().enumerate() {
            let line = item.value.position.line;
            let key = self
                .order_key(items, &item.value, at)
                .map_err(|error| error.on_line(line))?;
            if distinct && matches!(key, OrderKey::Value(_)) {
                return Err(SqlError::order_item_of_distinct().on_line(line));
            }
            if terms.iter().any(|term| term.key.is_same(&key)) {
                return Err(SqlError::order_item_twice().on_line(line));
            }
            terms.push(OrderTerm {
                key,
                descending: item.descending,
            });
        }
        Ok(terms)
    }

    fn order_key(&mut self, items: &[Item], expr: &ast::Expr, at: usize) -> Result<OrderKey, SqlError> {
        if let Some(output) = position_of(expr, items.len())? {
            return Ok(OrderKey::Output(output));
        }
        if let Some(output) = self.alias_of(items, expr)? {
            return Ok(OrderKey::Output(output));
        }
        let value = self.value(Clause::OrderBy, expr)?;
        if matches!(value.kind, ExprKind::Literal(_) | ExprKind::Null) {
            return Err(SqlError::order_by_constant(at + 1));
        }
        if matches!(value.kind, ExprKind::Variable(_)) {
            return Err(SqlError::order_by_variable(at + 1));
        }
        Ok(match items.iter().position(|item| item.value == value) {
            Some(output) => OrderKey::Output(output),
            None => OrderKey::Value(value),
        })
    }

    /// The column of the select list that a bare name refers to.
    fn alias_of(&mut self, items: &[Item], expr: &ast::Expr) -> Result<Option<usize>, SqlError> {
        let ast::ExprKind::Column(name) = &expr.kind else {
            return Ok(None);
        };
        if name.table.is_some() {
            return Ok(None);
        }
        let mut named = items
            .iter()
            .enumerate()
            .filter(|(_, item)| same_name(&item.name, &name.name.text));
        let Some((at, first)) = named.next() else {
            return Ok(None);
        };
        if named.any(|(_, other)| other.value != first.value) {
            return Err(SqlError::ambiguous_column(&name.name.text));
        }
        Ok(Some(at))
    }

    /// Binds the ORDER BY of combined queries, where only the first query's columns are in scope: by number, by name,
    /// or in the words of its select list, where a column may be qualified by its table.
    ///
    /// Errors: 104 for any other expression.
    pub(super) fn order_of_combined(
        &mut self,
        query: &Query,
        first: &ast::QueryBody,
        order_by: &[ast::OrderItem],
    ) -> Result<Vec<OrderTerm>, SqlError> {
        let mut terms = Vec::with_capacity(order_by.len());
        for item in order_by {
            let line = item.value.position.line;
            let output = match position_of(&item.value, query.columns.len()).map_err(|error| error.on_line(line))? {
                Some(output) => output,
                None => named(query, &item.value)
                    .or_else(|| written(first, &item.value))
                    .ok_or_else(|| SqlError::order_item_of_union().on_line(line))?,
            };
            terms.push(OrderTerm {
                key: OrderKey::Output(output),
                descending: item.descending,
            });
        }
        Ok(terms)
    }
}

impl OrderKey {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Output(left), Self::Output(right)) => left == right,
            (Self::Value(left), Self::Value(right)) => is_plain(left) && left == right,
            (Self::Output(_), Self::Value(_)) | (Self::Value(_), Self::Output(_)) => false,
        }
    }
}

fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_))
}

fn named(query: &Query, expr: &ast::Expr) -> Option<usize> {
    let ast::ExprKind::Column(name) = &expr.kind else {
        return None;
    };
    let found = query
        .columns
        .iter()
        .position(|column| same_name(&column.name, &name.name.text));
    found.filter(|_| name.table.is_none())
}

/// The column of the first SELECT's list with the same text, before any `*`.
fn written(body: &ast::QueryBody, expr: &ast::Expr) -> Option<usize> {
    let ast::ExprKind::Column(sought) = &expr.kind else {
        return None;
    };
    let sought_table = sought.table.as_ref()?;
    let select = match body {
        ast::QueryBody::Select(select) => select,
        ast::QueryBody::Combined(combination) => return written(&combination.first, expr),
        ast::QueryBody::Nested(query) => return written(&query.body, expr),
    };
    let before_star = select.items.iter().map_while(|item| match item {
        ast::SelectItem::Value { value, .. } => Some(value),
        ast::SelectItem::Star { .. } | ast::SelectItem::Assign { .. } => None,
    });
    before_star.enumerate().find_map(|(at, value)| {
        let ast::ExprKind::Column(listed) = &value.kind else {
            return None;
        };
        let table = listed.table.as_ref()?;
        let is_same = same_name(&listed.name.text, &sought.name.text) && is_same_table(table, sought_table);
        is_same.then_some(at)
    })
}

/// Whether two table names, in the select list and in ORDER BY, refer to the same table.
fn is_same_table(left: &ast::ObjectName, right: &ast::ObjectName) -> bool {
    let pairs = [(&left.schema, &right.schema), (&left.database, &right.database)];
    same_name(&left.name.text, &right.name.text)
        && pairs.into_iter().all(|pair| match pair {
            (Some(left), Some(right)) => same_name(&left.text, &right.text),
            (None, _) | (_, None) => true,
        })
}

/// The column that an integer literal refers to, from 1.
fn position_of(expr: &ast::Expr, count: usize) -> Result<Option<usize>, SqlError> {
    let ast::ExprKind::Literal(ast::Literal::Integer(digits)) = &expr.kind else {
        return Ok(None);
    };
    match digits.parse::<usize>() {
        Ok(number) if (1..=count).contains(&number) => Ok(Some(number - 1)),
        Ok(_) | Err(_) => Err(SqlError::order_position(digits)),
    }
}
