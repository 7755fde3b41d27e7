//! The session's memory limit in calls of SQLite and its functions.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use rusqlite::ffi;
use selenite::thread_memory;
use selenite_compiler::SqlError;
use selenite_types::storage::StoredRef;

/// Requests memory; 0 checks whether too much is in use.
///
/// # Errors
/// 701.
pub fn reserve(bytes: usize) -> Result<(), SqlError> {
    match thread_memory::reserve(u64::try_from(bytes).unwrap_or(u64::MAX)) {
        true => Ok(()),
        false => Err(SqlError::out_of_memory()),
    }
}

/// Runs a call of SQLite within the session's memory limit. Beyond it SQLite reports SQLITE_NOMEM, but rusqlite
/// expects that a column's text is always available, and panics.
///
/// # Errors
/// Those of `body`; SQLITE_NOMEM.
pub fn within_memory<R>(body: &mut impl FnMut() -> Result<R, rusqlite::Error>) -> Result<R, rusqlite::Error> {
    let out_of_memory = || rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_NOMEM), None);
    let done = catch_unwind(AssertUnwindSafe(|| thread_memory::enforced(body)));
    let is_refused = thread_memory::take_refused();
    match done {
        // A call that continued with a smaller allocation has succeeded.
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) | Err(_) if is_refused => Err(out_of_memory()),
        Ok(Err(error)) => Err(error),
        Err(panic) => resume_unwind(panic),
    }
}

/// The size of a text or blob in bytes.
pub(super) fn size_of(value: &StoredRef<'_>) -> usize {
    match value {
        StoredRef::Text(bytes) | StoredRef::Blob(bytes) => bytes.len(),
        StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) => 0,
    }
}

/// 64 KiB: smaller values are counted when they are allocated.
pub(super) const HEAVY_SIZE: usize = 64 << 10;
