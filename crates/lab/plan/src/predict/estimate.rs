//! Values with their intervals.

use serde::{Deserialize, Serialize};

/// A value and its 90 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median of draws.
    pub value: f64,
    /// The 5th percentile.
    pub low: f64,
    /// The 95th percentile.
    pub high: f64,
}

impl Estimate {
    pub(super) fn of(mut draws: Vec<f64>) -> Self {
        draws.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let position = share * (draws.len().saturating_sub(1)) as f64;
            // A position within the draws: there are at most some thousand.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and the number of draws"
            )]
            let below = position.floor() as usize;
            let (low, high) = (draws[below], draws[(below + 1).min(draws.len() - 1)]);
            low + (high - low) * (position - position.floor())
        };
        Self {
            value: at(0.5),
            low: at(0.05),
            high: at(0.95),
        }
    }

    /// The interval, extended to a value.
    pub(super) fn with(self, value: f64) -> Self {
        Self {
            value,
            low: self.low.min(value),
            high: self.high.max(value),
        }
    }

    /// The interval, extended to the median of other draws as its value.
    pub(super) fn around(self, draws: &[f64]) -> Self {
        self.with(Self::of(draws.to_vec()).value)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.value.is_finite() && self.low.is_finite() && self.high.is_finite()
    }

    /// Whether a value lies in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The same with no value above `most`.
    #[must_use]
    pub fn at_most(self, most: f64) -> Self {
        Self {
            value: self.value.min(most),
            low: self.low.min(most),
            high: self.high.min(most),
        }
    }

    /// All of it times a factor.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}
