//! `selenite lab-worker`: what the lab runs to measure stock SQLite and Selenite.

use crate::complaint::Complaint;

/// Answers requests until their end. Whatever goes wrong is in the answers.
pub fn run() -> Result<(), Complaint> {
    selenite_lab::native::serve()?;
    Ok(())
}
