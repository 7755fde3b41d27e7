//! SELECT that gives rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_types::Value;
use selenite_types::storage::StoredRef;

use super::{OutputColumn, Run};
use crate::PlanError;
use crate::execution::{Compiled, read_at};
use crate::writer::SqlText;

/// SELECT that gives rows: SQL whose columns are the result's, in their stored forms.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The query.
    pub text: SqlText,
    /// The result's columns, as many as the query's.
    pub columns: Vec<OutputColumn>,
    /// What the SQL calls.
    pub compiled: Arc<Compiled>,
}

impl Rows {
    /// Reads a row of the query.
    ///
    /// Errors: 50823 for a value that is none of its column's type.
    pub fn decode(&self, row: &[StoredRef<'_>]) -> Result<Vec<Value>, PlanError> {
        row.iter()
            .zip(&self.columns)
            .map(|(value, column)| read_at(*value, &column.data_type, &column.place))
            .collect()
    }

    /// Runs it, and tells how many rows it gave.
    ///
    /// Errors: whatever ends the statement.
    pub fn run(&self, run: &mut Run<'_>) -> Result<u64, PlanError> {
        let mut count = 0;
        run.select(&self.text, &self.compiled, &mut |run, row| {
            let values = self.decode(row)?;
            count += 1;
            (run.rows)(&values)
        })?;
        Ok(count)
    }

    /// Runs it for its one value: a subquery where no table is, in SET or IF; NULL if there is no row.
    ///
    /// Errors: whatever ends the statement.
    pub fn run_value(&self, run: &mut Run<'_>) -> Result<Value, PlanError> {
        let mut value = Value::Null;
        run.select(&self.text, &self.compiled, &mut |_, row| {
            value = self.decode(row)?.into_iter().next().unwrap_or(Value::Null);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(value)
    }
}
