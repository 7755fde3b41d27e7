//! The effect estimated from sessions of pairs.

use serde::{Deserialize, Serialize};

use crate::moments::{count, mean, square, variance};
use crate::walsh_averages::WalshAverages;
use crate::{Interval, Options, hierarchical_interval, t_interval, t_p_value};

/// The difference between an arm and its control. All figures are of `ln(arm / control)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean of the sessions' Hodges-Lehmann estimates.
    pub center: f64,
    /// The t interval of the sessions' estimates: verdicts are based on it. None with one session.
    /// Zero width if all sessions give exactly the same estimate, as for counters of deterministic
    /// work.
    pub t: Option<Interval>,
    /// Percentiles of means when sessions, then their pairs, are resampled: a cross-check. None
    /// with one session, or without replicates.
    pub bootstrap: Option<Interval>,
    /// Sessions with a pair.
    pub sessions: u32,
    /// Pairs of all sessions.
    pub pairs: u32,
    /// The noise of one pair: the estimate of a session of P pairs has a standard deviation of this
    /// divided by the square root of P, in addition to `between_sd`. From leave-one-out estimates
    /// (jackknife). 0 if no session has two pairs.
    pub within_sd: f64,
    /// The standard deviation between sessions: the spread of their estimates in excess of
    /// `within_sd`. 0 if there is no excess, or with one session.
    pub between_sd: f64,
    /// The standard deviation of the sessions' estimates. 0 with one session.
    pub session_sd: f64,
}

impl Estimate {
    /// The probability that sessions are at least so far from `effect` if it is the true one;
    /// two-sided, by t. None with fewer than two sessions. If all sessions give exactly the same
    /// estimate, it is 1 for that effect, and 0 for others.
    #[must_use]
    pub fn p_value(&self, effect: f64) -> Option<f64> {
        let distance = self.center - effect;
        if self.sessions < 2 || !distance.is_finite() || self.session_sd.is_nan() {
            return None;
        }
        if distance == 0.0 {
            return Some(1.0);
        }
        let error = self.session_sd / f64::from(self.sessions).sqrt();
        t_p_value(distance / error, f64::from(self.sessions - 1))
    }
}

/// Estimates the effect from `ln(arm / control)` of each pair of each session. Sessions without a
/// pair do not count.
///
/// None without any pair, or if a value is not finite: a ratio with zero is no effect, and omitting
/// it would be a selection.
#[must_use]
pub fn estimate(sessions: &[Vec<f64>], options: &Options) -> Option<Estimate> {
    let centers = session_estimates(sessions)?;
    let center = mean(&centers)?;
    let session_variance = variance(&centers).unwrap_or(0.0);
    let within = within_variance(sessions);
    let between = (session_variance - within * mean_share(sessions)).max(0.0);
    let within_sd = Some(within.sqrt()).filter(|sd| sd.is_finite())?;
    Some(Estimate {
        center,
        t: t_interval(&centers, options.confidence),
        bootstrap: hierarchical_interval(sessions, options),
        sessions: count(centers.len()),
        pairs: count(sessions.iter().map(Vec::len).sum()),
        within_sd,
        between_sd: between.sqrt(),
        session_sd: session_variance.sqrt(),
    })
}

/// The Hodges-Lehmann estimate of each session that has a pair. None if there is no pair, or one is not finite.
#[must_use]
pub fn session_estimates(sessions: &[Vec<f64>]) -> Option<Vec<f64>> {
    let mut averages = WalshAverages::new();
    let filled = sessions.iter().filter(|pairs| !pairs.is_empty());
    let estimates: Option<Vec<f64>> = filled
        .map(|pairs| {
            averages.refill(pairs.iter().copied());
            averages.median()
        })
        .collect();
    estimates.filter(|estimates| !estimates.is_empty())
}

