use std::collections::BTreeMap;

use proptest::prelude::*;
use selenite_cipher::Suite;

use super::*;
use crate::calibration::{Costs, FORMAT, Fingerprint, Measured, TLS_1_3};
use crate::observation::{Engine, ObservedInterval};

/// Nanoseconds of an operation of so many KiB on a machine whose costs are known: in clear, and what is added.
pub(crate) fn known(operation: Operation, kib: f64) -> (f64, f64) {
    match operation {
        Operation::ReadSequential => (400.0 + 80.0 * kib, 50.0 + 120.0 * kib),
        Operation::ReadRandom => (900.0 + 90.0 * kib, 80.0 + 120.0 * kib),
        Operation::ReadLog => (1000.0 + 90.0 * kib, 150.0 + 120.0 * kib),
        Operation::Write => (1500.0 + 100.0 * kib, 100.0 + 160.0 * kib),
        Operation::Append => (1900.0 + 110.0 * kib, 60.0 + 160.0 * kib),
        Operation::Checkpoint => (1200.0 + 100.0 * kib, 150.0 + 280.0 * kib),
        Operation::Commit => (9000.0, 700.0),
        Operation::RollbackWrite => (2500.0 + 100.0 * kib, 150.0 + 160.0 * kib),
        Operation::RollbackCommit => (60_000.0, 9000.0),
        Operation::Transaction => (1300.0, 200.0),
        Operation::RollbackTransaction => (3300.0, 800.0),
        Operation::LogRecord => (0.0, 200.0 + 140.0 * kib),
        Operation::Open => (150_000.0, 200_000.0),
        Operation::Backup => (500.0 + 100.0 * kib, 60.0 + 250.0 * kib),
        Operation::Packet => (300.0, 500.0 + 110.0 * kib),
        Operation::Handshake => (0.0, 400_000.0),
    }
}

/// Its calibration: sessions err by `noise`, relative, with a sum of zero.
pub(crate) fn calibration(noise: f64) -> Calibration {
    let mut plain = Costs::new();
    let mut difference = Costs::new();
    for operation in Operation::ALL {
        let sizes: &[f64] = if operation.has_size() {
            &[0.5, 4.0, 16.0, 64.0]
        } else {
            &[0.0]
        };
        let measured = |pick: fn((f64, f64)) -> f64| {
            let of = |kib: &f64| {
                let value = pick(known(operation, *kib));
                let sessions = [-1.0, -0.5, 0.0, 0.2, 0.5, 0.8].map(|error: f64| value * (1.0 + error * noise));
                Measured {
                    kib: *kib,
                    sessions: sessions.to_vec(),
                }
            };
            sizes.iter().map(of).collect::<Vec<_>>()
        };
        plain.insert(operation, measured(|(plain, _)| plain));
        difference.insert(operation, measured(|(_, difference)| difference));
    }
    let ciphers = [cipher(), tls()].map(|cipher| (cipher, difference.clone()));
    Calibration {
        format: FORMAT,
        fingerprint: Fingerprint {
            processor: "simulated".to_owned(),
            instructions: "aes".to_owned(),
            processors: 4,
            selenite: "0".to_owned(),
            sqlite: "3".to_owned(),
            kernel: "6".to_owned(),
        },
        made: "2026-01-01T00:00:00Z".to_owned(),
        seconds: 120.0,
        load_average: 0.0,
        plain,
        ciphers: BTreeMap::from(ciphers),
        among_others: None,
        conversion_ns_per_mib: BTreeMap::from([(
            cipher(),
            Measured {
                kib: 1024.0,
                sessions: vec![2e6, 2.1e6],
            },
        )]),
    }
}

pub(crate) fn cipher() -> Cipher {
    Cipher::of(Suite::Aes256, true)
}

fn tls() -> Cipher {
    Cipher::tls(TLS_1_3, true)
}

pub(crate) fn observation(loads: Vec<Load>) -> Observation {
    let interval = |load| ObservedInterval {
        seconds: 10.0,
        load,
        requests: Some(4000.0),
        cpu_seconds: Some(12.0),
    };
    Observation {
        engine: Engine::Sqlite,
        notes: Vec::new(),
        page_size: 4096,
        cores: Some(4.0),
        database_mib: Some(1000.0),
        serialized_share: Some(0.3),
        intervals: loads.into_iter().map(interval).collect(),
    }
}

