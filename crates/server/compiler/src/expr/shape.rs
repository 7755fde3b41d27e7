//! Dependencies of an expression.

use super::{Expr, ExprKind, Node, Predicate};
use crate::Volatility;

impl Expr {
    /// Whether the value may differ from row to row: it contains a column, a query node, or NEWID.
    ///
    /// Any other expression is evaluated once for a statement, and given to SQLite as a parameter.
    #[must_use]
    pub fn depends_on_row(&self) -> bool {
        let mut depends = false;
        self.visit(&mut |node| depends |= node_depends_on_row(node));
        depends
    }

    /// Whether the value is the same in every statement: constants, and functions of them that read no environment.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let mut constant = true;
        self.visit(&mut |node| constant &= node_is_constant(node));
        constant
    }
}

impl Predicate {
    /// As [`Expr::depends_on_row`].
    #[must_use]
    pub fn depends_on_row(&self) -> bool {
        let mut depends = false;
        self.visit(&mut |node| depends |= node_depends_on_row(node));
        depends
    }
}

fn node_depends_on_row(node: Node<'_>) -> bool {
    match node {
        Node::Expr(expr) => match &expr.kind {
            ExprKind::Column(_) | ExprKind::QueryNode(_) | ExprKind::Input(_) | ExprKind::Local => true,
            ExprKind::Call(call) => call.function.volatility == Volatility::Row,
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Convert(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Whole(_)
            | ExprKind::Case { .. }
            | ExprKind::Coalesce(_)
            | ExprKind::Let(_)
            | ExprKind::Choose { .. }
            | ExprKind::UserCall(_) => false,
        },
        Node::Predicate(predicate) => matches!(predicate, Predicate::QueryNode(_) | Predicate::Input(_)),
        Node::Slot(_) => false,
    }
}

fn node_is_constant(node: Node<'_>) -> bool {
    match node {
        Node::Expr(expr) => match &expr.kind {
            // A function may read tables.
            ExprKind::Variable(_) | ExprKind::UserCall(_) => false,
            ExprKind::Call(call) => call.function.volatility == Volatility::Never,
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Column(_)
            | ExprKind::QueryNode(_)
            | ExprKind::Input(_)
            | ExprKind::Convert(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Whole(_)
            | ExprKind::Case { .. }
            | ExprKind::Coalesce(_)
            | ExprKind::Let(_)
            | ExprKind::Local
            | ExprKind::Choose { .. } => !node_depends_on_row(node),
        },
        Node::Predicate(_) => !node_depends_on_row(node),
        Node::Slot(_) => false,
    }
}
