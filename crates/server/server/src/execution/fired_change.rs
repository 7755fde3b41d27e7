//! A change whose triggers run.

use std::collections::VecDeque;
use std::sync::Arc;

use selenite_compiler::catalog::{ChangeVerb, Table};
use selenite_runtime::change::ChangedRow;

use crate::catalog::schema::SchemaTrigger;
use crate::database::transactions::StatementScope;

/// A change whose triggers run.
pub(crate) struct Firing {
    /// What surrounds it; `None` once the transaction has ended.
    pub scope: Option<StatementScope>,
    /// The number of the client's savepoints before it.
    pub savepoint_count: usize,
    /// Its table.
    pub table: Arc<Table>,
    /// The rows that it has changed.
    pub rows: Vec<ChangedRow>,
    /// The columns that an UPDATE has assigned.
    pub assigned: Vec<usize>,
    /// The triggers that are still to run.
    pub left: VecDeque<(Arc<SchemaTrigger>, ChangeVerb)>,
    /// The trigger whose frame begins next.
    pub next: Option<(Arc<SchemaTrigger>, ChangeVerb)>,
}
