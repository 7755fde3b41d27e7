//! Sample sizes and detectable effects.

use crate::confidence_sequence::sequence_reach;
use crate::moments::square;
use crate::signed_rank::tail_of;
use crate::{Estimate, SESSIONS_MIN, t_quantile};

/// The total number of sessions, of `pairs` each, until the interval reaches at most `half_width`
/// to each side, if noise stays the same. None with fewer than two sessions, above 10,000, or if an
/// argument is invalid.
#[must_use]
pub fn sessions_for(half_width: f64, estimate: &Estimate, pairs: u32, confidence: f64) -> Option<u32> {
    let tail = tail_of(confidence)?;
    let sd = session_sd(estimate, pairs)?;
    first_count(|sessions| Some(t_quantile(1.0 - tail, f64::from(sessions - 1))? * error(sd, sessions) <= half_width))
}

/// The number of sessions, of `pairs` each, whose interval reaches at most `half_width` to each side
/// with noise of this size within and between sessions; at least as many as a verdict needs.
pub(crate) fn sessions_within(
    half_width: f64,
    (within_sd, between_sd): (f64, f64),
    pairs: u32,
    confidence: f64,
) -> Option<u32> {
    let tail = tail_of(confidence)?;
    let sd = combined_sd(within_sd, between_sd, pairs)?;
    let found = first_count(|sessions| {
        Some(t_quantile(1.0 - tail, f64::from(sessions - 1))? * error(sd, sessions) <= half_width)
    })?;
    Some(found.max(SESSIONS_MIN))
}

/// The total number of sessions, of `pairs` each, until the interval excludes `limit`, which is
/// `ln(1 + limit)`, with probability `power`, if the effect and noise stay the same. None as for
/// [`sessions_for`], and if the estimate equals the limit: then no number is sufficient.
#[must_use]
pub fn sessions_to_clear(limit: f64, estimate: &Estimate, pairs: u32, confidence: f64, power: f64) -> Option<u32> {
    let tail = tail_of(confidence)?;
    let sd = session_sd(estimate, pairs)?;
    let distance = (estimate.center - limit).abs();
    first_count(|sessions| Some(reach(sessions, tail, power)? * error(sd, sessions) < distance))
}

/// As [`sessions_to_clear`], where the interval is a
/// [`confidence_sequence`](crate::confidence_sequence()) that is narrowest at `expected` sessions:
/// the sessions that an extension of a study needs after an evaluation.
#[must_use]
pub fn sessions_to_clear_by_sequence(
    limit: f64,
    estimate: &Estimate,
    pairs: u32,
    (confidence, power): (f64, f64),
    expected: u32,
) -> Option<u32> {
    let alpha = 2.0 * tail_of(confidence)?;
    let sd = session_sd(estimate, pairs)?;
    let distance = (estimate.center - limit).abs();
    first_count(|sessions| {
        let Some(reach) = sequence_reach(f64::from(sessions), alpha, expected) else {
            return Some(false);
        };
        let luck = t_quantile(power, f64::from(sessions - 1))? / f64::from(sessions).sqrt();
        Some((reach + luck).max(0.0) * sd < distance)
    })
}

/// The smallest effect that sessions of so many pairs distinguish from none with probability
/// `power`, at 95 % confidence. Infinite if there is none, as with one session, or if an argument
/// is invalid.
///
/// The sum of two t quantiles approximates the quantile of the noncentral t: the error is under 2 %
/// from 5 sessions on.
#[must_use]
pub fn smallest_effect(within_sd: f64, between_sd: f64, sessions: u32, pairs: u32, power: f64) -> f64 {
    let effect = combined_sd(within_sd, between_sd, pairs)
        .filter(|_| sessions >= 2)
        .and_then(|sd| Some(reach(sessions, 0.025, power)? * error(sd, sessions)));
    effect.unwrap_or(f64::INFINITY)
}

/// The distance from zero, in standard errors, of an effect whose interval excludes zero with
/// probability `power`.
fn reach(sessions: u32, tail: f64, power: f64) -> Option<f64> {
    let freedom = f64::from(sessions - 1);
    let reach = t_quantile(1.0 - tail, freedom)? + t_quantile(power, freedom)?;
    Some(reach.max(0.0))
}

fn error(sd: f64, sessions: u32) -> f64 {
    sd / f64::from(sessions).sqrt()
}

fn session_sd(estimate: &Estimate, pairs: u32) -> Option<f64> {
    combined_sd(estimate.within_sd, estimate.between_sd, pairs).filter(|_| estimate.sessions >= 2)
}

/// The standard deviation of the estimate of a session of so many pairs.
fn combined_sd(within_sd: f64, between_sd: f64, pairs: u32) -> Option<f64> {
    let sd = (square(within_sd) / f64::from(pairs) + square(between_sd)).sqrt();
    (sd.is_finite() && within_sd >= 0.0 && between_sd >= 0.0).then_some(sd)
}

