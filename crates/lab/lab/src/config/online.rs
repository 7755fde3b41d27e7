//! Work that goes on while an administrator has every page re-encrypted.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// How that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Online {
    /// How long work goes on before and after, and between where no process seals.
    pub phase_ms: u64,
    /// The administrator's program; none for the one that runs the study.
    pub administrator: Option<PathBuf>,
    /// What that is told besides the database and `--new-key`.
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

    /// How long a phase is.
    #[must_use]
    pub fn phase(&self) -> Duration {
        Duration::from_millis(self.phase_ms)
    }
}

/// Loops of each process that no process waits for: the lab ends a phase.
pub const LOOPS: u64 = 1 << 50;

/// Less is nothing but its beginning and its end.
const PHASE_MIN: Duration = Duration::from_millis(100);
/// More is a slip of the pen.
const PHASE_MAX: Duration = Duration::from_secs(3600);
