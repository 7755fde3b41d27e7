//! STRING_SPLIT.

use selenite_compiler::{Ends, SqlError};
use selenite_types::storage::StoredRef;

use super::{BIG, BIT, Cell, ColumnSpec, FunctionSpec, LONG_TEXT, Row, ViewContext};
use crate::catalog::system_relations::SPLIT;
use crate::memory;

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[FunctionSpec {
    schema: "",
    name: SPLIT,
    columns: COLUMNS,
    arguments: &[LONG_TEXT, LONG_TEXT, BIT],
    required: 2,
    rows: pieces,
}];

const COLUMNS: &[ColumnSpec] = &[("value", LONG_TEXT, false), ("ordinal", BIG, false)];

/// The pieces of a text; none of NULL.
///
/// Errors: 214 for a separator that is not one character; 701.
fn pieces(_: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let text = |at: usize| match arguments.get(at) {
        Some(StoredRef::Text(text)) => std::str::from_utf8(text).ok(),
        Some(StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) | StoredRef::Blob(_)) | None => None,
    };
    let mut separator = text(1).unwrap_or_default().chars();
    let (Some(separator), None) = (separator.next(), separator.next()) else {
        let said = "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.";
        return Err(SqlError::new(214, Ends::Statement, said).with_state(11));
    };
    let Some(text) = text(0) else { return Ok(Vec::new()) };
    let count = text.matches(separator).count() + 1;
    memory::reserve(
        count
            .saturating_mul(ROW_SIZE)
            .saturating_add(text.len().saturating_mul(2)),
    )?;
    let row = |(ordinal, piece): (i64, &str)| vec![Cell::from(piece), Cell::Whole(ordinal)];
    Ok((1..).zip(text.split(separator)).map(row).collect())
}

/// A row of two cells, and what they take as JSON.
const ROW_SIZE: usize = 192;
