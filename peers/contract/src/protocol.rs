//! What the crate of the workers checks itself: every request, every work, every cipher.

use std::path::Path;
use std::process::Command;

use selenite_worker::contract;

use crate::Fault;

/// Nothing that is looked at is otherwise than it has to be.
///
/// # Errors
/// Everything that is.
pub fn is_kept(executable: &Path) -> Result<(), Fault> {
    let folder = tempfile::tempdir()?;
    let findings = contract::check(&|| Command::new(executable), folder.path());
    let broken: Vec<_> = findings.iter().filter(|finding| !finding.passed).collect();
    Fault::unless(!findings.is_empty() && broken.is_empty(), || format!("{broken:#?}"))
}
