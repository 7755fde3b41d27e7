//! Studies of simulated arms whose true effect is known: intervals have to hold as often as they say.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_stats::{
    Estimate, Options, confidence_sequence, estimate, is_precise, session_estimates, signed_rank_interval,
    smallest_effect, verdict, Verdict,
};

const EFFECTS: [f64; 4] = [0.0, 0.01, 0.02, 0.06];
const STUDIES: u32 = 2000;

#[test]
fn explore() {
    for (name, noise) in [("elapsed", &ELAPSED), ("cpu", &CPU)] {
    for target in [0.014, 0.017, 0.02, 0.0225, 0.025, 0.0275, 0.03] {
        let target = if name == "cpu" { target / 2.0 } else { target };
        let mut covered = 0; let mut covered8 = 0; let mut stops = [0; 9]; let mut cb = 0; let mut sum = 0.0;
        let mut wsd = 0.0; let mut bsd = 0.0; let mut ssd = 0.0;
        for seed in 0..STUDIES {
            let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed));
            let sessions = noise.study(0.02, 8, &mut random);
            let full = estimate(&sessions, &quick(0)).unwrap();
            covered8 += u32::from(full.t.unwrap().contains(0.02_f64.ln_1p()));
            wsd += full.within_sd; bsd += full.between_sd.powi(2); ssd += full.session_sd.powi(2);
            let count = (5..=8).find(|c| *c == 8 || is_precise(&estimate(&sessions[..*c], &quick(0)).unwrap(), target)).unwrap();
            stops[count] += 1;
            let e = estimate(&sessions[..count], &quick(if seed % 10 == 0 {200} else {0})).unwrap();
            covered += u32::from(e.t.unwrap().contains(0.02_f64.ln_1p()));
            cb += u32::from(e.bootstrap.is_some_and(|b| b.contains(0.02_f64.ln_1p())));
            sum += e.center;
        }
        let n = f64::from(STUDIES);
        println!("{name} {target} fixed {} stopped {} boot {} stops {:?} mean {} sds {} {} {}", f64::from(covered8)/n, f64::from(covered)/n, f64::from(cb)/n*10.0, &stops[5..], sum / n, wsd/n, (bsd/n).sqrt(), (ssd/n).sqrt());
    }}
}

fn quick(replicates: u32) -> Options { Options { replicates, ..Options::default() } }

/// Standard deviations of the logarithm of a block's time, and what goes with them.
struct Noise { drift: f64, memory: f64, white: f64, spikes: f64, spike_mean: f64, instance: f64 }

const ELAPSED: Noise = Noise { drift: 0.08, memory: 0.95, white: 0.04, spikes: 0.03, spike_mean: 0.25, instance: 0.01 };
const CPU: Noise = Noise { drift: 0.02, memory: 0.95, white: 0.01, spikes: 0.03, spike_mean: 0.05, instance: 0.01 };

impl Noise {
    fn study(&self, effect: f64, sessions: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        (0..sessions).map(|_| self.session(effect, 8, random)).collect()
    }
    fn session(&self, effect: f64, pairs: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let levels = [self.instance * normal(random), effect.ln_1p() + self.instance * normal(random)];
        let mut drift = self.drift * normal(random);
        let mut first = 0;
        (0..pairs).map(|pair| {
            first = if pair % 2 == 0 { random.random_range(0..2) } else { 1 - first };
            let mut times = [0.0; 2];
            for arm in [first, 1 - first] {
                drift = self.memory * drift + self.drift * (1.0 - self.memory.powi(2)).sqrt() * normal(random);
                let spike = if random.random_bool(self.spikes) { -self.spike_mean * (1.0 - random.random::<f64>()).ln() } else { 0.0 };
                times[arm] = levels[arm] + drift + self.white * normal(random) + spike.ln_1p();
            }
            times[1] - times[0]
        }).collect()
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}
