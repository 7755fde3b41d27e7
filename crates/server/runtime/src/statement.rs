//! Runs statements on tables.
//!
//! - `complete-or-undone`: the caller must undo the changes of a statement that fails, with a savepoint around it,
//!   unless [`selenite_compiler::statement::Statement::is_single`].

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use selenite_compiler::catalog::SqliteName;
use selenite_compiler::change::Truncate;
use selenite_compiler::compiled::Compiled;
use selenite_compiler::statement::{Assign, ComputedColumns, InputColumn, Into, ResultColumn, Rows, SlotValue};
use selenite_compiler::{Environment, Frame, SqlError, SqlText};
use selenite_types::Value;
use selenite_types::storage::Stored;

use crate::changed_rows::ChangedRows;
use crate::sqlite::{Call, ChangeError, Executor, RowSink, SqliteRow};

/// The receiver of a result's decoded rows.
pub type ResultSink<'a> = dyn FnMut(&[Value]) -> Result<ControlFlow<()>, SqlError> + 'a;

/// The context of a statement.
pub struct Run<'a> {
    /// Runs its SQL.
    pub executor: &'a Executor<'a>,
    /// The variables.
    pub slots: &'a mut Vec<Value>,
    /// The environment.
    pub environment: &'a dyn Environment,
    /// Receives the result's decoded rows.
    pub rows: &'a mut ResultSink<'a>,
    /// Receives the changed rows, if triggers are to fire.
    pub changed: Option<&'a mut ChangedRows>,
}

impl<'a> Run<'a> {
    /// The frame for evaluation, with the current variables.
    pub(crate) fn frame<'f>(&'f self, row: &'f [Value]) -> Frame<'f> {
        Frame {
            slots: self.slots,
            row,
            local: None,
            environment: self.environment,
        }
    }

