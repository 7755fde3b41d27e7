//! Response times of requests that several cores serve: the queue M/M/c (Erlang C).
//!
//! Requests arrive at random (a Poisson process), each takes a random, exponential time of one core. Real loads are
//! burstier in their arrivals and less so in their service: the model is for differences, not for levels.

use crate::bounds::CORES_MAX;

/// Requests that arrive at a rate and are served by cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Arrivals in a second.
    arrivals: f64,
    /// Seconds of a core that a request takes, on average.
    service: f64,
    cores: f64,
    /// The probability that a request waits.
    waits: f64,
}

impl Queue {
    /// None if the utilization is 1 or more, or a value is not a rate.
    #[must_use]
    pub fn new(arrivals: f64, service: f64, cores: f64) -> Option<Self> {
        let cores = cores.floor().max(1.0);
        let is_valid = arrivals > 0.0 && service > 0.0 && cores <= CORES_MAX && arrivals * service < cores;
        is_valid.then(|| Self {
            arrivals,
            service,
            cores,
            waits: erlang_c(arrivals * service, cores),
        })
    }

    /// The share of the time in which a core is busy.
    #[must_use]
    pub fn utilization(&self) -> f64 {
        self.arrivals * self.service / self.cores
    }

    /// The probability that a request waits.
    #[must_use]
    pub fn waits(&self) -> f64 {
        self.waits
    }

    /// The mean response time in seconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.service + self.waits() * self.service / (self.cores * (1.0 - self.utilization()))
    }

    /// The response time in seconds that a share of requests stays below.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.service);
        while self.slower_than(high) > 1.0 - share && high < self.service * 1e6 {
            high *= 2.0;
        }
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if self.slower_than(middle) > 1.0 - share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The probability that a response takes longer than `seconds`.
    fn slower_than(&self, seconds: f64) -> f64 {
        let rate = 1.0 / self.service;
        // The difference of the rates at which a wait and a service end, in units of the latter.
        let spare = self.cores - 1.0 - self.arrivals * self.service;
        let served = (-rate * seconds).exp();
        let both = if spare.abs() < 1e-9 {
            rate * seconds
        } else {
            (1.0 - (-rate * spare * seconds).exp()) / spare
        };
        served * (1.0 + self.waits * both)
    }
}

/// Erlang's C formula, by the recursion of Erlang's B.
fn erlang_c(offered: f64, cores: f64) -> f64 {
    let (mut blocked, mut servers) = (1.0, 1.0);
    while servers <= cores {
        blocked = offered * blocked / (servers + offered * blocked);
        servers += 1.0;
    }
    blocked / (1.0 - offered / cores * (1.0 - blocked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_is_the_queue_of_the_textbook() {
        // M/M/1: the response time is exponential with the mean S / (1 - rho).
        let queue = Queue::new(500.0, 0.0016, 1.0).unwrap();
        assert!((queue.utilization() - 0.8).abs() < 1e-12);
        assert!((queue.waits() - 0.8).abs() < 1e-12);
        assert!((queue.mean() - 0.008).abs() < 1e-12);
        assert!((queue.quantile(0.99) - 0.008 * 100.0_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn several_cores_wait_less() {
        // Erlang C of 2 Erlangs on 3 servers is 4/9 (Gross and Harris, table of M/M/c).
        let queue = Queue::new(2.0, 1.0, 3.0).unwrap();
        assert!((queue.waits() - 4.0 / 9.0).abs() < 1e-12);
        assert!((queue.mean() - (1.0 + 4.0 / 9.0)).abs() < 1e-12);
        let one = Queue::new(2.0 / 3.0, 1.0, 1.0).unwrap();
        assert!(queue.quantile(0.99) < one.quantile(0.99));
    }

    #[test]
    fn quantiles_are_what_a_simulation_finds() {
        use rand::{Rng, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut exponential = |mean: f64| -mean * random.random_range(f64::MIN_POSITIVE..1.0_f64).ln();
        let (mut now, mut free, mut responses) = (0.0, [0.0_f64; 4], Vec::new());
        for _ in 0..400_000 {
            now += exponential(1.0 / 3.0);
            let server = (0..4).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            let end = free[server].max(now) + exponential(1.0);
            free[server] = end;
            responses.push(end - now);
        }
        responses.sort_by(f64::total_cmp);
        let queue = Queue::new(3.0, 1.0, 4.0).unwrap();
        for (share, at) in [(0.5, 200_000), (0.99, 396_000)] {
            let ratio = queue.quantile(share) / responses[at];
            assert!((0.97..1.03).contains(&ratio), "{share}: {ratio}");
        }
    }

    #[test]
    fn what_is_always_busy_has_no_response_time() {
        assert_eq!(Queue::new(10.0, 0.1, 1.0), None);
        assert_eq!(Queue::new(f64::NAN, 0.1, 1.0), None);
        assert_eq!(Queue::new(0.0, 0.1, 1.0), None);
    }
}
