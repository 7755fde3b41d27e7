//! The operations and aggregates that the SQL of a bound statement calls by number.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use selenite_types::storage::{Stored, StoredRef};

use crate::{Aggregate, Collation, Environment, OperationFailure, Operations, SqlError};

/// The function that returns the rows of system views.
pub const ROWS_FUNCTION: &str = "tsql_rows";

/// The collation under which SQLite compares storage forms of sql_variant.
pub const VARIANT_COLLATION: &str = "tsql_variant";

/// The function that a statement of SQLite's calls for each row that it writes: it returns true, or fails, which undoes
/// only the statement.
pub const CHECK_CANCELLED_FUNCTION: &str = "tsql_check_cancelled";

/// An aggregate that SQLite calls: `tsql_aggregate(N, value)`.
#[derive(Clone, PartialEq, Debug)]
pub struct AggregateSpec {
    /// The aggregate function, and the types of its operand and result.
    pub aggregate: Aggregate,
    /// DISTINCT.
    pub distinct: bool,
    /// The collation of text.
    pub collation: Collation,
}

/// The operations and aggregates that the SQL of a bound statement calls by number.
#[derive(Clone, Default, Debug)]
pub struct Compiled {
    operations: Operations,
    aggregates: Vec<Arc<AggregateSpec>>,
    inputs: HashMap<(u32, usize), BTreeSet<String>>,
    holds: bool,
}

impl Compiled {
    pub(crate) fn new(
        operations: Operations,
        aggregates: Vec<AggregateSpec>,
        inputs: HashMap<(u32, usize), BTreeSet<String>>,
        holds: bool,
    ) -> Self {
        Self {
            operations,
            aggregates: aggregates.into_iter().map(Arc::new).collect(),
            inputs,
            holds,
        }
    }

    /// Whether a hint requires that rows that are read be held until the transaction ends.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Whether it has no operations and no aggregates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.aggregates.is_empty()
    }

    /// Runs operation `number` on its arguments.
    ///
    /// Errors: any error of the operation's evaluation; 50823 for an argument that is not a value of its type.
    pub fn operation(
        &self,
        number: u32,
        arguments: &[StoredRef<'_>],
        environment: &dyn Environment,
    ) -> Result<Stored<'static>, SqlError> {
        self.operations
            .run(number, arguments, environment)
            .map_err(|failure| match failure {
                OperationFailure::Error(error) => error,
                OperationFailure::Misfit { input, misfit } => {
                    let names = self.inputs.get(&(number, input)).into_iter().flatten();
                    let names: Vec<&str> = names.map(String::as_str).collect();
                    SqlError::misfit(&names.join(" or "), &misfit.to_string())
                }
            })
    }

    /// Aggregate `number`; `None` if the statement has no such number.
    #[must_use]
    pub fn aggregate(&self, number: u32) -> Option<&Arc<AggregateSpec>> {
        self.aggregates.get(usize::try_from(number).ok()?)
    }
}
