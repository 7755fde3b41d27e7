//! How much memory sessions use.
//!
//! M1. A session is one thread, and so is what it allocates ([`thread_memory`]): variables, rows that are held, programs, messages, and
//!     SQLite's memory with temporary tables and sorts. The pool of pages is the server's own, and not counted.
//! M2. Who would use more than a session may, or more than is left of the server's, gets 701: the batch ends, the session goes on.
//! M3. What a session keeps from one request to the next is counted as long as it is SQLite's; the rest is bounded where it is kept, by
//!     count and size: prepared statements, bound statements.

use selenite_engine::{CountingAllocator, thread_memory};
use selenite_plan::PlanError;

use crate::{Log, ServerLimits};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Counts from now on. Before SQLite is used for anything.
pub(crate) fn start(limits: &ServerLimits, log: &Log) {
    if let Err(error) = selenite_engine::count_memory() {
        log.line(&format!("the memory of SQLite is not counted: {error}"));
    }
    let total = match limits.server_memory {
        0 => machine_memory() / 4 * 3,
        total => total,
    };
    thread_memory::limit_total(total);
}

/// A session's next request begins, which may use so much.
pub(crate) fn begin_request(limits: &ServerLimits) {
    thread_memory::begin(limits.session_memory);
}

/// Asks for so many bytes more; 0 asks whether too many are in use.
///
/// # Errors
/// 701.
pub(crate) fn reserve(bytes: usize) -> Result<(), PlanError> {
    match thread_memory::reserve(u64::try_from(bytes).unwrap_or(u64::MAX)) {
        true => Ok(()),
        false => Err(PlanError::out_of_memory()),
    }
}

/// The memory that the machine has.
fn machine_memory() -> u64 {
    let known = rustix::system::sysinfo();
    u64::from(known.mem_unit).saturating_mul(known.totalram)
}
