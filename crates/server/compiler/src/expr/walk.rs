//! Walks over trees of expressions and predicates: all that an expression holds, once, in the order in which it is
//! written.

use super::{Expr, ExprKind, Predicate, WholeOperand};
use crate::Slot;

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A value.
    Expr(&'a Expr),
    /// A condition.
    Predicate(&'a Predicate),
    /// A variable that whole numbers' arithmetic reads itself.
    Slot(Slot),
}

/// A node of a tree, to be changed.
#[derive(Debug)]
pub enum NodeMut<'a> {
    /// A value.
    Expr(&'a mut Expr),
    /// A condition.
    Predicate(&'a mut Predicate),
    /// What whole numbers' arithmetic reads itself; an expression in it is shown too.
    Operand(&'a mut WholeOperand),
}

impl Expr {
    /// Shows `visit` the expression and all below it, parents first; of [`ExprKind::Local`] only what no
    /// [`crate::Let`] in it binds.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(Node<'a>)) {
        visit(Node::Expr(self));
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Column(_)
            | ExprKind::Outside(_)
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
            ExprKind::Let(bound) => {
                bound.value.visit(visit);
                bound.body.visit(&mut |node| show_unbound(node, visit));
            }
        }
    }

    /// Lets `change` replace the expression or whatever is below it: parents first, and what replaced them is walked
    /// too.
    ///
    /// `change` must not let a node hold itself: the walk goes down into what it put there.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(NodeMut<'_>)) {
        change(NodeMut::Expr(self));
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Null
            | ExprKind::Variable(_)
            | ExprKind::Column(_)
            | ExprKind::Outside(_)
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
            ExprKind::Let(bound) => {
                bound.value.rewrite(change);
                bound.body.rewrite(change);
            }
        }
    }
}

impl Predicate {
    /// Shows `visit` the predicate and all below it, parents first.
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
            Self::Outside(_) | Self::Input(_) => {}
        }
    }

    /// Lets `change` replace the predicate or whatever is below it, as [`Expr::rewrite`] does.
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
            Self::Outside(_) | Self::Input(_) => {}
        }
    }
}

/// Shows a node of a [`crate::Let`]'s body, unless it is the value that this binds.
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