pub(crate) fn load(counts: &[(Operation, f64)]) -> Load {
    let mut load = Load::default();
    for (operation, count) in counts {
        let bytes = if operation.has_size() { 4096.0 } else { 0.0 };
        load.add(*operation, Amount::of_size(*count, bytes));
    }
    load
}

fn everything(count: f64) -> Load {
    load(&Operation::ALL.map(|operation| (operation, count)))
}

fn question() -> Question {
    Question {
        tls: Some(tls()),
        ..Question::of(cipher())
    }
}

#[test]
fn the_costs_of_a_known_machine_are_found() {
    let exact = Question {
        misfit: Some(Misfit::NONE),
        ..question()
    };
    let prediction = predict(&observation(vec![everything(5000.0)]), &calibration(0.0), &exact).unwrap();
    let expected: f64 = Operation::ALL
        .into_iter()
        .map(|operation| known(operation, if operation.has_size() { 4.0 } else { 0.0 }).1 * 500.0 / 1e9)
        .sum();
    assert!((prediction.added_cores.value - expected).abs() < 1e-9, "{prediction:?}");
    assert!(prediction.added_cores.high - prediction.added_cores.low < 1e-9);
    assert_eq!(prediction.parts.len(), Operation::ALL.len());
    assert_eq!(prediction.parts[0].operation, Operation::Handshake);
    // Sizes between those that were measured.
    let mut odd = Load::default();
    odd.add(Operation::ReadRandom, Amount::of_size(1000.0, 8192.0));
    let prediction = predict(&observation(vec![odd]), &calibration(0.0), &exact).unwrap();
    let expected = known(Operation::ReadRandom, 8.0).1 * 100.0 / 1e9;
    assert!((prediction.added_cores.value - expected).abs() < 1e-12);
}

#[test]
fn an_operation_among_others_costs_more_than_among_its_like() {
    let mut measured = calibration(0.0);
    let among_others = Measured {
        kib: 0.0,
        sessions: vec![0.06, 0.06],
    };
    measured.among_others = Some(among_others);
    let added = |calibration: &Calibration, operation: Operation, engine: Engine| {
        let mut observation = observation(vec![load(&[(operation, 50.0)])]);
        observation.engine = engine;
        predict(&observation, calibration, &question()).map(|prediction| prediction.added_cores.value)
    };
    let expected = |operation: Operation, share: f64| {
        let (plain, difference) = known(operation, if operation.has_size() { 4.0 } else { 0.0 });
        (difference + share * plain) * 5.0 / 1e9
    };
    // A calibration of before has not measured it.
    for (calibration, share) in [(calibration(0.0), 0.035), (measured, 0.06)] {
        for (operation, share) in [
            (Operation::Commit, share),
            (Operation::ReadRandom, share),
            (Operation::ReadSequential, 0.0),
            (Operation::RollbackCommit, 0.0),
        ] {
            let found = added(&calibration, operation, Engine::Sqlite).unwrap();
            assert!((found - expected(operation, share)).abs() < 1e-12, "{operation:?}");
        }
        // Only SQLite with Selenite was measured among others. A read of another engine takes the cipher at least.
        let found = added(&calibration, Operation::ReadRandom, Engine::ByHand).unwrap();
        assert!((found - expected(Operation::LogRecord, 0.0)).abs() < 1e-12);
    }
    assert_eq!(Misfit::UNIT.times(3.0).among_others, Misfit::UNIT.among_others);
}

#[test]
fn a_calibration_of_before_has_the_operations_that_were_one_then() {
    let exact = Question {
        misfit: Some(Misfit::NONE),
        ..Question::of(cipher())
    };
    let added = |counts: &[(Operation, f64)], machine: &Calibration| {
        let prediction = predict(&observation(vec![load(counts)]), machine, &exact).unwrap();
        prediction.added_cores.value
    };
    for (now, before) in [
        (Operation::Append, Operation::Write),
        (Operation::ReadLog, Operation::ReadRandom),
        (Operation::RollbackTransaction, Operation::Transaction),
    ] {
        let mut old = calibration(0.0);
        let all = old.ciphers.values_mut().chain([&mut old.plain]);
        all.for_each(|costs| drop(costs.remove(&now)));
        assert_eq!(added(&[(now, 50.0)], &old), added(&[(before, 50.0)], &old), "{now:?}");
        let new = calibration(0.0);
        assert_ne!(added(&[(now, 50.0)], &new), added(&[(before, 50.0)], &new), "{now:?}");
    }
}

