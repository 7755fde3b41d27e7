//! The interval that inverts Wilcoxon's signed-rank test.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::Interval;
use crate::moments::whole;
use crate::walsh_averages::WalshAverages;

/// The interval of a location whose values are symmetric about it: from the k-th smallest to the k-th largest mean of
/// two values, with the largest k that keeps `confidence`. k is exact for up to 25 values, and from the normal
/// approximation with its correction for continuity above.
///
/// None if a value or `confidence` is invalid, or if there are too few values (95 % needs 6). Equal
/// values give an interval of zero width. Values must be independent: pairs are so only within one
/// session.
#[must_use]
pub fn signed_rank_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail_of(confidence)?;
    let mut averages = WalshAverages::new();
    averages.refill(values.iter().copied());
    let most = averages.count().div_ceil(2);
    let reach = if values.len() <= EXACT_MAX {
        exact_reach(values.len(), tail)
    } else {
        normal_reach(values.len(), tail, most)?
    };
    let first = reach.min(most).checked_sub(1)?;
    let last = averages.count().checked_sub(reach)?;
    Interval::new(averages.nth(first)?, averages.nth(last)?)
}

/// The probability of each of two tails; none if `confidence` is not between 0 and 1.
pub fn tail_of(confidence: f64) -> Option<f64> {
    (confidence > 0.0 && confidence < 1.0).then_some((1.0 - confidence) / 2.0)
}

/// The largest k for which the probability that the statistic is below k is at most `tail`.
fn exact_reach(count: usize, tail: f64) -> usize {
    // The number of subsets of the ranks 1 to count that have each sum: at most 2^25 in all.
    let mut subsets = vec![0_u32; count * (count + 1) / 2 + 1];
    subsets[0] = 1;
    for rank in 1..=count {
        for sum in (rank..subsets.len()).rev() {
            subsets[sum] += subsets[sum - rank];
        }
    }
    let allowed = tail * f64::from(subsets.iter().sum::<u32>()) * (1.0 + ROUNDING);
    let mut below = 0.0;
    subsets
        .iter()
        .take_while(|subset_count| {
            below += f64::from(**subset_count);
            below <= allowed
        })
        .count()
}

fn normal_reach(count: usize, tail: f64, most: usize) -> Option<usize> {
    let n = count as f64;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let z = Normal::standard().inverse_cdf(tail);
    let reach = n * (n + 1.0) / 4.0 + z * deviation + 0.5;
    reach.is_finite().then(|| whole(reach, most))
}

/// A session rarely has more, and from here on the approximation is accurate to one rank.
const EXACT_MAX: usize = 25;

/// Tolerance for the rounding of a tail such as (1 - 0.5) / 2.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_values_are_the_fewest_for_95_percent() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(signed_rank_interval(&values[..5], 0.95), None);
        assert_eq!(signed_rank_interval(&values, 0.95), Interval::new(1.0, 6.0));
    }

    #[test]
    fn the_reach_is_that_of_printed_tables() {
        // Critical values at 2.5 % in each tail, plus one.
        assert_eq!(
            [8, 10, 15, 20, 25].map(|count| exact_reach(count, 0.025)),
            [4, 9, 26, 53, 90]
        );
    }

    #[test]
    fn the_approximation_is_accurate_to_one_rank() {
        for count in [15, 20, 25] {
            let approximate = normal_reach(count, 0.025, usize::MAX).unwrap();
            assert!(approximate.abs_diff(exact_reach(count, 0.025)) <= 1, "{count}");
        }
    }

    #[test]
    fn invalid_arguments_have_no_interval() {
        assert_eq!(signed_rank_interval(&[], 0.95), None);
        assert_eq!(signed_rank_interval(&[f64::NAN; 30], 0.95), None);
        for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert_eq!(signed_rank_interval(&[1.0; 30], confidence), None);
        }
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        for count in [6, 25, 26, 300] {
            assert_eq!(signed_rank_interval(&vec![0.3; count], 0.95), Interval::new(0.3, 0.3));
        }
    }

    #[test]
    fn any_confidence_gives_ends_in_order() {
        let values: Vec<f64> = (0..26).map(f64::from).collect();
        for count in 1..=26 {
            for confidence in [1e-9, 0.01, 0.5, 0.999_999] {
                if let Some(interval) = signed_rank_interval(&values[..count], confidence) {
                    assert!(interval.low <= interval.high);
                }
            }
        }
    }
}
