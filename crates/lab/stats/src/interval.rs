//! An interval of effects, and the options of its estimation.

use serde::{Deserialize, Serialize};

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, at least `low`.
    pub high: f64,
}

/// Options of an estimation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The confidence level of the intervals, between 0 and 1.
    pub confidence: f64,
    /// The number of bootstrap replicates; 0 for no bootstrap.
    pub replicates: u32,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            confidence: 0.95,
            replicates: 2000,
            seed: 1,
        }
    }
}

impl Interval {
    /// The interval from `low` to `high`; none if an end is not finite or they are in the wrong order.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(Self { low, high })
    }

    /// The interval that reaches `half_width` to both sides of `center`.
    #[must_use]
    pub fn around(center: f64, half_width: f64) -> Option<Self> {
        Self::new(center - half_width, center + half_width)
    }

    /// Whether `value` is in it, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half the width.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_or_reversed_ends_make_no_interval() {
        assert_eq!(Interval::new(f64::NAN, 1.0), None);
        assert_eq!(Interval::new(0.0, f64::INFINITY), None);
        assert_eq!(Interval::new(1.0, 0.0), None);
        assert_eq!(Interval::around(1.0, -0.5), None);
    }

    #[test]
    fn ends_belong_to_the_interval() {
        let interval = Interval::around(1.0, 0.5).unwrap();
        assert!(interval.contains(0.5) && interval.contains(1.5));
        assert!(!interval.contains(f64::NAN) && !interval.contains(1.51));
        assert_eq!(interval.half_width(), 0.5);
    }
}
