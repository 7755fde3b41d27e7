//! Runs UPDATE.

use std::collections::HashSet;
use std::ops::ControlFlow;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{ChangeVerb, Violation};
use selenite_compiler::change::{Update, UpdateRows, UpdateStrategy};
use selenite_types::storage::Stored;
use selenite_types::{DataType, Value};

use super::row::{self, fit};
use super::{changed_rows, output, shift};
use crate::sqlite::ChangeError;
use crate::statement::{Run, call, read_inputs};

/// A row to write.
struct Pending {
    row_id: i64,
    values: Vec<Value>,
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
        write_all(update, run, rows, &pending)?;
        for row in &pending {
            row::check_null_keys(&update.rules, run, new_row(update, row), 1)?;
        }
    }
    for row in &pending {
        changed_rows::note(
            run,
            ChangeVerb::Update,
            Some(old_row(update, row)),
            Some(new_row(update, row)),
        )?;
        for output in &update.outputs {
            let _: ControlFlow<()> = output::send(output, run, &row.values)?;
        }
    }
    Ok(count)
}

/// Appends the new row to the old one, and assigns variables.
fn compute(update: &Update, run: &mut Run<'_>, rows: &UpdateRows, values: &mut Vec<Value>) -> Result<(), SqlError> {
    run.environment.begin_row();
    let table = &update.rules.table;
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
    match changed_rows::is_instead_of(run, ChangeVerb::Update) {
        true => row::compute(&update.rules, run, &mut new)?,
        false => row::check(&update.rules, run, &mut new, ChangeVerb::Update)?,
    }
    for (place, value) in values.iter_mut().skip(1 + count).zip(new) {
        *place = value;
    }
    Ok(())
}

/// Writes all rows. A row whose new key another row still has waits until that is written. Rows that still wait after
/// two passes in opposite orders exchange keys, or have a duplicate key: they are moved aside first.
fn write_all(update: &Update, run: &Run<'_>, rows: &UpdateRows, pending: &[Pending]) -> Result<(), SqlError> {
    if rows.changed.is_empty() {
        return Ok(());
    }
    let is_lone = pending.len() == 1;
    let mut left: Vec<&Pending> = pending.iter().collect();
    for _ in 0..2 {
        let mut waiting = Vec::new();
        for row in left {
            match write(update, run, rows, row) {
                Ok(()) => {}
                Err(error) if !is_lone && (is_duplicate(update, &error) || row::may_wait(&update.rules, &error)) => {
                    waiting.push(row);
                }
                Err(error) => return Err(refusal(update, run, error, row)),
            }
        }
        // Keys that increase are unused in the opposite order.
        waiting.reverse();
        left = waiting;
    }
    if left.is_empty() {
        return Ok(());
    }
    if update.rules.references.is_empty() {
        return move_over(update, run, rows, &left);
    }
    run.executor.defer_references()?;
    let done = move_over(update, run, rows, &left);
    let is_open = run.executor.settle_references();
    done?;
    if is_open? {
        let new = pending.iter().map(|row| new_row(update, row));
        return Err(row::left_open(&update.rules, run, new, ChangeVerb::Update));
    }
    Ok(())
}

/// Moves rows whose keys change aside, and then writes all rows.
fn move_over(update: &Update, run: &Run<'_>, rows: &UpdateRows, left: &[&Pending]) -> Result<(), SqlError> {
    let count = left.len();
    let mut aside = match &rows.shift {
        Some(shift) => Some((shift, shift::unused_keys(shift, run, count)?)),
        None => None,
    };
    let mut moved = Vec::with_capacity(count);
    for row in left {
        let mut to = None;
        if let Some((shift, unused)) = &mut aside
            && shift::changes_key(shift, old_row(update, row), new_row(update, row))
        {
            let place = unused.next();
            let done = run.change(
                &shift.sql,
                &shift::parameters(shift, &update.rules.table, place, row.row_id),
            );
            done.map_err(|error| refusal(update, run, error, row))?;
            to = Some(place);
        }
        moved.push(to);
    }
    for (row, to) in left.iter().zip(moved) {
        let written = match (to, &rows.shift) {
            (Some(place), Some(shift)) => write_to(
                update,
                run,
                rows,
                row,
                (&shift.back, shift::address(shift, place, row.row_id)),
            ),
            (_, _) => write(update, run, rows, row),
        };
        written.map_err(|error| refusal(update, run, error, row))?;
    }
    Ok(())
}

fn write(update: &Update, run: &Run<'_>, rows: &UpdateRows, row: &Pending) -> Result<(), ChangeError> {
    write_to(update, run, rows, row, (&rows.sql, row.row_id))
}

fn write_to(
    update: &Update,
    run: &Run<'_>,
    rows: &UpdateRows,
    row: &Pending,
    (sql, address): (&str, i64),
) -> Result<(), ChangeError> {
    let mut parameters = row::stored(&update.rules, &rows.changed, new_row(update, row))?;
    parameters.push(Stored::Integer(address));
    run.change(sql, &parameters).map(|_| ())
}

fn is_duplicate(update: &Update, error: &ChangeError) -> bool {
    match error {
        ChangeError::Constraint(message) => matches!(update.rules.table.violation(message), Violation::Unique(_)),
        ChangeError::Failed(_) => false,
    }
}

fn refusal(update: &Update, run: &Run<'_>, error: ChangeError, row: &Pending) -> SqlError {
    let (new, old) = (new_row(update, row), old_row(update, row));
    row::refusal(&update.rules, run, error, new, Some(old), ChangeVerb::Update)
}

fn old_row<'a>(update: &Update, row: &'a Pending) -> &'a [Value] {
    let count = update.rules.table.columns.len();
    row.values.get(1..=count).unwrap_or(&[])
}

fn new_row<'a>(update: &Update, row: &'a Pending) -> &'a [Value] {
    let count = update.rules.table.columns.len();
    row.values.get(1 + count..1 + count + count).unwrap_or(&[])
}