#[test]
fn a_backup_costs_as_many_pages_as_the_database_has() {
    let exact = Question {
        misfit: Some(Misfit::NONE),
        ..question()
    };
    let reads = || observation(vec![load(&[(Operation::ReadRandom, 10.0)])]);
    let backup = |observation: &Observation, machine: &Calibration, question: &Question| {
        predict(observation, machine, question).unwrap().backup
    };
    let found = backup(&reads(), &calibration(0.0), &exact).unwrap();
    let (plain, added) = known(Operation::Backup, 4.0);
    let pages = 1000.0 * 256.0;
    assert!((found.plain_seconds - plain * pages / 1e9).abs() < 1e-9, "{found:?}");
    assert!(
        (found.added_seconds.value - added * pages / 1e9).abs() < 1e-9,
        "{found:?}"
    );
    assert!(found.added_seconds.high - found.added_seconds.low < 1e-9, "{found:?}");
    // FORMAT 2 and 3: 48 of 4096 bytes, and 64 KiB.
    assert!(
        (found.mib - (1000.0 * 4096.0 / 4048.0 + 0.0625)).abs() < 1e-9,
        "{found:?}"
    );
    // The model's error and that of the sessions widen it; an encrypted copy takes no less than nothing.
    let wide = backup(&reads(), &calibration(0.1), &question()).unwrap().added_seconds;
    assert!(wide.low < wide.value * 0.7 && wide.high > wide.value * 1.3, "{wide:?}");
    let mut saves = calibration(0.0);
    for sizes in saves
        .ciphers
        .values_mut()
        .filter_map(|costs| costs.get_mut(&Operation::Backup))
    {
        sizes
            .iter_mut()
            .for_each(|one| one.sessions.iter_mut().for_each(|ns| *ns = -0.9 * plain));
    }
    let least = backup(&reads(), &saves, &question()).unwrap();
    assert!(
        (least.added_seconds.low + least.plain_seconds).abs() < 1e-9,
        "{least:?}"
    );
    // Nothing is said of a database whose size is not known, nor of pages beyond the calibrated ones.
    let unknown = Observation {
        database_mib: None,
        ..reads()
    };
    assert_eq!(backup(&unknown, &calibration(0.0), &exact), None);
    let mut small = calibration(0.0);
    small
        .plain
        .get_mut(&Operation::Backup)
        .unwrap()
        .retain(|one| one.kib > 4.0);
    assert_eq!(backup(&reads(), &small, &exact), None);
}

#[test]
fn ninety_of_a_hundred_simulated_machines_lie_in_the_interval() {
    // The errors of each machine's sessions are random; the true value is known.
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut held = 0;
    let count = 200;
    let truth = 1e-6 * known(Operation::ReadRandom, 4.0).1 * 1000.0 / 1000.0;
    for _ in 0..count {
        let mut machine = calibration(0.0);
        for costs in machine.ciphers.values_mut() {
            for one in costs.values_mut().flatten() {
                let error = one.sessions.clone();
                one.sessions = error
                    .iter()
                    .map(|value| value * (1.0 + 0.2 * normal(&mut random)))
                    .collect();
            }
        }
        let exact = Question {
            misfit: Some(Misfit::NONE),
            ..Question::of(cipher())
        };
        let reads = load(&[(Operation::ReadRandom, 10_000.0)]);
        let prediction = predict(&observation(vec![reads]), &machine, &exact).unwrap();
        held += i32::from(prediction.added_cores.contains(truth));
    }
    let share = f64::from(held) / f64::from(count);
    assert!((0.85..=0.95).contains(&share), "{share}");
}

#[test]
fn another_engine_is_not_credited_with_what_selenite_saves() {
    let mut machine = calibration(0.0);
    for costs in machine.ciphers.values_mut() {
        for operation in [Operation::Write, Operation::Commit] {
            let sizes = costs.get_mut(&operation).into_iter().flatten();
            sizes.for_each(|one| one.sessions.iter_mut().for_each(|value| *value = -*value));
        }
    }
    let writes = vec![load(&[(Operation::Write, 1000.0), (Operation::Commit, 1000.0)])];
    let exact = Question {
        misfit: Some(Misfit::NONE),
        ..question()
    };
    let own = predict(&observation(writes.clone()), &machine, &exact).unwrap();
    assert!(own.added_cores.high < 0.0);
    let other = Observation {
        engine: Engine::PostgreSql,
        ..observation(writes)
    };
    let other = predict(&other, &machine, &exact).unwrap();
    let expected = known(Operation::LogRecord, 4.0).1 * 100.0 / 1e9;
    assert!((other.added_cores.value - expected).abs() < 1e-12);
}

