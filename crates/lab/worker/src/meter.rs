//! The counters of this process, before and after work.
//!
//! - same-sources: both readings come from the same sources. Reading them is outside of the
//!   measurement as far as possible: the clocks are read last before the work and first after it.
//! - own-reads-subtracted: /proc/self/io counts the reading of itself. The cost of one reading is
//!   measured with each block, by the counters of this thread alone, and subtracted.
//! - peak-is-reset: the peak of memory is reset before the work, or not reported: an earlier peak
//!   does not belong to the work.

mod instructions;
mod peak;
pub mod process;

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::WorkerError;
use crate::engine::PageCounts;
use crate::protocol::Sample;

use instructions::Instructions;
use peak::Peak;

/// A reading before the work.
pub struct Meter {
    io: Io,
    /// The cost of one reading of /proc/self/io in its own counters.
    own: Io,
    usage: Usage,
    pages: Option<PageCounts>,
    peak: Option<Peak>,
    instructions: Option<Instructions>,
    cpu_ns: u64,
    began_ns: u64,
}

impl Meter {
    /// Reads all counters.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn start(pages: Option<PageCounts>) -> Result<Self, WorkerError> {
        let peak = Peak::set_back();
        let before = Io::read(OF_THREAD)?;
        let own = Io::read(OF_THREAD)?.since(&before);
        Ok(Self {
            own,
            io: Io::read(OF_PROCESS)?,
            usage: usage()?,
            pages,
            peak,
            instructions: Instructions::start(),
            cpu_ns: now_ns(ClockId::ProcessCPUTime),
            began_ns: now_ns(ClockId::Monotonic),
        })
    }

    /// The differences since the start. Fields that only the work knows are empty.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn stop(self) -> Result<Reading, WorkerError> {
        let ended_ns = now_ns(ClockId::Monotonic);
        let cpu_ns = now_ns(ClockId::ProcessCPUTime);
        let instructions = self.instructions.and_then(Instructions::stop);
        let usage = usage()?;
        let io = Io::read(OF_PROCESS)?.since(&self.io).since(&self.own);
        let sample = Sample {
            began_ns: self.began_ns,
            elapsed_ns: ended_ns.saturating_sub(self.began_ns),
            cpu_ns: cpu_ns.saturating_sub(self.cpu_ns),
            user_ns: delta(
                usage.user_time().num_nanoseconds(),
                self.usage.user_time().num_nanoseconds(),
            ),
            system_ns: delta(
                usage.system_time().num_nanoseconds(),
                self.usage.system_time().num_nanoseconds(),
            ),
            // Reading it would be counted by /proc/self/io.
            instructions: instructions.and_then(Instructions::count),
            switches_voluntary: delta(
                usage.voluntary_context_switches(),
                self.usage.voluntary_context_switches(),
            ),
            switches_involuntary: delta(
                usage.involuntary_context_switches(),
                self.usage.involuntary_context_switches(),
            ),
            faults_minor: delta(usage.minor_page_faults(), self.usage.minor_page_faults()),
            faults_major: delta(usage.major_page_faults(), self.usage.major_page_faults()),
            read_calls: io.read_calls,
            write_calls: io.write_calls,
            read_chars: io.read_chars,
            write_chars: io.write_chars,
            read_bytes: io.read_bytes,
            write_bytes: io.write_bytes,
            peak_bytes: self.peak.and_then(Peak::bytes),
            ..Sample::default()
        };
        Ok(Reading {
            sample,
            pages: self.pages,
        })
    }
}

/// Differences of counters, to which the work adds its own figures.
pub struct Reading {
    sample: Sample,
    pages: Option<PageCounts>,
}

impl Reading {
    /// The sample, with the engine's page counts, if it has them.
    #[must_use]
    pub fn sample(self, pages: Option<PageCounts>) -> Sample {
        let (before, after) = (self.pages.unwrap_or_default(), pages.unwrap_or_default());
        Sample {
            pages_read: after.read.saturating_sub(before.read),
            pages_written: after.written.saturating_sub(before.written),
            ..self.sample
        }
    }
}

/// Elapsed and CPU time of a part of the work.
pub struct WorkTimer {
    began_ns: u64,
    cpu_ns: u64,
}

impl WorkTimer {
    /// Starts the part.
    #[must_use]
    pub fn start() -> Self {
        Self {
            cpu_ns: now_ns(ClockId::ProcessCPUTime),
            began_ns: now_ns(ClockId::Monotonic),
        }
    }

    /// Ends the part. Returns elapsed and CPU nanoseconds.
    #[must_use]
    pub fn stop(self) -> (u64, u64) {
        let elapsed = now_ns(ClockId::Monotonic).saturating_sub(self.began_ns);
        (elapsed, now_ns(ClockId::ProcessCPUTime).saturating_sub(self.cpu_ns))
    }
}

/// CPU time, in nanoseconds, of child processes that have been waited for, in user mode and in the
/// kernel.
///
/// # Errors
/// Errors of the operating system.
pub fn of_children() -> Result<(u64, u64), WorkerError> {
    let usage = usage_of(UsageWho::RUSAGE_CHILDREN)?;
    let count = |time: nix::sys::time::TimeVal| u64::try_from(time.num_nanoseconds()).unwrap_or(0);
    Ok((count(usage.user_time()), count(usage.system_time())))
}

