//! The collations that every connection gets, so that a database made by the server opens in any SQLite that has the
//! extension.

use crate::ffi::Collation;

/// SQL Server's default for servers in English: case and trailing blanks do not count. What it orders by is written
/// down in `selenite_collation` and never changes.
pub const COLLATIONS: &[Collation] = &[Collation {
    name: c"SQL_Latin1_General_CP1_CI_AS",
    compare: selenite_collation::collate,
}];