#[test]
fn what_was_not_observed_has_no_answer_of_zero() {
    let refused = |counts: &[(Operation, f64)], question: &Question| {
        let found = predict(&observation(vec![load(counts)]), &calibration(0.1), question);
        match found {
            Err(PlanError::Input { place, reason }) => format!("{place}: {reason}"),
            other => panic!("{counts:?}: {other:?}"),
        }
    };
    assert!(refused(&[], &question()).contains("nothing was observed: no counter rose"));
    let in_clear = Question::of(cipher());
    let packets = refused(&[(Operation::Packet, 10.0)], &in_clear);
    assert!(packets.contains("it has TLS packets alone"), "{packets}");
    let mut no_reads = Question::of(cipher());
    no_reads.what_if.reads = 0.0;
    assert!(refused(&[(Operation::ReadRandom, 10.0)], &no_reads).contains("no operation is left"));
    let mut no_load = Question::of(cipher());
    no_load.what_if.load = 0.0;
    assert!(refused(&[(Operation::ReadRandom, 10.0)], &no_load).contains("--load"));
    // The league has work that SQLite's cache answers: there the cost of nothing is known.
    let nothing = predict_added(&observation(vec![Load::default()]), &calibration(0.1), &question()).unwrap();
    assert_eq!(
        nothing,
        Some(Estimate {
            value: 0.0,
            low: 0.0,
            high: 0.0
        })
    );
}

#[test]
fn another_engine_reads_at_the_ciphers_cost_where_selenite_saves_by_reading_ahead() {
    let mut machine = calibration(0.05);
    for costs in machine.ciphers.values_mut() {
        let sizes = costs.get_mut(&Operation::ReadSequential).into_iter().flatten();
        sizes.for_each(|one| one.sessions.iter_mut().for_each(|value| *value = -*value));
    }
    let of = |engine: Engine| {
        let observed = Observation {
            engine,
            ..observation(vec![load(&[(Operation::ReadSequential, 1000.0)])])
        };
        predict(&observed, &machine, &Question::of(cipher())).unwrap()
    };
    assert!(of(Engine::Sqlite).added_cores.value < 0.0);
    let expected = known(Operation::LogRecord, 4.0).1 * 100.0 / 1e9;
    for engine in [Engine::PostgreSql, Engine::MariaDb, Engine::SqlServer, Engine::ByHand] {
        let found = of(engine);
        assert!((found.added_cores.value / expected - 1.0).abs() < 0.05, "{found:?}");
        // A tenth is within the model's error, and nothing is not.
        assert!(found.added_cores.low > 0.1 * expected, "{found:?}");
        assert!(found.parts.iter().all(|part| part.each_ns.low > 0.0), "{found:?}");
    }
}

#[test]
fn many_intervals_are_taken_together() {
    let loads: Vec<Load> = (0..20_001).map(|at| everything(f64::from(at % 7))).collect();
    let many = observation(loads);
    let fewer = many.clone().coalesced();
    assert!(fewer.intervals.len() <= crate::observation::INTERVALS_MAX);
    assert!((fewer.seconds() - many.seconds()).abs() < 1e-3);
    let reads = |of: &Observation| of.load_per_second().amount(Operation::ReadRandom).count;
    assert!((reads(&fewer) - reads(&many)).abs() < 1e-9);
    assert_eq!(fewer.busy_cores().map(f64::round), many.busy_cores().map(f64::round));
    assert_eq!(observation(vec![everything(1.0); 5]).coalesced().intervals.len(), 5);
}

#[test]
fn rates_that_vary_widen_the_interval() {
    let steady = observation(vec![everything(3000.0); 12]);
    let varying = observation((0..12).map(|at| everything(f64::from(at) * 6000.0 / 11.0)).collect());
    let machine = calibration(0.02);
    let question = Question {
        misfit: Some(Misfit::UNIT),
        ..question()
    };
    let [steady, varying] = [steady, varying].map(|of| predict(&of, &machine, &question).unwrap());
    let width = |of: &Prediction| of.added_cores.high - of.added_cores.low;
    assert!(width(&varying) > 2.0 * width(&steady));
    assert_eq!(varying.uncertainty[0].0, "rates between intervals");
}

