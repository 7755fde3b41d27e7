//! How each type is stored in SQLite.
//!
//! | type | in SQLite |
//! |---|---|
//! | bit, tinyint, smallint, int, bigint | INTEGER |
//! | decimal, numeric with precision to 18 | INTEGER, the value times 10^scale |
//! | decimal, numeric with precision 19 to 38 | BLOB of 16 bytes: the scaled value as big-endian i128, sign bit flipped |
//! | smallmoney, money | INTEGER, the value times 10^4 |
//! | real, float | REAL |
//! | char, nchar | TEXT without the padding, which is put back when read |
//! | varchar, nvarchar | TEXT |
//! | binary, varbinary | BLOB |
//! | date | TEXT `YYYY-MM-DD` |
//! | time(s) | TEXT `HH:MM:SS[.f..]`, s digits |
//! | smalldatetime, datetime, datetime2(s) | TEXT `YYYY-MM-DD HH:MM:SS[.f..]`: none, 3, s digits |
//! | datetimeoffset(s) | TEXT: the instant in UTC as datetime2(s), a blank, the offset `+HH:MM` |
//! | uniqueidentifier | BLOB of 16 bytes in the order in which SQL Server compares them |
//!
//! - `one-form-per-value`: a value has one form: what is written is read back as the same value,
//!   and what is read is what would be written. Only text of char and nchar may have trailing
//!   blanks, and text of dates and times has no other shape.
//! - `forms-order-as-values`: SQLite's order of two forms is T-SQL's of the values: numbers as
//!   numbers, BLOB by bytes, TEXT of text types by the collation and other TEXT by bytes; of
//!   datetimeoffset by [`instant_order`], since two offsets may denote one instant.
//! - `other-forms-are-misfits`: a form that is written for no value of the declared type is a
//!   [`Misfit`] when read, and never written.

mod clock_text;
mod declaration;
mod form;
mod misfit;
mod read;
mod text;
mod write;

pub use declaration::{declared_name, declared_type};
pub use form::{StorageClass, Stored, StoredRef};
pub use misfit::{Misfit, MisfitCause};
pub use read::from_stored;
pub use write::to_stored;

use std::cmp::Ordering;

/// Compares two stored datetimeoffsets by their instant alone: by all bytes but the offset's seven.
///
/// It is an order of any bytes: shorter ones are compared whole.
#[must_use]
pub fn instant_order(left: &[u8], right: &[u8]) -> Ordering {
    let instant = |text| clock_text::split_offset(text).map_or(text, |(instant, _)| instant);
    instant(left).cmp(instant(right))
}

#[cfg(test)]
mod tests;
