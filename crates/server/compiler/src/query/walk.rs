//! Walks over bound queries: every node of every expression, including those in subqueries and windows.

use super::tree::{
    AggregateCall, Body, From, Limit, OrderKey, Parts, Query, QueryNode, Rows, Select, WindowCall, WindowFunction,
};
use crate::{ColumnRef, Expr, ExprKind, Node, Predicate, QueryNodeRef};

/// The visitor of all nodes.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(Node<'_>);

impl Parts {
    /// Visits all nodes of an expression, including those of its query nodes.
    pub fn visit_expr(&self, expr: &Expr, visit: Visit<'_>) {
        let mut held = Vec::new();
        expr.visit(&mut |node| {
            visit(node);
            held.extend(query_node_ref(node));
        });
        held.into_iter()
            .for_each(|reference| self.visit_query_node(reference, visit));
    }

    /// Visits all nodes of a condition, including those of its query nodes.
    pub fn visit_predicate(&self, predicate: &Predicate, visit: Visit<'_>) {
        let mut held = Vec::new();
        predicate.visit(&mut |node| {
            visit(node);
            held.extend(query_node_ref(node));
        });
        held.into_iter()
            .for_each(|reference| self.visit_query_node(reference, visit));
    }

    fn visit_query_node(&self, reference: QueryNodeRef, visit: Visit<'_>) {
        match self.query_node(reference) {
            Some(QueryNode::Scalar(query) | QueryNode::Exists(query)) => self.visit_query(query, visit),
            Some(QueryNode::In { operand, query, .. }) => {
                self.visit_expr(operand, visit);
                self.visit_query(query, visit);
            }
            Some(QueryNode::Quantified(quantified)) => {
                self.visit_expr(&quantified.operand, visit);
                self.visit_query(&quantified.query, visit);
            }
            Some(QueryNode::Aggregate(call)) => self.visit_aggregate(call, visit),
            Some(QueryNode::Window(call)) => self.visit_window(call, visit),
            Some(QueryNode::Fixed(expr)) => self.visit_expr(expr, visit),
            None => {}
        }
    }

    fn visit_aggregate(&self, call: &AggregateCall, visit: Visit<'_>) {
        let parts = call.aggregate.operand.iter().chain(&call.aggregate.separator);
        parts
            .chain(call.order.iter().map(|(term, _)| term))
            .for_each(|expr| self.visit_expr(expr, visit));
    }

    /// Visits all nodes of a window and its function.
    pub fn visit_window(&self, call: &WindowCall, visit: Visit<'_>) {
        match &call.function {
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::PercentRank
            | WindowFunction::CumulativeDistribution => {}
            WindowFunction::Tile(expr) | WindowFunction::First(expr) | WindowFunction::Last(expr) => {
                self.visit_expr(expr, visit);
            }
            WindowFunction::Shift {
                value, offset, default, ..
            } => {
                [value, offset]
                    .into_iter()
                    .chain(default)
                    .for_each(|expr| self.visit_expr(expr, visit));
            }
            WindowFunction::Aggregate(aggregate) => {
                aggregate.operand.iter().for_each(|expr| self.visit_expr(expr, visit));
            }
        }
        call.partition.iter().for_each(|expr| self.visit_expr(expr, visit));
        call.order.iter().for_each(|(expr, _)| self.visit_expr(expr, visit));
    }

    /// Visits all nodes of a query.
    pub fn visit_query(&self, query: &Query, visit: Visit<'_>) {
        match &query.body {
            Body::Select(select) => self.visit_select(select, visit),
            Body::Values(rows) => rows.iter().flatten().for_each(|expr| self.visit_expr(expr, visit)),
            Body::Combined(first, rest) => {
                self.visit_query(first, visit);
                rest.iter().for_each(|(_, query)| self.visit_query(query, visit));
            }
        }
        for term in &query.order {
            if let OrderKey::Value(expr) = &term.key {
                self.visit_expr(expr, visit);
            }
        }
        match &query.limit {
            Some(Limit::Top { count, .. } | Limit::Percent { count, .. }) => self.visit_expr(count, visit),
            Some(Limit::Offset { skip, fetch }) => {
                self.visit_expr(skip, visit);
                fetch.iter().for_each(|expr| self.visit_expr(expr, visit));
            }
            None => {}
        }
    }

    fn visit_select(&self, select: &Select, visit: Visit<'_>) {
        select
            .items
            .iter()
            .chain(&select.group_by)
            .for_each(|expr| self.visit_expr(expr, visit));
        select.from.iter().for_each(|from| self.visit_from(from, visit));
        select
            .filter
            .iter()
            .chain(&select.having)
            .for_each(|predicate| self.visit_predicate(predicate, visit));
    }

    /// Visits all nodes of a FROM.
    pub fn visit_from(&self, from: &From, visit: Visit<'_>) {
        match from {
            From::Leaf(leaf) => match &leaf.rows {
                Rows::Query(query) | Rows::Lateral(query) => self.visit_query(query, visit),
                Rows::Computed(rows) => self.visit_expr(rows, visit),
                Rows::Function(_, arguments) => arguments.iter().for_each(|expr| self.visit_expr(expr, visit)),
                Rows::Table(_) | Rows::System(_) | Rows::Common(_) => {}
            },
            From::Join(join) => {
                self.visit_from(&join.left, visit);
                self.visit_from(&join.right, visit);
                join.on.iter().for_each(|on| self.visit_predicate(on, visit));
            }
        }
    }

    /// Whether a walk visits a column for which `wanted` is true.
    pub fn mentions(
        &self,
        wanted: &dyn Fn(ColumnRef) -> bool,
        walk: impl FnOnce(&Self, &mut dyn FnMut(Node<'_>)),
    ) -> bool {
        let mut found = false;
        walk(self, &mut |node| found |= column_of(node).is_some_and(wanted));
        found
    }
}

/// The column of a node.
pub(crate) fn column_of(node: Node<'_>) -> Option<ColumnRef> {
    match node {
        Node::Expr(Expr {
            kind: ExprKind::Column(column),
            ..
        }) => Some(*column),
        Node::Expr(_) | Node::Predicate(_) | Node::Slot(_) => None,
    }
}

/// The query node of a node.
pub(crate) fn query_node_ref(node: Node<'_>) -> Option<QueryNodeRef> {
    match node {
        Node::Expr(Expr {
            kind: ExprKind::QueryNode(reference),
            ..
        }) => Some(*reference),
        Node::Predicate(Predicate::QueryNode(reference)) => Some(*reference),
        Node::Expr(_) | Node::Predicate(_) | Node::Slot(_) => None,
    }
}

impl Expr {
    /// Whether the expression contains a subquery, an aggregate or a window function.
    pub(crate) fn holds_query(&self) -> bool {
        let mut holds = false;
        self.visit(&mut |node| holds |= query_node_ref(node).is_some());
        holds
    }
}
