//! Measurements of work before, during and after a re-encryption of every page of its database.
//!
//! - three-phases-per-block: a block has all three phases, so that each is compared with the
//!   `before` of the same block, minutes apart.
//! - checkpoint-excluded: a phase does not include the checkpoint that ends it: phases have
//!   different lengths, and a checkpoint would be a different share of each.

use std::time::Duration;

use selenite_worker::protocol::Sample;
use serde::{Deserialize, Serialize};

use crate::summary::Metric;

/// The phases of a block. Its own sample is that of `during`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Before the re-encryption.
    pub before: Phase,
    /// During the re-encryption; in an arm without one, the same work for a while.
    pub during: Phase,
    /// After the re-encryption.
    pub after: Phase,
    /// The re-encryption and its speed; none in an arm without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealing: Option<Sealing>,
}

/// A phase, summed over all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Elapsed time without the checkpoint at the end.
    pub elapsed_ns: u64,
    /// CPU time of the workers, without the checkpoint at the end.
    pub cpu_ns: u64,
    /// Loops.
    pub operations: u64,
    /// Loops that were retried because others had the database locked for long.
    pub retries: u64,
    /// The 99th percentile of the latency of all operations.
    pub p99_ns: u64,
}

/// A run of the administrator's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealing {
    /// Elapsed time from its start to its end.
    pub took_ns: u64,
    /// Pages of the database at its end, all of which were re-encrypted, by it or by writers.
    pub pages: u64,
    /// Size of those pages, in bytes.
    pub bytes: u64,
    /// The end of its output.
    pub said: String,
}

impl Phases {
    /// The change of a metric within the block, as a ratio; none for other metrics, or if a value is zero.
    #[must_use]
    pub fn change(&self, metric: Metric) -> Option<f64> {
        let ratio = |of: &dyn Fn(&Phase) -> Option<f64>, phase: &Phase| Some(of(phase)? / of(&self.before)?);
        match metric {
            Metric::Slowdown => ratio(&Phase::loop_ns, &self.during),
            Metric::Aftermath => ratio(&Phase::loop_ns, &self.after),
            Metric::TailSlowdown => ratio(&Phase::tail_ns, &self.during),
            Metric::Instructions
            | Metric::Cpu
            | Metric::ReadChars
            | Metric::WriteChars
            | Metric::ReadCalls
            | Metric::WriteCalls
            | Metric::ReadBytes
            | Metric::WriteBytes
            | Metric::Elapsed
            | Metric::Checkpoint
            | Metric::Switches
            | Metric::Faults
            | Metric::DatabaseBytes
            | Metric::WalBytes
            | Metric::PeakMemory
            | Metric::ArchiveBytes => None,
        }
    }
}

impl Phase {
    /// Sums the counters of the processes.
    #[must_use]
    pub fn of(sample: &Sample, p99_ns: u64) -> Self {
        Self {
            elapsed_ns: sample.elapsed_ns.saturating_sub(sample.checkpoint_ns),
            cpu_ns: sample.cpu_ns.saturating_sub(sample.checkpoint_cpu_ns),
            operations: sample.operations,
            retries: sample.retries,
            p99_ns,
        }
    }

    /// Mean nanoseconds per loop of all processes; none without loops.
    #[must_use]
    pub fn loop_ns(&self) -> Option<f64> {
        let elapsed = Duration::from_nanos(self.elapsed_ns).as_secs_f64() * 1e9;
        let operations = crate::summary::as_f64(self.operations);
        (elapsed > 0.0 && operations > 0.0).then(|| elapsed / operations)
    }

    /// Loops per second, of all processes.
    #[must_use]
    pub fn loops_per_s(&self) -> Option<f64> {
        self.loop_ns().map(|ns| 1e9 / ns)
    }

    /// The 99th percentile, if there was a latency.
    #[must_use]
    pub fn tail_ns(&self) -> Option<f64> {
        (self.p99_ns > 0).then(|| crate::summary::as_f64(self.p99_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_ratios_to_before_without_checkpoints() {
        let phase = |elapsed_ns, checkpoint_ns, operations, p99| {
            let sample = Sample {
                elapsed_ns,
                checkpoint_ns,
                operations,
                ..Sample::default()
            };
            Phase::of(&sample, p99)
        };
        let phases = Phases {
            before: phase(1_100, 100, 10, 7),
            during: phase(3_000, 500, 20, 14),
            after: phase(900, 0, 10, 0),
            sealing: None,
        };
        assert_eq!(phases.change(Metric::Slowdown), Some(1.25));
        assert_eq!(phases.change(Metric::Aftermath), Some(0.9));
        assert_eq!(phases.change(Metric::TailSlowdown), Some(2.0));
        assert_eq!(phases.change(Metric::Cpu), None);
        assert_eq!((phases.before.loops_per_s(), phases.after.tail_ns()), (Some(1e7), None));
        assert_eq!(phase(0, 0, 0, 0).loop_ns(), None);
    }
}
