//! What the SQL of a bound statement calls by number: operations and aggregates.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use selenite_types::storage::{Stored, StoredRef};

use crate::{Aggregate, Collation, Environment, OperationFailure, Operations, SqlError};

/// The function that answers the rows of what the server shows.
pub const ROWS_FUNCTION: &str = "tsql_rows";

/// The function that a statement of SQLite's calls for each row that it writes: true, or an error, which undoes the
/// statement alone.
pub const CHECK_CANCELLED_FUNCTION: &str = "tsql_check_cancelled";

/// An aggregate that SQLite calls: `tsql_aggregate(N, value)`.
#[derive(Clone, PartialEq, Debug)]
pub struct AggregateSpec {
    /// Which, and the types of its operand and result.
    pub aggregate: Aggregate,
    /// Whether equal values count once.
    pub distinct: bool,
    /// How text is compared.
    pub collation: Collation,
}

/// What the SQL of a bound statement calls by number.
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

    /// Whether a hint requires that what is read be held until the transaction ends.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Whether there is nothing to call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.aggregates.is_empty()
    }

    /// Runs operation `number` on its arguments.
    ///
    /// Errors: whatever the operation's evaluation gives; 50823 for an argument that is no value of its type.
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

    /// Aggregate `number`; none for a number that the statement does not have.
    #[must_use]
    pub fn aggregate(&self, number: u32) -> Option<&Arc<AggregateSpec>> {
        self.aggregates.get(usize::try_from(number).ok()?)
    }
}
