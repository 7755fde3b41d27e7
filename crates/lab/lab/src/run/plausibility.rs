//! Checks for counters that cannot be true.

use std::time::Duration;

use selenite_worker::protocol::Sample;

/// Why a sample is impossible for a block that took the lab so long; none if it is plausible.
pub(super) fn impossible(sample: &Sample, waited: Duration) -> Option<&'static str> {
    let waited = waited.saturating_add(SLACK);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = u32::try_from(processors).unwrap_or(u32::MAX);
    if Duration::from_nanos(sample.elapsed_ns) > waited {
        return Some("it took longer than its answer took to come");
    }
    if Duration::from_nanos(sample.cpu_ns) > waited.saturating_mul(processors) {
        return Some("more CPU time than all processors have");
    }
    if sample.checkpoint_ns > sample.elapsed_ns {
        return Some("a checkpoint longer than the block that it ends");
    }
    None
}

/// The clocks of lab and worker are read at slightly different moments.
const SLACK: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(elapsed_ns: u64, cpu_ns: u64, checkpoint_ns: u64) -> Sample {
        Sample {
            elapsed_ns,
            cpu_ns,
            checkpoint_ns,
            ..Sample::default()
        }
    }

    #[test]
    fn plausible_samples_are_accepted_and_impossible_ones_are_not() {
        let second = Duration::from_secs(1);
        assert_eq!(impossible(&sample(900_000_000, 900_000_000, 900_000_000), second), None);
        assert!(impossible(&sample(2_000_000_000, 0, 0), second).is_some());
        assert!(impossible(&sample(u64::MAX, u64::MAX, 0), second).is_some());
        assert!(impossible(&sample(1_000_000_000, u64::MAX, 0), second).is_some());
        assert!(impossible(&sample(5, 5, 6), second).is_some());
    }
}
