//! The rows that a statement has changed, for its triggers.

use selenite_compiler::catalog::ChangeVerb;
use selenite_types::Value;

/// The rows that a statement has changed, or that INSTEAD OF triggers are to change.
#[derive(Debug, Default)]
pub struct ChangedRows {
    /// The rows in order.
    pub rows: Vec<ChangedRow>,
    /// The changes whose place triggers take: they are computed, and not made.
    pub instead_of: Vec<ChangeVerb>,
}

/// A changed row.
#[derive(Debug)]
pub struct ChangedRow {
    /// The change.
    pub verb: ChangeVerb,
    /// The row before, of an UPDATE or DELETE.
    pub old: Option<Vec<Value>>,
    /// The row after, of an INSERT or UPDATE.
    pub new: Option<Vec<Value>>,
}
