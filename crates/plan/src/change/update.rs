//! UPDATE, run.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_types::storage::Stored;
use selenite_types::{DataType, Value};

use super::output::{Outputs, result_columns};
use super::row::{RowRules, fit};
use crate::catalog::{ChangeVerb, Table, Violation};
use crate::execution::{Compiled, read};
use crate::statement::{Call, OutputColumn, Run, StoreError};
use crate::writer::SqlText;
use crate::{Expr, PlanError, Slot};

/// UPDATE.
#[derive(Clone, Debug)]
pub struct Update {
    pub(super) rules: RowRules,
    pub(super) way: UpdateWay,
    pub(super) compiled: Arc<Compiled>,
    pub(super) outputs: Vec<Outputs>,
}

/// How an UPDATE is carried out.
#[derive(Clone, Debug)]
pub(super) enum UpdateWay {
    /// As one statement of SQLite's.
    Whole(SqlText),
    /// Row by row.
    Rows(Box<UpdateRows>),
}

/// An UPDATE row by row.
#[derive(Clone, Debug)]
pub(super) struct UpdateRows {
    /// The query: the rowid, the table's columns, and what else is needed.
    pub text: SqlText,
    /// The types of what else is needed.
    pub extra_types: Vec<DataType>,
    /// What is set, in order.
    pub sets: Vec<SetValue>,
    /// The columns that change.
    pub changed: Vec<usize>,
    /// The SQL that writes them, and then the rowid.
    pub sql: String,
    /// The columns that SQLite has.
    pub stored: Vec<usize>,
    /// The SQL that takes a row out by its rowid.
    pub delete: String,
    /// The SQL that puts it in again, the rowid last.
    pub insert: String,
}

/// One assignment of SET. Expressions are over the rowid, the old row, the new row, and what else is needed.
#[derive(Clone, Debug)]
pub(super) struct SetValue {
    /// The column that is set.
    pub column: Option<usize>,
    /// The variable that is set, and its type.
    pub slot: Option<(Slot, DataType)>,
    /// To what; `None` is NULL, the default of a column that has none.
    pub value: Option<Expr>,
}

/// A row to write.
struct Pending {
    row_id: i64,
    values: Vec<Value>,
}

impl Update {
    /// The table that is changed.
    #[must_use]
    pub fn table(&self) -> &Arc<Table> {
        &self.rules.table
    }

