//! Checks before a study: the machine, the tools, the engines.

mod contract;
mod engine;
mod machine;

use std::path::PathBuf;

use selenite_doctor::Check;

use crate::engines::Engines;
use crate::host::Source;

pub use contract::contract;
pub use engine::engines;
pub use machine::machine;

/// The subjects of the checks.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The machine.
    pub source: Source,
    /// The folder for copies of databases.
    pub folder: PathBuf,
    /// The space that they will need there, in bytes.
    pub bytes: u64,
    /// The search path of workers.
    pub engines: Engines,
}

impl Examination {
    /// Runs all checks.
    #[must_use]
    pub fn run(&self) -> Vec<Check> {
        let mut checks = machine(&self.source, &self.folder, self.bytes);
        checks.extend(engines(&self.engines));
        checks
    }
}

#[cfg(test)]
mod tests;
