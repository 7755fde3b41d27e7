//! What a precision costs: pairs, sessions and time, from the noise of a pilot.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::Estimate;
use crate::forecast::sessions_within;

/// The noise of a pilot, with the sessions and pairs that it was estimated from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PilotNoise {
    /// As in [`Estimate`].
    pub within_sd: f64,
    /// As in [`Estimate`].
    pub between_sd: f64,
    /// Sessions of the pilot; 0 if the noise is assumed.
    pub sessions: u32,
}

/// The time that a study takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyCost {
    /// Copies, processes and proofs of one session.
    pub session_s: f64,
    /// One more pair of every cell.
    pub pair_s: f64,
}

/// A plan that reaches a precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionPlan {
    /// Sessions.
    pub sessions: u32,
    /// Pairs of each cell in a session; even.
    pub pairs: u32,
    /// The time, in seconds.
    pub seconds: f64,
}

impl PilotNoise {
    /// The noise of an estimate.
    #[must_use]
    pub fn of(estimate: &Estimate) -> Self {
        Self {
            within_sd: estimate.within_sd,
            between_sd: estimate.between_sd,
            sessions: estimate.sessions,
        }
    }

    /// The noise that is not exceeded with a probability of 80 %: a few sessions that agree by
    /// chance must not promise a precision that others do not reach. Both deviations are enlarged
    /// by the bound of a variance from so many sessions (chi squared).
    fn bound(self) -> Option<Self> {
        if self.sessions == 0 {
            return Some(self);
        }
        let freedom = f64::from(self.sessions.checked_sub(1).filter(|freedom| *freedom > 0)?);
        let low = ChiSquared::new(freedom).ok()?.inverse_cdf(1.0 - ASSURANCE);
        let factor = (freedom / low).sqrt();
        Some(Self {
            within_sd: self.within_sd * factor,
            between_sd: self.between_sd * factor,
            ..self
        })
    }
}

/// The quickest plan whose interval reaches at most `half_width` (of the logarithm) to each side.
///
/// More pairs make a session more precise only down to what sessions differ by; the number of pairs
/// is chosen with the number of sessions, from 2 to `pairs_max`. None if no plan of up to
/// `sessions_max` sessions reaches it, or if an argument is invalid.
#[must_use]
pub fn precision_plan(
    half_width: f64,
    noise: PilotNoise,
    cost: StudyCost,
    (sessions_max, pairs_max): (u32, u32),
    confidence: f64,
) -> Option<PrecisionPlan> {
    let noise = noise.bound()?;
    let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
    if !is_time(cost.session_s) || !is_time(cost.pair_s) {
        return None;
    }
    let plans = (1..=pairs_max / 2).filter_map(|half| {
        let pairs = half * 2;
        let sessions = sessions_within(half_width, (noise.within_sd, noise.between_sd), pairs, confidence)?;
        let each = cost.session_s + cost.pair_s * f64::from(pairs);
        (sessions <= sessions_max).then_some(PrecisionPlan {
            sessions,
            pairs,
            seconds: each * f64::from(sessions),
        })
    });
    plans.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// The probability that the noise of the study is not above what its plan assumes.
const ASSURANCE: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: PilotNoise = PilotNoise {
        within_sd: 0.04,
        between_sd: 0.01,
        sessions: 0,
    };
    const COST: StudyCost = StudyCost {
        session_s: 30.0,
        pair_s: 10.0,
    };
    const MOST: (u32, u32) = (1000, 64);

    #[test]
    fn finer_precision_costs_more_and_at_least_five_sessions() {
        let times: Vec<PrecisionPlan> = [0.2, 0.05, 0.02, 0.01]
            .map(|half_width| precision_plan(half_width, NOISE, COST, MOST, 0.95).unwrap())
            .to_vec();
        assert!(
            times.windows(2).all(|two| two[0].seconds <= two[1].seconds),
            "{times:?}"
        );
        assert_eq!((times[0].sessions, times[0].pairs), (5, 2));
    }

    #[test]
    fn dear_sessions_get_more_pairs() {
        let cheap = precision_plan(0.01, NOISE, StudyCost { session_s: 1.0, ..COST }, MOST, 0.95).unwrap();
        let dear = precision_plan(
            0.01,
            NOISE,
            StudyCost {
                session_s: 600.0,
                ..COST
            },
            MOST,
            0.95,
        )
        .unwrap();
        assert!(
            cheap.pairs < dear.pairs && cheap.sessions > dear.sessions,
            "{cheap:?} {dear:?}"
        );
    }

    #[test]
    fn a_pilot_of_few_sessions_is_not_trusted_to_the_digit() {
        let of = |sessions| precision_plan(0.01, PilotNoise { sessions, ..NOISE }, COST, MOST, 0.95).unwrap();
        assert!(of(3).seconds > of(30).seconds && of(30).seconds > of(0).seconds);
    }

    #[test]
    fn the_impossible_has_no_plan() {
        let differs = PilotNoise {
            between_sd: 1.0,
            ..NOISE
        };
        assert_eq!(precision_plan(0.001, differs, COST, MOST, 0.95), None);
        assert_eq!(precision_plan(f64::NAN, NOISE, COST, MOST, 0.95), None);
        assert_eq!(precision_plan(0.0, NOISE, COST, MOST, 0.95), None);
        let one = PilotNoise { sessions: 1, ..NOISE };
        assert_eq!(precision_plan(0.01, one, COST, MOST, 0.95), None);
        let never = StudyCost {
            pair_s: f64::INFINITY,
            ..COST
        };
        assert_eq!(precision_plan(0.01, NOISE, never, MOST, 0.95), None);
    }
}
