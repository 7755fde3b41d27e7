//! Studies of simulated arms whose true effect is known: intervals have to cover it as often as
//! their confidence.
//!
//! All seeds are fixed, and printed with the figures: `cargo test -p selenite-stats --test simulation -- --nocapture`.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_stats::{
    Estimate, Options, Verdict, confidence_sequence, estimate, is_precise, session_estimates, sessions_to_clear,
    signed_rank_interval, smallest_effect, t_interval, verdict,
};

/// For each effect and noise.
const STUDIES: u32 = 2000;
const EFFECTS: [f64; 4] = [0.0, 0.01, 0.02, 0.06];
const SESSIONS: usize = 8;
const PAIRS: usize = 8;
const LIMIT: f64 = 0.03;

/// Elapsed time on a busy machine: blocks of one arm have a spread of 10.8 %.
const ELAPSED: Noise = Noise {
    name: "elapsed",
    drift: 0.08,
    memory: 0.95,
    white: 0.04,
    spikes: 0.03,
    spike_mean: 0.25,
    instance: 0.01,
};

/// CPU time: most of the noise is between sessions.
const CPU: Noise = Noise {
    name: "cpu",
    drift: 0.02,
    memory: 0.95,
    white: 0.01,
    spikes: 0.03,
    spike_mean: 0.05,
    instance: 0.01,
};

#[test]
fn intervals_of_elapsed_time_hold() {
    // Half-widths at which a study stops: the default, which this noise never reaches, and two that
    // stop many studies early.
    check_intervals(&ELAPSED, &[0.01, 0.025, 0.03]);
}

#[test]
fn intervals_of_cpu_time_hold() {
    check_intervals(&CPU, &[0.0125, 0.015]);
}

#[test]
fn two_arms_of_several_are_compared_as_surely_as_one_with_its_control() {
    // Plain, its second copy, an arm without a cipher and one with a cipher. The last two are
    // compared; blocks of the others run between theirs.
    for (noise, first_seed) in [(&ELAPSED, 61), (&CPU, 71)] {
        for (effect, seed) in [0.0_f64, 0.02].into_iter().zip(first_seed..) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut covered, mut positives) = (0, 0);
            for _ in 0..STUDIES {
                let sessions: Vec<Vec<f64>> = (0..SESSIONS)
                    .map(|_| noise.arms([0.0, 0.0, 0.1, 0.1 + effect.ln_1p()], PAIRS, &mut random))
                    .collect();
                let found = estimate_of(&sessions);
                covered += usize::from(holds(&found, effect.ln_1p()));
                positives += usize::from(!holds(&found, 0.0));
            }
            let (covered, positives) = (share(covered), share(positives));
            println!(
                "{} {effect}, seed {seed}, two of four arms: covered {covered}, interval without 0 {positives}",
                noise.name
            );
            assert!(covered >= 0.93, "covered {covered}");
            assert!(effect > 0.0 || positives <= 0.07, "false positives {positives}");
        }
    }
}

#[test]
fn stopping_at_the_worst_precision_costs_little() {
    // Where most noise is between sessions, this half-width does the most harm (see `is_precise`):
    // the few studies that stop early are those whose sessions agree by chance. The result does not
    // depend on the effect, so one test has the studies of all four.
    let seed = 51;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let covered = (0..4 * STUDIES).filter(|_| {
        let sessions = CPU.study(0.02, SESSIONS, PAIRS, &mut random);
        let mut looks = (5..=SESSIONS).map(|count| estimate_of(&sessions[..count]));
        let stop = looks
            .find(|look| is_precise(look, 0.01, 0.95))
            .unwrap_or_else(|| estimate_of(&sessions));
        holds(&stop, 0.02_f64.ln_1p())
    });
    let covered = share(covered.count()) / 4.0;
    println!("{}, seed {seed}: stop at half-width 0.01: covered {covered}", CPU.name);
    assert!(covered >= 0.93, "{covered}");
}

