//! Collations: in which order SQLite has text.

use std::cmp::Ordering;
use std::ffi::{CStr, c_int, c_void};
use std::slice;

use super::guard::guard_or;
use super::sqlite::Database;
use super::{Api, Code};

/// One collation.
#[derive(Clone, Copy)]
pub struct Collation {
    /// Its name, as `COLLATE` has it.
    pub name: &'static CStr,
    /// Which of two texts comes first: a total order of any bytes, and the same for ever, since indexes in files
    /// follow it (sqlite.org/c3ref/create_collation.html).
    pub compare: fn(&[u8], &[u8]) -> Ordering,
}

/// Gives a connection our collations.
pub(super) fn add_collations(database: *mut Database, api: &Api, collations: &'static [Collation]) -> Result<(), Code> {
    const UTF8: c_int = 1;
    for collation in collations {
        let data = std::ptr::from_ref(collation).cast_mut().cast::<c_void>();
        // SAFETY: the connection is open; name and collation live for ever.
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
        // SAFETY: `add_collations` passed one that lives for ever.
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
/// `start` is null, or has `size` bytes for as long as the answer is used.
unsafe fn text<'a>(start: *const c_void, size: c_int) -> &'a [u8] {
    match usize::try_from(size) {
        // SAFETY: the caller's promise.
        Ok(size) if size > 0 && !start.is_null() => unsafe { slice::from_raw_parts(start.cast(), size) },
        Ok(_) | Err(_) => &[],
    }
}
