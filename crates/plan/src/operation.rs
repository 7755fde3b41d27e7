//! Expressions that SQLite asks us to evaluate: `tsql_op(N, a, b, ..)`.
//!
//! O1. Equal expressions, column for column, have one number.
//! O2. Operations belong to a bound statement and go with it; there are at most [`OPERATION_COUNT_MAX`].

use selenite_types::DataType;

use crate::{ColumnRef, Expr, OutsideRef, PlanError, Predicate};

/// 65,536: a statement that needs more is far longer than the 65,536 * packet size that SQL Server takes.
pub const OPERATION_COUNT_MAX: u32 = 65_536;

/// What an operation takes from the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperationInput {
    /// Where it comes from.
    pub origin: InputOrigin,
    /// The type of its stored form; a bit for a predicate.
    pub data_type: DataType,
}

/// Where an operation's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputOrigin {
    /// A column.
    Column(ColumnRef),
    /// A value that the query binder keeps.
    Outside(OutsideRef),
    /// A condition that the query binder keeps: 0, 1 or NULL.
    OutsidePredicate(OutsideRef),
}

/// An interned expression: its number and what it takes, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationUse {
    /// The first argument of `tsql_op`.
    pub number: u32,
    /// The other arguments.
    pub inputs: Vec<OperationInput>,
    /// The type whose stored form it gives; a bit for a predicate.
    pub data_type: DataType,
}

/// The operations of one bound statement.
#[derive(Clone, Default, Debug)]
pub struct Operations {
    operations: Vec<Expr>,
}

impl Operations {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Interns a value.
    ///
    /// Errors: 8623 when there would be too many.
    pub fn intern(&mut self, expr: &Expr) -> Result<OperationUse, PlanError> {
        let _ = (&self.operations, expr);
        Err(PlanError::unsupported("This operation"))
    }

    /// Interns a condition, whose result is 0, 1 or NULL.
    ///
    /// Errors: as [`Operations::intern`].
    pub fn intern_predicate(&mut self, predicate: &Predicate) -> Result<OperationUse, PlanError> {
        let _ = predicate;
        Err(PlanError::unsupported("This operation"))
    }
}
