//! How far the model may be off, and what it is known to be off.

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// The deviation of a production operation from the calibrated one: standard deviations, and a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Misfit {
    /// Of the logarithm of the difference.
    pub of_difference: f64,
    /// Of the difference, as a share of the operation's whole cost.
    pub of_cost: f64,
    /// What an operation costs more among others than among its like, where the processor's caches have its code and
    /// data: a share of its cost in clear. Scans, rollback mode, and what is no call of SQLite have none.
    #[serde(default)]
    pub among_others: f64,
}

impl Misfit {
    /// For the engine that was calibrated: the 90 % quantile of a league's misfits
    /// (docs/studies/forecasts-2026-11-26.md, 147 predictions).
    pub const CALIBRATED: Self = Self {
        of_difference: 0.46,
        of_cost: 0.062,
        among_others: AMONG_OTHERS,
    };
    /// For another engine, whose code around the cipher was not measured: no less than for the calibrated one. An
    /// assumption.
    pub const OTHER_ENGINE: Self = Self {
        of_difference: 1.0,
        of_cost: 0.15,
        among_others: 0.0,
    };
    /// What the league measures misfits in: so small that intervals grow with it in proportion.
    pub const UNIT: Self = Self {
        of_difference: 0.15,
        of_cost: 0.02,
        among_others: AMONG_OTHERS,
    };
    /// None.
    pub const NONE: Self = Self {
        of_difference: 0.0,
        of_cost: 0.0,
        among_others: 0.0,
    };

    /// Deviations so many times as large; the mean stays.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            of_difference: self.of_difference * factor,
            of_cost: self.of_cost * factor,
            among_others: self.among_others,
        }
    }

    /// The mean by which an operation costs more than it was calibrated, as a share of its cost in clear. The leagues
    /// found none of long rows of reads, which are calibrated in such rows, and none in rollback mode, where waiting for
    /// the disk lies between any two operations of the calibration, too.
    pub(crate) fn surcharge(self, operation: Operation) -> f64 {
        match operation {
            Operation::ReadRandom
            | Operation::ReadLog
            | Operation::Write
            | Operation::Append
            | Operation::Checkpoint
            | Operation::Commit
            | Operation::Transaction => self.among_others,
            Operation::ReadSequential
            | Operation::RollbackWrite
            | Operation::RollbackCommit
            | Operation::RollbackTransaction
            | Operation::LogRecord
            | Operation::Open
            | Operation::Backup
            | Operation::Packet
            | Operation::Handshake => 0.0,
        }
    }
}

/// The median of what fits three leagues best (docs/studies/forecasts-*.md): 3.1, 3.5 and 4.5 %. A fourth would have
/// needed more (docs/plans/planner.md).
const AMONG_OTHERS: f64 = 0.035;