#[test]
fn the_weblogs_formula_gives_its_result() {
    assert!((formula_percent(25.0, 100.0, 4.0) - 6.25).abs() < 1e-12);
    let mut reads = Load::default();
    reads.add(Operation::ReadRandom, Amount::of_size(25e6 / 4096.0 * 10.0, 4096.0));
    let asked = Question {
        decrypted_mb: Some(100.0),
        ..Question::of(cipher())
    };
    let formula = predict(&observation(vec![reads]), &calibration(0.0), &asked)
        .unwrap()
        .formula
        .unwrap();
    assert!((formula.percent - 6.25).abs() < 1e-9, "{formula:?}");
}

#[test]
fn what_was_not_calibrated_is_refused() {
    let machine = calibration(0.0);
    let mut large = Load::default();
    large.add(Operation::ReadRandom, Amount::of_size(10.0, 128.0 * 1024.0));
    let refused = predict(&observation(vec![large]), &machine, &question());
    assert!(matches!(refused, Err(PlanError::OutOfRange(_))), "{refused:?}");
    let other = Question::of(Cipher::of(Suite::ChaCha20, true));
    let refused = predict(&observation(vec![everything(1.0)]), &machine, &other);
    assert!(matches!(refused, Err(PlanError::Calibration(_))), "{refused:?}");
    let mut unknown = observation(vec![everything(1.0)]);
    unknown.cores = None;
    assert!(matches!(
        predict(&unknown, &machine, &question()),
        Err(PlanError::Input { .. })
    ));
}

#[test]
fn response_times_are_refused_near_saturation() {
    let mut busy = observation(vec![everything(10.0)]);
    busy.intervals[0].cpu_seconds = Some(36.0);
    let prediction = predict(&busy, &calibration(0.0), &question()).unwrap();
    assert_eq!(prediction.latency, None);
    assert!(
        prediction
            .warnings
            .iter()
            .any(|warning| warning.contains("not predicted"))
    );
}

#[test]
fn a_section_that_serializes_commits_is_reported() {
    let commits = load(&[(Operation::Commit, 20_000.0), (Operation::Write, 40_000.0)]);
    let prediction = predict(&observation(vec![commits]), &calibration(0.0), &question()).unwrap();
    let serialized = prediction.serialized.unwrap();
    let added = (2000.0 * 700.0 + 4000.0 * known(Operation::Write, 4.0).1) / 1e9;
    assert!(
        (serialized.share_after.value - (0.3 + added)).abs() < 0.003,
        "{serialized:?}"
    );
    assert!(serialized.commits_max.value < 1.0);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let asked = || predict(&observation(vec![everything(100.0); 5]), &calibration(0.1), &question()).unwrap();
    assert_eq!(asked(), asked());
    let text = serde_json::to_string(&asked()).unwrap();
    assert_eq!(serde_json::from_str::<Prediction>(&text).unwrap(), asked());
    let machine = calibration(0.1);
    assert_eq!(Calibration::parse(&machine.text().unwrap()).unwrap(), machine);
}

