//! Rows of an UPDATE moved aside, so that they may take each other's keys: SQLite looks at a key row by row.
//!
//! M1. Aside is where no row is: a value of a class that SQLite orders and compares apart from all of the column's own, a BLOB among
//!     text and a TEXT among blobs. Whole numbers, which may be the rowid here and in tables that refer to the row, are moved to
//!     numbers that no row has.
//! M2. Foreign keys pass the move on as they pass any other, so that rows that refer to the row go with it, there and back.

use std::ops::ControlFlow;

use selenite_types::storage::{Stored, StoredRef};
use selenite_types::{DataType, Value};

use crate::PlanError;
use crate::catalog::{KeyKind, Table};
use crate::statement::{Call, NOTHING, Run, StoreError};
use crate::writer::{Form, qualified, quoted};

/// How rows of a table are moved aside.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    /// The columns of keys that change.
    columns: Vec<usize>,
    /// What moves a row: the columns' values, and the rowid.
    pub sql: String,
    /// What writes the row, once it is aside: the values of all columns that change, and its address.
    pub back: String,
    /// Whether the address is the number that it was moved to; else it is the rowid.
    is_by_number: bool,
    /// What finds the least and the greatest number of each column of whole numbers.
    bounds: Vec<String>,
}

/// Where rows are moved to.
pub(super) struct Room {
    next: i64,
    step: i64,
}

impl Shift {
    /// That of a table whose columns `changed` are written by `set`, an UPDATE up to its WHERE.
    ///
    /// Errors: a name that SQLite can't take.
    pub fn bind(table: &Table, changed: &[usize], set: &str, row_id: &str) -> Result<Option<Self>, PlanError> {
        let is_key = |at: &&usize| table.keys.iter().any(|key| key.columns.contains(*at));
        let columns: Vec<usize> = changed.iter().filter(is_key).copied().collect();
        if columns.is_empty() {
            return Ok(None);
        }
        let name = qualified(&table.sqlite)?;
        let (mut assignments, mut bounds) = (Vec::new(), Vec::new());
        for (number, at) in columns.iter().enumerate() {
            let Some(column) = table.columns.get(*at) else { continue };
            let own = quoted(&column.name)?;
            assignments.push(format!("{own} = ?{}", number + 1));
            if is_whole(&column.data_type) {
                bounds.push(format!("SELECT min({own}), max({own}) FROM {name}"));
            }
        }
        // It may be SQLite's rowid, by which the row is not found once it is moved.
        let number = table.keys.iter().find_map(|key| match key.columns.as_slice() {
            [at] if key.kind == KeyKind::Primary && columns.contains(at) => table.columns.get(*at),
            [] | [_, ..] => None,
        });
        let number = number.filter(|column| is_whole(&column.data_type));
        let address = match number {
            Some(column) => quoted(&column.name)?,
            None => row_id.to_owned(),
        };
        let assignments = assignments.join(", ");
        Ok(Some(Self {
            sql: format!(
                "UPDATE {name} SET {assignments} WHERE {row_id} = ?{}",
                columns.len() + 1
            ),
            back: format!("{set} {address} = ?{}", changed.len() + 1),
            is_by_number: number.is_some(),
            columns,
            bounds,
        }))
    }

    /// Whether a row's key changes.
    pub fn moves(&self, old: &[Value], new: &[Value]) -> bool {
        self.columns.iter().any(|at| old.get(*at) != new.get(*at))
    }

    /// Room for that many rows.
    ///
    /// Errors: what SQLite says; 40510 where numbers reach from one end to the other.
    pub fn room(&self, run: &Run<'_>, count: usize) -> Result<Room, PlanError> {
        let (mut least, mut greatest) = (0, 0);
        for sql in &self.bounds {
            let call = Call {
                sql,
                parameters: &[],
                compiled: &NOTHING,
            };
            let mut take = |row: &[StoredRef<'_>]| {
                if let [StoredRef::Integer(min), StoredRef::Integer(max)] = row {
                    (least, greatest) = (least.min(*min), greatest.max(*max));
                }
                Ok(ControlFlow::Continue(()))
            };
            run.store.select(&call, &mut take).map_err(|error| match error {
                StoreError::Failed(error) => error,
                StoreError::Constraint(message) => PlanError::internal(&message),
            })?;
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if least.checked_sub(count).is_some() {
            return Ok(Room {
                next: least - 1,
                step: -1,
            });
        }
        match greatest.checked_add(count) {
            Some(_) => Ok(Room {
                next: greatest + 1,
                step: 1,
            }),
            None => Err(PlanError::unsupported(
                "An exchange of keys among all numbers of a bigint",
            )),
        }
    }

    /// What [`Shift::sql`] takes.
    pub fn parameters(&self, table: &Table, place: i64, row_id: i64) -> Vec<Stored<'static>> {
        let aside = |at: &usize| match table.columns.get(*at).map(|column| column.data_type) {
            Some(data_type) if is_whole(&data_type) => Stored::Integer(place),
            Some(data_type) if is_bytes(&data_type) => Stored::Text(format!("aside {place}").into()),
            Some(_) | None => Stored::Blob(place.to_be_bytes().to_vec().into()),
        };
        let mut parameters: Vec<Stored<'static>> = self.columns.iter().map(aside).collect();
        parameters.push(Stored::Integer(row_id));
        parameters
    }

    /// Where the row is that was moved to `place`.
    pub fn address(&self, place: i64, row_id: i64) -> i64 {
        if self.is_by_number { place } else { row_id }
    }
}

impl Room {
    /// The next place; no more of them than room was asked for.
    pub fn next(&mut self) -> i64 {
        let place = self.next;
        self.next = place.saturating_add(self.step);
        place
    }
}

fn is_whole(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt
    )
}

/// Whether values of a type are BLOBs in SQLite.
fn is_bytes(data_type: &DataType) -> bool {
    matches!(Form::of(data_type), Form::Wide(_) | Form::Bytes | Form::Guid)
}
