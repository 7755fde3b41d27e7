//! Checks before a study: the machine, the tools, the engines.

mod contract;
mod engine;
mod machine;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engines::Engines;
use crate::host::Source;

pub use contract::contract;
pub use engine::engines;
pub use machine::machine;

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The subject.
    pub name: String,
    /// The result.
    pub state: CheckResult,
    /// The details.
    pub finding: String,
    /// What to do; none if all is well, or nothing can be done.
    pub advice: Option<String>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// As required.
    Ok,
    /// Figures will be less precise, or fewer.
    Warn,
    /// A study cannot be run.
    Fail,
}

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

/// The worst result.
#[must_use]
pub fn worst(checks: &[Check]) -> CheckResult {
    checks.iter().map(|check| check.state).max().unwrap_or(CheckResult::Ok)
}

impl Check {
    fn ok(name: &str, finding: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state: CheckResult::Ok,
            finding: finding.into(),
            advice: None,
        }
    }

    fn warn(name: &str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            state: CheckResult::Warn,
            advice: Some(advice.into()),
            ..Self::ok(name, finding)
        }
    }

    fn fail(name: &str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            state: CheckResult::Fail,
            ..Self::warn(name, finding, advice)
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            CheckResult::Ok => "ok",
            CheckResult::Warn => "warn",
            CheckResult::Fail => "fail",
        };
        write!(f, "{state}: {}: {}", self.name, self.finding)?;
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// The nearest existing folder.
fn existing(folder: &Path) -> &Path {
    let above = folder
        .ancestors()
        .find(|path| !path.as_os_str().is_empty() && path.exists());
    above.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
