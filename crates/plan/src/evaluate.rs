//! Values of bound expressions.
//!
//! V1. No allocation and no shared count for whole numbers.
//! V2. Whatever fails is T-SQL's own error; nothing panics.

use selenite_types::Value;

use crate::{Environment, Expr, PlanError, Predicate};

/// What an expression is evaluated over.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Values of variables, by [`crate::Slot`].
    pub slots: &'a [Value],
    /// Values of [`crate::ExprKind::Input`]s; empty outside an [`crate::Operations`].
    pub row: &'a [Value],
    /// What is outside.
    pub environment: &'a dyn Environment,
}

impl Expr {
    /// The expression's value: NULL, or of its type.
    ///
    /// Errors: whatever goes wrong with the values. 8624 if it holds a column or something else of a query, which only an
    /// [`crate::Operations`] can evaluate.
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Value, PlanError> {
        let _ = frame;
        Err(PlanError::unsupported("This expression"))
    }
}

impl Predicate {
    /// Whether it is true; `None` is unknown.
    ///
    /// Errors: as [`Expr::evaluate`].
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Option<bool>, PlanError> {
        let _ = frame;
        Err(PlanError::unsupported("This condition"))
    }
}