#[test]
fn more_memory_and_another_page_size_change_what_is_read() {
    let loads = vec![load(&[
        (Operation::ReadRandom, 1000.0),
        (Operation::ReadSequential, 4000.0),
        (Operation::Write, 100.0),
    ])];
    let half = WhatIf {
        reads: 0.5,
        ..WhatIf::default()
    };
    let changed = half.apply(&observation(loads.clone())).unwrap();
    let found = &changed.intervals[0].load;
    assert_eq!(found.amount(Operation::ReadRandom), Amount::of_size(500.0, 4096.0));
    assert_eq!(found.amount(Operation::Write), Amount::of_size(100.0, 4096.0));
    let large = WhatIf {
        page_size: Some(16_384),
        ..WhatIf::default()
    };
    let changed = large.apply(&observation(loads)).unwrap();
    let found = &changed.intervals[0].load;
    assert_eq!(found.amount(Operation::ReadRandom), Amount::of_size(1000.0, 16_384.0));
    assert_eq!(
        found.amount(Operation::ReadSequential),
        Amount::of_size(1000.0, 16_384.0)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn more_operations_never_take_less_cpu_time(
        counts in proptest::collection::vec(0.0..1e4_f64, Operation::ALL.len()),
        more in 0..Operation::ALL.len(),
        factor in 1.0..10.0_f64,
        sign in prop_oneof![Just(1.0), Just(-1.0)],
    ) {
        // Differences may be negative: then the whole cost is what must not fall.
        let mut machine = calibration(0.05);
        for one in machine.ciphers.values_mut().flat_map(|costs| costs.values_mut()).flatten() {
            one.sessions.iter_mut().for_each(|value| *value *= sign);
        }
        let of = |counts: &[f64]| {
            let pairs: Vec<(Operation, f64)> = Operation::ALL.into_iter().zip(counts.iter().copied()).collect();
            load(&pairs)
        };
        let whole = |load: Load| {
            let plain: f64 = load.0.iter().map(|(operation, amount)| {
                known(*operation, amount.mean_kib()).0 * amount.count / 1e10
            }).sum();
            plain + predict(&observation(vec![load]), &machine, &question()).unwrap().added_cores.value
        };
        let before = whole(of(&counts));
        let mut larger = counts.clone();
        larger[more] *= factor;
        prop_assert!(whole(of(&larger)) >= before - 1e-9);
    }
}

#[test]
fn forged_amounts_give_errors_and_no_figure_that_is_none() {
    let huge = [
        load(&[(Operation::Commit, 1e308)]),
        load(&[(Operation::Commit, 1e18)]),
        load(&[(Operation::Write, 1e12)]),
    ];
    for loads in [vec![huge[0].clone()], vec![huge[1].clone()], vec![huge[2].clone(); 2]] {
        let found = predict(&observation(loads), &calibration(0.02), &question());
        assert!(
            matches!(found, Err(PlanError::Input { .. } | PlanError::OutOfRange(_))),
            "{found:?}"
        );
    }
    let mut short = observation(vec![load(&[(Operation::Write, 1e6)])]);
    short.intervals[0].requests = Some(9e9);
    short.intervals[0].cpu_seconds = Some(0.001);
    let prediction = predict(&short, &calibration(0.02), &question()).unwrap();
    let text = serde_json::to_string(&prediction).unwrap();
    // What is not finite is null in JSON; so is what is not known.
    let read: Prediction = serde_json::from_str(&text).unwrap();
    assert_eq!(read, prediction);
}

#[test]
fn one_more_operation_changes_no_draw_of_another() {
    let one = predict(
        &observation(vec![load(&[(Operation::ReadRandom, 4000.0)])]),
        &calibration(0.1),
        &question(),
    );
    let two = predict(
        &observation(vec![load(&[
            (Operation::ReadRandom, 4000.0),
            (Operation::ReadSequential, 0.01),
        ])]),
        &calibration(0.1),
        &question(),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    let reads = |prediction: &Prediction| {
        let part = prediction
            .parts
            .iter()
            .find(|part| part.operation == Operation::ReadRandom);
        part.unwrap().each_ns
    };
    assert_eq!(reads(&one), reads(&two));
    assert!(two.added_cores.value >= one.added_cores.value);
}

#[test]
fn two_intervals_that_differ_show_in_the_interval() {
    let prediction = predict(
        &observation(vec![load(&[(Operation::ReadRandom, 9000.0)]), Load::default()]),
        &calibration(0.0),
        &Question {
            misfit: Some(Misfit::NONE),
            ..question()
        },
    )
    .unwrap();
    assert!(
        prediction.added_cores.low < prediction.added_cores.value * 0.1,
        "{prediction:?}"
    );
    assert!(
        prediction.added_cores.high > prediction.added_cores.value * 1.9,
        "{prediction:?}"
    );
}

#[test]
fn what_is_left_out_is_said() {
    let by_hand = |counts: &[(Operation, f64)]| Observation {
        engine: Engine::ByHand,
        ..observation(vec![load(counts)])
    };
    let warnings = |counts: &[(Operation, f64)], tls: Option<Cipher>| {
        let question = Question {
            tls,
            ..Question::of(cipher())
        };
        predict(&by_hand(counts), &calibration(0.02), &question)
            .unwrap()
            .warnings
            .join("\n")
    };
    let beside = |operation| [(Operation::ReadRandom, 10.0), (operation, 10.0)];
    assert!(warnings(&beside(Operation::Commit), None).contains("commits: the writes to the log"));
    assert!(warnings(&beside(Operation::Packet), None).contains("the network stays as it is"));
    assert!(warnings(&[(Operation::ReadRandom, 10.0)], Some(tls())).contains("TLS: the packets are not known"));
}