fn check_intervals(noise: &Noise, targets: &[f64]) {
    for (effect, seed) in EFFECTS.into_iter().zip(1_u64..) {
        let truth = effect.ln_1p();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut covered, mut positives) = (0, 0);
        let mut covered_stopped = vec![0; targets.len()];
        let mut early = vec![0; targets.len()];
        let mut wrong_verdicts = 0;
        for _ in 0..STUDIES {
            let sessions = noise.study(effect, SESSIONS, PAIRS, &mut random);
            let looks: Vec<Estimate> = (5..=SESSIONS).map(|count| estimate_of(&sessions[..count])).collect();
            let last = looks[looks.len() - 1];
            covered += usize::from(holds(&last, truth));
            positives += usize::from(!holds(&last, 0.0));
            wrong_verdicts += usize::from(is_wrong(verdict(&last, None, LIMIT.ln_1p()), effect));
            for (index, target) in targets.iter().enumerate() {
                let stop = looks
                    .iter()
                    .find(|look| is_precise(look, *target, 0.95))
                    .unwrap_or(&last);
                covered_stopped[index] += usize::from(holds(stop, truth));
                early[index] += usize::from(stop.sessions < last.sessions);
            }
        }
        let (covered, positives, wrong) = (share(covered), share(positives), share(wrong_verdicts));
        println!(
            "{} {effect}, seed {seed}: covered {covered}, interval without 0 {positives}, wrong verdict {wrong}",
            noise.name
        );
        assert!(covered >= 0.93, "covered {covered}");
        assert!(effect > 0.0 || positives <= 0.07, "false positives {positives}");
        assert!(wrong <= 0.04, "wrong verdicts {wrong}");
        for ((target, covered), early) in targets.iter().zip(covered_stopped).zip(early) {
            let (covered, early) = (share(covered), share(early));
            println!("  stop at half-width {target}: covered {covered}, stopped early {early}");
            assert!(covered >= 0.93, "covered {covered}, stopping at {target}");
        }
    }
}

#[test]
fn pooled_pairs_of_one_session_find_what_is_not_there() {
    for (noise, seed) in [(&ELAPSED, 11), (&CPU, 12)] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let positives = (0..STUDIES)
            .filter(|_| {
                let pairs = noise.session(0.0, SESSIONS * PAIRS, &mut random);
                !signed_rank_interval(&pairs, 0.95).unwrap().contains(0.0)
            })
            .count();
        let positives = share(positives);
        println!(
            "{}, seed {seed}: 64 pairs of one session, false positives {positives}",
            noise.name
        );
        assert!(positives > 0.20, "{positives}");
    }
}

#[test]
fn bootstrap_intervals_are_about_as_wide_as_t_intervals() {
    for (noise, seed) in [(&ELAPSED, 21), (&CPU, 22)] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut covered, mut width) = (0.0, 0.0);
        for study in 0..300 {
            let sessions = noise.study(0.02, SESSIONS, PAIRS, &mut random);
            let options = Options {
                replicates: 200,
                seed: study,
                ..Options::default()
            };
            let found = estimate(&sessions, &options).unwrap();
            let bootstrap = found.bootstrap.unwrap();
            covered += f64::from(bootstrap.contains(0.02_f64.ln_1p())) / 300.0;
            width += bootstrap.half_width() / found.t.unwrap().half_width() / 300.0;
        }
        println!(
            "{}, seed {seed}: bootstrap covered {covered}, as wide as t times {width}",
            noise.name
        );
        assert!(covered >= 0.85, "{covered}");
        assert!((0.6..1.6).contains(&width), "{width}");
    }
}

#[test]
fn a_gate_may_look_after_every_session() {
    let seed = 31;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut positives, mut peeking) = (0, 0);
    for _ in 0..STUDIES {
        let sessions = CPU.study(0.0, 32, PAIRS, &mut random);
        let estimates = session_estimates(&sessions).unwrap();
        let mut looks = (5..=32).map(|count| &estimates[..count]);
        let excludes = |look: &[f64]| confidence_sequence(look, 0.95, 8).is_some_and(|found| !found.contains(0.0));
        positives += usize::from(looks.clone().any(excludes));
        peeking += usize::from(looks.any(|look| !t_interval(look, 0.95).unwrap().contains(0.0)));
    }
    let (positives, peeking) = (share(positives), share(peeking));
    println!("seed {seed}: 28 looks, false positives {positives}, with t at each {peeking}");
    assert!(positives <= 0.05, "{positives}");
    assert!(peeking > 0.12, "{peeking}");
}