/// The mean, over sessions with two pairs or more, of the product of a session's jackknife variance
/// and its number of pairs.
fn within_variance(sessions: &[Vec<f64>]) -> f64 {
    let mut averages = WalshAverages::new();
    let variances: Vec<f64> = sessions
        .iter()
        .filter_map(|pairs| {
            let without_one: Option<Vec<f64>> = (0..pairs.len())
                .map(|left_out| {
                    let others = pairs.iter().enumerate().filter(|(index, _)| *index != left_out);
                    averages.refill(others.map(|(_, value)| *value));
                    averages.median()
                })
                .collect();
            let n = pairs.len() as f64;
            // (n - 1) / n times the sum of squares is (n - 1)^2 / n times the variance.
            Some(variance(&without_one?)? * square(n - 1.0))
        })
        .collect();
    mean(&variances).unwrap_or(0.0)
}

/// The mean over sessions of 1 / (number of pairs).
fn mean_share(sessions: &[Vec<f64>]) -> f64 {
    let shares: Vec<f64> = sessions
        .iter()
        .filter(|pairs| !pairs.is_empty())
        .map(|pairs| 1.0 / pairs.len() as f64)
        .collect();
    mean(&shares).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> Options {
        Options {
            replicates: 200,
            ..Options::default()
        }
    }

    #[test]
    fn no_pairs_have_no_estimate() {
        assert_eq!(estimate(&[], &quick()), None);
        assert_eq!(estimate(&[vec![], vec![]], &quick()), None);
    }

    #[test]
    fn a_value_that_is_not_finite_gives_no_estimate() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(estimate(&[vec![0.1, 0.2], vec![0.1, bad]], &quick()), None);
        }
    }

    #[test]
    fn one_session_has_a_center_and_no_interval() {
        let found = estimate(&[vec![0.1, 0.2, 0.3], vec![]], &quick()).unwrap();
        assert_eq!((found.sessions, found.pairs), (1, 3));
        assert!((found.center - 0.2).abs() < 1e-12);
        assert_eq!((found.t, found.bootstrap, found.between_sd), (None, None, 0.0));
        assert!(found.within_sd > 0.0);
        assert_eq!(found.p_value(0.0), None);
    }

    #[test]
    fn equal_values_give_intervals_without_width() {
        let found = estimate(&vec![vec![0.1; 4]; 6], &quick()).unwrap();
        let point = Interval::new(0.1, 0.1);
        assert_eq!((found.t, found.bootstrap), (point, point));
        assert_eq!((found.within_sd, found.between_sd), (0.0, 0.0));
        assert_eq!((found.p_value(0.1), found.p_value(0.0)), (Some(1.0), Some(0.0)));
    }

    #[test]
    fn two_pairs_have_the_usual_deviation() {
        let found = estimate(&[vec![1.0, 3.0], vec![1.0, 3.0]], &quick()).unwrap();
        assert!((found.within_sd - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.between_sd, 0.0);
    }

    #[test]
    fn single_pairs_put_all_noise_between_sessions() {
        let found = estimate(&[vec![1.0], vec![2.0], vec![3.0]], &quick()).unwrap();
        assert_eq!((found.within_sd, found.between_sd, found.session_sd), (0.0, 1.0, 1.0));
    }

    #[test]
    fn extreme_numbers_never_give_an_invalid_interval() {
        let found = estimate(&[vec![f64::MAX], vec![-f64::MAX]], &quick());
        assert!(found.is_none_or(|found| found.t.is_none()));
        let found = estimate(&[vec![f64::MAX, 0.0], vec![f64::MAX, 0.0]], &quick());
        assert!(found.is_none_or(|found| found.within_sd.is_finite()));
    }

    #[test]
    fn an_invalid_confidence_leaves_the_center() {
        let options = Options {
            confidence: f64::NAN,
            ..quick()
        };
        let found = estimate(&[vec![0.1], vec![0.2]], &options).unwrap();
        assert_eq!((found.t, found.bootstrap), (None, None));
    }
}
