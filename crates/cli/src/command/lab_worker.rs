//! `selenite lab-worker`, the lab's worker for stock SQLite and Selenite, and `selenite lab-transit-worker`.

use crate::cli_error::CliError;

/// Serves requests until `quit` or the end of the input. Errors are in the answers.
pub fn run() -> Result<(), CliError> {
    selenite_lab::native::serve()?;
    Ok(())
}

/// The same for a server.
pub fn run_transit() -> Result<(), CliError> {
    selenite_lab::transit::serve()?;
    Ok(())
}
