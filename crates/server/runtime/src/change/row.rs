//! A row to write: converted, and checked by the table's rules.

use selenite_compiler::catalog::{ChangeVerb, Key, Table, Violation};
use selenite_compiler::change::RowRules;
use selenite_compiler::{Predicate, SqlError};
use selenite_types::storage::Stored;
use selenite_types::{DataType, DateFormat, Family, Value, Width, convert};

use super::reference::{self, stored_columns};
use crate::sqlite::ChangeError;
use crate::statement::Run;

/// Computes the computed columns of a row, and checks it by the table's rules.
///
/// Errors: 515, 547.
pub(super) fn check(rules: &RowRules, run: &Run<'_>, row: &mut [Value], verb: ChangeVerb) -> Result<(), SqlError> {
    for (at, column) in rules.table.columns.iter().enumerate() {
        if !column.nullable && column.computed.is_none() && row.get(at) == Some(&Value::Null) {
            return Err(rules.table.null_in(at, verb));
        }
    }
    compute(rules, run, row)?;
    meet((rules, &rules.checks), run, row, verb)?;
    for condition in &rules.of_views {
        if condition.evaluate(&run.frame(row))? != Some(true) {
            return Err(SqlError::check_option());
        }
    }
    Ok(())
}

/// Checks a row that is written by the rules whose functions may read the table.
///
/// Errors: 547, any error of a function.
pub(super) fn check_written(rules: &RowRules, run: &Run<'_>, row: &[Value], verb: ChangeVerb) -> Result<(), SqlError> {
    meet((rules, &rules.checks_of_written), run, row, verb)
}

fn meet(
    (rules, checks): (&RowRules, &[(Predicate, usize)]),
    run: &Run<'_>,
    row: &[Value],
    verb: ChangeVerb,
) -> Result<(), SqlError> {
    for (condition, at) in checks {
        if condition.evaluate(&run.frame(row))? == Some(false)
            && let Some(check) = rules.table.checks.get(*at)
        {
            return Err(rules.table.check_failed(check, verb));
        }
    }
    Ok(())
}

/// Computes the computed columns of a row.
///
/// Errors: any error of their expressions.
pub(super) fn compute(rules: &RowRules, run: &Run<'_>, row: &mut [Value]) -> Result<(), SqlError> {
    for (at, value) in &rules.computed {
        let value = value.evaluate(&run.frame(row))?;
        if let Some(place) = row.get_mut(*at) {
            *place = value;
        }
    }
    Ok(())
}

/// Checks that at most `count` other rows have the row's keys that contain NULL: SQL Server's unique keys allow
/// NULL once, SQLite's any number of times.
///
/// Errors: 2601, 2627.
pub(super) fn check_null_keys(rules: &RowRules, run: &Run<'_>, row: &[Value], count: u8) -> Result<(), SqlError> {
    match null_key_taken(rules, run, row, count)? {
        Some(key) => Err(rules.table.duplicate(key, row)),
        None => Ok(()),
    }
}

