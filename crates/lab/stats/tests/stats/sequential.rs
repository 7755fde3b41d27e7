//! Measurements of one arm after the other: compared with an enumeration of all that may be drawn
//! (`testdata/stats/sequential.py`), and with the same measurement simulated on a machine whose
//! noise is known.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_stats::{
    Options, PilotNoise, SequentialMethod, SessionCourse, StudyCost, estimate, precision_plan, sequential_errors,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    sessions: Vec<(Vec<f64>, Vec<f64>)>,
    runs: u32,
    restarted: bool,
    false_alarms: Vec<(f64, f64)>,
    false_savings: Vec<(f64, f64)>,
    wrong_signs: Vec<(f64, f64)>,
    mean: f64,
}

#[test]
fn shares_agree_with_an_enumeration() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../testdata/stats/sequential.json");
    let text = std::fs::read_to_string(path).expect("sequential.json is checked in");
    let golden: Golden = serde_json::from_str(&text).expect("sequential.py writes this shape");
    assert!(golden.cases.len() >= 5);
    for (case, seed) in golden.cases.iter().zip(11_u64..) {
        let cell: Vec<SessionCourse> = case.sessions.iter().map(course).collect();
        let method = SequentialMethod {
            runs: case.runs,
            restarted: case.restarted,
        };
        let errors = sequential_errors(&[cell], method, 40_000, seed).expect("there are sessions");
        println!("{method:?}, seed {seed}");
        for (size, expected) in case.false_alarms.iter().chain(&case.false_savings) {
            near(errors.false_alarms(*size), *expected);
        }
        for (size, expected) in &case.wrong_signs {
            near(errors.wrong_signs(*size).expect("the effect is not 0"), *expected);
        }
        let steps = 1000;
        let middle = |step: u32| {
            errors
                .quantile((f64::from(step) + 0.5) / f64::from(steps))
                .expect("there are errors")
        };
        let mean = (0..steps).map(middle).sum::<f64>() / f64::from(steps);
        assert!((mean - case.mean).abs() < 0.002, "{mean} instead of {}", case.mean);
    }
}

/// Forty thousand draws know a share to 0.0025 (one standard deviation); four of these.
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
}

fn course((first, second): &(Vec<f64>, Vec<f64>)) -> SessionCourse {
    SessionCourse {
        first: first.clone(),
        second: second.clone(),
    }
}

/// A machine: logarithms of the times of successive blocks, whose drift lasts for several of them.
struct Machine {
    /// Between instances.
    instance: f64,
    /// The drift, which both arms share, and its autocorrelation from block to block.
    drift: (f64, f64),
    /// Of each block alone.
    white: f64,
}

impl Machine {
    /// A session of blocks of two arms in turn, with this effect of the second one.
    fn session(&self, effect: f64, pairs: usize, random: &mut ChaCha8Rng) -> SessionCourse {
        let mut drift = self.drift.0 * normal(random);
        let levels = [self.instance * normal(random), effect + self.instance * normal(random)];
        let mut arms = [Vec::new(), Vec::new()];
        for _ in 0..pairs {
            drift = self.next(drift, random);
            for (arm, level) in arms.iter_mut().zip(levels) {
                arm.push(level + drift + self.white * normal(random));
            }
        }
        let [first, second] = arms;
        SessionCourse { first, second }
    }

    /// A published measurement: runs of one arm, then of the other.
    fn published(&self, effect: f64, method: SequentialMethod, random: &mut ChaCha8Rng) -> f64 {
        let mut drift = self.drift.0 * normal(random);
        let mut means = [0.0; 2];
        for (arm, mean) in means.iter_mut().enumerate() {
            if arm == 1 && method.restarted {
                drift = self.drift.0 * normal(random);
            }
            let level = self.instance * normal(random) + if arm == 1 { effect } else { 0.0 };
            for _ in 0..method.runs {
                drift = self.next(drift, random);
                *mean += (level + drift + self.white * normal(random)).exp() / f64::from(method.runs);
            }
        }
        (means[1] / means[0]).ln()
    }

    fn next(&self, drift: f64, random: &mut ChaCha8Rng) -> f64 {
        let (sd, memory) = self.drift;
        memory * drift + sd * (1.0 - memory.powi(2)).sqrt() * normal(random)
    }
}

