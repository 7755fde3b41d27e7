//! Bootstrap confidence intervals.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::moments::{mean, quantile, square};
use crate::signed_rank::tail_of;
use crate::walsh_averages::WalshAverages;
use crate::{Interval, Options};

/// Draws sessions with replacement, then pairs of each drawn session, and returns percentiles of
/// the mean of the sessions' estimates.
///
/// A cross-check of the t interval, not a replacement: with few sessions the percentiles are
/// narrow, while the noise of pairs counts twice, in the sessions' estimates and in the resampling
/// of their pairs. None with fewer than two sessions, without replicates, or if a value is not
/// finite.
#[must_use]
pub fn hierarchical_interval(sessions: &[Vec<f64>], options: &Options) -> Option<Interval> {
    let tail = tail_of(options.confidence)?;
    let sessions: Vec<&[f64]> = sessions
        .iter()
        .map(Vec::as_slice)
        .filter(|pairs| !pairs.is_empty())
        .collect();
    if sessions.len() < 2 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut averages = WalshAverages::new();
    let mut drawn = Vec::with_capacity(sessions.len());
    let mut means = Vec::new();
    for _ in 0..options.replicates {
        drawn.clear();
        for _ in &sessions {
            let pairs = sessions[random.random_range(0..sessions.len())];
            averages.refill(pairs.iter().map(|_| pairs[random.random_range(0..pairs.len())]));
            drawn.push(averages.median()?);
        }
        means.push(mean(&drawn)?);
    }
    means.sort_unstable_by(f64::total_cmp);
    Interval::new(quantile(&means, tail)?, quantile(&means, 1.0 - tail)?)
}

/// The bootstrap interval of the mean of independent values, corrected for bias and for a spread
/// that changes with the mean (BCa: Efron, "Better bootstrap confidence intervals", 1987). With
/// fewer than about 20 values it is too narrow; base decisions on the t interval.
///
/// None with fewer than two values, without replicates, or if a value is not finite. Equal values
/// give an interval of zero width.
#[must_use]
pub fn bca_interval(values: &[f64], options: &Options) -> Option<Interval> {
    let tail = tail_of(options.confidence)?;
    let center = mean(values)?;
    if values.len() < 2 || options.replicates == 0 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let means: Option<Vec<f64>> = (0..options.replicates)
        .map(|_| {
            let drawn: Vec<f64> = values
                .iter()
                .map(|_| values[random.random_range(0..values.len())])
                .collect();
            mean(&drawn)
        })
        .collect();
    let mut means = means?;
    means.sort_unstable_by(f64::total_cmp);
    if let [first, .., last] = means.as_slice()
        && first == last
    {
        return Interval::new(*first, *last);
    }
    let correction = Correction::new(values, center, &means)?;
    Interval::new(
        quantile(&means, correction.share(tail)?)?,
        quantile(&means, correction.share(1.0 - tail)?)?,
    )
}

/// The parameters of BCa, which choose the percentiles.
struct Correction {
    bias: f64,
    acceleration: f64,
}

impl Correction {
    fn new(values: &[f64], center: f64, means: &[f64]) -> Option<Self> {
        let below = means.iter().filter(|mean| **mean < center).count();
        let up_to = means.iter().filter(|mean| **mean <= center).count();
        let share = (below + up_to) as f64 / (2 * means.len()) as f64;
        let bias = Normal::standard().inverse_cdf(share);
        // Each leave-one-out mean differs from the mean in proportion to the value left out; the
        // factor cancels.
        let squares: f64 = values.iter().map(|value| square(value - center)).sum();
        let cubes: f64 = values
            .iter()
            .map(|value| square(value - center) * (value - center))
            .sum();
        let acceleration = cubes / (6.0 * squares.powf(1.5));
        (bias.is_finite() && acceleration.is_finite()).then_some(Self { bias, acceleration })
    }

    fn share(&self, plain: f64) -> Option<f64> {
        let normal = Normal::standard();
        let shifted = self.bias + normal.inverse_cdf(plain);
        let stretch = 1.0 - self.acceleration * shifted;
        (stretch > 0.0).then(|| normal.cdf(self.bias + shifted / stretch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(replicates: u32, seed: u64) -> Options {
        Options {
            replicates,
            seed,
            ..Options::default()
        }
    }

    #[test]
    fn the_seed_decides() {
        let sessions: Vec<Vec<f64>> = (0..5).map(|s| (0..4).map(|p| f64::from(s * s + p)).collect()).collect();
        let first = hierarchical_interval(&sessions, &options(300, 7));
        assert!(first.is_some());
        assert_eq!(first, hierarchical_interval(&sessions, &options(300, 7)));
        assert_ne!(first, hierarchical_interval(&sessions, &options(300, 8)));
    }

    #[test]
    fn too_little_to_draw_from_gives_none() {
        assert_eq!(hierarchical_interval(&[vec![1.0, 2.0]], &options(9, 1)), None);
        assert_eq!(hierarchical_interval(&[vec![1.0], vec![2.0]], &options(0, 1)), None);
        assert_eq!(
            hierarchical_interval(&[vec![1.0], vec![f64::NAN]], &options(9, 1)),
            None
        );
        assert_eq!(bca_interval(&[], &options(9, 1)), None);
        assert_eq!(bca_interval(&[1.0], &options(9, 1)), None);
        assert_eq!(bca_interval(&[1.0, 2.0], &options(0, 1)), None);
        assert_eq!(bca_interval(&[1.0, f64::INFINITY], &options(9, 1)), None);
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        assert_eq!(bca_interval(&[2.0; 5], &options(50, 1)), Interval::new(2.0, 2.0));
    }

    #[test]
    fn a_skewed_sample_has_a_skewed_interval() {
        let values = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 9.0];
        let center = mean(&values).unwrap();
        let interval = bca_interval(&values, &options(2000, 3)).unwrap();
        assert!(interval.high - center > 1.5 * (center - interval.low));
    }
}
