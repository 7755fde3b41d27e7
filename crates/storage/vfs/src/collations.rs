//! The collations that every connection gets, so that any SQLite with the extension opens a
//! database made by the server.

use crate::ffi::Collation;

/// SQL Server's default for servers in English: case and trailing blanks are ignored. Its order is
/// defined in `selenite_collation` and never changes.
pub const COLLATIONS: &[Collation] = &[Collation {
    name: c"SQL_Latin1_General_CP1_CI_AS",
    compare: selenite_collation::collate,
}];
