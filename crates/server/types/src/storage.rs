//! The storage forms of types in SQLite.
//!
//! | type | in SQLite |
//! |---|---|
//! | bit, tinyint, smallint, int, bigint | INTEGER |
//! | decimal, numeric with precision to 18 | INTEGER, the value times 10^scale |
//! | decimal, numeric with precision 19 to 38 | BLOB of 16 bytes: the scaled value as big-endian i128, sign bit flipped |
//! | smallmoney, money | INTEGER, the value times 10^4 |
//! | real, float | REAL |
//! | char, nchar | TEXT without the padding, which is restored on reading |
//! | varchar, nvarchar | TEXT |
//! | binary, varbinary | BLOB |
//! | date | TEXT `YYYY-MM-DD` |
//! | time(s) | TEXT `HH:MM:SS[.f..]`, s digits |
//! | smalldatetime, datetime, datetime2(s) | TEXT `YYYY-MM-DD HH:MM:SS[.f..]`: none, 3, s digits |
//! | datetimeoffset(s) | TEXT: the instant in UTC as datetime2(s), a space, the offset `+HH:MM` |
//! | uniqueidentifier | BLOB of 16 bytes in SQL Server's comparison order |
//! | sql_variant | TEXT: the type, a space, the value's form as text |
//! | xml | TEXT: the one form of a value |
//!
//! - `one-form-per-value`: a value has exactly one form: writing and reading it returns the same
//!   value, and every form that can be read is the form that would be written. Only text of char
//!   and nchar may have trailing blanks, and text of dates and times has no other form.
//! - `forms-order-as-values`: SQLite orders two forms as T-SQL orders the values: numbers
//!   numerically, BLOBs bytewise, TEXT of text types by the collation and other TEXT bytewise;
//!   datetimeoffset by [`instant_order`], because two offsets may denote one instant; sql_variant
//!   by [`variant_order`].
//! - `other-forms-are-misfits`: a form of no value of the declared type is a [`Misfit`] when read,
//!   and is never written.

mod clock_text;
mod declaration;
mod form;
mod misfit;
mod read;
mod text;
mod variant_text;
mod write;
mod xml_text;

pub use declaration::{declared_name, declared_type};
pub use form::{StorageClass, Stored, StoredRef};
pub use misfit::{Misfit, MisfitCause};
pub use read::from_stored;
pub use variant_text::{variant_key, variant_order};
pub use write::to_stored;
pub use xml_text::forget_xml;

use std::cmp::Ordering;

/// Compares two stored datetimeoffsets by instant: by all bytes except the offset's seven.
///
/// It is a total order of arbitrary bytes: shorter ones are compared completely.
#[must_use]
pub fn instant_order(left: &[u8], right: &[u8]) -> Ordering {
    let instant = |text| clock_text::split_offset(text).map_or(text, |(instant, _)| instant);
    instant(left).cmp(instant(right))
}

#[cfg(test)]
mod tests;
