//! Rows of an UPDATE moved aside, so that they can exchange keys: SQLite checks a key row by row.
//!
//! - `aside-is-unoccupied`: a row is moved aside to a key that no row has: a value of a storage class
//!   that SQLite orders and compares apart from all of the column's own, a BLOB among text and a TEXT
//!   among blobs. Integers, which may be the rowid here and in tables that refer to the row, are
//!   moved to integers that no row has.
//! - `foreign-keys-follow`: foreign keys cascade the move as any other update, so that rows that
//!   refer to the row are moved with it, there and back.

use selenite_types::DataType;

use crate::SqlError;
use crate::catalog::{KeyKind, Table};
use crate::writer::{Form, qualified, quoted};

/// How rows of a table are moved aside.
#[derive(Clone, Debug)]
pub struct Shift {
    /// The key columns that change.
    pub columns: Vec<usize>,
    /// The SQL that moves a row; its parameters are the columns' values and the rowid.
    pub sql: String,
    /// The SQL that writes a row moved aside; its parameters are the values of all changed columns, and its address.
    pub back: String,
    /// Whether the address is the integer that the row was moved to; otherwise it is the rowid.
    pub is_by_number: bool,
    /// The queries for the least and greatest value of each integer column.
    pub bounds: Vec<String>,
}

impl Shift {
    /// Binds the move for a table whose columns `changed` are written by `set`, an UPDATE up to its WHERE.
    ///
    /// Errors: a name that SQLite can't take.
    pub fn bind(table: &Table, changed: &[usize], set: &str, row_id: &str) -> Result<Option<Self>, SqlError> {
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
        // The column may be SQLite's rowid, so the old rowid does not find the row after the move.
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
}

/// Whether values of a type are SQLite's INTEGERs.
#[must_use]
pub fn is_whole(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt
    )
}

/// Whether values of a type are SQLite's BLOBs.
#[must_use]
pub fn is_bytes(data_type: &DataType) -> bool {
    matches!(Form::of(data_type), Form::Wide(_) | Form::Bytes | Form::Guid)
}
