//! Writes rows into a table.

use selenite_compiler::SqlError;
use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::RowWriter;
use selenite_types::{DataType, Decimal, Value, convert};

use super::row::{self, fit};
use crate::sqlite::ChangeError;
use crate::statement::Run;

/// A row to store.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The values, by column.
    pub row: Vec<Value>,
    number: Option<i128>,
    verb: ChangeVerb,
}

/// An explicit value of a column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Given {
    /// A value with its type.
    Value(Value, DataType),
    /// DEFAULT.
    Default,
}

/// Writes a row of values with the bound types.
///
/// Errors: as [`RowWriter::write_given`].
pub(super) fn write(
    writer: &RowWriter,
    run: &mut Run<'_>,
    values: Vec<Value>,
    verb: ChangeVerb,
) -> Result<Vec<Value>, SqlError> {
    let given = values
        .into_iter()
        .zip(&writer.types)
        .map(|(value, data_type)| Given::Value(value, *data_type));
    write_given(writer, run, given.collect(), verb)
}

/// Writes a row, and returns the stored row.
///
/// Errors: as [`RowWriter::prepare`] and [`RowWriter::store`].
pub(super) fn write_given(
    writer: &RowWriter,
    run: &mut Run<'_>,
    given: Vec<Given>,
    verb: ChangeVerb,
) -> Result<Vec<Value>, SqlError> {
    let prepared = prepare(writer, run, given, verb)?;
    row::check_null_keys(&writer.rules, run, &prepared.row, 0)?;
    store(writer, run, &prepared)
        .map_err(|error| row::refusal(&writer.rules, run, error, &prepared.row, None, verb))?;
    Ok(prepared.row)
}

/// Prepares a row: converts values, adds defaults, takes the identity value, checks the table's rules but its keys.
///
/// Errors: 515, 544, 545, 547, 2628 and any error of a value.
pub(super) fn prepare(
    writer: &RowWriter,
    run: &mut Run<'_>,
    given: impl IntoIterator<Item = Given>,
    verb: ChangeVerb,
) -> Result<Prepared, SqlError> {
    let (mut row, is_given) = values(writer, run, given)?;
    let number = number(writer, run, &mut row, &is_given)?;
    row::check(&writer.rules, run, &mut row, verb)?;
    Ok(Prepared { row, number, verb })
}

/// Computes a row that is not to be stored, as an INSTEAD OF trigger gets it: no rule is checked, and no identity value
/// is taken; it is 0. A view's columns that may not be NULL need values.
///
/// Errors: 515 of a view; 2628 and any error of a value.
pub(super) fn compute(
    writer: &RowWriter,
    run: &mut Run<'_>,
    given: impl IntoIterator<Item = Given>,
) -> Result<Vec<Value>, SqlError> {
    let (mut row, is_given) = values(writer, run, given)?;
    let table = &writer.rules.table;
    let mut columns = table.columns.iter().zip(&row);
    if writer.rules.is_of_view()
        && let Some(at) = columns.position(|(column, value)| !column.nullable && *value == Value::Null)
    {
        return Err(table.null_in(at, ChangeVerb::Insert));
    }
    if let Some(at) = table.identity()
        && is_given.get(at) == Some(&false)
        && let (Some(place), Some(column)) = (row.get_mut(at), table.columns.get(at))
    {
        let format = run.environment.session().date_format;
        *place = convert(&Value::Int(0), &DataType::Int, &column.data_type, None, format)?;
    }
    row::compute(&writer.rules, run, &mut row)?;
    Ok(row)
}

/// The values of a row by column, and whether each was given.
fn values(
    writer: &RowWriter,
    run: &mut Run<'_>,
    given: impl IntoIterator<Item = Given>,
) -> Result<(Vec<Value>, Vec<bool>), SqlError> {
    let table = &writer.rules.table;
    let format = run.environment.session().date_format;
    let mut row = vec![Value::Null; table.columns.len()];
    let mut is_given = vec![false; table.columns.len()];
    for (at, given) in writer.targets.iter().zip(given) {
        let value = match given {
            Given::Value(value, from) => fit(table, *at, value, &from, format)?,
            Given::Default => default(writer, run, *at)?,
        };
        if let (Some(place), Some(is_given)) = (row.get_mut(*at), is_given.get_mut(*at)) {
            *place = value;
            *is_given = true;
        }
    }
    for at in 0..table.columns.len() {
        if is_given.get(at) == Some(&false) {
            let value = default(writer, run, at)?;
            if let Some(place) = row.get_mut(at) {
                *place = value;
            }
        }
    }
    Ok((row, is_given))
}

/// Stores a row.
///
/// Errors: violations that SQLite reports: keys, foreign keys.
pub(super) fn store(writer: &RowWriter, run: &Run<'_>, prepared: &Prepared) -> Result<(), ChangeError> {
    let parameters = row::stored(&writer.rules, &writer.stored, &prepared.row)?;
    run.change(&writer.sql, &parameters)?;
    note_stored(writer, run, prepared)
}

/// Notes the identity value of a stored row, and checks the rules that see it.
///
/// Errors: 547; SQLite's error.
pub(super) fn note_stored(writer: &RowWriter, run: &Run<'_>, prepared: &Prepared) -> Result<(), ChangeError> {
    if let Some(number) = prepared.number {
        run.executor.identity_used(&writer.rules.table, number)?;
    }
    row::check_written(&writer.rules, run, &prepared.row, prepared.verb)?;
    Ok(())
}

fn default(writer: &RowWriter, run: &Run<'_>, at: usize) -> Result<Value, SqlError> {
    match writer.defaults.get(at) {
        Some(Some(default)) => {
            let value = default.evaluate(&run.frame(&[]))?;
            fit(
                &writer.rules.table,
                at,
                value,
                &default.data_type,
                run.environment.session().date_format,
            )
        }
        Some(None) | None => Ok(Value::Null),
    }
}

/// Sets a row's identity value, if the table has one, and returns it.
fn number(writer: &RowWriter, run: &Run<'_>, row: &mut [Value], is_given: &[bool]) -> Result<Option<i128>, SqlError> {
    let table = &writer.rules.table;
    let Some(at) = table.identity() else { return Ok(None) };
    let given = is_given.get(at) == Some(&true);
    match (given, run.executor.identity_insert(table)) {
        (true, false) => return Err(SqlError::identity_given(table)),
        (false, true) => return Err(SqlError::identity_missing(table)),
        (true, true) => return Ok(row.get(at).and_then(Value::unscaled)),
        (false, false) => {}
    }
    let number = run.executor.next_identity(table)?;
    let data_type = table
        .columns
        .get(at)
        .map_or(DataType::BigInt, |column| column.data_type);
    let value = Value::Decimal(Decimal {
        unscaled: number,
        scale: 0,
    });
    let from = DataType::Decimal {
        precision: 38,
        scale: 0,
    };
    let format = run.environment.session().date_format;
    let value = convert(&value, &from, &data_type, None, format)
        .map_err(|_| SqlError::identity_overflow(data_type.overflow_name()))?;
    if let Some(place) = row.get_mut(at) {
        *place = value;
    }
    Ok(Some(number))
}
