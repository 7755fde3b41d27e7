//! How much memory sessions use.
//!
//! - `thread-memory-is-session-memory`: a session is one thread, and so what the thread allocates
//!   is the session's ([`thread_memory`]): variables, rows that are held, programs, messages, and
//!   SQLite's memory with temporary tables and sorts. The page pool belongs to the server and is
//!   not counted.
//! - `too-much-is-701`: a session that would use more than a session may, or more than is left of
//!   the server's memory, gets 701: the batch ends, the session continues.
//! - `kept-memory-is-measured`: what a session keeps from one request to the next is measured when
//!   it is made: prepared statements, programs and bound statements. The next request begins with
//!   their sum. It is at most half of what the session may use, so that it can always be released.

use selenite::{CountingAllocator, thread_memory};
use selenite_compiler::program::Program;
pub(crate) use selenite_runtime::sqlite::reserve;

use crate::{ServerError, ServerLimits};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Counts from now on. Before SQLite is used for anything.
///
/// # Errors
/// [`ServerError::Machine`] where SQLite's memory can't be counted.
pub(crate) fn start(limits: &ServerLimits) -> Result<(), ServerError> {
    selenite::count_memory().map_err(|error| ServerError::Machine(format!("cannot limit SQLite's memory: {error}")))?;
    thread_memory::limit_total(total(limits));
    Ok(())
}

/// Bytes that all sessions may use together.
pub(crate) fn total(limits: &ServerLimits) -> u64 {
    match limits.server_memory {
        0 => machine_memory() / 4 * 3,
        total => total,
    }
}

/// A session's next request begins. `kept` is what the session has kept of earlier ones; of xml it keeps nothing.
pub(crate) fn begin_request(limits: &ServerLimits, kept: u64) {
    selenite_compiler::forget_xml_documents();
    thread_memory::begin(limits.session_memory, kept);
}

/// How much a session may keep from one request to the next of one kind: of programs, and of bound statements.
pub(crate) fn kept_max(limits: &ServerLimits) -> u64 {
    match limits.session_memory {
        0 => u64::MAX,
        limit => limit / 4,
    }
}

/// Makes a program, and measures its memory.
pub(crate) fn measured_program<E>(make: impl FnOnce() -> Result<Program, E>) -> Result<Program, E> {
    let (made, size) = thread_memory::measured(make);
    made.map(|program| program.with_memory_size(size))
}

/// The memory of the machine.
fn machine_memory() -> u64 {
    let known = rustix::system::sysinfo();
    u64::from(known.mem_unit).saturating_mul(known.totalram)
}