/// The key with NULL that more than `count` other rows have, too.
///
/// Errors: SQLite's error.
pub(super) fn null_key_taken<'r>(
    rules: &'r RowRules,
    run: &Run<'_>,
    row: &[Value],
    count: u8,
) -> Result<Option<&'r Key>, SqlError> {
    for (at, sql) in &rules.null_keys {
        let Some(key) = rules.table.keys.get(*at) else { continue };
        if !key.columns.iter().any(|column| row.get(*column) == Some(&Value::Null)) {
            continue;
        }
        let mut parameters = stored(rules, &key.columns, row)?;
        parameters.push(Stored::Integer(count.into()));
        if run.exists(sql, &parameters)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// The key that SQLite refuses, if INSERT leaves out rows with it.
pub(super) fn is_left_out(rules: &RowRules, error: &ChangeError) -> bool {
    let ChangeError::Constraint(message) = error else {
        return false;
    };
    matches!(rules.table.violation(message), Violation::Unique(key) if key.ignores_duplicates)
}

/// Whether a row that SQLite refuses may be accepted once the statement's other rows are written.
pub(super) fn may_wait(rules: &RowRules, error: &ChangeError) -> bool {
    let ChangeError::Constraint(message) = error else {
        return false;
    };
    rules.references.may_wait && rules.table.violation(message) == Violation::ForeignKey
}

/// Translates SQLite's refusal of a row to a T-SQL error. `old` is the row before an UPDATE or DELETE.
pub(super) fn refusal(
    rules: &RowRules,
    run: &Run<'_>,
    error: ChangeError,
    row: &[Value],
    old: Option<&[Value]>,
    verb: ChangeVerb,
) -> SqlError {
    let message = match error {
        ChangeError::Failed(error) => return error,
        ChangeError::Constraint(message) => message,
    };
    match rules.table.violation(&message) {
        Violation::NotNull(column) => rules.table.null_in(column, verb),
        Violation::Unique(key) => rules.table.duplicate(key, row),
        Violation::ForeignKey => match reference::broken(&rules.references, run, &rules.table, (row, old), verb) {
            Ok(error) => error.unwrap_or_else(unbroken),
            Err(error) => error,
        },
        Violation::Unknown => SqlError::internal(&message),
    }
}

/// The error of the violation that remains after all rows are written.
pub(super) fn left_open<'r>(
    rules: &RowRules,
    run: &Run<'_>,
    rows: impl Iterator<Item = &'r [Value]>,
    verb: ChangeVerb,
) -> SqlError {
    match reference::left_open(&rules.references, run, &rules.table, rows, verb) {
        Ok(error) => error.unwrap_or_else(unbroken),
        Err(error) => error,
    }
}

/// Checks written rows against foreign keys that are not trusted, after deferred checks found nothing.
///
/// Errors: 547.
pub(super) fn check_untrusted<'r>(
    rules: &RowRules,
    run: &Run<'_>,
    rows: impl Iterator<Item = &'r [Value]>,
    verb: ChangeVerb,
) -> Result<(), SqlError> {
    match reference::not_counted(&rules.references, run, &rules.table, rows, verb)? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Columns of a row in their storage forms.
///
/// Errors: 8624 for a value that does not have its column's type.
pub(super) fn stored(rules: &RowRules, columns: &[usize], row: &[Value]) -> Result<Vec<Stored<'static>>, SqlError> {
    stored_columns(&rules.table, columns, row)
}

fn unbroken() -> SqlError {
    SqlError::internal("a foreign key that no statement breaks")
}

/// Converts a value for its column.
///
/// Errors: 2628 for text or bytes that are too long, and any other error of the conversion.
pub(super) fn fit(
    table: &Table,
    at: usize,
    value: Value,
    from: &DataType,
    format: DateFormat,
) -> Result<Value, SqlError> {
    let Some(column) = table.columns.get(at) else {
        return Err(SqlError::internal("a column beyond the last"));
    };
    let to = &column.data_type;
    if from == to || value == Value::Null {
        return Ok(value);
    }
    if let Some(kept) = cut(&value, from, to) {
        return Err(table.truncated(at, &kept));
    }
    Ok(convert(&value, from, to, None, format)?)
}

/// The part of a value that fits, if the whole does not. Trailing spaces of text are truncated without an error.
fn cut(value: &Value, from: &DataType, to: &DataType) -> Option<String> {
    let Some(Width::Limited(width)) = to.width() else {
        return None;
    };
    let width = usize::from(width);
    match (from.family(), to.family(), value) {
        (Family::Text, Family::Text, Value::Text(text)) => {
            let long = to.text_length(text.trim_end_matches(' ')) > width;
            long.then(|| to.text_prefix(text, width).to_owned())
        }
        (Family::Binary, Family::Binary, Value::Binary(bytes)) => {
            // Messages show bytes as hexadecimal digits.
            let kept = bytes.get(..width).filter(|_| bytes.len() > width)?;
            Some(
                kept.iter()
                    .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}")),
            )
        }
        _ => None,
    }
}
