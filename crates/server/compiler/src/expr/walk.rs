//! Walks over trees of expressions and predicates: each node is visited once, in the order of the text.

use super::{Expr, ExprKind, Predicate, WholeOperand};
use crate::Slot;

/// A visited node.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A condition.
    Predicate(&'a Predicate),
    /// A variable that an integer operation reads directly.
    Slot(Slot),
}

/// A mutable visited node.
#[derive(Debug)]
pub enum NodeMut<'a> {
    /// An expression.
    Expr(&'a mut Expr),
    /// A condition.
    Predicate(&'a mut Predicate),
    /// An operand of an integer operation; an expression in it is visited too.
    Operand(&'a mut WholeOperand),
}

impl Expr {
    /// Visits the expression and all nodes below it, parents first; of [`ExprKind::Local`] only those that no
    /// [`crate::Let`] in the expression binds.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        visit(Node::Expr(self));
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Column(_)
            | ExprKind::QueryNode(_)
            | ExprKind::Input(_)
            | ExprKind::Local => {}
            ExprKind::Convert(convert) => {
                convert.operand.visit(visit);
                if let Some(style) = &convert.style {
                    style.visit(visit);
                }
            }
            ExprKind::Unary { operand, .. } => operand.visit(visit),
            ExprKind::Binary { left, right, .. } => {
                left.visit(visit);
                right.visit(visit);
            }
            ExprKind::Whole(whole) => {
                whole.left.visit(visit);
                whole.right.visit(visit);
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    condition.visit(visit);
                    result.visit(visit);
                }
                if let Some(otherwise) = otherwise {
                    otherwise.visit(visit);
                }
            }
            ExprKind::Coalesce(values) => values.iter().for_each(|value| value.visit(visit)),
            ExprKind::Choose { index, values } => {
                index.visit(visit);
                values.iter().for_each(|value| value.visit(visit));
            }
            ExprKind::Call(call) => call.arguments.iter().for_each(|argument| argument.visit(visit)),
            ExprKind::UserCall(call) => call.arguments.iter().for_each(|argument| argument.visit(visit)),
            ExprKind::Let(bound) => {
                bound.value.visit(visit);
                bound.body.visit(&mut |node| show_unbound(node, visit));
            }
        }
    }

    /// Passes the expression and all nodes below it to `change`, which may replace them: parents first; a replacement
    /// is walked too.
    ///
    /// `change` must not put a node into itself: the walk descends into the replacement.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(NodeMut<'_>)) {
        change(NodeMut::Expr(self));
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Column(_)
            | ExprKind::QueryNode(_)
            | ExprKind::Input(_)
            | ExprKind::Local => {}
            ExprKind::Convert(convert) => {
                convert.operand.rewrite(change);
                if let Some(style) = &mut convert.style {
                    style.rewrite(change);
                }
            }
            ExprKind::Unary { operand, .. } => operand.rewrite(change),
            ExprKind::Binary { left, right, .. } => {
                left.rewrite(change);
                right.rewrite(change);
            }
            ExprKind::Whole(whole) => {
                whole.left.rewrite(change);
                whole.right.rewrite(change);
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    condition.rewrite(change);
                    result.rewrite(change);
                }
                if let Some(otherwise) = otherwise {
                    otherwise.rewrite(change);
                }
            }
            ExprKind::Coalesce(values) => values.iter_mut().for_each(|value| value.rewrite(change)),
            ExprKind::Choose { index, values } => {
                index.rewrite(change);
                values.iter_mut().for_each(|value| value.rewrite(change));
            }
            ExprKind::Call(call) => call.arguments.iter_mut().for_each(|argument| argument.rewrite(change)),
            ExprKind::UserCall(call) => call.arguments.iter_mut().for_each(|argument| argument.rewrite(change)),
            ExprKind::Let(bound) => {
                bound.value.rewrite(change);
                bound.body.rewrite(change);
            }
        }
    }
}

impl Predicate {
    /// Visits the predicate and all nodes below it, parents first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        visit(Node::Predicate(self));
        match self {
            Self::Compare(compare) | Self::Same(compare) => {
                compare.left.visit(visit);
                compare.right.visit(visit);
            }
            Self::Whole(whole) => {
                whole.left.visit(visit);
                whole.right.visit(visit);
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Self::Not(inner) => inner.visit(visit),
            Self::IsNull(operand) => operand.visit(visit),
            Self::Between { operand, low, high, .. } => {
                operand.visit(visit);
                low.visit(visit);
                high.visit(visit);
            }
            Self::InList { operand, list, .. } => {
                operand.visit(visit);
                list.iter().for_each(|value| value.visit(visit));
            }
            Self::Like(like) => {
                like.operand.visit(visit);
                like.pattern.visit(visit);
                if let Some(escape) = &like.escape {
                    escape.visit(visit);
                }
            }
            Self::Let(bound) => {
                bound.value.visit(visit);
                bound.body.visit(&mut |node| show_unbound(node, visit));
            }
            Self::QueryNode(_) | Self::Input(_) => {}
        }
    }

    /// Passes the predicate and all nodes below it to `change`, as [`Expr::rewrite`] does.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(NodeMut<'_>)) {
        change(NodeMut::Predicate(self));
        match self {
            Self::Compare(compare) | Self::Same(compare) => {
                compare.left.rewrite(change);
                compare.right.rewrite(change);
            }
            Self::Whole(whole) => {
                whole.left.rewrite(change);
                whole.right.rewrite(change);
            }
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().for_each(|part| part.rewrite(change)),
            Self::Not(inner) => inner.rewrite(change),
            Self::IsNull(operand) => operand.rewrite(change),
            Self::Between { operand, low, high, .. } => {
                operand.rewrite(change);
                low.rewrite(change);
                high.rewrite(change);
            }
            Self::InList { operand, list, .. } => {
                operand.rewrite(change);
                list.iter_mut().for_each(|value| value.rewrite(change));
            }
            Self::Like(like) => {
                like.operand.rewrite(change);
                like.pattern.rewrite(change);
                if let Some(escape) = &mut like.escape {
                    escape.rewrite(change);
                }
            }
            Self::Let(bound) => {
                bound.value.rewrite(change);
                bound.body.rewrite(change);
            }
            Self::QueryNode(_) | Self::Input(_) => {}
        }
    }
}

/// Visits a node of a [`crate::Let`]'s body, unless it is the `Local` that this `Let` binds.
fn show_unbound<'a>(node: Node<'a>, visit: &mut dyn FnMut(Node<'a>)) {
    let is_bound = matches!(node, Node::Expr(expr) if matches!(expr.kind, ExprKind::Local));
    if !is_bound {
        visit(node);
    }
}

impl WholeOperand {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        match self {
            Self::Slot(slot, _) => visit(Node::Slot(*slot)),
            Self::Literal(..) | Self::Input(..) => {}
            Self::Expr(expr) => expr.visit(visit),
        }
    }

    fn rewrite(&mut self, change: &mut dyn FnMut(NodeMut<'_>)) {
        change(NodeMut::Operand(self));
        match self {
            Self::Slot(..) | Self::Literal(..) | Self::Input(..) => {}
            Self::Expr(expr) => expr.rewrite(change),
        }
    }
}
