//! UPDATE, run.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_types::storage::Stored;
use selenite_types::{DataType, Value};

use super::output::{Outputs, result_columns};
use super::row::{RowRules, fit};
use super::shift::Shift;
use crate::catalog::{ChangeVerb, Table, View, Violation};
use crate::execution::Compiled;
use crate::statement::inputs::InputColumn;
use crate::statement::{Call, OutputColumn, Run, StoreError};
use crate::writer::SqlText;
use crate::{Expr, PlanError, Slot};

/// UPDATE.
#[derive(Clone, Debug)]
pub struct Update {
    pub(super) rules: RowRules,
    pub(super) way: UpdateWay,
    pub(crate) compiled: Arc<Compiled>,
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
    /// What it gives.
    pub inputs: Vec<InputColumn>,
    /// What is set, in order.
    pub sets: Vec<SetValue>,
    /// The columns that change.
    pub changed: Vec<usize>,
    /// The SQL that writes them, and then the rowid.
    pub sql: String,
    /// How rows are moved aside; `None` if no key changes.
    pub shift: Option<Shift>,
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

    /// The view that was named as the target.
    #[must_use]
    pub fn view(&self) -> Option<&Arc<View>> {
        self.rules.view()
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
            let mut values = InputColumn::read(&rows.inputs, row)?;
            let row_id = match values.first() {
                Some(Value::BigInt(row_id)) => row_id,
                // An outer join has no row of the table here.
                Some(Value::Null) => return Ok(ControlFlow::Continue(())),
                _ => return Err(PlanError::internal("a row without its rowid")),
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
            self.rules.check_null_keys(run, self.new_row(row), 1)?;
        }
        for row in &pending {
            for output in &self.outputs {
                let _: ControlFlow<()> = output.row(run, &row.values)?;
            }
        }
        Ok(count)
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
        self.rules.check(run, &mut new, ChangeVerb::Update)?;
        for (place, value) in values.iter_mut().skip(1 + count).zip(new) {
            *place = value;
        }
        Ok(())
    }

    /// Writes all rows. One whose key another row still has waits until that one is written. Those that still wait when all were
    /// tried from both ends change keys among themselves, or a key is there twice: they are moved aside first.
    fn write_all(&self, run: &Run<'_>, rows: &UpdateRows, pending: &[Pending]) -> Result<(), PlanError> {
        if rows.changed.is_empty() {
            return Ok(());
        }
        let is_lone = pending.len() == 1;
        let mut left: Vec<&Pending> = pending.iter().collect();
        for _ in 0..2 {
            let mut waiting = Vec::new();
            for row in left {
                match self.write(run, rows, row) {
                    Ok(()) => {}
                    Err(error) if !is_lone && (self.is_duplicate(&error) || self.rules.may_wait(&error)) => {
                        waiting.push(row);
                    }
                    Err(error) => return Err(self.refusal(run, error, row)),
                }
            }
            // Keys that were moved up are free from the other end.
            waiting.reverse();
            left = waiting;
        }
        if left.is_empty() {
            return Ok(());
        }
        if self.rules.references.is_empty() {
            return self.move_over(run, rows, &left);
        }
        run.store.defer_references()?;
        let done = self.move_over(run, rows, &left);
        let is_open = run.store.settle_references();
        done?;
        if is_open? {
            let new = pending.iter().map(|row| self.new_row(row));
            return Err(self.rules.left_open(run, new, ChangeVerb::Update));
        }
        Ok(())
    }

    /// Moves rows aside whose keys change, and then all to their place.
    fn move_over(&self, run: &Run<'_>, rows: &UpdateRows, left: &[&Pending]) -> Result<(), PlanError> {
        let count = left.len();
        let mut aside = match &rows.shift {
            Some(shift) => Some((shift, shift.room(run, count)?)),
            None => None,
        };
        let mut moved = Vec::with_capacity(count);
        for row in left {
            let mut to = None;
            if let Some((shift, room)) = &mut aside
                && shift.moves(self.old_row(row), self.new_row(row))
            {
                let place = room.next();
                let done = run.change(&shift.sql, &shift.parameters(&self.rules.table, place, row.row_id));
                done.map_err(|error| self.refusal(run, error, row))?;
                to = Some(place);
            }
            moved.push(to);
        }
        for (row, to) in left.iter().zip(moved) {
            let written = match (to, &rows.shift) {
                (Some(place), Some(shift)) => {
                    self.write_to(run, rows, row, (&shift.back, shift.address(place, row.row_id)))
                }
                (_, _) => self.write(run, rows, row),
            };
            written.map_err(|error| self.refusal(run, error, row))?;
        }
        Ok(())
    }

    fn write(&self, run: &Run<'_>, rows: &UpdateRows, row: &Pending) -> Result<(), StoreError> {
        self.write_to(run, rows, row, (&rows.sql, row.row_id))
    }

    fn write_to(
        &self,
        run: &Run<'_>,
        rows: &UpdateRows,
        row: &Pending,
        (sql, address): (&str, i64),
    ) -> Result<(), StoreError> {
        let mut parameters = self.rules.stored(&rows.changed, self.new_row(row))?;
        parameters.push(Stored::Integer(address));
        run.change(sql, &parameters).map(|_| ())
    }

    fn is_duplicate(&self, error: &StoreError) -> bool {
        match error {
            StoreError::Constraint(message) => matches!(self.rules.table.violation(message), Violation::Unique(_)),
            StoreError::Failed(_) => false,
        }
    }

    fn refusal(&self, run: &Run<'_>, error: StoreError, row: &Pending) -> PlanError {
        let (new, old) = (self.new_row(row), self.old_row(row));
        self.rules.refusal(run, error, new, Some(old), ChangeVerb::Update)
    }

    fn old_row<'a>(&self, row: &'a Pending) -> &'a [Value] {
        let count = self.rules.table.columns.len();
        row.values.get(1..=count).unwrap_or(&[])
    }

    fn new_row<'a>(&self, row: &'a Pending) -> &'a [Value] {
        let count = self.rules.table.columns.len();
        row.values.get(1 + count..1 + count + count).unwrap_or(&[])
    }
}
