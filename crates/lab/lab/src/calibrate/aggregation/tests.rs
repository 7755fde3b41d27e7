//! Simulated machines whose coefficients are known.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;
use selenite_plan::calibration::{TLS_1_3, speed_half_width};
use selenite_plan::operation::Amount;

use super::*;
use crate::calibrate::sample::{ConversionSample, MixSample};

/// What a simulated machine costs, and how it disturbs measurements.
struct Machine {
    random: ChaCha20Rng,
    /// The share by which everything becomes slower from the first round to the last.
    drift: f64,
    /// The share of blocks that take several times as long.
    outliers: f64,
    /// Nanoseconds by which the files of a session differ from those of others.
    instance: f64,
    /// The logarithm of how much slower it is now than at first, in parts: each changes after a session with its
    /// chance, so that speed drifts over seconds and minutes alike.
    slowness: [(f64, f64); 4],
    /// The deviation of each part.
    speed: f64,
}

impl Machine {
    fn quiet(seed: u64) -> Self {
        Self {
            random: ChaCha20Rng::seed_from_u64(seed),
            drift: 0.0,
            outliers: 0.0,
            instance: 20.0,
            slowness: [(1.0, 0.0), (0.3, 0.0), (0.1, 0.0), (0.03, 0.0)],
            speed: 0.0,
        }
    }

    /// About normal, of mean 0 and deviation 1.
    fn noise(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }

    fn session(&mut self, aes_instructions: bool) -> SessionSamples {
        let mut blocks = Vec::new();
        let slowness = self.next_slowness();
        for (operation, bytes) in [
            (Operation::ReadRandom, 16_384),
            (Operation::ReadRandom, 4096),
            (Operation::Commit, 0),
        ] {
            for arm in [PLAIN, PLAIN2, "AES_256", "TRIPLE_DES_3KEY"] {
                let instance = self.instance * self.noise();
                for round in 0..ROUNDS {
                    // Fewer repetitions of the slow one.
                    if arm == "TRIPLE_DES_3KEY" && round % 4 != 0 {
                        continue;
                    }
                    let truth = PLAIN_NS + cost(arm, bytes, aes_instructions) + instance;
                    let drift = 1.0 + self.drift * f64::from(round) / f64::from(ROUNDS);
                    let noise = 30.0 * self.noise();
                    let outlier = match self.random.random::<f64>() < self.outliers {
                        true => 4.0,
                        false => 1.0,
                    };
                    let ns = (truth * drift * slowness + noise) * outlier;
                    let arm = arm.to_owned();
                    blocks.push(BlockSample {
                        round,
                        arm,
                        operation,
                        bytes,
                        ns,
                    });
                }
            }
        }
        SessionSamples {
            aes_instructions,
            blocks,
            mixes: Vec::new(),
            conversions: vec![ConversionSample {
                suite: "AES_256".to_owned(),
                ns_per_mib: 2e6,
            }],
        }
    }

    fn next_slowness(&mut self) -> f64 {
        for index in 0..self.slowness.len() {
            if self.random.random::<f64>() < self.slowness[index].0 {
                self.slowness[index].1 = self.speed * self.noise();
            }
        }
        self.slowness.iter().map(|(_, part)| part).sum::<f64>().exp()
    }

    fn sessions(&mut self) -> Vec<SessionSamples> {
        (0..10).map(|index| self.session(index % 5 < 3)).collect()
    }
}

const ROUNDS: u32 = 12;
const PLAIN_NS: f64 = 2000.0;

/// What an arm costs beyond the one in clear.
fn cost(arm: &str, bytes: u32, aes_instructions: bool) -> f64 {
    let pages = f64::from(bytes.max(4096)) / 4096.0;
    match arm {
        "AES_256" if aes_instructions => 900.0 * pages,
        "AES_256" => 20_000.0 * pages,
        "TRIPLE_DES_3KEY" => 120_000.0 * pages,
        _ => 0.0,
    }
}

/// The number of 90 % intervals that contain the true value, the number of all intervals, and the
/// largest relative error of a coefficient.
fn covered(found: &Coefficients) -> (u32, u32, f64) {
    let (mut hits, mut count, mut error) = (0, 0, 0.0_f64);
    for (cipher, costs) in &found.ciphers {
        for measured in costs.values().flatten() {
            let bytes = if measured.kib > 4.0 { 16_384 } else { 4096 };
            let truth = cost(&cipher.name, bytes, cipher.aes_instructions);
            count += 1;
            hits += u32::from(measured.interval(0.9).unwrap().contains(truth));
            error = error.max((measured.mean() / truth - 1.0).abs());
        }
    }
    (hits, count, error)
}