    /// The values of a text's parameters.
    ///
    /// Errors: any error of their evaluation.
    pub(crate) fn parameters(&self, text: &SqlText) -> Result<Vec<Stored<'static>>, SqlError> {
        text.evaluate(&self.frame(&[]))
    }

    /// Runs a query without operations, and passes each row to `row`.
    ///
    /// Errors: those of SQLite and of `row`.
    pub(crate) fn query(
        &self,
        sql: &str,
        parameters: &[Stored<'static>],
        row: &mut RowSink<'_>,
    ) -> Result<(), SqlError> {
        let call = Call {
            sql,
            parameters,
            compiled: &NOTHING,
        };
        self.executor.select(&call, row)
    }

    /// Whether a query without operations has a row.
    ///
    /// Errors: those of SQLite.
    pub(crate) fn exists(&self, sql: &str, parameters: &[Stored<'static>]) -> Result<bool, SqlError> {
        let mut found = false;
        self.query(sql, parameters, &mut |_| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Runs SQL without operations that changes rows.
    pub(crate) fn change(&self, sql: &str, parameters: &[Stored<'static>]) -> Result<u64, ChangeError> {
        self.executor.change(&Call {
            sql,
            parameters,
            compiled: &NOTHING,
        })
    }
}

impl Run<'_> {
    /// Runs a SELECT that returns rows, and returns their number.
    ///
    /// Errors: any error that ends the statement.
    pub fn rows(&mut self, rows: &Rows) -> Result<u64, SqlError> {
        let parameters = self.parameters(&rows.text)?;
        if let Some(computed) = &rows.computed {
            return self.computed_rows(rows, computed, &parameters);
        }
        let mut row = Vec::with_capacity(rows.columns.len());
        let mut count = 0;
        self.executor
            .select(&call(&rows.text, &parameters, &rows.compiled), &mut |found| {
                read_columns(&rows.columns, found, &mut row)?;
                count += 1;
                (self.rows)(&row)
            })?;
        Ok(count)
    }

    /// Runs a SELECT whose columns are computed outside SQLite.
    fn computed_rows(
        &mut self,
        rows: &Rows,
        computed: &ComputedColumns,
        parameters: &[Stored<'static>],
    ) -> Result<u64, SqlError> {
        let executor = self.executor;
        let mut inputs = Vec::with_capacity(computed.inputs.len());
        let mut count = 0;
        executor.select(&call(&rows.text, parameters, &rows.compiled), &mut |found| {
            self.environment.begin_row();
            read_inputs(&computed.inputs, found, &mut inputs)?;
            let row: Result<Vec<Value>, SqlError> = computed
                .values
                .iter()
                .map(|value| value.evaluate(&self.frame(&inputs)))
                .collect();
            count += 1;
            (self.rows)(&row?)
        })?;
        Ok(count)
    }

    /// Runs a SELECT for its only value: a subquery in SET or IF; NULL without a row.
    ///
    /// Errors: any error that ends the statement.
    pub fn value(&mut self, rows: &Rows) -> Result<Value, SqlError> {
        let parameters = self.parameters(&rows.text)?;
        let mut row = Vec::new();
        self.executor
            .select(&call(&rows.text, &parameters, &rows.compiled), &mut |found| {
                read_columns(&rows.columns, found, &mut row)?;
                Ok(ControlFlow::Break(()))
            })?;
        Ok(row.into_iter().next().unwrap_or(Value::Null))
    }

    /// Runs a SELECT that assigns variables, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement.
    pub fn assign(&mut self, assign: &Assign) -> Result<u64, SqlError> {
        let parameters = self.parameters(&assign.text)?;
        let executor = self.executor;
        let mut row = Vec::with_capacity(assign.inputs.len());
        let mut count = 0;
        executor.select(&call(&assign.text, &parameters, &assign.compiled), &mut |found| {
            self.environment.begin_row();
            read_inputs(&assign.inputs, found, &mut row)?;
            count += 1;
            self.set(&assign.values, &row)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Fills the table that a SELECT INTO has created, and returns the number of rows.
    ///
    /// Errors: any error that ends the statement.
    pub fn fill(&self, into: &Into, table: &SqliteName) -> Result<u64, SqlError> {
        let parameters = self.parameters(&into.text)?;
        let filled = self.executor.change(&Call {
            sql: &into.insert(table)?,
            parameters: &parameters,
            compiled: &into.compiled,
        });
        filled.map_err(ChangeError::unexpected)
    }

    /// Runs a TRUNCATE TABLE, which restarts the identity at the seed.
    ///
    /// Errors: 4712 for a referenced table; SQLite's error.
    pub fn truncate(&self, truncate: &Truncate) -> Result<u64, SqlError> {
        if let Some(refused) = &truncate.refused {
            return Err(refused.clone());
        }
        self.change(&truncate.sql, &[]).map_err(ChangeError::unexpected)?;
        self.executor.restart_numbers(&truncate.table)?;
        Ok(0)
    }

    /// Assigns variables in order; each value sees the previous assignments.
    fn set(&mut self, values: &[SlotValue], row: &[Value]) -> Result<(), SqlError> {
        for assignment in values {
            let value = assignment.value.evaluate(&self.frame(row))?;
            if let Some(slot) = self.slots.get_mut(assignment.slot.index()) {
                *slot = value;
            }
        }
        Ok(())
    }
}

/// The call of a query.
pub(crate) fn call<'a>(text: &'a SqlText, parameters: &'a [Stored<'static>], compiled: &'a Arc<Compiled>) -> Call<'a> {
    Call {
        sql: &text.sql,
        parameters,
        compiled,
    }
}

/// Decodes a row of a result into `row`.
///
/// Errors: as [`SqliteRow::read`].
fn read_columns(columns: &[ResultColumn], found: &SqliteRow<'_>, row: &mut Vec<Value>) -> Result<(), SqlError> {
    let typed = columns.iter().map(|column| (&column.data_type, column.place.as_str()));
    found.read(typed, row)
}

/// Decodes a row of inputs into `row`.
///
/// Errors: as [`SqliteRow::read`].
pub(crate) fn read_inputs(
    columns: &[InputColumn],
    found: &SqliteRow<'_>,
    row: &mut Vec<Value>,
) -> Result<(), SqlError> {
    let typed = columns.iter().map(|column| (&column.data_type, column.place.as_str()));
    found.read(typed, row)
}

/// An empty set of operations.
static NOTHING: LazyLock<Arc<Compiled>> = LazyLock::new(Arc::default);

#[cfg(test)]
mod tests;
