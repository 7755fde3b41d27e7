//! A worker around a server: what does encryption in transit cost?
//!
//! - server-process-is-measured: what is measured is the server's process, between the request and
//!   the last byte of its answer; the client is this worker, which reads, counts and forgets.
//!   Starting, logging in and stopping are not measured.
//! - database-is-the-traffic: a "database" is what someone sees who reads along: the bytes between
//!   server and client, as they crossed the wire. So the proof that an arm encrypts is the same as
//!   that of databases: a text that is there in clear is not found, and the rest is random.
//! - fresh-server: the server is this very program, restarted for each block.

mod mode;
mod peer;
mod request_handler;
mod server_process;
mod tally;
mod tls;

use std::process::ExitCode;

pub use mode::{CIPHERS, Mode};

/// Answers requests on standard input until their end.
///
/// # Errors
/// This program does not know where it is.
pub fn serve() -> std::io::Result<ExitCode> {
    let program = std::env::current_exe()?;
    Ok(selenite_worker::conversation::serve_with(
        request_handler::Transit::new(program),
    ))
}
