//! An operand that is used several times: bound once, evaluated once.

use crate::{Expr, ExprKind, Let, LetPredicate, Predicate};

/// Holds the value of such an operand; empty if the operand is a leaf, which is copied instead.
#[derive(Default)]
pub(crate) struct Once(Option<Expr>);

impl Once {
    /// Takes an operand and returns the expression for each use: a constant, a variable or a column itself, else
    /// [`ExprKind::Local`].
    pub fn new(operand: Expr) -> (Self, Expr) {
        if operand.is_leaf() {
            return (Self(None), operand);
        }
        let local = Expr::new(ExprKind::Local, operand.data_type)
            .with_nullable(operand.nullable)
            .with_collation(operand.collation);
        (Self(Some(operand)), local)
    }

    /// Wraps an expression that uses the operand in a [`Let`].
    pub fn around(self, body: Expr) -> Expr {
        let Some(value) = self.0 else { return body };
        let (data_type, nullable, collation) = (body.data_type, body.nullable, body.collation);
        Expr::new(ExprKind::Let(Box::new(Let { value, body })), data_type)
            .with_nullable(nullable)
            .with_collation(collation)
    }

    /// Wraps a condition that uses the operand in a [`LetPredicate`].
    pub fn around_predicate(self, body: Predicate) -> Predicate {
        match self.0 {
            Some(value) => Predicate::Let(Box::new(LetPredicate { value, body })),
            None => body,
        }
    }

    /// Substitutes the operand for [`ExprKind::Local`] in `used`, which has nothing but conversions around it.
    pub fn substitute_in(self, mut used: Expr) -> Expr {
        if let Some(value) = self.0 {
            replace_local(&mut used, value);
        }
        used
    }
}

fn replace_local(place: &mut Expr, value: Expr) {
    if let ExprKind::Convert(convert) = &mut place.kind {
        return replace_local(&mut convert.operand, value);
    }
    *place = value;
}

impl Expr {
    /// Whether it is a constant, a variable or a column.
    fn is_leaf(&self) -> bool {
        match self.kind {
            ExprKind::Literal(_) | ExprKind::Null | ExprKind::Variable(_) | ExprKind::Column(_) => true,
            // A subquery is a leaf here, but not in SQLite's SQL.
            ExprKind::QueryNode(_)
            | ExprKind::Local
            | ExprKind::Let(_)
            | ExprKind::Input(_)
            | ExprKind::Convert(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Whole(_)
            | ExprKind::Case { .. }
            | ExprKind::Coalesce(_)
            | ExprKind::Choose { .. }
            | ExprKind::Call(_)
            | ExprKind::UserCall(_) => false,
        }
    }
}
