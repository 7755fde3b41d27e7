//! `selenite lab-worker`: what the lab runs to measure stock SQLite and Selenite, and `selenite lab-transit-worker`.

use crate::complaint::Complaint;

/// Answers requests until their end. Whatever goes wrong is in the answers.
pub fn run() -> Result<(), Complaint> {
    selenite_lab::native::serve()?;
    Ok(())
}

/// The same around a server.
pub fn run_transit() -> Result<(), Complaint> {
    selenite_lab::transit::serve()?;
    Ok(())
}
