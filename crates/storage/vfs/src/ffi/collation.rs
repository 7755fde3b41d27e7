//! Collations: the order of text in SQLite.

use std::cmp::Ordering;
use std::ffi::{CStr, c_int, c_void};
use std::slice;

use super::guard::guard_or;
use super::sqlite::Database;
use super::{Api, Code};

/// One collation.
#[derive(Clone, Copy)]
pub struct Collation {
    /// The name used in `COLLATE`.
    pub name: &'static CStr,
    /// Compares two texts: a total order of arbitrary bytes, which must never change, since indexes
    /// in files depend on it (sqlite.org/c3ref/create_collation.html).
    pub compare: fn(&[u8], &[u8]) -> Ordering,
}

/// Registers the collations with a connection.
pub(super) fn add_collations(database: *mut Database, api: &Api, collations: &'static [Collation]) -> Result<(), Code> {
    const UTF8: c_int = 1;
    for collation in collations {
        let data = std::ptr::from_ref(collation).cast_mut().cast::<c_void>();
        // SAFETY: the connection is open; name and collation are static.
        let code =
            unsafe { (api.create_collation_v2)(database, collation.name.as_ptr(), UTF8, data, Some(compare), None) };
        Code::check(code)?;
    }
    Ok(())
}

unsafe extern "C" fn compare(
    collation: *mut c_void,
    a_size: c_int,
    a: *const c_void,
    b_size: c_int,
    b: *const c_void,
) -> c_int {
    guard_or(0, || {
        // SAFETY: `add_collations` passed a static collation.
        let Some(collation) = (unsafe { collation.cast::<Collation>().as_ref() }) else {
            return 0;
        };
        // SAFETY: SQLite passes two texts of that many bytes each, which live for this call.
        let a = unsafe { text(a, a_size) };
        // SAFETY: as above.
        let b = unsafe { text(b, b_size) };
        match (collation.compare)(a, b) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    })
}

/// # Safety
/// `start` is null, or points to `size` bytes that are valid as long as the result is used.
unsafe fn text<'a>(start: *const c_void, size: c_int) -> &'a [u8] {
    match usize::try_from(size) {
        // SAFETY: the caller's promise.
        Ok(size) if size > 0 && !start.is_null() => unsafe { slice::from_raw_parts(start.cast(), size) },
        Ok(_) | Err(_) => &[],
    }
}
