//! Writes SQLite's SQL for bound queries, over storage forms.
//!
//! - `only-quoted-names`: of a user's text only names occur in the SQL, always in quotation marks;
//!   sources are `t0`, `t1` and columns of queries `c0`, `c1`.
//! - `sqlite-where-it-means-the-same`: expressions with the same meaning in SQLite as in T-SQL are
//!   written as SQLite's own SQL, so that indexes are used; all others are `tsql_op(N, ..)`.
//! - `constants-are-parameters`: a value that does not depend on a row is a parameter, evaluated
//!   once in advance; but where T-SQL may not evaluate it (a branch of CASE) and it may fail, it is
//!   an operation, evaluated on demand.
//! - `output-is-budgeted`: the SQL is charged to the statement's budget: each node, and for a column
//!   the expression that SQLite substitutes for it.
//! - `collation-is-explicit`: the collation of a text comparison is always written.

mod condition;
mod form;
mod from;
mod name;
mod parameter;
mod query_node;
mod rows;
mod value;
mod weight;
mod window;

use std::collections::{BTreeSet, HashMap};

pub(crate) use form::{Form, keeps_form};
pub(crate) use name::{qualified, quoted};
pub use parameter::{Parameter, ParameterValue, stored};
use weight::Weights;
use window::Windows;

use crate::compiled::{AggregateSpec, Compiled};
use crate::query::tree::Parts;
use crate::{Operations, SqlError};

/// Writes the SQL of one statement.
pub(crate) struct Writer {
    /// The queries' parts.
    pub parts: Parts,
    /// The operations that the SQL calls.
    pub operations: Operations,
    /// The aggregates that the SQL calls.
    pub aggregates: Vec<AggregateSpec>,
    parameters: Vec<Parameter>,
    /// The columns of each operation's inputs, for error messages.
    inputs: HashMap<(u32, usize), BTreeSet<String>>,
    /// The nesting of branches that T-SQL may not evaluate.
    lazy: u32,
    /// The sizes after SQLite's substitutions.
    weights: Weights,
    /// The windows in the SQL.
    windows: Windows,
}

/// SQL with its parameters: `?1` is the first.
#[derive(Clone, Debug)]
pub struct SqlText {
    /// One statement of SQLite's.
    pub sql: String,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
}

impl Writer {
    /// A writer over bound parts.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            operations: Operations::new(),
            aggregates: Vec::new(),
            parameters: Vec::new(),
            inputs: HashMap::new(),
            lazy: 0,
            weights: Weights::default(),
            windows: Windows::default(),
        }
    }

    /// Ends one statement's SQL: it takes the parameters, and the next statement begins with none.
    ///
    /// Errors: 40510 for more parameters than SQLite supports; 8623 for more sources or windows than it can prepare
    /// quickly.
    pub fn finish(&mut self, sql: String) -> Result<SqlText, SqlError> {
        self.check_sources()?;
        self.count_windows(0)?;
        self.windows = Windows::default();
        let parameters = std::mem::take(&mut self.parameters);
        if parameters.len() > PARAMETER_COUNT_MAX {
            return Err(SqlError::unsupported(&format!(
                "A statement of more than {PARAMETER_COUNT_MAX} constants"
            )));
        }
        Ok(SqlText { sql, parameters })
    }

    /// The operations and aggregates, after all SQL is written.
    pub fn compiled(self) -> Compiled {
        Compiled::new(self.operations, self.aggregates, self.inputs, self.parts.holds)
    }

    /// The SQL of a parameter; a recent equal one is reused.
    fn parameter(&mut self, parameter: Parameter) -> String {
        let first = self.parameters.len().saturating_sub(EQUAL_WITHIN);
        let mut near = self.parameters.iter().skip(first);
        let known = near.position(|other| *other == parameter);
        let at = known.map_or(self.parameters.len(), |known| first + known);
        if known.is_none() {
            self.parameters.push(parameter);
        }
        format!("?{}", at + 1)
    }

    /// Runs `write` for a branch that T-SQL may not evaluate.
    fn lazily<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T, SqlError>) -> Result<T, SqlError> {
        self.lazy += 1;
        let written = write(self);
        self.lazy -= 1;
        written
    }

    /// The number of an aggregate among those that SQLite calls.
    fn aggregate_number(&mut self, spec: AggregateSpec) -> usize {
        self.aggregates
            .iter()
            .position(|other| *other == spec)
            .unwrap_or_else(|| {
                self.aggregates.push(spec);
                self.aggregates.len() - 1
            })
    }
}

/// SQLITE_MAX_VARIABLE_NUMBER's default.
const PARAMETER_COUNT_MAX: usize = 32_766;

/// So many recent parameters are searched for an equal one: all of most statements, few of a list of thousands.
const EQUAL_WITHIN: usize = 32;