#[test]
fn forecast_effects_and_sessions_reach_their_power() {
    let seed = 41;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // The noise as estimated from a long study.
    let pilot = estimate_of(&CPU.study(0.0, 400, PAIRS, &mut random));
    let (sessions, pairs) = (8, 8);
    let smallest = smallest_effect(pilot.within_sd, pilot.between_sd, sessions, pairs, 0.8);
    let found = power(smallest.exp_m1(), 8, &mut random);
    println!("seed {seed}: smallest effect of 8 sessions {smallest}, found in {found}");
    assert!((0.75..=0.87).contains(&found), "{found}");

    let far = Estimate { center: 0.01, ..pilot };
    let count = sessions_to_clear(0.0, &far, pairs, 0.95, 0.8).unwrap();
    let found = power(0.01_f64.exp_m1(), usize::try_from(count).unwrap(), &mut random);
    println!("seed {seed}: an effect of 0.01 takes {count} sessions, found in {found}");
    assert!((0.75..=0.87).contains(&found), "{found}");
}

/// How often an effect is distinguished from none.
fn power(effect: f64, sessions: usize, random: &mut ChaCha8Rng) -> f64 {
    let found = (0..STUDIES).filter(|_| {
        let sessions = CPU.study(effect, sessions, PAIRS, random);
        !holds(&estimate_of(&sessions), 0.0)
    });
    share(found.count())
}

fn estimate_of(sessions: &[Vec<f64>]) -> Estimate {
    let options = Options {
        replicates: 0,
        ..Options::default()
    };
    estimate(sessions, &options).expect("all values are finite")
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    estimate.t.is_some_and(|interval| interval.contains(truth))
}

fn is_wrong(verdict: Verdict, effect: f64) -> bool {
    match verdict {
        Verdict::Within { .. } => effect > LIMIT,
        Verdict::Above => effect < LIMIT,
        Verdict::NotResolved => false,
    }
}

fn share(count: usize) -> f64 {
    count as f64 / f64::from(STUDIES)
}

/// Standard deviations of the logarithm of a block's time, with the parameters of drift and spikes.
struct Noise {
    name: &'static str,
    /// The standard deviation of the autoregressive drift that all arms share.
    drift: f64,
    /// The autocorrelation of the drift from block to block.
    memory: f64,
    /// Independent noise of each block.
    white: f64,
    /// The probability that a block is slow by chance.
    spikes: f64,
    /// The mean slowdown, as a ratio.
    spike_mean: f64,
    /// The offset of each arm's instance in a session.
    instance: f64,
}

impl Noise {
    fn study(&self, effect: f64, sessions: usize, pairs: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        (0..sessions).map(|_| self.session(effect, pairs, random)).collect()
    }

    /// The order within a pair is random; the next pair has the reverse order.
    fn session(&self, effect: f64, pairs: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let levels = [
            self.instance * normal(random),
            effect.ln_1p() + self.instance * normal(random),
        ];
        let fresh = self.drift * (1.0 - self.memory.powi(2)).sqrt();
        let mut drift = self.drift * normal(random);
        let mut first = 0;
        (0..pairs)
            .map(|pair| {
                first = if pair % 2 == 0 {
                    random.random_range(0..2)
                } else {
                    1 - first
                };
                let mut times = [0.0; 2];
                for arm in [first, 1 - first] {
                    drift = self.memory * drift + fresh * normal(random);
                    times[arm] = levels[arm] + drift + self.white * normal(random) + self.spike(random);
                }
                times[1] - times[0]
            })
            .collect()
    }

    /// Compares the last of several arms with the one before it. All run in random order, then in
    /// reverse order.
    fn arms<const N: usize>(&self, effects: [f64; N], pairs: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let levels = effects.map(|effect| effect + self.instance * normal(random));
        let fresh = self.drift * (1.0 - self.memory.powi(2)).sqrt();
        let mut drift = self.drift * normal(random);
        let mut order: Vec<usize> = (0..N).collect();
        (0..pairs)
            .map(|pair| {
                if pair % 2 == 0 {
                    order.shuffle(random);
                } else {
                    order.reverse();
                }
                let mut times = [0.0; N];
                for arm in &order {
                    drift = self.memory * drift + fresh * normal(random);
                    times[*arm] = levels[*arm] + drift + self.white * normal(random) + self.spike(random);
                }
                times[N - 1] - times[N - 2]
            })
            .collect()
    }

    fn spike(&self, random: &mut ChaCha8Rng) -> f64 {
        if !random.random_bool(self.spikes) {
            return 0.0;
        }
        let excess = -self.spike_mean * (1.0 - random.random::<f64>()).ln();
        excess.ln_1p()
    }
}

/// A normal variate (Box-Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}
