//! Confidence sequences: intervals that hold however often a study is evaluated.

use crate::Interval;
use crate::moments::{mean, variance};
use crate::signed_rank::tail_of;

/// The interval of the mean of independent values, such as the estimates of sessions, that holds
/// with `confidence` at every count at once: a gate may evaluate it after each session and stop at
/// any time. In return it is wider than an interval for one fixed count; the excess is smallest at
/// about `expected` values.
///
/// It inverts the mixture of t tests whose standardised effect is normal about 0 (scale-invariant,
/// so it holds for normal values at any count), and for many values becomes the asymptotic
/// confidence sequence of Waudby-Smith and others (arXiv 2103.06476). None with so few values that
/// it would be unbounded, or if an argument is invalid. Equal values give an interval of zero
/// width.
#[must_use]
pub fn confidence_sequence(values: &[f64], confidence: f64, expected: u32) -> Option<Interval> {
    let alpha = 2.0 * tail_of(confidence)?;
    let center = mean(values)?;
    let sd = variance(values)?.sqrt();
    Interval::around(center, sd * sequence_reach(values.len() as f64, alpha, expected)?)
}

/// The p value that corresponds to [`confidence_sequence`] at 95 %: it is at most 0.05 where that
/// interval excludes `effect`, and holds at every count at once. If all values are equal, it is 1
/// for that effect, and 0 for others. None with fewer than two values, or if an argument is
/// invalid.
#[must_use]
pub fn sequence_p_value(values: &[f64], effect: f64, expected: u32) -> Option<f64> {
    let distance = mean(values)? - effect;
    let variance = variance(values)?;
    let n = values.len() as f64;
    let stretch = 1.0 + n * spread(ALPHA, expected)?;
    if !distance.is_finite() || !variance.is_finite() {
        return None;
    }
    if distance == 0.0 {
        return Some(1.0);
    }
    if variance == 0.0 {
        return Some(0.0);
    }
    let share = n * distance * distance / variance / (n - 1.0);
    let evidence = n / 2.0 * (share.ln_1p() - (share / stretch).ln_1p()) - stretch.ln() / 2.0;
    Some((-evidence).exp().min(1.0)).filter(|p| !p.is_nan())
}

/// The half-width of the sequence after `n` values whose standard deviation is 1. None with so few that it is
/// unbounded.
pub(crate) fn sequence_reach(n: f64, alpha: f64, expected: u32) -> Option<f64> {
    let stretch = 1.0 + n * spread(alpha, expected)?;
    // The mixture is a ratio of two powers; it is 1 / alpha where 1 + t^2 / (n - 1) is `times` the
    // same expression with t^2 / stretch.
    let times = (stretch.sqrt() / alpha).powf(2.0 / n);
    if times >= stretch {
        return None;
    }
    let share = (times - 1.0) / (1.0 - times / stretch);
    Some(((n - 1.0) * share / n).sqrt())
}

/// The variance of the standardised effects that makes the sequence narrowest at `expected` values.
fn spread(alpha: f64, expected: u32) -> Option<f64> {
    let evidence = -2.0 * alpha.ln();
    let spread = (evidence + evidence.ln_1p()) / f64::from(expected);
    (spread.is_finite() && spread > 0.0).then_some(spread)
}

/// For 95 % confidence.
const ALPHA: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t_interval;

    const VALUES: [f64; 8] = [0.011, 0.024, 0.016, 0.031, 0.019, 0.022, 0.027, 0.014];

    #[test]
    fn repeated_evaluation_widens_the_interval() {
        let once = t_interval(&VALUES, 0.95).unwrap();
        let often = confidence_sequence(&VALUES, 0.95, 8).unwrap();
        assert!(often.half_width() > once.half_width());
        assert!(often.half_width() < 2.5 * once.half_width());
    }

    #[test]
    fn many_values_approach_the_asymptotic_sequence() {
        let values: Vec<f64> = (0..4000).map(|index| f64::from(index % 7)).collect();
        let (n, alpha, spread) = (4000.0_f64, 0.05_f64, spread(0.05, 4000).unwrap());
        let stretch = n * spread + 1.0;
        let sd = variance(&values).unwrap().sqrt();
        let asymptotic = sd * (2.0 * stretch / (n * n * spread) * (stretch.sqrt() / alpha).ln()).sqrt();
        let found = confidence_sequence(&values, 0.95, 4000).unwrap().half_width();
        assert!((found / asymptotic - 1.0).abs() < 0.01, "{found} {asymptotic}");
    }

    #[test]
    fn the_p_value_is_that_of_the_interval() {
        for expected in [2, 5, 8, 30] {
            let interval = confidence_sequence(&VALUES, 0.95, expected).unwrap();
            for end in [interval.low, interval.high] {
                let p = sequence_p_value(&VALUES, end, expected).unwrap();
                assert!((p - 0.05).abs() < 1e-9, "{p}");
            }
            assert!(sequence_p_value(&VALUES, interval.low - 0.001, expected).unwrap() < 0.05);
            assert!(sequence_p_value(&VALUES, interval.low + 0.001, expected).unwrap() > 0.05);
        }
        assert_eq!(sequence_p_value(&[0.5; 8], 0.5, 8), Some(1.0));
        assert_eq!(sequence_p_value(&[0.5; 8], 0.4, 8), Some(0.0));
        assert_eq!(sequence_p_value(&VALUES[..1], 0.0, 8), None);
        assert_eq!(sequence_p_value(&VALUES, f64::NAN, 8), None);
    }

    #[test]
    fn too_few_values_have_no_bounds() {
        assert_eq!(confidence_sequence(&[], 0.95, 8), None);
        assert_eq!(confidence_sequence(&VALUES[..1], 0.95, 8), None);
        assert_eq!(confidence_sequence(&VALUES[..2], 0.95, 8), None);
    }

    #[test]
    fn invalid_arguments_have_no_sequence() {
        assert_eq!(confidence_sequence(&VALUES, 1.0, 8), None);
        assert_eq!(confidence_sequence(&VALUES, f64::NAN, 8), None);
        assert_eq!(confidence_sequence(&VALUES, 0.95, 0), None);
        assert_eq!(confidence_sequence(&[f64::NAN; 8], 0.95, 8), None);
    }

    #[test]
    fn equal_values_have_an_interval_without_width() {
        assert_eq!(confidence_sequence(&[0.5; 8], 0.95, 8), Interval::new(0.5, 0.5));
    }
}
