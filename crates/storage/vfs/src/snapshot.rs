//! Staged readers, which read a transaction's pages from the database's files.
//!
//! A snapshot is the view of a connection's files in its read transaction, and only SQL reaches a
//! connection's files. So a reader is staged here, and `SELECT selenite_read(token)` inside the
//! transaction calls it.

pub use crate::functions::with_snapshot;
pub use crate::main_file::anchor_check::{Sealed, check_not_older};
pub use crate::main_file::{PagesSince, Snapshot};
use crate::staged::Staged;

/// Reads a snapshot. It must not execute SQL on the snapshot's connection, and reports its errors
/// itself.
pub type Reader = Box<dyn FnOnce(&mut Snapshot<'_>) + Send>;

static STAGED: Staged<Reader> = Staged::new();

/// Keeps a reader for `selenite_read(token)`, once.
#[must_use]
pub fn stage(reader: Reader) -> i64 {
    STAGED.stage(reader)
}

/// Drops a staged reader that was not called.
pub fn withdraw(token: i64) {
    drop(take(token));
}

/// Takes a staged reader.
pub(crate) fn take(token: i64) -> Option<Reader> {
    STAGED.take(token)
}
