//! The state of the machine during a block.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};
use selenite_doctor::{Processor, Source, mean};

use super::counters::{CpuTimes, named_number, pressure_total, process_ticks};
use crate::summary::HostSample;

/// A first reading of the machine's counters.
#[derive(Clone, Debug)]
pub struct HostSampler {
    source: Source,
    /// The processes of the study.
    pids: Vec<u32>,
    first: Reading,
}

/// The state of the machine between two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostWindow {
    /// Shares of the machine's time.
    pub sample: HostSample,
    /// The time that the machine was suspended.
    pub slept: Duration,
    /// Pages that were swapped in, by any process; none if the machine does not report it.
    pub swapped_in: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Reading {
    monotonic: Duration,
    boottime: Duration,
    cpu: Option<CpuTimes>,
    /// CPU ticks of the study's processes and of this one; none if one of them has ended.
    ours: Option<u64>,
    cpu_pressure_us: Option<u64>,
    io_pressure_us: Option<u64>,
    swapped_in: Option<u64>,
    mhz: Option<f64>,
}

impl HostSampler {
    /// Takes the first reading. `pids` are the workers: their CPU time and that of this process do
    /// not count as that of others.
    #[must_use]
    pub fn begin(source: &Source, pids: &[u32]) -> Self {
        Self {
            source: source.clone(),
            pids: pids.to_vec(),
            first: Reading::take(source, pids),
        }
    }

    /// Takes the second reading, while the workers still exist. `at_s` is the time of the sample.
    #[must_use]
    pub fn end(&self, at_s: f64) -> HostWindow {
        window(&self.first, &Reading::take(&self.source, &self.pids), at_s)
    }
}

impl HostWindow {
    /// Why a block in this interval does not count; none if it does. Independent of the block's results.
    #[must_use]
    pub fn void(&self) -> Option<&'static str> {
        if self.slept > SLEEP_MAX {
            return Some("the machine slept");
        }
        self.swapped_in.filter(|pages| *pages > 0).map(|_| "it swapped in")
    }
}

impl Reading {
    fn take(source: &Source, pids: &[u32]) -> Self {
        let read = |path: &str| source.read(path);
        let all = pids.iter().flat_map(|pid| with_descendants(source, *pid));
        let processes = all.map(|pid| pid.to_string()).chain(["self".to_owned()]);
        let ticks = processes.map(|pid| process_ticks(&read(&format!("proc/{pid}/stat"))?));
        Self {
            ours: ticks.sum(),
            cpu: read("proc/stat").and_then(|text| CpuTimes::parse(&text)),
            cpu_pressure_us: read("proc/pressure/cpu").and_then(|text| pressure_total(&text)),
            io_pressure_us: read("proc/pressure/io").and_then(|text| pressure_total(&text)),
            swapped_in: read("proc/vmstat").and_then(|text| named_number(&text, "pswpin")),
            mhz: frequency(source),
            // Last, and next to each other: time between the two readings would count as suspension.
            boottime: clock(ClockId::Boottime),
            monotonic: clock(ClockId::Monotonic),
        }
    }
}

fn window(first: &Reading, last: &Reading, at_s: f64) -> HostWindow {
    let elapsed = last.monotonic.saturating_sub(first.monotonic);
    let cpu = last.cpu.zip(first.cpu).map(|(last, first)| last.since(first));
    let share = |part: u64| cpu.and_then(|cpu| ratio(part, cpu.total()));
    let ours = last
        .ours
        .zip(first.ours)
        .map(|(last, first)| last.saturating_sub(first));
    let others = cpu
        .zip(ours)
        .and_then(|(cpu, ours)| share(cpu.busy.saturating_sub(ours)));
    let pressure = |last: Option<u64>, first: Option<u64>| {
        let waited = Duration::from_micros(last?.saturating_sub(first?));
        (!elapsed.is_zero())
            .then(|| waited.as_secs_f64() / elapsed.as_secs_f64())
            .map(|share| share.min(1.0))
    };
    let frequencies: Vec<f64> = first.mhz.into_iter().chain(last.mhz).collect();
    HostWindow {
        sample: HostSample {
            at_s,
            steal: cpu.and_then(|cpu| share(cpu.steal)),
            others,
            cpu_pressure: pressure(last.cpu_pressure_us, first.cpu_pressure_us),
            io_pressure: pressure(last.io_pressure_us, first.io_pressure_us),
            mhz: mean(&frequencies),
        },
        slept: last.boottime.saturating_sub(first.boottime).saturating_sub(elapsed),
        swapped_in: last
            .swapped_in
            .zip(first.swapped_in)
            .map(|(last, first)| last.saturating_sub(first)),
    }
}

