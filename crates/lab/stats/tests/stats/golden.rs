//! Comparison with the results of SciPy and of brute force, which `testdata/stats/make.py`
//! generated.

use std::collections::BTreeMap;

use selenite_stats::{
    Interval, Options, bca_interval, hodges_lehmann, holm, median, outliers, signed_rank_interval, smallest_effect,
    t_interval, t_p_value, t_quantile,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    locations: Vec<Location>,
    large: Vec<Large>,
    t_quantiles: Vec<(f64, f64, f64)>,
    t_p_values: Vec<(f64, f64, f64)>,
    bca: Vec<Bca>,
    holm: Vec<Holm>,
    smallest_effects: Vec<(u32, f64, f64)>,
}

#[derive(Deserialize)]
struct Location {
    values: Vec<f64>,
    hodges_lehmann: f64,
    signed_rank: BTreeMap<String, Option<(f64, f64)>>,
    has_signed_rank: bool,
    t: Option<(f64, f64)>,
    median: f64,
    mad: f64,
}

#[derive(Deserialize)]
struct Large {
    values: Vec<f64>,
    signed_rank: (f64, f64),
}

#[derive(Deserialize)]
struct Bca {
    values: Vec<f64>,
    interval: (f64, f64),
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[test]
fn locations_agree() {
    for location in golden().locations {
        let values = &location.values;
        assert_near(hodges_lehmann(values).unwrap(), location.hodges_lehmann, 1e-12);
        assert_ends(t_interval(values, 0.95), location.t, 1e-9);
        assert_near(median(values).unwrap(), location.median, 1e-12);
        let far: Vec<usize> = (0..values.len())
            .filter(|index| (values[*index] - location.median).abs() > 5.0 * location.mad)
            .collect();
        assert_eq!(outliers(values, 5.0), far);
    }
}

#[test]
fn exact_signed_rank_intervals_agree() {
    let mut count = 0;
    for location in golden().locations.iter().filter(|location| location.has_signed_rank) {
        for (confidence, ends) in &location.signed_rank {
            let found = signed_rank_interval(&location.values, confidence.parse().unwrap());
            assert_ends(found, *ends, 1e-12);
            count += usize::from(found.is_some());
        }
    }
    assert!(count > 40, "only {count} intervals were compared");
}

#[test]
fn approximate_signed_rank_intervals_agree() {
    for large in golden().large {
        assert_ends(
            signed_rank_interval(&large.values, 0.95),
            Some(large.signed_rank),
            1e-12,
        );
    }
}

#[test]
fn t_distributions_agree() {
    let golden = golden();
    for (probability, freedom, expected) in golden.t_quantiles {
        assert_near(t_quantile(probability, freedom).unwrap(), expected, 1e-8);
    }
    for (statistic, freedom, expected) in golden.t_p_values {
        assert_near(t_p_value(statistic, freedom).unwrap(), expected, 1e-9);
    }
}

#[test]
fn bias_corrected_bootstraps_agree() {
    for bca in golden().bca {
        let seed = 20_261_121;
        println!("seed {seed}");
        let options = Options {
            replicates: 20_000,
            seed,
            ..Options::default()
        };
        // Both are random: the ends of 20,000 replicates vary by about 1 % of the width.
        let width = bca.interval.1 - bca.interval.0;
        assert_ends(bca_interval(&bca.values, &options), Some(bca.interval), 0.04 * width);
    }
}

#[test]
fn holm_is_what_closed_testing_gives() {
    for case in golden().holm {
        let found = holm(&case.p);
        assert_eq!(found.len(), case.adjusted.len());
        for (found, expected) in found.iter().zip(&case.adjusted) {
            assert_near(*found, *expected, 1e-12);
        }
    }
}

#[test]
fn smallest_effects_are_those_of_the_noncentral_t() {
    for (sessions, power, expected) in golden().smallest_effects {
        let ratio = smallest_effect(0.0, 1.0, sessions, 8, power) / expected;
        assert!(
            (0.98..1.02).contains(&ratio),
            "{sessions} sessions, power {power}: {ratio}"
        );
    }
}

fn golden() -> Golden {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../testdata/stats/golden.json");
    let text = std::fs::read_to_string(path).expect("golden.json is checked in");
    serde_json::from_str(&text).expect("make.py writes this shape")
}

fn assert_ends(found: Option<Interval>, expected: Option<(f64, f64)>, tolerance: f64) {
    assert_eq!(found.is_some(), expected.is_some(), "{found:?} {expected:?}");
    if let (Some(found), Some(expected)) = (found, expected) {
        assert_near(found.low, expected.0, tolerance);
        assert_near(found.high, expected.1, tolerance);
    }
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    let distance = (found - expected).abs() / expected.abs().max(1.0);
    assert!(distance <= tolerance, "{found} instead of {expected}");
}
