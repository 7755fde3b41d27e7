//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Interval;
use crate::moments::{mean, variance};
use crate::signed_rank::tail_of;

/// The quantile at `probability` of a t variable with so many degrees of freedom. None if an
/// argument is invalid, for less than one degree or more than a million, and within 1e-12 of
/// certainty, where the search may not terminate.
#[must_use]
pub fn t_quantile(probability: f64, freedom: f64) -> Option<f64> {
    let is_certain = !(CERTAINTY..=1.0 - CERTAINTY).contains(&probability);
    if is_certain || !(1.0..=FREEDOM_MAX).contains(&freedom) {
        return None;
    }
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(probability);
    quantile.is_finite().then_some(quantile)
}

/// The interval of the mean of independent values. None with fewer than two, or if one is not
/// finite. Equal values give an interval of zero width.
#[must_use]
pub fn t_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let center = mean(values)?;
    let error = (variance(values)? / values.len() as f64).sqrt();
    let quantile = t_quantile(1.0 - tail_of(confidence)?, (values.len() - 1) as f64)?;
    Interval::around(center, quantile * error)
}

/// The two-sided probability that a t variable is at least as far from 0 as `statistic`. None if an
/// argument is invalid; 0 for an infinite statistic.
#[must_use]
pub fn t_p_value(statistic: f64, freedom: f64) -> Option<f64> {
    if statistic.is_nan() || !(1.0..=FREEDOM_MAX).contains(&freedom) {
        return None;
    }
    if statistic.is_infinite() {
        return Some(0.0);
    }
    let tail = StudentsT::new(0.0, 1.0, freedom).ok()?.cdf(-statistic.abs());
    tail.is_finite().then(|| (2.0 * tail).clamp(0.0, 1.0))
}

/// No practical confidence level is closer to certainty.
const CERTAINTY: f64 = 1e-12;

/// From here on t equals the normal distribution in all digits that count.
const FREEDOM_MAX: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_invalid_arguments_are_none() {
        for (probability, freedom) in [(0.0, 5.0), (1.0, 5.0), (f64::NAN, 5.0), (0.5, 0.0), (0.5, -1.0)] {
            assert_eq!(t_quantile(probability, freedom), None);
        }
        assert_eq!(t_quantile(0.9, f64::NAN), None);
        assert_eq!(t_quantile(0.9, f64::INFINITY), None);
    }

    #[test]
    fn quantiles_are_found_up_to_the_bounds() {
        for freedom in [1.0, 1.5, 2.0, 31.0, 1e4, FREEDOM_MAX] {
            for probability in [CERTAINTY, 1e-9, 0.5, 0.999_999, 1.0 - CERTAINTY] {
                assert!(t_quantile(probability, freedom).is_some(), "{probability} {freedom}");
            }
        }
    }

    #[test]
    fn intervals_need_two_finite_values() {
        assert_eq!(t_interval(&[], 0.95), None);
        assert_eq!(t_interval(&[1.0], 0.95), None);
        assert_eq!(t_interval(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(t_interval(&[1.0, 2.0], 1.0), None);
        assert_eq!(t_interval(&[0.1; 5], 0.95), Interval::new(0.1, 0.1));
    }

    #[test]
    fn p_values_are_between_none_and_all() {
        assert_eq!(t_p_value(0.0, 4.0), Some(1.0));
        assert_eq!(t_p_value(f64::INFINITY, 4.0), Some(0.0));
        assert_eq!(t_p_value(f64::NAN, 4.0), None);
        assert_eq!(t_p_value(1.0, 0.0), None);
    }
}