/// A process and its living descendants: a worker's server is one. The time of those that ended is
/// in that of the process that waited for them.
fn with_descendants(source: &Source, pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        let threads = source.names(&format!("proc/{pid}/task"));
        for thread in threads
            .iter()
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        {
            let children = source
                .read(&format!("proc/{pid}/task/{thread}/children"))
                .unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|child| child.parse::<u32>().ok()),
            );
        }
        if found.len() > DESCENDANTS_MAX {
            break;
        }
    }
    found
}

/// A worker with more is not waited for.
const DESCENDANTS_MAX: usize = 1000;

/// Mean frequency in MHz: from the driver, otherwise from /proc/cpuinfo.
fn frequency(source: &Source) -> Option<f64> {
    let cpus = source.names("sys/devices/system/cpu").into_iter();
    let cpus = cpus.filter(|name| {
        name.strip_prefix("cpu")
            .is_some_and(|index| index.parse::<u32>().is_ok())
    });
    let current = cpus.filter_map(|cpu| {
        let text = source.read(&format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_cur_freq"))?;
        text.parse::<u32>().ok().map(|khz| f64::from(khz) / 1000.0)
    });
    let current: Vec<f64> = current.collect();
    mean(&current).or_else(|| Processor::parse(&source.read("proc/cpuinfo")?).mhz)
}

fn clock(id: ClockId) -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(id);
    Duration::new(u64::try_from(tv_sec).unwrap_or(0), u32::try_from(tv_nsec).unwrap_or(0))
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The two clocks are read one after the other; this process may be preempted in between, but not for so long.
const SLEEP_MAX: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn reading(seconds: u64) -> Reading {
        Reading {
            monotonic: Duration::from_secs(seconds),
            boottime: Duration::from_secs(seconds),
            ..Reading::default()
        }
    }

    #[test]
    fn shares_are_of_the_time_between_two_readings() {
        let cpu = |busy, idle, steal| Some(CpuTimes { busy, idle, steal });
        let first = Reading {
            cpu: cpu(100, 100, 10),
            ours: Some(40),
            cpu_pressure_us: Some(5_000_000),
            io_pressure_us: Some(1),
            swapped_in: Some(7),
            mhz: Some(2000.0),
            ..reading(100)
        };
        let last = Reading {
            cpu: cpu(250, 140, 20),
            ours: Some(140),
            cpu_pressure_us: Some(6_000_000),
            io_pressure_us: Some(1),
            swapped_in: Some(7),
            mhz: Some(3000.0),
            ..reading(104)
        };
        let window = window(&first, &last, 12.5);
        let expected = HostSample {
            at_s: 12.5,
            steal: Some(0.05),
            others: Some(0.25),
            cpu_pressure: Some(0.25),
            io_pressure: Some(0.0),
            mhz: Some(2500.0),
        };
        assert_eq!(window.sample, expected);
        assert_eq!(
            (window.slept, window.swapped_in, window.void()),
            (Duration::ZERO, Some(0), None)
        );
    }

    #[test]
    fn unavailable_facts_are_omitted() {
        let window = window(&reading(1), &reading(1), 0.0);
        assert_eq!(window, HostWindow::default());
        assert_eq!(window.void(), None);
    }

    #[test]
    fn sleep_and_swapping_void_a_block() {
        let slept = Reading {
            boottime: Duration::from_secs(20),
            ..reading(10)
        };
        assert_eq!(window(&reading(1), &slept, 0.0).void(), Some("the machine slept"));
        let swapped = |pages| Reading {
            swapped_in: Some(pages),
            ..reading(1)
        };
        assert_eq!(window(&swapped(3), &swapped(4), 0.0).void(), Some("it swapped in"));
        assert_eq!(window(&swapped(3), &swapped(3), 0.0).void(), None);
    }

    #[test]
    fn a_machine_without_proc_has_a_window() {
        let folder = tempfile::tempdir().unwrap();
        let window = HostSampler::begin(&Source::at(folder.path()), &[1]).end(3.0);
        assert_eq!(
            window.sample,
            HostSample {
                at_s: 3.0,
                ..HostSample::default()
            }
        );
        assert_eq!(window.swapped_in, None);
    }

    #[test]
    fn a_worker_that_is_gone_leaves_others_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let process = "1 (x) S 1 42 42 0 -1 4194560 100 0 0 0 1 1 0 0 20 0 1";
        write("proc/self/stat", process);
        write("proc/9/stat", process);
        write("proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\n");
        let source = Source::at(folder.path());
        let sampler = HostSampler::begin(&source, &[9]);
        write("proc/stat", "cpu  160 0 0 140 0 0 0 0 0 0\n");
        assert_eq!(sampler.end(0.0).sample.others, Some(0.6));
        fs::remove_dir_all(folder.path().join("proc/9")).unwrap();
        assert_eq!(sampler.end(0.0).sample.others, None);
    }
}
