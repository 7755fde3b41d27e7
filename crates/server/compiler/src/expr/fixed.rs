//! Expressions that do not depend on a row.

use selenite_types::Value;

use crate::{Expr, ExprKind, Node, Predicate, Volatility};

/// Whether an expression does not depend on a row, so that it can be evaluated once in advance.
pub(crate) fn is_fixed(expr: &Expr) -> bool {
    let mut fixed = true;
    expr.visit(&mut |node| fixed &= is_fixed_node(node));
    fixed
}

/// Whether a condition does not depend on a row.
pub(crate) fn is_fixed_predicate(predicate: &Predicate) -> bool {
    let mut fixed = true;
    predicate.visit(&mut |node| fixed &= is_fixed_node(node));
    fixed
}

/// Whether an expression can neither fail nor be expensive.
pub(crate) fn is_safe(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Null | ExprKind::Variable(_))
}

/// Whether two evaluations of an expression for the same row may differ.
pub(crate) fn is_volatile(expr: &Expr) -> bool {
    let mut volatile = false;
    expr.visit(&mut |node| volatile |= volatility(node) == Some(Volatility::Row));
    volatile
}

/// Whether two evaluations of a condition for the same row may differ.
pub(crate) fn is_volatile_predicate(predicate: &Predicate) -> bool {
    let mut volatile = false;
    predicate.visit(&mut |node| volatile |= volatility(node) == Some(Volatility::Row));
    volatile
}

/// Whether an expression must be evaluated once for the whole statement: it reads the clock, or draws a random number.
pub(crate) fn is_once(expr: &Expr) -> bool {
    let mut once = false;
    expr.visit(&mut |node| once |= matches!(volatility(node), Some(Volatility::Statement | Volatility::Definition)));
    once && is_fixed(expr)
}

/// The literal below an expression's conversions.
pub(crate) fn literal_of(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        ExprKind::Literal(value) => Some(value),
        ExprKind::Convert(convert) => literal_of(&convert.operand),
        ExprKind::Null
        | ExprKind::Variable(_)
        | ExprKind::Column(_)
        | ExprKind::QueryNode(_)
        | ExprKind::Input(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Whole(_)
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Let(_)
        | ExprKind::Local
        | ExprKind::Choose { .. }
        | ExprKind::Call(_)
        | ExprKind::UserCall(_) => None,
    }
}

fn is_fixed_node(node: Node<'_>) -> bool {
    if volatility(node) == Some(Volatility::Row) {
        return false;
    }
    match node {
        Node::Expr(expr) => !matches!(
            expr.kind,
            ExprKind::Column(_) | ExprKind::QueryNode(_) | ExprKind::Input(_) | ExprKind::Local
        ),
        Node::Predicate(predicate) => !matches!(predicate, Predicate::QueryNode(_) | Predicate::Input(_)),
        Node::Slot(_) => true,
    }
}

fn volatility(node: Node<'_>) -> Option<Volatility> {
    match node {
        Node::Expr(Expr {
            kind: ExprKind::Call(call),
            ..
        }) => Some(call.function.volatility),
        Node::Expr(_) | Node::Predicate(_) | Node::Slot(_) => None,
    }
}
