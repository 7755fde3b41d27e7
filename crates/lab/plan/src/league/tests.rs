use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::operation::Operation;
use crate::predict::tests::{calibration, cipher, load, observation};

/// Workloads of a simulated machine, and what each costs there: the prediction, times a factor that is the workload's
/// own and lognormal with this standard deviation.
fn simulated(misfit: f64, seed: u64) -> (Predictions, BTreeMap<(usize, String), Measurement>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let calibration = calibration(0.02);
    let mut workloads = Vec::new();
    let (mut forecasts, mut measured) = (Vec::new(), BTreeMap::new());
    for index in 0..WORKLOADS {
        let counts = [Operation::ReadRandom, Operation::Write, Operation::Commit]
            .map(|operation| (operation, random.random_range(1000.0..100_000.0)));
        let workload = ObservedWorkload {
            study: "s".to_owned(),
            cell: index.to_string(),
            label: index.to_string(),
            workload: index.to_string(),
            kind: "k".to_owned(),
            observation: observation(vec![load(&counts)]),
        };
        let forecast = Forecast::new((index, &workload), &calibration, ("a", cipher(), false)).unwrap();
        let factor = (crate::calibration::normal(&mut random) * misfit).exp();
        let found = Measurement {
            added: forecast.added.value * factor,
            interval: None,
        };
        measured.insert((index, "a".to_owned()), found);
        workloads.push(workload);
        forecasts.push(forecast);
    }
    let predictions = Predictions {
        made: "2026-01-01T00:00:00Z".to_owned(),
        studies: Vec::new(),
        calibration,
        workloads,
        forecasts,
    };
    (predictions, measured)
}

#[test]
fn intervals_with_the_misfit_of_the_others_cover_nine_of_ten() {
    // Far below and far above the misfit that was assumed.
    for misfit in [0.03, 0.6] {
        let (mut covered, mut all) = (0, 0);
        for seed in 0..3 {
            let (predictions, measured) = simulated(misfit, seed);
            let league = league(&predictions, &measured).unwrap();
            let errors = LeagueErrors::of(league.rows.iter()).unwrap();
            covered += errors.covered_without_own;
            all += errors.count;
        }
        // 120 rows: two standard deviations are five points.
        let share = covered as f64 / all as f64;
        assert!((0.84..=0.97).contains(&share), "misfit {misfit}: {covered} of {all}");
    }
}

#[test]
fn a_result_has_no_part_in_its_own_interval() {
    let (predictions, measured) = simulated(0.2, 1);
    let before = league(&predictions, &measured).unwrap();
    let mut other = measured.clone();
    other.get_mut(&(7, "a".to_owned())).unwrap().added = 50.0;
    let after = league(&predictions, &other).unwrap();
    assert_eq!(before.rows[7].without_own, after.rows[7].without_own);
    assert!(before.rows[7].is_covered_without_own() && !after.rows[7].is_covered_without_own());
    // It is in those of all others: the largest factor is another one.
    let width = |league: &League<'_>| league.rows[8].without_own.high - league.rows[8].without_own.low;
    assert!(width(&after) >= width(&before));
    assert!(after.factor >= before.factor);
}

#[test]
fn cells_of_one_workload_are_left_out_together() {
    let (mut predictions, measured) = simulated(0.2, 2);
    for index in [3, 4] {
        predictions.workloads[index].workload = "same".to_owned();
    }
    let before = league(&predictions, &measured).unwrap();
    let mut other = measured.clone();
    other.get_mut(&(4, "a".to_owned())).unwrap().added = 50.0;
    let after = league(&predictions, &other).unwrap();
    assert_eq!(before.rows[3].without_own, after.rows[3].without_own);
}

#[test]
fn a_pool_and_what_was_not_measured_have_no_part() {
    let (mut predictions, mut measured) = simulated(0.2, 3);
    predictions.forecasts[0].has_pool = true;
    let before = league(&predictions, &measured).unwrap();
    measured.get_mut(&(0, "a".to_owned())).unwrap().added = 50.0;
    measured.remove(&(1, "a".to_owned()));
    let after = league(&predictions, &measured).unwrap();
    assert_eq!((before.rows.len(), after.rows.len()), (WORKLOADS, WORKLOADS - 1));
    let errors = LeagueErrors::of(after.rows.iter().filter(|row| !row.forecast.has_pool)).unwrap();
    assert_eq!(errors.count, WORKLOADS - 2);
    assert!(errors.mean_points < 50.0, "{errors:?}");
}

#[test]
fn errors_are_in_percentage_points() {
    let (predictions, mut measured) = simulated(0.0, 4);
    for (index, forecast) in predictions.forecasts.iter().enumerate() {
        let off = if index % 2 == 0 { 0.01 } else { -0.03 };
        let found = measured.get_mut(&(index, "a".to_owned())).unwrap();
        found.added = forecast.added.value - off;
    }
    let league = league(&predictions, &measured).unwrap();
    let errors = LeagueErrors::of(league.rows.iter()).unwrap();
    assert!((errors.mean_points - 2.0).abs() < 1e-9, "{errors:?}");
    assert!((errors.median_points - 2.0).abs() < 1e-9, "{errors:?}");
    assert!((errors.bias_points + 1.0).abs() < 1e-9, "{errors:?}");
    assert_eq!(LeagueErrors::of(std::iter::empty()), None);
}

#[test]
fn the_quantile_is_that_of_split_conformal_prediction() {
    let values = |count: u32| (1..=count).map(f64::from).collect();
    // ceil(0.9 (n + 1)): the 9th of nine, the 18th of nineteen, the largest where there are fewer than nine.
    assert_eq!(quantile_90(values(9)), 9.0);
    assert_eq!(quantile_90(values(19)), 18.0);
    assert_eq!(quantile_90(values(3)), 3.0);
    assert_eq!(quantile_90(Vec::new()), 1.0);
}

const WORKLOADS: usize = 40;

#[test]
fn half_the_width_of_an_interval_is_in_percentage_points() {
    let (predictions, mut measured) = simulated(0.1, 1);
    let first = measured.get_mut(&(0, "a".to_owned())).unwrap();
    first.interval = Some((-0.02, 0.06));
    let league = league(&predictions, &measured).unwrap();
    assert!((league.rows[0].half_width_points() - 4.0).abs() < 1e-9);
    // A measurement without an interval is never a sure one.
    assert!(league.rows[1].half_width_points().is_infinite());
}
