//! The stopping rule of a study.

use crate::signed_rank::tail_of;
use crate::{Estimate, SESSIONS_MIN, t_quantile};

/// Whether the interval reaches at most `half_width` (of the logarithm) to each side, and there are
/// enough sessions for a verdict. It depends on the spread only, never on the effect, and so leaves
/// the effect unbiased.
///
/// Sessions that agree by chance must not stop a study: their estimates are assumed to spread at
/// least as much as the noise of their pairs implies. Where sessions differ more than that, chance
/// remains: intervals of 95 % then cover a little over 93 % at worst, where about a quarter of
/// studies of 5 to 8 sessions stop early.
#[must_use]
pub fn is_precise(estimate: &Estimate, half_width: f64, confidence: f64) -> bool {
    if estimate.sessions < SESSIONS_MIN || estimate.t.is_none() {
        return false;
    }
    let sessions = f64::from(estimate.sessions);
    let from_pairs = estimate.within_sd / (f64::from(estimate.pairs) / sessions).sqrt();
    let error = estimate.session_sd.max(from_pairs) / sessions.sqrt();
    tail_of(confidence)
        .and_then(|tail| t_quantile(1.0 - tail, sessions - 1.0))
        .is_some_and(|quantile| quantile * error <= half_width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    fn spread(sessions: u32, within_sd: f64, session_sd: f64) -> Estimate {
        Estimate {
            center: 0.0,
            t: Interval::new(-1.0, 1.0),
            bootstrap: None,
            sessions,
            pairs: 4 * sessions,
            within_sd,
            between_sd: 0.0,
            session_sd,
        }
    }

    #[test]
    fn the_interval_must_be_narrow_enough() {
        // t of 8 sessions: 2.365.
        let estimate = spread(8, 0.0, 0.08_f64.sqrt());
        assert!(is_precise(&estimate, 0.237, 0.95));
        assert!(!is_precise(&estimate, 0.236, 0.95));
    }

    #[test]
    fn sessions_that_agree_by_luck_are_not_precise() {
        assert!(!is_precise(&spread(8, 2.0 * 0.08_f64.sqrt(), 0.0), 0.236, 0.95));
        assert!(is_precise(&spread(8, 2.0 * 0.08_f64.sqrt(), 0.0), 0.237, 0.95));
    }

    #[test]
    fn four_sessions_and_invalid_arguments_are_never_precise() {
        assert!(!is_precise(&spread(4, 0.0, 0.0), 1.0, 0.95));
        assert!(!is_precise(&spread(8, f64::NAN, f64::NAN), 1.0, 0.95));
        assert!(!is_precise(&spread(8, 0.1, 0.1), f64::NAN, 0.95));
        assert!(!is_precise(&spread(8, 0.1, 0.1), 1.0, 1.0));
        assert!(!is_precise(
            &Estimate {
                t: None,
                ..spread(8, 0.1, 0.1)
            },
            1.0,
            0.95
        ));
    }
}
