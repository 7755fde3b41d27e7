//! A worker that measures a server: the cost of encryption in transit.
//!
//! - server-process-is-measured: the server's process is measured, from the request to the last
//!   byte of its answer. The client is this worker, which reads, counts and discards. Start, login
//!   and shutdown are not measured.
//! - database-is-the-traffic: a "database" is the view of an eavesdropper: the bytes between server
//!   and client, as transmitted. So the proof of encryption is the same as for databases: a text
//!   that is found in unencrypted traffic is not found, and the bytes are random.
//! - fresh-server: the server is this same program, restarted for each block.

mod mode;
mod peer;
mod request_handler;
mod server_process;
mod tally;
mod tls;

use std::process::ExitCode;

pub use mode::{CIPHERS, Mode};

/// Serves requests on standard input and output until `quit` or the end of the input.
///
/// # Errors
/// The path of this program cannot be determined.
pub fn serve() -> std::io::Result<ExitCode> {
    let program = std::env::current_exe()?;
    Ok(selenite_worker::conversation::serve_with(
        request_handler::Transit::new(program),
    ))
}
