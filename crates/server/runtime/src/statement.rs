//! Statements on tables, run.
//!
//! complete-or-undone: whatever a statement changes before an error must be undone by whoever runs it: a savepoint around it, unless
//! [`selenite_compiler::statement::Statement::is_single`].

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use selenite_compiler::catalog::Table;
use selenite_compiler::compiled::Compiled;
use selenite_compiler::statement::{Assign, InputColumn, Rows, SlotValue};
use selenite_compiler::{Environment, Frame, PlanError, SqlText};
use selenite_types::Value;
use selenite_types::storage::{Stored, StoredRef};

use crate::execution::read_at;

/// SQL to run, with the values of its parameters and what it calls.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// One statement of SQLite's.
    pub sql: &'a str,
    /// `?1` and those behind it.
    pub parameters: &'a [Stored<'static>],
    /// What its functions call by number.
    pub compiled: &'a Arc<Compiled>,
}

/// What takes the rows of a [`Store::select`].
pub type RowSink<'a> = dyn FnMut(&[StoredRef<'_>]) -> Result<ControlFlow<()>, PlanError> + 'a;

/// What takes a result's rows, decoded.
pub type ResultSink<'a> = dyn FnMut(&[Value]) -> Result<ControlFlow<()>, PlanError> + 'a;

/// What takes the rows that a running statement reads.
type RunSink<'s, 'a> = dyn FnMut(&mut Run<'a>, &[StoredRef<'_>]) -> Result<ControlFlow<()>, PlanError> + 's;

/// Where a statement's rows are: SQLite, as the server has it.
///
/// A statement may change rows from within the sink of a select, of a table that the select does not read: what the select calls by
/// number must then be in force again when it goes on. An error that one of our functions gives SQLite comes back as it was,
/// not as SQLite tells it.
pub trait Store {
    /// Runs SQL and shows `row` each row, until it breaks.
    ///
    /// Errors: those of `row`, of the functions that SQLite calls, and of SQLite itself.
    fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), StoreError>;

    /// Runs SQL that changes rows, and tells how many.
    ///
    /// Errors: as [`Store::select`]; a broken constraint is one of its own.
    fn change(&self, call: &Call<'_>) -> Result<u64, StoreError>;

    /// Takes the next number of a table's identity.
    ///
    /// Errors: whatever keeps the number from being taken.
    fn next_identity(&self, table: &Table) -> Result<i128, PlanError>;

    /// Tells that a row was inserted with this number, given or taken: `@@IDENTITY`; a given one beyond the last moves it.
    ///
    /// Errors: whatever keeps it from being noted.
    fn identity_used(&self, table: &Table, value: i128) -> Result<(), PlanError>;

    /// Lets foreign keys be broken from now on, until [`Store::settle_references`].
    ///
    /// Errors: what SQLite says.
    fn defer_references(&self) -> Result<(), PlanError>;

    /// Has foreign keys looked at as ever, and tells whether one is broken: then whoever runs the statement must undo it.
    ///
    /// Errors: what SQLite says.
    fn settle_references(&self) -> Result<bool, PlanError>;

    /// Whether SET IDENTITY_INSERT is on for the table.
    fn identity_insert(&self, table: &Table) -> bool;
}

/// Why SQLite did not do what it was told.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// A T-SQL error, of our functions or the sink, or what the server made of SQLite's own.
    Failed(PlanError),
    /// A constraint was broken: SQLite's message.
    Constraint(String),
}

impl From<PlanError> for StoreError {
    fn from(error: PlanError) -> Self {
        Self::Failed(error)
    }
}

/// What a statement runs on.
pub struct Run<'a> {
    /// The rows.
    pub store: &'a dyn Store,
    /// The variables.
    pub slots: &'a mut Vec<Value>,
    /// What is outside.
    pub environment: &'a dyn Environment,
    /// What takes the result's rows, decoded.
    pub rows: &'a mut ResultSink<'a>,
}

