//! SQLite's SQL for bound queries, over stored forms.
//!
//! - `only-quoted-names`: of what a user wrote only names go into SQL, always in quotation marks;
//!   sources are `t0`, `t1` and columns of queries `c0`, `c1`.
//! - `sqlite-where-it-means-the-same`: what means the same in SQLite as in T-SQL is written as
//!   SQLite's own SQL, so that indexes are used; all else is `tsql_op(N, ..)`.
//! - `constants-are-parameters`: a value that no row changes is a parameter, evaluated once before;
//!   but where T-SQL might never evaluate it (a branch of CASE) and it might fail, it is an
//!   operation, evaluated when it is reached.
//! - `output-is-budgeted`: what is written is charged to the statement's budget: each node, and for
//!   a column what SQLite substitutes for it.
//! - `collation-is-explicit`: text is compared under a collation that is always written.

mod condition;
mod form;
mod from;
mod held;
mod name;
mod parameter;
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
    /// Which columns each operation's inputs are, for who must name one.
    inputs: HashMap<(u32, usize), BTreeSet<String>>,
    /// How many branches deep we are that T-SQL may never evaluate.
    lazy: u32,
    /// How large SQLite makes what is written.
    weights: Weights,
    /// The windows of what is written.
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
    /// A writer over what was bound.
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

    /// Closes one statement's SQL: its parameters are taken, and the next begins with none.
    ///
    /// Errors: 40510 for more parameters than SQLite takes; 8623 for more sources or windows than it prepares in a
    /// moment.
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

    /// What the SQL calls by number, when all of it is written.
    pub fn compiled(self) -> Compiled {
        Compiled::new(self.operations, self.aggregates, self.inputs, self.parts.holds)
    }

    /// The SQL of a parameter; equal ones that are near one another are one.
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

    /// Runs `write` as a branch that may never be evaluated.
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

/// So many parameters are looked through for an equal one: all of most statements, few of a list of thousands.
const EQUAL_WITHIN: usize = 32;
