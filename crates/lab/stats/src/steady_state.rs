//! Detection of the end of a warm-up.

use serde::{Deserialize, Serialize};

use crate::median;
use crate::moments::{mean, square};

/// The end of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyState {
    /// The first block of the steady state; an index.
    From(usize),
    /// Less than the second half is steady: all blocks have to be analysed, and a report has to
    /// state this.
    Never,
    /// Fewer than 6 blocks, or a value that is not a time above 0.
    Unknown,
}

/// Finds the block from which times have one level. Logarithms of times are clamped to 5 median
/// absolute deviations about their median, so that a single spike is not a level. The best cut into
/// two levels is taken if it explains enough, then the rest is cut again. The remainder must be at
/// least half of all.
#[must_use]
pub fn steady_from(values: &[f64]) -> SteadyState {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if values.len() < BLOCKS_MIN || !logarithms.iter().all(|value| value.is_finite()) {
        return SteadyState::Unknown;
    }
    let levels = without_spikes(&logarithms);
    let mut from = 0;
    while let Some(cut) = levels.get(from..).and_then(best_cut) {
        from += cut;
        if from * 2 > values.len() {
            return SteadyState::Never;
        }
    }
    SteadyState::From(from)
}

fn without_spikes(values: &[f64]) -> Vec<f64> {
    let center = median(values).unwrap_or(0.0);
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let reach = median(&distances).unwrap_or(0.0) * SPIKE;
    if reach == 0.0 {
        return values.to_vec();
    }
    values
        .iter()
        .map(|value| value.clamp(center - reach, center + reach))
        .collect()
}

/// The cut with the least sum of squares, if the decrease is large enough (a Bayesian information
/// criterion: two levels and a position).
fn best_cut(values: &[f64]) -> Option<usize> {
    let whole = squares(values);
    let (cut, parts) = (1..values.len())
        .map(|cut| (cut, squares(&values[..cut]) + squares(&values[cut..])))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let n = values.len() as f64;
    // Rounding alone leaves some squares of equal values.
    let least = values.iter().map(|value| square(*value)).sum::<f64>() * ROUNDING;
    let gain = (n - PARAMETERS) * (whole.max(least) / parts.max(least)).ln();
    (gain > PENALTY * n.ln()).then_some(cut)
}

fn squares(values: &[f64]) -> f64 {
    let center = mean(values).unwrap_or(0.0);
    values.iter().map(|value| square(value - center)).sum()
}

/// Fewer cannot show a level on both sides of a cut.
const BLOCKS_MIN: usize = 6;

/// In median absolute deviations.
const SPIKE: f64 = 5.0;

/// Two levels and a position: so many values fit by themselves, however noisy.
const PARAMETERS: f64 = 3.0;

/// In logarithms of the count: one for each parameter that a cut adds (a level, and its position
/// twice, because it was searched for).
const PENALTY: f64 = 3.0;

/// The share of the sum of squares that rounding leaves of zero.
const ROUNDING: f64 = 1e-28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_first_blocks_are_warm_up() {
        assert_eq!(
            steady_from(&[2.0, 1.01, 1.0, 0.99, 1.0, 1.01, 1.0, 0.99]),
            SteadyState::From(1)
        );
        assert_eq!(
            steady_from(&[2.0, 1.9, 1.4, 1.0, 0.99, 1.01, 1.0, 1.01, 0.99, 1.0]),
            SteadyState::From(3)
        );
        assert_eq!(steady_from(&[2.0, 1.0, 1.0, 1.0, 1.0, 1.0]), SteadyState::From(1));
    }

    #[test]
    fn equal_times_are_steady_from_the_first() {
        assert_eq!(steady_from(&[0.3; 12]), SteadyState::From(0));
    }

    #[test]
    fn a_spike_is_no_level() {
        let mut values = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01, 0.98];
        values[9] = 4.0;
        assert_eq!(steady_from(&values), SteadyState::From(0));
    }

    #[test]
    fn times_that_go_on_falling_are_never_steady() {
        let falling: Vec<f64> = (0..16).map(|block| 2.0 - 0.1 * f64::from(block)).collect();
        assert_eq!(steady_from(&falling), SteadyState::Never);
        assert_eq!(
            steady_from(&[1.0, 1.01, 1.0, 0.99, 1.0, 1.01, 1.0, 2.0, 2.01, 2.0]),
            SteadyState::Never
        );
    }

    #[test]
    fn few_or_impossible_times_say_nothing() {
        assert_eq!(steady_from(&[]), SteadyState::Unknown);
        assert_eq!(steady_from(&[1.0; 5]), SteadyState::Unknown);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(steady_from(&[1.0, 1.0, 1.0, 1.0, 1.0, bad]), SteadyState::Unknown);
        }
    }
}
