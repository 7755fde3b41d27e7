//! Finds the violated foreign key. SQLite reports that one is violated, but not which.
//!
//! - `checked-at-the-end`: T-SQL checks foreign keys after all rows of a statement are written. A row that SQLite
//!   refuses waits for the others, and is then written with deferred foreign keys:
//!   [`Store::defer_references`](crate::statement::Store::defer_references).

use selenite_compiler::catalog::{ChangeVerb, Table};
use selenite_compiler::change::{OwnReference, References};
use selenite_compiler::{SqlError, stored};
use selenite_types::Value;
use selenite_types::storage::Stored;

use crate::statement::Run;

/// The foreign key that prevents the write of one row; `old` is the row before an UPDATE or DELETE.
///
/// Errors: any error of the search.
pub(super) fn broken(
    references: &References,
    run: &Run<'_>,
    table: &Table,
    (row, old): (&[Value], Option<&[Value]>),
    verb: ChangeVerb,
) -> Result<Option<SqlError>, SqlError> {
    if let Some(error) = missing(references, run, table, row, verb)? {
        return Ok(Some(error));
    }
    for referring in &references.referring {
        let found = match old {
            Some(old) => {
                let before = stored_columns(table, &referring.columns, old)?;
                let is_kept = verb == ChangeVerb::Update && stored_columns(table, &referring.columns, row)? == before;
                !is_kept && run.exists(&referring.sql, &before)?
            }
            None => references.referring.len() == 1,
        };
        if found {
            return Ok(Some(referring.error(table, verb)));
        }
    }
    Ok(None)
}

/// The foreign key that is violated after all rows are written.
///
/// Errors: any error of the search.
pub(super) fn left_open<'r>(
    references: &References,
    run: &Run<'_>,
    table: &Table,
    rows: impl Iterator<Item = &'r [Value]>,
    verb: ChangeVerb,
) -> Result<Option<SqlError>, SqlError> {
    for row in rows {
        if let Some(error) = missing(references, run, table, row, verb)? {
            return Ok(Some(error));
        }
    }
    for referring in &references.referring {
        if run.exists(&referring.dangling, &[])? {
            return Ok(Some(referring.error(table, verb)));
        }
    }
    Ok(None)
}

/// The foreign key that is violated although SQLite has counted none: rows from before that violate a key that is not
/// trusted are not among those that SQLite counts, but it counts them when they are mended.
///
/// Errors: any error of the search.
pub(super) fn not_counted<'r>(
    references: &References,
    run: &Run<'_>,
    table: &Table,
    rows: impl Iterator<Item = &'r [Value]>,
    verb: ChangeVerb,
) -> Result<Option<SqlError>, SqlError> {
    let is_trusted = |own: &OwnReference| table.foreign_keys.get(own.at).is_none_or(|key| key.is_trusted);
    if references.own.iter().all(is_trusted) {
        return Ok(None);
    }
    for row in rows {
        if let Some(error) = missing(references, run, table, row, verb)? {
            return Ok(Some(error));
        }
    }
    Ok(None)
}

/// The foreign key of a row without a referenced row.
fn missing(
    references: &References,
    run: &Run<'_>,
    table: &Table,
    row: &[Value],
    verb: ChangeVerb,
) -> Result<Option<SqlError>, SqlError> {
    for own in &references.own {
        let is_null = own.columns.iter().any(|at| row.get(*at) == Some(&Value::Null));
        if is_null || run.exists(&own.sql, &stored_columns(table, &own.columns, row)?)? {
            continue;
        }
        if let Some(key) = table.foreign_keys.get(own.at) {
            return Ok(Some(table.foreign_key_failed(key, verb)));
        }
    }
    Ok(None)
}

/// Columns of a row in their storage forms.
///
/// Errors: 8624 for a value that does not have its column's type.
pub(super) fn stored_columns(
    table: &Table,
    columns: &[usize],
    row: &[Value],
) -> Result<Vec<Stored<'static>>, SqlError> {
    let value = |at: &usize| {
        let column = table.columns.get(*at).zip(row.get(*at));
        column.map_or(Ok(Stored::Null), |(column, value)| stored(value, &column.data_type))
    };
    columns.iter().map(value).collect()
}