/// The time of CLOCK_MONOTONIC, in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    now_ns(ClockId::Monotonic)
}

/// Sleeps until CLOCK_MONOTONIC reaches `start_at_ns`, so that several processes begin together.
///
/// # Errors
/// [`WorkerError::Refused`] if that is more than [`START_WAIT_MAX`] away.
pub fn wait_until(start_at_ns: u64) -> Result<(), WorkerError> {
    let wait = Duration::from_nanos(start_at_ns.saturating_sub(monotonic_ns()));
    if wait > START_WAIT_MAX {
        return Err(WorkerError::Refused(format!(
            "the start is {} s away, more than {} s",
            wait.as_secs(),
            START_WAIT_MAX.as_secs()
        )));
    }
    let until = Timespec {
        tv_sec: i64::try_from(start_at_ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(start_at_ns % 1_000_000_000).unwrap_or(0),
    };
    // A signal interrupts the sleep.
    while monotonic_ns() < start_at_ns && clock_nanosleep_absolute(ClockId::Monotonic, &until).is_err() {}
    Ok(())
}

/// Ten minutes: a longer wait is an error in the clock.
pub const START_WAIT_MAX: Duration = Duration::from_secs(600);

fn now_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

fn usage() -> Result<Usage, WorkerError> {
    usage_of(UsageWho::RUSAGE_SELF)
}

fn usage_of(who: UsageWho) -> Result<Usage, WorkerError> {
    getrusage(who).map_err(|error| WorkerError::Engine(format!("getrusage: {error}")))
}

fn delta(after: i64, before: i64) -> u64 {
    u64::try_from(after.saturating_sub(before)).unwrap_or(0)
}

/// The counters of /proc/self/io.
#[derive(Clone, Copy, Debug, Default)]
struct Io {
    read_chars: u64,
    write_chars: u64,
    read_calls: u64,
    write_calls: u64,
    read_bytes: u64,
    write_bytes: u64,
}

impl Io {
    /// In as many calls for each file: a buffer that grows would take more of them for longer numbers.
    fn read(path: &str) -> Result<Self, WorkerError> {
        let mut text = String::with_capacity(IO_SIZE_MAX);
        let read = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        read.map_err(WorkerError::io("read", path))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut io = Self::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(": ") else {
                continue;
            };
            let field = match name {
                "rchar" => &mut io.read_chars,
                "wchar" => &mut io.write_chars,
                "syscr" => &mut io.read_calls,
                "syscw" => &mut io.write_calls,
                "read_bytes" => &mut io.read_bytes,
                "write_bytes" => &mut io.write_bytes,
                _ => continue,
            };
            *field = value.trim().parse().unwrap_or(0);
        }
        io
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            read_chars: self.read_chars.saturating_sub(before.read_chars),
            write_chars: self.write_chars.saturating_sub(before.write_chars),
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
        }
    }
}

const OF_PROCESS: &str = "/proc/self/io";
const OF_THREAD: &str = "/proc/thread-self/io";
/// Seven lines of a name and a number of up to 20 digits.
const IO_SIZE_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_was_written_and_computed_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = std::fs::File::create(folder.path().join("a")).unwrap();
        let meter = Meter::start(Some(PageCounts { read: 5, written: 7 })).unwrap();
        file.write_all(&[1; 100_000]).unwrap();
        let until = now_ns(ClockId::ProcessCPUTime) + 2_000_000;
        while now_ns(ClockId::ProcessCPUTime) < until {}
        let reading = meter.stop().unwrap();
        let sample = reading.sample(Some(PageCounts { read: 6, written: 9 }));
        // Other tests run in this process.
        assert!(sample.write_chars >= 100_000, "{sample:?}");
        assert!(sample.write_calls >= 1);
        assert!(sample.cpu_ns >= 2_000_000, "{sample:?}");
        assert!(sample.elapsed_ns > 0 && sample.began_ns > 0);
        assert!(sample.peak_bytes.is_none_or(|bytes| bytes > 100_000), "{sample:?}");
        assert_eq!((sample.pages_read, sample.pages_written), (1, 2));
    }

    #[test]
    fn what_another_thread_reads_is_not_the_cost_of_a_reading() {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut zeros = File::open("/dev/zero").unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    zeros.read_exact(&mut [0; 65536]).unwrap();
                }
            });
            let own = (0..1000).map(|_| Meter::start(None).unwrap().own);
            let most = own.map(|own| own.read_chars).max().unwrap();
            is_over.store(true, Ordering::Relaxed);
            assert!((50..512).contains(&most), "{most}");
        });
    }

    #[test]
    fn the_lines_of_proc_self_io_are_parsed_by_name() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let io = Io::parse(text);
        let values = [
            io.read_chars,
            io.write_chars,
            io.read_calls,
            io.write_calls,
            io.read_bytes,
            io.write_bytes,
        ];
        assert_eq!(values, [1, 2, 3, 4, 5, 6]);
        let before = Io { read_chars: 9, ..io };
        assert_eq!(io.since(&before).read_chars, 0);
    }

    #[test]
    fn a_start_is_waited_for_and_one_too_far_away_refused() {
        let start = monotonic_ns() + 3_000_000;
        wait_until(start).unwrap();
        assert!(monotonic_ns() >= start);
        wait_until(0).unwrap();
        assert!(matches!(wait_until(u64::MAX), Err(WorkerError::Refused(_))));
    }
}
