//! Response times before and after encryption.

use serde::{Deserialize, Serialize};

use super::{Estimate, UTILIZATION_MAX};
use crate::observation::Observation;
use crate::queue::Queue;

/// Response times before and after, in milliseconds of CPU and its queue: waits for the disk are not in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The share of the time in which the cores are busy now.
    pub utilization: f64,
    /// The same after encryption.
    pub utilization_after: Estimate,
    /// The median now.
    pub p50_ms: f64,
    /// What is added to it.
    pub p50_added_ms: Estimate,
    /// The 99th percentile now.
    pub p99_ms: f64,
    /// What is added to it.
    pub p99_added_ms: Estimate,
}

/// Response times, if the draws of what is added, and its value, permit them.
pub(super) fn latency(
    observation: &Observation,
    cores: f64,
    (added, value): (&[f64], f64),
    warnings: &mut Vec<String>,
) -> Option<Latency> {
    let (Some(requests), Some(busy)) = (observation.requests_per_second(), observation.busy_cores()) else {
        warnings.push(
            "response times are not predicted: they need the rate of requests and the CPU time in use".to_owned(),
        );
        return None;
    };
    let none = "response times are not predicted: no requests, or too few cores for them";
    // A request runs on one core: a part of a core serves none in time.
    let servers = cores.floor();
    let queue = |busy: f64| Queue::new(requests, busy / requests, servers).filter(|_| servers >= 1.0);
    let Some(now) = queue(busy) else {
        warnings.push(none.to_owned());
        return None;
    };
    let utilization = |added: f64| (busy + added) / servers;
    let utilization_after = Estimate::of(added.iter().copied().map(utilization).collect()).with(utilization(value));
    if utilization_after.high > UTILIZATION_MAX {
        warnings.push(format!(
            "response times are not predicted: the demand would be up to {:.0} % of the cores, and the model holds up to {:.0} %; measure",
            utilization_after.high * 100.0,
            UTILIZATION_MAX * 100.0
        ));
        return None;
    }
    let after: Vec<Queue> = added
        .iter()
        .step_by(LATENCY_STEP)
        .filter_map(|added| queue(busy + added))
        .collect();
    let (Some(central), false) = (queue(busy + value), after.is_empty()) else {
        warnings.push(none.to_owned());
        return None;
    };
    let added_ms = |share: f64| {
        let before = now.quantile(share);
        let added_ms = |after: &Queue| (after.quantile(share) - before) * 1e3;
        Estimate::of(after.iter().map(added_ms).collect()).with(added_ms(&central))
    };
    Some(Latency {
        utilization: now.utilization(),
        utilization_after,
        p50_ms: now.quantile(0.5) * 1e3,
        p50_added_ms: added_ms(0.5),
        p99_ms: now.quantile(0.99) * 1e3,
        p99_added_ms: added_ms(0.99),
    })
}

/// Quantiles of queues are expensive to compute; 500 are sufficient for an interval.
const LATENCY_STEP: usize = 8;