#[test]
fn a_study_tells_how_often_the_sequential_method_errs() {
    let machine = Machine {
        instance: 0.02,
        drift: (0.04, 0.7),
        white: 0.02,
    };
    let (effect, reported) = (0.03_f64, 0.06_f64);
    let methods = [(1, false), (1, true), (5, false), (5, true)];
    for ((runs, restarted), seed) in methods.into_iter().zip(101_u64..) {
        let method = SequentialMethod { runs, restarted };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut wrong, mut alarms) = (0, 0);
        for _ in 0..TRUTHS {
            wrong += usize::from(machine.published(effect, method, &mut random) < 0.0);
            alarms += usize::from(machine.published(0.0, method, &mut random) >= reported);
        }
        let truth = [wrong, alarms].map(|count| count as f64 / f64::from(TRUTHS));
        let mut found = [0.0; 2];
        for study in 0..STUDIES {
            let cell: Vec<SessionCourse> = (0..8).map(|_| machine.session(effect, 12, &mut random)).collect();
            let errors = sequential_errors(&[cell], method, 400, u64::from(study)).expect("there are sessions");
            found[0] += errors.wrong_signs(effect).expect("there is an effect") / f64::from(STUDIES);
            found[1] += errors.false_alarms(reported) / f64::from(STUDIES);
        }
        println!("{method:?}, seed {seed}: wrong sign, false alarm: {truth:?}; from studies {found:?}");
        for (truth, found) in truth.into_iter().zip(found) {
            assert!((truth - found).abs() < 0.05, "{method:?}: {found} instead of {truth}");
        }
    }
}

#[test]
fn blocks_that_are_shuffled_would_hide_the_drift() {
    // What the name of the module promises: successive runs stay successive.
    let seed = 7;
    println!("seed {seed}");
    let machine = Machine {
        instance: 0.0,
        drift: (0.05, 0.9),
        white: 0.0,
    };
    let method = SequentialMethod {
        runs: 5,
        restarted: false,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let reach = |cell: &[SessionCourse]| {
        let errors = sequential_errors(&[cell.to_vec()], method, 4000, 1).expect("there are sessions");
        errors.quantile(0.95).expect("there are errors") - errors.quantile(0.05).expect("there are errors")
    };
    let cell: Vec<SessionCourse> = (0..8).map(|_| machine.session(0.0, 40, &mut random)).collect();
    let shuffled: Vec<SessionCourse> = cell
        .iter()
        .map(|session| {
            let mut places: Vec<usize> = (0..session.first.len()).collect();
            for place in (1..places.len()).rev() {
                places.swap(place, random.random_range(0..=place));
            }
            let of = |arm: &[f64]| places.iter().map(|place| arm[*place]).collect();
            SessionCourse {
                first: of(&session.first),
                second: of(&session.second),
            }
        })
        .collect();
    let (kept, lost) = (reach(&cell), reach(&shuffled));
    println!("90 % of errors within {kept} as measured, {lost} shuffled");
    assert!(kept > 1.3 * lost, "{kept} {lost}");
}

#[test]
fn a_plan_from_a_pilot_reaches_its_precision() {
    // Pairs of 4 % and sessions of 1 %; a pilot of six sessions plans, another study follows the plan.
    let seed = 31;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (within, between, wanted) = (0.04, 0.01, 0.012);
    let options = Options {
        replicates: 0,
        ..Options::default()
    };
    let study = |sessions: u32, pairs: u32, random: &mut ChaCha8Rng| {
        let sessions: Vec<Vec<f64>> = (0..sessions)
            .map(|_| {
                let level = between * normal(random);
                (0..pairs).map(|_| level + within * normal(random)).collect()
            })
            .collect();
        estimate(&sessions, &options).expect("all values are finite")
    };
    let cost = StudyCost {
        session_s: 20.0,
        pair_s: 10.0,
    };
    let (mut reached, mut planned) = (0, 0);
    for _ in 0..STUDIES {
        let pilot = study(6, 4, &mut random);
        let Some(plan) = precision_plan(wanted, PilotNoise::of(&pilot), cost, (1000, 32), 0.95) else {
            continue;
        };
        planned += 1;
        let found = study(plan.sessions, plan.pairs, &mut random);
        let half_width = found.t.expect("several sessions").half_width();
        // A plan is for the noise, not for the luck of the study that follows it.
        reached += usize::from(half_width <= wanted * 1.1);
    }
    println!("seed {seed}: {reached} of {planned} studies as precise as planned");
    assert!(
        planned > STUDIES / 2 && reached as f64 >= 0.75 * f64::from(planned),
        "{reached} of {planned}"
    );
}

/// A normal variate (Box-Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

const TRUTHS: u32 = 20_000;
const STUDIES: u32 = 200;