#[test]
fn known_coefficients_are_recovered_within_their_intervals() {
    let (mut hits, mut count) = (0, 0);
    for seed in 0..40 {
        let found = coefficients(&Machine::quiet(seed).sessions());
        let (hit, of, error) = covered(&found);
        assert!(error < 0.1, "{error}");
        hits += hit;
        count += of;
    }
    let share = f64::from(hits) / f64::from(count);
    assert!((0.84..0.96).contains(&share), "{share}");
}

/// Costs in clear of two calibrations in a row agree if the interval of their difference contains zero.
#[test]
fn calibrations_in_a_row_agree_though_the_speed_drifts_between_them() {
    let (mut count, mut agree, mut agree_without_speed) = (0, 0, 0);
    for seed in 0..60 {
        let mut machine = Machine::quiet(seed);
        machine.speed = 0.02;
        let [first, second] = [(); 2].map(|()| coefficients(&machine.sessions()).plain);
        let speeds = [&first, &second].map(|plain| speed_half_width(plain, 0.9));
        for (one, other) in first.values().flatten().zip(second.values().flatten()) {
            let is_within = |[speed, other_speed]: [f64; 2]| {
                let half = one.interval_with_speed(0.9, speed).unwrap().half_width();
                let other_half = other.interval_with_speed(0.9, other_speed).unwrap().half_width();
                (one.mean() - other.mean()).abs() <= half.hypot(other_half)
            };
            count += 1;
            agree += u32::from(is_within(speeds));
            agree_without_speed += u32::from(is_within([0.0; 2]));
        }
    }
    let share = |agree: u32| f64::from(agree) / f64::from(count);
    assert!(share(agree) >= 0.9, "{}", share(agree));
    assert!(share(agree_without_speed) < 0.85, "{}", share(agree_without_speed));
}

#[test]
fn drift_is_in_both_arms_and_outliers_do_not_move_medians() {
    for seed in 0..40 {
        let mut machine = Machine::quiet(seed);
        machine.outliers = 0.05;
        machine.drift = 0.3;
        let found = coefficients(&machine.sessions());
        // Three rounds of triple DES in a session may have two outliers.
        let mut many = found.clone();
        many.ciphers.retain(|cipher, _| cipher.name == "AES_256");
        let (_, _, error) = covered(&many);
        // Drift makes the difference itself larger: by 15 % on average.
        assert!(error < 0.3, "{error}");
        let floor = &found.floor[&Operation::ReadRandom];
        assert!(floor.iter().all(|one| one.mean().abs() < 120.0), "{floor:?}");
    }
}

#[test]
fn each_session_gives_one_value_and_sizes_ascend() {
    let found = coefficients(&Machine::quiet(7).sessions());
    let aes = &found.ciphers[&Cipher::of(Suite::Aes256, true)];
    let sizes: Vec<(f64, usize)> = aes[&Operation::ReadRandom]
        .iter()
        .map(|one| (one.kib, one.sessions.len()))
        .collect();
    assert_eq!(sizes, [(4.0, 6), (16.0, 6)]);
    let masked = &found.ciphers[&Cipher::of(Suite::Aes256, false)];
    assert_eq!(masked[&Operation::Commit][0].sessions.len(), 4);
    // clear-costs-are-native.
    assert_eq!(found.plain[&Operation::Commit][0].sessions.len(), 6);
    assert_eq!(found.floor[&Operation::Commit][0].sessions.len(), 6);
    assert_eq!(
        found.conversion_ns_per_mib[&Cipher::of(Suite::Aes256, true)].sessions,
        [2e6; 6]
    );
}

