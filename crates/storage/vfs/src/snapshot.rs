//! A transaction's pages on their way from the database's files to Rust.
//!
//! A snapshot is what a connection's files show of its read transaction, and only SQL reaches a connection's files.
//! So the one who reads is staged here, and `SELECT selenite_read(token)` inside the transaction calls it.

pub use crate::functions::with_snapshot;
pub use crate::main_file::{Rest, Snapshot};
use crate::staged::Staged;

/// Reads a snapshot. It calls no SQL on the snapshot's connection. Why it failed it keeps for itself.
pub type Reader = Box<dyn FnOnce(&mut Snapshot<'_>) + Send>;

static STAGED: Staged<Reader> = Staged::new();

/// Keeps a reader for `selenite_read(token)`, once.
#[must_use]
pub fn stage(reader: Reader) -> i64 {
    STAGED.stage(reader)
}

/// Drops a reader that was staged, if it was not called.
pub fn withdraw(token: i64) {
    drop(take(token));
}

/// Takes a staged reader.
pub(crate) fn take(token: i64) -> Option<Reader> {
    STAGED.take(token)
}
