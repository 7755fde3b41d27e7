//! For any input: no panic, and no end of an interval is NaN.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_stats::{
    Interval, Options, Verdict, bca_interval, confidence_sequence, estimate, hodges_lehmann, holm, is_precise,
    outliers, sessions_for, sessions_to_clear, signed_rank_interval, smallest_effect, steady_from, t_interval,
    t_p_value, t_quantile, verdict,
};

/// Boundary values of `f64`, and some ordinary numbers.
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.01,
    0.011,
    0.95,
    7.0,
    f64::MIN_POSITIVE,
    f64::EPSILON,
    5e-324,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[test]
fn no_input_panics_or_makes_an_interval_without_ends() {
    let seed = 61;
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..1000 {
        let values = draw(&mut random);
        let sessions: Vec<Vec<f64>> = (0..random.random_range(0..7)).map(|_| draw(&mut random)).collect();
        let (number, other, confidence) = (any(&mut random), any(&mut random), any(&mut random));
        let count = random.random_range(0..12);
        let options = Options {
            confidence,
            replicates: count,
            seed,
        };
        assert!(hodges_lehmann(&values).is_none_or(f64::is_finite));
        for interval in [
            signed_rank_interval(&values, confidence),
            t_interval(&values, confidence),
            bca_interval(&values, &options),
            confidence_sequence(&values, confidence, count),
        ] {
            assert_whole(interval);
        }
        assert_eq!(holm(&values).len(), values.len());
        assert!(holm(&values).iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(outliers(&values, number).len() <= values.len());
        let _ = steady_from(&values);
        assert!(t_quantile(confidence, number).is_none_or(f64::is_finite));
        assert!(t_p_value(number, other).is_none_or(|value| (0.0..=1.0).contains(&value)));
        assert!(!smallest_effect(number, other, count, count, confidence).is_nan());
        if let Some(found) = estimate(&sessions, &options) {
            assert!(
                [found.center, found.within_sd, found.between_sd, found.session_sd]
                    .iter()
                    .all(|x| x.is_finite())
            );
            assert_whole(found.t);
            assert_whole(found.bootstrap);
            assert!(found.p_value(number).is_none_or(|value| (0.0..=1.0).contains(&value)));
            let floor = Some(Interval {
                low: number,
                high: other,
            });
            if verdict(&found, floor, number) != Verdict::NotResolved {
                assert!(found.sessions >= 5 && found.t.is_some());
            }
            let _ = is_precise(&found, number, confidence);
            assert!(sessions_for(number, &found, count, confidence).is_none_or(|needed| needed >= 2));
            assert!(sessions_to_clear(number, &found, count, confidence, other).is_none_or(|needed| needed >= 2));
        }
    }
}

/// Ordinary values only, or mixed with boundary values.
fn draw(random: &mut ChaCha8Rng) -> Vec<f64> {
    let is_usual = random.random_bool(0.7);
    let size = random.random_range(0..30);
    (0..size)
        .map(|_| {
            if is_usual {
                random.random_range(-0.1..0.1)
            } else {
                any(random)
            }
        })
        .collect()
}

fn any(random: &mut ChaCha8Rng) -> f64 {
    *NUMBERS.choose(random).expect("there are some")
}

fn assert_whole(interval: Option<Interval>) {
    assert!(interval.is_none_or(|interval| interval.low.is_finite() && interval.high.is_finite()));
    assert!(interval.is_none_or(|interval| interval.low <= interval.high));
}
