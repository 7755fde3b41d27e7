//! How far the model may be off.

use serde::{Deserialize, Serialize};

/// The deviation of a production operation from the calibrated one: standard deviations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Misfit {
    /// Of the logarithm of the difference.
    pub of_difference: f64,
    /// Of the difference, as a share of the operation's whole cost.
    pub of_cost: f64,
}

impl Misfit {
    /// For the engine that was calibrated: the 90 % quantile of the league's misfits (docs/FORECASTS.md of 2026-11-26,
    /// 147 predictions).
    pub const CALIBRATED: Self = Self {
        of_difference: 0.46,
        of_cost: 0.062,
    };
    /// For another engine, whose code around the cipher was not measured: no less than for the calibrated one. An
    /// assumption.
    pub const OTHER_ENGINE: Self = Self {
        of_difference: 1.0,
        of_cost: 0.15,
    };
    /// What the league measures misfits in: so small that intervals grow with it in proportion.
    pub const UNIT: Self = Self {
        of_difference: 0.15,
        of_cost: 0.02,
    };
    /// None.
    pub const NONE: Self = Self {
        of_difference: 0.0,
        of_cost: 0.0,
    };

    /// So many times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            of_difference: self.of_difference * factor,
            of_cost: self.of_cost * factor,
        }
    }
}
