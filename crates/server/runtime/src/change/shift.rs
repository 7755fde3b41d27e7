//! Moves rows of an UPDATE aside, and back.

use std::ops::ControlFlow;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::Table;
use selenite_compiler::change::{Shift, is_bytes, is_whole};
use selenite_types::Value;
use selenite_types::storage::{Stored, StoredRef};

use crate::statement::Run;

/// Unused keys to which rows are moved.
pub(super) struct UnusedKeys {
    next: i64,
    step: i64,
}

/// Whether a row's key changes.
pub(super) fn changes_key(shift: &Shift, old: &[Value], new: &[Value]) -> bool {
    shift.columns.iter().any(|at| old.get(*at) != new.get(*at))
}

/// Unused keys for `count` rows.
///
/// Errors: SQLite's error; 40510 if the keys span the whole range of integers.
pub(super) fn unused_keys(shift: &Shift, run: &Run<'_>, count: usize) -> Result<UnusedKeys, SqlError> {
    let (mut least, mut greatest) = (0, 0);
    for sql in &shift.bounds {
        run.query(sql, &[], &mut |found| {
            if let (Some(StoredRef::Integer(min)), Some(StoredRef::Integer(max))) = (found.stored(0), found.stored(1)) {
                (least, greatest) = (least.min(min), greatest.max(max));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    if least.checked_sub(count).is_some() {
        return Ok(UnusedKeys {
            next: least - 1,
            step: -1,
        });
    }
    match greatest.checked_add(count) {
        Some(_) => Ok(UnusedKeys {
            next: greatest + 1,
            step: 1,
        }),
        None => Err(SqlError::unsupported(
            "An exchange of keys among all numbers of a bigint",
        )),
    }
}

/// The parameters of [`Shift::sql`].
pub(super) fn parameters(shift: &Shift, table: &Table, place: i64, row_id: i64) -> Vec<Stored<'static>> {
    let aside = |at: &usize| match table.columns.get(*at).map(|column| column.data_type) {
        Some(data_type) if is_whole(&data_type) => Stored::Integer(place),
        Some(data_type) if is_bytes(&data_type) => Stored::Text(format!("aside {place}").into()),
        Some(_) | None => Stored::Blob(place.to_be_bytes().to_vec().into()),
    };
    let mut parameters: Vec<Stored<'static>> = shift.columns.iter().map(aside).collect();
    parameters.push(Stored::Integer(row_id));
    parameters
}

/// The address of the row that was moved to `place`.
pub(super) fn address(shift: &Shift, place: i64, row_id: i64) -> i64 {
    if shift.is_by_number { place } else { row_id }
}

impl UnusedKeys {
    /// The next unused key; at most as many as were requested.
    pub fn next(&mut self) -> i64 {
        let place = self.next;
        self.next = place.saturating_add(self.step);
        place
    }
}
