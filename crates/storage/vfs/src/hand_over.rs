//! Staged work on a database whose name is handed over to another file.
//!
//! Only SQL reaches a connection's files: so the work is staged here, and `SELECT selenite_hand_over(token)` calls
//! it.

pub use crate::main_file::HandOver;
pub use crate::main_file::move_over::REGISTERED;
use crate::staged::Staged;

/// Hands over. It must not execute SQL on the connection, and reports its errors itself.
pub type Work = Box<dyn FnOnce(&mut HandOver<'_>) + Send>;

static STAGED: Staged<Work> = Staged::new();

/// Keeps work for `selenite_hand_over(token)`, once.
#[must_use]
pub fn stage(work: Work) -> i64 {
    STAGED.stage(work)
}

/// Drops staged work that was not done.
pub fn withdraw(token: i64) {
    drop(take(token));
}

/// Takes staged work.
pub(crate) fn take(token: i64) -> Option<Work> {
    STAGED.take(token)
}
