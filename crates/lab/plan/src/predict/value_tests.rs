//! Values that are shown beside each other fit each other.

use super::tests::{calibration, cipher, known, load, observation};
use super::{Question, predict};
use crate::calibration::Measured;
use crate::observation::{Engine, Observation};
use crate::operation::{Load, Operation};

#[test]
fn the_values_of_an_answer_fit_each_other() {
    for engine in [Engine::Sqlite, Engine::PostgreSql] {
        let observed = Observation {
            engine,
            ..observation(vec![load(&[(Operation::ReadRandom, 4_000_000.0)])])
        };
        let prediction = predict(&observed, &calibration(0.1), &Question::of(cipher())).unwrap();
        let added = prediction.added_cores;
        let [part] = &*prediction.parts else {
            panic!("{prediction:?}")
        };
        let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-9, "{engine:?}: {one} and {other}");
        near(part.cores.value, added.value);
        near(part.amount.count * part.each_ns.value / 1e9, added.value);
        let busy = 1.2;
        near(prediction.added_to_usage.unwrap().value, added.value / busy);
        near(prediction.throughput.unwrap().value, busy / (busy + added.value));
        near(
            prediction.latency.unwrap().utilization_after.value,
            (busy + added.value) / 4.0,
        );
        let mut full = observed.clone();
        full.intervals[0].cpu_seconds = Some(39.0);
        let full = predict(&full, &calibration(0.1), &Question::of(cipher())).unwrap();
        near(
            full.saturation.unwrap().served.value,
            (4.0 / (3.9 + added.value)).min(1.0),
        );
    }
}

#[test]
fn an_operation_that_some_intervals_lack_has_the_size_of_the_others() {
    let reads = load(&[(Operation::ReadSequential, 1000.0), (Operation::ReadRandom, 10.0)]);
    let none = load(&[(Operation::ReadRandom, 10.0)]);
    let each = |loads: Vec<Load>| {
        let prediction = predict(&observation(loads), &calibration(0.0), &Question::of(cipher())).unwrap();
        let mut parts = prediction.parts.into_iter();
        parts
            .find(|part| part.operation == Operation::ReadSequential)
            .unwrap()
            .each_ns
    };
    let (whole, half) = (each(vec![reads.clone()]), each(vec![reads, none]));
    assert!((whole.value / half.value - 1.0).abs() < 1e-9, "{whole:?} and {half:?}");
    assert!((whole.low / half.low - 1.0).abs() < 0.1, "{whole:?} and {half:?}");
}

#[test]
fn a_surcharge_that_a_calibration_does_not_resolve_is_not_used() {
    let answer = |sessions: &[f64]| {
        let mut machine = calibration(0.0);
        machine.among_others = Some(Measured {
            kib: 0.0,
            sessions: sessions.to_vec(),
        });
        let observed = observation(vec![load(&[(Operation::ReadRandom, 50.0)])]);
        predict(&observed, &machine, &Question::of(cipher())).unwrap()
    };
    let (plain, difference) = known(Operation::ReadRandom, 4.0);
    for (sessions, share) in [
        (vec![0.06, 0.061, 0.059], 0.06),
        (vec![-0.3, 0.1, 0.12], 0.035),
        (vec![0.3, -0.1, 0.0], 0.035),
        (vec![-0.02, -0.021, -0.019], 0.035),
        (vec![0.06], 0.035),
    ] {
        let prediction = answer(&sessions);
        let expected = (difference + share * plain) * 5.0 / 1e9;
        assert!(
            (prediction.added_cores.value / expected - 1.0).abs() < 1e-3,
            "{sessions:?}"
        );
        let is_told = prediction
            .warnings
            .iter()
            .any(|warning| warning.contains("more among others is 3.5 %"));
        assert_eq!(is_told, share == 0.035, "{sessions:?}: {:?}", prediction.warnings);
    }
}
