//! Stops panics before they reach C.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Code;

/// Runs `body`; a panic in it becomes `SQLITE_IOERR`.
///
/// A panic is a bug in this library. The state after it belongs to one file, which fails closed:
/// nothing unsealed was written.
pub fn guard(body: impl FnOnce() -> Result<(), Code>) -> c_int {
    guard_or(Code::IOERR.as_raw(), || Code::raw_of(body()))
}

/// Runs `body`; a panic in it becomes `otherwise`.
pub fn guard_or<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_input_output_error() {
        assert_eq!(guard(|| panic!("planted")), Code::IOERR.as_raw());
        assert_eq!(guard(|| Ok(())), 0);
    }
}