    /// All tables that it writes to.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        let outputs = self.outputs.iter().filter_map(Outputs::filled);
        std::iter::once(self.table()).chain(outputs).collect()
    }

    /// The columns of OUTPUT's rows; none without.
    #[must_use]
    pub fn columns(&self) -> &[OutputColumn] {
        result_columns(&self.outputs)
    }

    /// Whether it is one statement of SQLite's.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self.way, UpdateWay::Whole(_))
    }

    /// Runs it, and tells how many rows it changed.
    ///
    /// Errors: whatever ends the statement.
    pub fn run(&self, run: &mut Run<'_>) -> Result<u64, PlanError> {
        match &self.way {
            UpdateWay::Whole(text) => {
                let parameters = text.evaluate(&run.frame(&[]))?;
                let call = Call {
                    sql: &text.sql,
                    parameters: &parameters,
                    compiled: &self.compiled,
                };
                let changed = run.store.change(&call);
                changed.map_err(|error| self.rules.refusal(run, error, &[], None, ChangeVerb::Update))
            }
            UpdateWay::Rows(rows) => self.run_rows(run, rows),
        }
    }

    fn run_rows(&self, run: &mut Run<'_>, rows: &UpdateRows) -> Result<u64, PlanError> {
        let mut pending = Vec::new();
        let mut seen = HashSet::new();
        run.select(&rows.text, &self.compiled, &mut |run, row| {
            let mut values = Vec::with_capacity(row.len().saturating_add(self.rules.table.columns.len()));
            let types = self.input_types(rows);
            for (value, data_type) in row.iter().zip(types) {
                values.push(read(*value, &data_type)?);
            }
            let Some(Value::BigInt(row_id)) = values.first() else {
                return Err(PlanError::internal("a row without its rowid"));
            };
            let row_id = *row_id;
            // Of several rows of FROM that match one, the first counts.
            if seen.insert(row_id) {
                self.compute(run, rows, &mut values)?;
                pending.push(Pending { row_id, values });
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let count = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        self.write_all(run, rows, &pending)?;
        for row in &pending {
            for output in &self.outputs {
                let _: ControlFlow<()> = output.row(run, &row.values)?;
            }
        }
        Ok(count)
    }

    /// The types of what the query gives: rowid, old row, what else is needed.
    fn input_types<'a>(&'a self, rows: &'a UpdateRows) -> impl Iterator<Item = DataType> + 'a {
        let columns = self.rules.table.columns.iter().map(|column| column.data_type);
        std::iter::once(DataType::BigInt)
            .chain(columns)
            .chain(rows.extra_types.iter().copied())
    }

    /// Puts the new row behind the old one, and sets variables.
    fn compute(&self, run: &mut Run<'_>, rows: &UpdateRows, values: &mut Vec<Value>) -> Result<(), PlanError> {
        let table = &self.rules.table;
        let count = table.columns.len();
        let old: Vec<Value> = values.iter().skip(1).take(count).cloned().collect();
        let extra = values.split_off((1 + count).min(values.len()));
        values.extend(old);
        values.extend(extra);
        let format = run.environment.session().date_format;
        let mut new: Vec<Value> = values.iter().skip(1).take(count).cloned().collect();
        for set in &rows.sets {
            let (mut value, mut from) = match &set.value {
                Some(expr) => (expr.evaluate(&run.frame(values))?, expr.data_type),
                None => (Value::Null, DataType::Int),
            };
            if let Some(at) = set.column {
                value = fit(table, at, value, &from, format)?;
                from = table.columns.get(at).map_or(from, |column| column.data_type);
                if let Some(place) = new.get_mut(at) {
                    *place = value.clone();
                }
            }
            if let Some((slot, data_type)) = set.slot {
                let value = selenite_types::convert(&value, &from, &data_type, None, format)?;
                if let Some(place) = run.slots.get_mut(slot.index()) {
                    *place = value;
                }
            }
        }
        // A row's id can't be one that is not there: it is given by the caller.
        let row_id = match values.first() {
            Some(Value::BigInt(row_id)) => Some(*row_id),
            _ => None,
        };
        self.rules.check(run, &mut new, row_id, ChangeVerb::Update)?;
        for (place, value) in values.iter_mut().skip(1 + count).zip(new) {
            *place = value;
        }
        Ok(())
    }

    /// Writes all rows. One whose key another row still has waits until that one is written. If none of those that wait can be
    /// written, they change keys among themselves, or a key is there twice: they are taken out and put in again.
    fn write_all(&self, run: &Run<'_>, rows: &UpdateRows, pending: &[Pending]) -> Result<(), PlanError> {
        if rows.changed.is_empty() {
            return Ok(());
        }
        let mut left: Vec<&Pending> = pending.iter().collect();
        while !left.is_empty() {
            let count = left.len();
            let mut waiting = Vec::new();
            for row in left {
                match self.write(run, rows, row) {
                    Ok(()) => {}
                    Err(error) if self.is_duplicate(&error) || self.rules.may_wait(&error) => {
                        waiting.push((row, error))
                    }
                    Err(error) => return Err(self.refusal(run, error, row)),
                }
            }
            if waiting.len() == count {
                return self.exchange(run, rows, waiting);
            }
            // Keys that were moved up are free from the other end.
            left = waiting.into_iter().rev().map(|(row, _)| row).collect();
        }
        Ok(())
    }

    /// Takes rows out and puts them in again with the same rowids: nobody refers to them, or SQLite would see that.
    fn exchange(
        &self,
        run: &Run<'_>,
        rows: &UpdateRows,
        waiting: Vec<(&Pending, StoreError)>,
    ) -> Result<(), PlanError> {
        let (left, mut errors): (Vec<&Pending>, Vec<StoreError>) = waiting.into_iter().unzip();
        let lone =
            left.len() == 1 || !self.rules.table.referenced_by.is_empty() || !self.rules.table.foreign_keys.is_empty();
        if let (true, Some(first)) = (lone, left.first()) {
            return Err(self.refusal(run, errors.swap_remove(0), first));
        }
        for row in &left {
            let parameters = [Stored::Integer(row.row_id)];
            run.change(&rows.delete, &parameters)
                .map_err(|error| self.refusal(run, error, row))?;
        }
        for row in left {
            let mut parameters = self.rules.stored(&rows.stored, self.new_row(row))?;
            parameters.push(Stored::Integer(row.row_id));
            run.change(&rows.insert, &parameters)
                .map_err(|error| self.refusal(run, error, row))?;
        }
        Ok(())
    }

    fn write(&self, run: &Run<'_>, rows: &UpdateRows, row: &Pending) -> Result<(), StoreError> {
        let mut parameters = self.rules.stored(&rows.changed, self.new_row(row))?;
        parameters.push(Stored::Integer(row.row_id));
        run.change(&rows.sql, &parameters).map(|_| ())
    }

    fn is_duplicate(&self, error: &StoreError) -> bool {
        match error {
            StoreError::Constraint(message) => matches!(self.rules.table.violation(message), Violation::Unique(_)),
            StoreError::Failed(_) => false,
        }
    }

    fn refusal(&self, run: &Run<'_>, error: StoreError, row: &Pending) -> PlanError {
        let old = row.values.get(1..).unwrap_or(&[]);
        self.rules
            .refusal(run, error, self.new_row(row), Some(old), ChangeVerb::Update)
    }

    fn new_row<'a>(&self, row: &'a Pending) -> &'a [Value] {
        let count = self.rules.table.columns.len();
        row.values.get(1 + count..1 + count + count).unwrap_or(&[])
    }
}
