//! Runs UPDATE.

use std::collections::HashSet;
use std::ops::ControlFlow;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{ChangeVerb, Violation};
use selenite_compiler::change::{RowRules, RowUpdate, SetValue, Update, UpdateRows, UpdateStrategy};
use selenite_types::storage::Stored;
use selenite_types::{DataType, Value};

use super::row::{self, fit};
use super::{changed_rows, output, shift};
use crate::sqlite::ChangeError;
use crate::statement::{Run, call, read_inputs};

/// A row to write.
pub(super) struct Pending {
    /// The row's rowid.
    pub row_id: i64,
    /// The rowid, the old row, the new row and further values.
    pub values: Vec<Value>,
}

pub(super) fn run(update: &Update, run: &mut Run<'_>) -> Result<u64, SqlError> {
    match &update.strategy {
        UpdateStrategy::Whole(text) => {
            let parameters = run.parameters(text)?;
            let changed = run.executor.change(&call(text, &parameters, &update.compiled));
            changed.map_err(|error| row::refusal(&update.rules, run, error, &[], None, ChangeVerb::Update))
        }
        UpdateStrategy::Rows(rows) => run_rows(update, run, rows),
    }
}

fn run_rows(update: &Update, run: &mut Run<'_>, rows: &UpdateRows) -> Result<u64, SqlError> {
    let mut pending = Vec::new();
    let mut seen = HashSet::new();
    let parameters = run.parameters(&rows.text)?;
    let executor = run.executor;
    executor.select(&call(&rows.text, &parameters, &update.compiled), &mut |found| {
        let mut values = Vec::with_capacity(rows.inputs.len() + update.rules.table.columns.len());
        read_inputs(&rows.inputs, found, &mut values)?;
        let row_id = match values.first() {
            Some(Value::BigInt(row_id)) => row_id,
            // The outer join found no row of the table.
            Some(Value::Null) => return Ok(ControlFlow::Continue(())),
            _ => return Err(SqlError::internal("a row without its rowid")),
        };
        let row_id = *row_id;
        // Of several rows of FROM that match one row, the first applies.
        if seen.insert(row_id) {
            compute(update, run, rows, &mut values)?;
            pending.push(Pending { row_id, values });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let count = u64::try_from(pending.len()).unwrap_or(u64::MAX);
    if !changed_rows::is_instead_of(run, ChangeVerb::Update) {
        let write = RowsToWrite {
            rules: &update.rules,
            write: &rows.write,
        };
        write.all(run, &pending)?;
        write.check_written(run, &pending)?;
    }
    for row in &pending {
        let (old, new) = (old_row(&update.rules, row), new_row(&update.rules, row));
        changed_rows::note(run, ChangeVerb::Update, Some(old), Some(new))?;
        for output in &update.outputs {
            let _: ControlFlow<()> = output::send(output, run, &row.values)?;
        }
    }
    Ok(count)
}

/// Appends the new row to the old one, and assigns variables.
fn compute(update: &Update, run: &mut Run<'_>, rows: &UpdateRows, values: &mut Vec<Value>) -> Result<(), SqlError> {
    run.environment.begin_row();
    let count = update.rules.table.columns.len();
    let old: Vec<Value> = values.iter().skip(1).take(count).cloned().collect();
    let extra = values.split_off((1 + count).min(values.len()));
    values.extend(old);
    values.extend(extra);
    let new = assigned(&update.rules, run, &rows.sets, values)?;
    for (place, value) in values.iter_mut().skip(1 + count).zip(new) {
        *place = value;
    }
    Ok(())
}

/// The new row of the rowid, the old row, as many values and further ones; assigns variables.
///
/// Errors: any error of the values; those of the table's rules.
pub(super) fn assigned(
    rules: &RowRules,
    run: &mut Run<'_>,
    sets: &[SetValue],
    values: &[Value],
) -> Result<Vec<Value>, SqlError> {
    let table = &rules.table;
    let format = run.environment.session().date_format;
    let mut new: Vec<Value> = values.iter().skip(1).take(table.columns.len()).cloned().collect();
    for set in sets {
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
    match changed_rows::is_instead_of(run, ChangeVerb::Update) {
        true => row::compute(rules, run, &mut new)?,
        false => row::check(rules, run, &mut new, ChangeVerb::Update)?,
    }
    Ok(new)
}

/// Changed rows of a table that are to be written.
pub(super) struct RowsToWrite<'a> {
    /// The table's rules.
    pub rules: &'a RowRules,
    /// How they are written.
    pub write: &'a RowUpdate,
}

impl RowsToWrite<'_> {
    /// Writes all rows, and checks foreign keys when all are written.
    ///
    /// Errors: 547, 2601, 2627.
    fn all(&self, run: &Run<'_>, pending: &[Pending]) -> Result<(), SqlError> {
        let left = self.most(run, pending)?;
        if left.is_empty() {
            return Ok(());
        }
        if self.rules.references.is_empty() {
            return self.move_over(run, &left);
        }
        run.executor.defer_references()?;
        let done = self.move_over(run, &left);
        let is_open = run.executor.settle_references();
        done?;
        let new = pending.iter().map(|row| new_row(self.rules, row));
        if is_open? {
            return Err(row::left_open(self.rules, run, new, ChangeVerb::Update));
        }
        row::check_untrusted(self.rules, run, new, ChangeVerb::Update)
    }

    /// Writes all rows while the checks of foreign keys are deferred.
    ///
    /// Errors: 2601, 2627.
    pub fn all_deferred(&self, run: &Run<'_>, pending: &[Pending]) -> Result<(), SqlError> {
        let left = self.most(run, pending)?;
        self.move_over(run, &left)
    }

    /// Checks keys with NULL, and by functions that read the table, after all rows are written.
    ///
    /// Errors: 547, 2601, 2627, any error of a function.
    pub fn check_written(&self, run: &Run<'_>, pending: &[Pending]) -> Result<(), SqlError> {
        pending.iter().try_for_each(|row| {
            let new = new_row(self.rules, row);
            row::check_null_keys(self.rules, run, new, 1)?;
            row::check_written(self.rules, run, new, ChangeVerb::Update)
        })
    }

    /// Writes rows. A row whose new key another row still has waits until that is written. Rows that still wait after
    /// two passes in opposite orders exchange keys, or have a duplicate key: they are returned.
    fn most<'p>(&self, run: &Run<'_>, pending: &'p [Pending]) -> Result<Vec<&'p Pending>, SqlError> {
        if self.write.changed.is_empty() {
            return Ok(Vec::new());
        }
        let is_lone = pending.len() == 1;
        let mut left: Vec<&Pending> = pending.iter().collect();
        for _ in 0..2 {
            let mut waiting = Vec::new();
            for row in left {
                match self.one(run, row) {
                    Ok(()) => {}
                    Err(error) if !is_lone && (self.is_duplicate(&error) || row::may_wait(self.rules, &error)) => {
                        waiting.push(row);
                    }
                    Err(error) => return Err(self.refusal(run, error, row)),
                }
            }
            // Keys that increase are unused in the opposite order.
            waiting.reverse();
            left = waiting;
        }
        Ok(left)
    }

    /// Moves rows whose keys change aside, and then writes all rows.
    fn move_over(&self, run: &Run<'_>, left: &[&Pending]) -> Result<(), SqlError> {
        let count = left.len();
        let mut aside = match &self.write.shift {
            Some(shift) if count > 0 => Some((shift, shift::unused_keys(shift, run, count)?)),
            Some(_) | None => None,
        };
        let mut moved = Vec::with_capacity(count);
        for row in left {
            let mut to = None;
            if let Some((shift, unused)) = &mut aside
                && shift::changes_key(shift, old_row(self.rules, row), new_row(self.rules, row))
            {
                let place = unused.next();
                let done = run.change(
                    &shift.sql,
                    &shift::parameters(shift, &self.rules.table, place, row.row_id),
                );
                done.map_err(|error| self.refusal(run, error, row))?;
                to = Some(place);
            }
            moved.push(to);
        }
        for (row, to) in left.iter().zip(moved) {
            let written = match (to, &self.write.shift) {
                (Some(place), Some(shift)) => {
                    self.one_at(run, row, (&shift.back, shift::address(shift, place, row.row_id)))
                }
                (_, _) => self.one(run, row),
            };
            written.map_err(|error| self.refusal(run, error, row))?;
        }
        Ok(())
    }

    fn one(&self, run: &Run<'_>, row: &Pending) -> Result<(), ChangeError> {
        self.one_at(run, row, (&self.write.sql, row.row_id))
    }

    fn one_at(&self, run: &Run<'_>, row: &Pending, (sql, address): (&str, i64)) -> Result<(), ChangeError> {
        let mut parameters = row::stored(self.rules, &self.write.changed, new_row(self.rules, row))?;
        parameters.push(Stored::Integer(address));
        run.change(sql, &parameters).map(|_| ())
    }

    fn is_duplicate(&self, error: &ChangeError) -> bool {
        match error {
            ChangeError::Constraint(message) => {
                matches!(self.rules.table.violation(message), Violation::Unique(_))
            }
            ChangeError::Failed(_) => false,
        }
    }

    fn refusal(&self, run: &Run<'_>, error: ChangeError, row: &Pending) -> SqlError {
        let (new, old) = (new_row(self.rules, row), old_row(self.rules, row));
        row::refusal(self.rules, run, error, new, Some(old), ChangeVerb::Update)
    }
}

/// The row before the change.
pub(super) fn old_row<'a>(rules: &RowRules, row: &'a Pending) -> &'a [Value] {
    row.values.get(1..=rules.table.columns.len()).unwrap_or(&[])
}

/// The row after the change.
pub(super) fn new_row<'a>(rules: &RowRules, row: &'a Pending) -> &'a [Value] {
    let count = rules.table.columns.len();
    row.values.get(1 + count..1 + count + count).unwrap_or(&[])
}
