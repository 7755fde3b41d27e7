//! The one place where a panic stops on its way to C.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Code;

/// Runs `body`; a panic in it becomes `SQLITE_IOERR`.
///
/// A panic is a bug of ours. The state it leaves behind belongs to one file, which fails closed: what was not sealed
/// was not written.
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
