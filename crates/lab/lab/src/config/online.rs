//! Work during an administrator's re-encryption of every page.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// The parameters of the re-encryption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Online {
    /// The duration of the phases before and after, and of the phase `during` in arms without a
    /// re-encryption, in milliseconds.
    pub phase_ms: u64,
    /// The administrator's program; none for the program that runs the study.
    pub administrator: Option<PathBuf>,
    /// Its arguments besides the database and `--new-key`.
    pub options: Vec<String>,
}

impl Online {
    pub(super) fn resolve(
        phase: Option<Time>,
        administrator: Option<PathBuf>,
        options: Option<Vec<String>>,
    ) -> Result<Self, String> {
        let phase = phase.ok_or("`online` needs a `phase`, such as \"5s\"")?;
        if !(PHASE_MIN..=PHASE_MAX).contains(&phase.0) {
            return Err("`phase` must be from 100ms to 1h".to_owned());
        }
        Ok(Self {
            phase_ms: u64::try_from(phase.0.as_millis()).map_err(|_| "`phase` is too long")?,
            administrator,
            options: options.unwrap_or_default(),
        })
    }

    /// The duration of a phase.
    #[must_use]
    pub fn phase(&self) -> Duration {
        Duration::from_millis(self.phase_ms)
    }
}

/// More loops than any process runs: the lab ends a phase.
pub const LOOPS: u64 = 1 << 50;

/// A shorter phase would consist of its start and its end.
const PHASE_MIN: Duration = Duration::from_millis(100);
/// A larger value is a mistake.
const PHASE_MAX: Duration = Duration::from_secs(3600);
