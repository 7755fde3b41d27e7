//! GROUP BY, and the columns that are allowed with it.

use selenite_tsql::ast;
use selenite_types::Value;

use super::tree::{OrderKey, OrderTerm, Parts, QueryNode, Select};
use super::walk::{column_of, query_node_ref};
use super::{Clause, QueryBinder};
use crate::{ColumnRef, Expr, ExprKind, Node, NodeMut, Predicate, QueryNodeRef, SqlError};

/// A query whose columns are checked against its groups.
pub(super) struct GroupCheck<'a> {
    /// The grouped SELECT.
    pub select: &'a Select,
    /// The ORDER BY.
    pub order: &'a [OrderTerm],
}

impl QueryBinder<'_> {
    /// Binds an expression of GROUP BY.
    ///
    /// Errors: 144, 164 and errors of the expression.
    pub(super) fn bind_group(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let group = self.value(Clause::GroupBy, expr)?;
        self.check_group(&group)
            .map_err(|error| error.on_line(expr.position.line))?;
        Ok(group)
    }

    fn check_group(&self, group: &Expr) -> Result<(), SqlError> {
        let (mut local, mut held) = (false, false);
        group.visit(&mut |node| {
            held |= query_node_ref(node).is_some();
            local |= column_of(node).is_some_and(|column| self.is_local(column));
        });
        if held {
            return Err(SqlError::group_by_aggregate());
        }
        if local {
            Ok(())
        } else {
            Err(SqlError::group_by_constant())
        }
    }

    /// Checks that every column of a grouped query is in GROUP BY, or in an aggregate.
    ///
    /// Errors: 8120, 8121, 8127.
    pub(super) fn check_grouped(&mut self, check: &GroupCheck<'_>) -> Result<(), SqlError> {
        let groups = &check.select.group_by;
        // Each node of each item is compared with each group.
        let mut nodes = 0_usize;
        check
            .select
            .items
            .iter()
            .for_each(|item| item.visit(&mut |_| nodes += 1));
        self.spend(nodes.saturating_mul(groups.len()) / COMPARED_AT_ONCE)?;
        for item in &check.select.items {
            if let Some(column) = self.ungrouped(item, groups) {
                return Err(SqlError::not_grouped(8120, &self.shown(column), "select list"));
            }
        }
        if let Some(having) = &check.select.having {
            // A condition is checked as a CASE over it.
            let branches = vec![(having.clone(), null())];
            let case = Expr::new(
                ExprKind::Case {
                    branches,
                    otherwise: None,
                },
                selenite_types::DataType::Int,
            );
            if let Some(column) = self.ungrouped(&case, groups) {
                return Err(SqlError::not_grouped(8121, &self.shown(column), "HAVING clause"));
            }
        }
        for term in check.order {
            if let OrderKey::Value(value) = &term.key
                && let Some(column) = self.ungrouped(value, groups)
            {
                return Err(SqlError::not_grouped(8127, &self.shown(column), "ORDER BY clause"));
            }
        }
        Ok(())
    }

    /// The first column of this query that is in no group.
    fn ungrouped(&self, expr: &Expr, groups: &[Expr]) -> Option<ColumnRef> {
        let mut rest = expr.clone();
        rest.rewrite(&mut |node| {
            if let NodeMut::Expr(expr) = node
                && groups.contains(expr)
            {
                *expr = null();
            }
        });
        let mut found = None;
        let mut held: Vec<QueryNodeRef> = Vec::new();
        rest.visit(&mut |node| {
            found = found.or_else(|| column_of(node).filter(|column| self.is_local(*column)));
            held.extend(query_node_ref(node));
        });
        found.or_else(|| {
            held.into_iter()
                .find_map(|reference| self.ungrouped_in(reference, groups))
        })
    }

    fn ungrouped_in(&self, reference: QueryNodeRef, groups: &[Expr]) -> Option<ColumnRef> {
        let node = self.parts.query_node(reference)?;
        let mut found = None;
        let mut look = |node: Node<'_>| {
            let alone =
                |column: &ColumnRef| self.is_local(*column) && !groups.iter().any(|group| is_column(group, *column));
            found = found.or_else(|| column_of(node).filter(alone));
        };
        match node {
            QueryNode::Aggregate(_) | QueryNode::Fixed(_) => {}
            QueryNode::Scalar(query) | QueryNode::Exists(query) => self.parts.visit_query(query, &mut look),
            QueryNode::In { operand, query, .. } => {
                self.parts.visit_query(query, &mut look);
                return found.or_else(|| self.ungrouped(operand, groups));
            }
            QueryNode::Quantified(quantified) => {
                self.parts.visit_query(&quantified.query, &mut look);
                return found.or_else(|| self.ungrouped(&quantified.operand, groups));
            }
            QueryNode::Window(call) => {
                return window_parts(call)
                    .into_iter()
                    .find_map(|part| self.ungrouped(part, groups));
            }
        }
        found
    }

    /// A column in messages: qualified by its source's name.
    fn shown(&self, column: ColumnRef) -> String {
        let sources = self.scopes.last().map_or(&[][..], |scope| &scope.columns.sources);
        let Some(source) = sources.iter().find(|source| source.number == column.source) else {
            return String::new();
        };
        let at = usize::try_from(column.column).unwrap_or(usize::MAX);
        let name = source.columns.get(at).map_or("", |column| column.name.as_str());
        match &source.database_and_schema {
            Some((_, schema)) => format!("{schema}.{}.{name}", source.alias),
            None => format!("{}.{name}", source.alias),
        }
    }
}

impl Parts {
    /// Whether a value contains a window function.
    pub(crate) fn has_window(&self, expr: &Expr) -> bool {
        let mut has = false;
        expr.visit(&mut |node| {
            let held = query_node_ref(node).and_then(|reference| self.query_node(reference));
            has |= matches!(held, Some(QueryNode::Window(_)));
        });
        has
    }
}

fn window_parts(call: &super::tree::WindowCall) -> Vec<&Expr> {
    use super::tree::WindowFunction;
    let mut parts: Vec<&Expr> = call
        .partition
        .iter()
        .chain(call.order.iter().map(|(term, _)| term))
        .collect();
    match &call.function {
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::PercentRank
        | WindowFunction::CumulativeDistribution => {}
        WindowFunction::Tile(value) | WindowFunction::First(value) | WindowFunction::Last(value) => parts.push(value),
        WindowFunction::Shift { value, default, .. } => {
            parts.push(value);
            parts.extend(default);
        }
        WindowFunction::Aggregate(aggregate) => parts.extend(&aggregate.operand),
    }
    parts
}

fn is_column(expr: &Expr, column: ColumnRef) -> bool {
    matches!(expr.kind, ExprKind::Column(other) if other == column)
}

fn null() -> Expr {
    Expr::literal(Value::Null, selenite_types::DataType::Int)
}

/// The conjuncts of a filter.
pub(crate) fn conjuncts(predicate: Predicate) -> Vec<Predicate> {
    match predicate {
        Predicate::And(parts) => parts,
        other @ (Predicate::Compare(_)
        | Predicate::Whole(_)
        | Predicate::Or(_)
        | Predicate::Not(_)
        | Predicate::IsNull(_)
        | Predicate::Same(_)
        | Predicate::Between { .. }
        | Predicate::InList { .. }
        | Predicate::Like(_)
        | Predicate::QueryNode(_)
        | Predicate::Let(_)
        | Predicate::Input(_)) => vec![other],
    }
}

/// So many nodes are compared in the time of binding one.
const COMPARED_AT_ONCE: usize = 16;