#[test]
fn what_does_not_exist_in_clear_costs_nothing_there() {
    let block = |arm: &str, operation, ns| BlockSample {
        round: 0,
        arm: arm.to_owned(),
        operation,
        bytes: 512,
        ns,
    };
    let session = SessionSamples {
        aes_instructions: true,
        blocks: vec![
            block("AES_256", Operation::LogRecord, 300.0),
            block(TLS_1_3, Operation::Packet, 900.0),
            block(PLAIN, Operation::Packet, 100.0),
        ],
        ..SessionSamples::default()
    };
    let found = coefficients(&[session]);
    assert_eq!(found.plain[&Operation::LogRecord][0].sessions, [0.0]);
    let aes = &found.ciphers[&Cipher::of(Suite::Aes256, true)];
    assert_eq!(aes[&Operation::LogRecord][0].sessions, [300.0]);
    let tls = &found.ciphers[&Cipher::tls(TLS_1_3, true)];
    assert_eq!(tls[&Operation::Packet][0].sessions, [800.0]);
    assert_eq!(found.plain[&Operation::Packet][0].sessions, [100.0]);
}

#[test]
fn a_round_without_its_control_does_not_count() {
    let block = |round, arm: &str, ns| BlockSample {
        round,
        arm: arm.to_owned(),
        operation: Operation::Commit,
        bytes: 0,
        ns,
    };
    let session = SessionSamples {
        aes_instructions: true,
        blocks: vec![
            block(0, PLAIN, 10.0),
            block(0, "AES_256", 15.0),
            block(1, "AES_256", 1000.0),
            block(2, "AES_256", f64::NAN),
        ],
        ..SessionSamples::default()
    };
    let found = coefficients(&[session]);
    let aes = &found.ciphers[&Cipher::of(Suite::Aes256, true)];
    assert_eq!(aes[&Operation::Commit][0].sessions, [5.0]);
    assert_eq!(coefficients(&[]), Coefficients::default());
}

#[test]
fn what_a_mix_costs_more_than_its_operations_alone_is_a_share_of_their_costs_in_clear() {
    let block = |arm: &str, operation: Operation, ns| BlockSample {
        round: 0,
        arm: arm.to_owned(),
        operation,
        bytes: if operation.has_size() { 4096 } else { 0 },
        ns,
    };
    let mix = |arm: &str, ns, load| MixSample {
        round: 0,
        arm: arm.to_owned(),
        ns,
        load,
    };
    let counted = |pages| {
        let mut load = Load::default();
        load.add(Operation::ReadRandom, Amount::of_size(pages, 4096.0));
        load.add(Operation::ReadSequential, Amount::of_size(7.0, 4096.0));
        load.add(Operation::Commit, Amount::of(10.0));
        Some(load)
    };
    let session = SessionSamples {
        aes_instructions: true,
        blocks: vec![
            block(PLAIN, Operation::ReadRandom, 1000.0),
            block("AES_256", Operation::ReadRandom, 1300.0),
            block(PLAIN, Operation::ReadSequential, 500.0),
            block("AES_256", Operation::ReadSequential, 400.0),
            block(PLAIN, Operation::Commit, 5000.0),
            block("AES_256", Operation::Commit, 5500.0),
        ],
        mixes: vec![
            mix(PLAIN, 200_000.0, None),
            mix(COUNTED, 210_000.0, counted(100.0)),
            // Alone: 100 * 300 - 7 * 100 + 10 * 500 = 34,300. In clear 150,000 of them are among others, 4 % of which
            // are 6,000.
            mix("AES_256", 240_300.0, None),
            // Its operations were not measured.
            mix("CHACHA20", 300_000.0, None),
            mix(PLAIN, f64::NAN, None),
        ],
        ..SessionSamples::default()
    };
    let found = coefficients(std::slice::from_ref(&session));
    let sessions = found.among_others.unwrap().sessions;
    assert!(
        sessions.len() == 1 && (sessions[0] - 0.04).abs() < 1e-12,
        "{sessions:?}"
    );
    // As costs in clear: of sessions with AES instructions alone.
    let masked = SessionSamples {
        aes_instructions: false,
        ..session.clone()
    };
    let both = coefficients(&[session.clone(), masked.clone()]).among_others;
    assert_eq!(both.map(|measured| measured.sessions), Some(sessions));
    assert!(coefficients(&[masked]).among_others.is_some());
    // Without counts nothing is known.
    let without = SessionSamples {
        mixes: vec![mix(PLAIN, 200_000.0, None), mix("AES_256", 240_300.0, None)],
        ..session
    };
    assert_eq!(coefficients(&[without]).among_others, None);
}
