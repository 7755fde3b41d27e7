//! Runs INSERT BULK and BULK INSERT.
//!
//! - `rows-are-not-kept`: a row is written before the next one is read. Only a row that refers to a later row of its
//!   own table waits for it.

use selenite_compiler::SqlError;
use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::{BulkRows, Insert};
use selenite_types::storage::to_stored;
use selenite_types::{DataType, Value};

use super::insert::{is_null_key_left_out, refusal, write_waiting};
use super::row_writer::{self, Given, Prepared};
use super::{changed_rows, row};
use crate::sqlite::{ChangeError, PreparedChange, reserve};
use crate::statement::Run;

/// The source of a bulk load's rows: fills the row that it is passed, which is empty; false at the end.
pub type RowFeed<'a> = dyn FnMut(&mut Vec<Value>) -> Result<bool, SqlError> + 'a;

pub(super) fn run(
    insert: &Insert,
    run: &mut Run<'_>,
    types: &[DataType],
    feed: &mut RowFeed<'_>,
) -> Result<u64, SqlError> {
    let Some(bulk) = insert.bulk() else {
        return Err(SqlError::internal("rows for no bulk load"));
    };
    insert.check_types(types)?;
    let defaulted = defaulted(insert, bulk);
    let executor = run.executor;
    let mut change = match changed_rows::is_instead_of(run, ChangeVerb::Insert) {
        true => None,
        false => Some(executor.prepare(&insert.writer.sql)?),
    };
    let (mut count, mut waiting) = (0, Vec::new());
    let mut row = Vec::with_capacity(types.len());
    while feed(&mut row)? {
        count += 1;
        let given = row.drain(..).zip(types).zip(&defaulted);
        let given = given.map(|((value, data_type), defaulted)| match (defaulted, &value) {
            (Defaulted::Always, _) | (Defaulted::Null, Value::Null) => Given::Default,
            (Defaulted::Null | Defaulted::Never, _) => Given::Value(value, *data_type),
        });
        let Some(change) = &mut change else {
            let made = row_writer::compute(&insert.writer, run, given)?;
            changed_rows::note(run, ChangeVerb::Insert, None, Some(&made))?;
            continue;
        };
        let prepared = row_writer::prepare(&insert.writer, run, given, ChangeVerb::Insert)?;
        if is_null_key_left_out(insert, run, &prepared)? {
            count -= 1;
            continue;
        }
        match store(insert, run, change, &prepared) {
            Ok(()) => changed_rows::note(run, ChangeVerb::Insert, None, Some(&prepared.row))?,
            Err(error) if row::may_wait(&insert.writer.rules, &error) => {
                reserve(0)?;
                waiting.push(prepared);
            }
            Err(error) if row::is_left_out(&insert.writer.rules, &error) => {
                run.executor.functions.note_duplicate();
                count -= 1;
            }
            Err(error) => return Err(refusal(insert, run, error, &prepared)),
        }
    }
    Ok(count - write_waiting(insert, run, &waiting)?)
}

/// Stores a row by the prepared INSERT.
fn store(
    insert: &Insert,
    run: &Run<'_>,
    change: &mut PreparedChange<'_>,
    prepared: &Prepared,
) -> Result<(), ChangeError> {
    let writer = &insert.writer;
    let table = &writer.rules.table;
    let stored = writer.stored.iter().map(|at| {
        let (column, value) = (table.columns.get(*at), prepared.row.get(*at));
        let (column, value) = column
            .zip(value)
            .ok_or_else(|| SqlError::internal("a column beyond the last"))?;
        to_stored(value, &column.data_type).map_err(|misfit| SqlError::internal(&misfit.to_string()))
    });
    change.run(stored)?;
    row_writer::note_stored(writer, run, prepared)
}

/// Which values of a column stand for its default.
enum Defaulted {
    Never,
    Null,
    /// Those of a rowversion.
    Always,
}

/// Of each filled column, which values stand for its default.
fn defaulted(insert: &Insert, bulk: &BulkRows) -> Vec<Defaulted> {
    let writer = &insert.writer;
    let version = writer.rules.table.row_version();
    let has_default = |at: usize| matches!(writer.defaults.get(at), Some(Some(_)));
    let of_target = |at: &usize| match *at {
        at if Some(at) == version => Defaulted::Always,
        at if !bulk.keeps_nulls && has_default(at) => Defaulted::Null,
        _ => Defaulted::Never,
    };
    writer.targets.iter().map(of_target).collect()
}