/// The smallest number of sessions, from 2 on, that is sufficient. Every larger number must be
/// sufficient too.
fn first_count(is_enough: impl Fn(u32) -> Option<bool>) -> Option<u32> {
    let (mut low, mut high) = (2, SESSIONS_MAX);
    if !is_enough(high)? {
        return None;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// An upper bound of what is feasible: beyond it there is no forecast.
const SESSIONS_MAX: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(center: f64, within_sd: f64, between_sd: f64) -> Estimate {
        Estimate {
            center,
            t: None,
            bootstrap: None,
            sessions: 8,
            pairs: 64,
            within_sd,
            between_sd,
            session_sd: between_sd,
        }
    }

    #[test]
    fn a_confidence_sequence_needs_more_sessions() {
        let estimate = noisy(0.02, 0.02, 0.01);
        let once = sessions_to_clear(0.03, &estimate, 8, 0.95, 0.8).unwrap();
        let often = sessions_to_clear_by_sequence(0.03, &estimate, 8, (0.95, 0.8), 8).unwrap();
        assert!(once < often && often < 4 * once, "{once} {often}");
        assert_eq!(sessions_to_clear_by_sequence(0.02, &estimate, 8, (0.95, 0.8), 8), None);
        assert_eq!(sessions_to_clear_by_sequence(0.03, &estimate, 8, (0.95, 0.8), 0), None);
    }

    #[test]
    fn the_forecast_is_the_first_count_that_suffices() {
        let estimate = noisy(0.02, 0.02, 0.01);
        let sd = (0.02_f64.powi(2) / 8.0 + 0.01_f64.powi(2)).sqrt();
        let count = sessions_for(0.01, &estimate, 8, 0.95).unwrap();
        let half_width =
            |sessions: u32| t_quantile(0.975, f64::from(sessions - 1)).unwrap() * sd / f64::from(sessions).sqrt();
        assert!(half_width(count) <= 0.01 && half_width(count - 1) > 0.01, "{count}");
    }

    #[test]
    fn no_noise_needs_two_sessions() {
        assert_eq!(sessions_for(0.01, &noisy(0.0, 0.0, 0.0), 8, 0.95), Some(2));
        assert_eq!(sessions_to_clear(0.03, &noisy(0.0, 0.0, 0.0), 8, 0.95, 0.8), Some(2));
    }

    #[test]
    fn impossible_and_invalid_questions_have_no_forecast() {
        let estimate = noisy(0.03, 0.02, 0.01);
        assert_eq!(sessions_to_clear(0.03, &estimate, 8, 0.95, 0.8), None);
        assert_eq!(sessions_to_clear(0.03, &noisy(0.03, 0.0, 0.0), 8, 0.95, 0.8), None);
        assert_eq!(sessions_to_clear(f64::NAN, &estimate, 8, 0.95, 0.8), None);
        assert_eq!(sessions_to_clear(0.0, &estimate, 8, 0.95, 1.0), None);
        for half_width in [0.0, -1.0, f64::NAN, 1e-9] {
            assert_eq!(sessions_for(half_width, &estimate, 8, 0.95), None);
        }
        assert_eq!(sessions_for(0.01, &estimate, 0, 0.95), None);
        assert_eq!(sessions_for(0.01, &estimate, 8, 1.0), None);
        assert_eq!(sessions_for(0.01, &noisy(0.0, f64::NAN, 0.0), 8, 0.95), None);
        let one = Estimate {
            sessions: 1,
            ..estimate
        };
        assert_eq!(sessions_for(0.01, &one, 8, 0.95), None);
    }

    #[test]
    fn clearing_a_limit_takes_longer_the_nearer_it_is() {
        let estimate = noisy(0.02, 0.02, 0.01);
        let far = sessions_to_clear(0.06, &estimate, 8, 0.95, 0.8).unwrap();
        let near = sessions_to_clear(0.025, &estimate, 8, 0.95, 0.8).unwrap();
        assert!(far < near, "{far} {near}");
    }

    #[test]
    fn one_session_detects_no_effect() {
        for (within, between, sessions, pairs) in [(0.1, 0.1, 1, 8), (0.1, 0.1, 0, 8), (0.1, 0.1, 8, 0)] {
            assert_eq!(smallest_effect(within, between, sessions, pairs, 0.8), f64::INFINITY);
        }
        assert_eq!(smallest_effect(f64::NAN, 0.0, 8, 8, 0.8), f64::INFINITY);
        assert_eq!(smallest_effect(0.1, -0.1, 8, 8, 0.8), f64::INFINITY);
        assert_eq!(smallest_effect(0.1, 0.1, 8, 8, 1.0), f64::INFINITY);
    }
}