impl<'a> Run<'a> {
    /// The frame in which values are evaluated: the variables as they are now.
    pub(crate) fn frame<'f>(&'f self, row: &'f [Value]) -> Frame<'f> {
        Frame {
            slots: self.slots,
            row,
            local: None,
            environment: self.environment,
        }
    }

    /// Runs a query, and shows `row` each row.
    ///
    /// Errors: those of its parameters, of SQLite and of `row`.
    pub(crate) fn select(
        &mut self,
        text: &SqlText,
        compiled: &Arc<Compiled>,
        row: &mut RunSink<'_, 'a>,
    ) -> Result<(), PlanError> {
        let parameters = text.evaluate(&self.frame(&[]))?;
        let call = Call {
            sql: &text.sql,
            parameters: &parameters,
            compiled,
        };
        let store = self.store;
        match store.select(&call, &mut |values| row(self, values)) {
            Ok(()) => Ok(()),
            Err(StoreError::Failed(error)) => Err(error),
            Err(StoreError::Constraint(message)) => Err(PlanError::internal(&message)),
        }
    }

    /// Runs SQL that changes rows and calls nothing.
    pub(crate) fn change(&self, sql: &str, parameters: &[Stored<'static>]) -> Result<u64, StoreError> {
        self.store.change(&Call {
            sql,
            parameters,
            compiled: &NOTHING,
        })
    }
}

/// SELECT that gives rows.
impl Run<'_> {
    /// Runs it, and tells how many rows it gave.
    ///
    /// Errors: whatever ends the statement.
    pub fn rows(&mut self, rows: &Rows) -> Result<u64, PlanError> {
        let mut count = 0;
        self.select(&rows.text, &rows.compiled, &mut |run, row| {
            let values = decode(rows, row)?;
            count += 1;
            (run.rows)(&values)
        })?;
        Ok(count)
    }

    /// Runs it for its one value: a subquery where no table is, in SET or IF; NULL if there is no row.
    ///
    /// Errors: whatever ends the statement.
    pub fn value(&mut self, rows: &Rows) -> Result<Value, PlanError> {
        let mut value = Value::Null;
        self.select(&rows.text, &rows.compiled, &mut |_, row| {
            value = decode(rows, row)?.into_iter().next().unwrap_or(Value::Null);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(value)
    }

    /// SELECT that sets variables: tells how many rows there were.
    ///
    /// Errors: whatever ends the statement.
    pub fn assign(&mut self, assign: &Assign) -> Result<u64, PlanError> {
        let mut count = 0;
        self.select(&assign.text, &assign.compiled, &mut |run, row| {
            count += 1;
            run.set(&assign.values, &read_inputs(&assign.inputs, row)?)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Sets variables one after the other, each seeing those before it.
    fn set(&mut self, values: &[SlotValue], row: &[Value]) -> Result<(), PlanError> {
        for assignment in values {
            let value = assignment.value.evaluate(&self.frame(row))?;
            if let Some(slot) = self.slots.get_mut(assignment.slot.index()) {
                *slot = value;
            }
        }
        Ok(())
    }
}

fn decode(rows: &Rows, row: &[StoredRef<'_>]) -> Result<Vec<Value>, PlanError> {
    row.iter()
        .zip(&rows.columns)
        .map(|(value, column)| read_at(*value, &column.data_type, &column.place))
        .collect()
}

/// Reads a row of what values are computed from.
///
/// Errors: 50823 for a value that is none of its column's type.
pub(crate) fn read_inputs(columns: &[InputColumn], row: &[StoredRef<'_>]) -> Result<Vec<Value>, PlanError> {
    row.iter()
        .zip(columns)
        .map(|(value, column)| read_at(*value, &column.data_type, &column.place))
        .collect()
}

/// What SQL calls that calls nothing.
pub(crate) static NOTHING: LazyLock<Arc<Compiled>> = LazyLock::new(Arc::default);

#[cfg(test)]
mod tests;
