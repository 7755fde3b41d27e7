//! How far the model may be off, and what it is known to be off.

use serde::{Deserialize, Serialize};

use crate::calibration::{Calibration, Measured};

/// The deviation of a production operation from the calibrated one: standard deviations, and whether there is a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Misfit {
    /// Of the logarithm of the difference.
    pub of_difference: f64,
    /// Of the difference, as a share of the operation's whole cost.
    pub of_cost: f64,
    /// Whether an operation costs more among others than alone ([`Operation::is_among_others`]).
    ///
    /// [`Operation::is_among_others`]: crate::Operation::is_among_others
    #[serde(default)]
    pub among_others: bool,
}

impl Misfit {
    /// For the engine that was calibrated: the 90 % quantile of a league's misfits
    /// (docs/studies/forecasts-2026-11-26.md, 147 predictions).
    pub const CALIBRATED: Self = Self {
        of_difference: 0.46,
        of_cost: 0.062,
        among_others: true,
    };
    /// For another engine, whose code around the cipher was not measured: no less than for the calibrated one. An
    /// assumption.
    pub const OTHER_ENGINE: Self = Self {
        of_difference: 1.0,
        of_cost: 0.15,
        among_others: false,
    };
    /// What the league measures misfits in: so small that intervals grow with it in proportion.
    pub const UNIT: Self = Self {
        of_difference: 0.15,
        of_cost: 0.02,
        among_others: true,
    };
    /// None.
    pub const NONE: Self = Self {
        of_difference: 0.0,
        of_cost: 0.0,
        among_others: false,
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
}

/// What [operations among others](crate::Operation::is_among_others) cost more than alone when they are encrypted, and
/// whether that is the calibration's own: of one that has resolved it, else what was found before calibrations did.
pub(super) fn surcharge(calibration: &Calibration) -> (Measured, bool) {
    let is_resolved = |measured: &&Measured| {
        let interval = measured.interval(0.9);
        measured.mean() >= 0.0 && interval.is_some_and(|interval| interval.half_width() <= AMONG_OTHERS)
    };
    let usual = || Measured {
        kib: 0.0,
        sessions: vec![AMONG_OTHERS],
    };
    match calibration.among_others.as_ref().filter(is_resolved) {
        Some(measured) => (measured.clone(), true),
        None => (usual(), false),
    }
}

/// The median of what fits three leagues best (docs/studies/forecasts-*.md): 3.1, 3.5 and 4.5 %. A fourth would have
/// needed 10.8 %.
const AMONG_OTHERS: f64 = 0.035;
