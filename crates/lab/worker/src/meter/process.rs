//! The counters of another process, before and after work: of a server, which works while its
//! client waits.
//!
//! - clocks-innermost: clocks are read last before the work and first after it, as in the meter of
//!   this process.
//! - ended-threads-are-lost: context switches of threads that ended in between are lost. A
//!   session's threads live as long as its connection.

use std::fs;

use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;

use super::monotonic_ns;
use crate::WorkerError;
use crate::protocol::Sample;

/// A reading before the work.
#[derive(Debug)]
pub struct ProcessMeter {
    process: u32,
    clock: ClockId,
    before: Counts,
    cpu_ns: u64,
    began_ns: u64,
}

/// Counters, summed over all threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    switches_voluntary: u64,
    switches_involuntary: u64,
    faults_minor: u64,
    faults_major: u64,
    user_ticks: u64,
    system_ticks: u64,
}

impl ProcessMeter {
    /// Reads all counters of a process of this user.
    ///
    /// # Errors
    /// [`WorkerError::Engine`] if the process has ended, or must not be inspected by this user.
    pub fn start(process: u32) -> Result<Self, WorkerError> {
        let pid =
            i32::try_from(process).map_err(|_| WorkerError::Engine("a process number out of range".to_owned()))?;
        let clock = clock_getcpuclockid(Pid::from_raw(pid)).map_err(|error| gone(process, &error))?;
        Ok(Self {
            process,
            clock,
            before: Counts::read(process)?,
            cpu_ns: cpu_ns(clock, process)?,
            began_ns: monotonic_ns(),
        })
    }

    /// The differences since the start. Memory, bytes and fields that only the work knows are
    /// empty.
    ///
    /// # Errors
    /// As for [`ProcessMeter::start`].
    pub fn stop(self) -> Result<Sample, WorkerError> {
        let ended_ns = monotonic_ns();
        let cpu_ns = cpu_ns(self.clock, self.process)?;
        let (before, after) = (self.before, Counts::read(self.process)?);
        Ok(Sample {
            began_ns: self.began_ns,
            elapsed_ns: ended_ns.saturating_sub(self.began_ns),
            cpu_ns: cpu_ns.saturating_sub(self.cpu_ns),
            user_ns: after.user_ticks.saturating_sub(before.user_ticks) * TICK_NS,
            system_ns: after.system_ticks.saturating_sub(before.system_ticks) * TICK_NS,
            switches_voluntary: after.switches_voluntary.saturating_sub(before.switches_voluntary),
            switches_involuntary: after.switches_involuntary.saturating_sub(before.switches_involuntary),
            faults_minor: after.faults_minor.saturating_sub(before.faults_minor),
            faults_major: after.faults_major.saturating_sub(before.faults_major),
            ..Sample::default()
        })
    }
}

impl Counts {
    fn read(process: u32) -> Result<Self, WorkerError> {
        let path = format!("/proc/{process}/stat");
        let stat = fs::read_to_string(&path).map_err(WorkerError::io("read", &path))?;
        let mut counts = Self::of_stat(&stat);
        let path = format!("/proc/{process}/task");
        let threads = fs::read_dir(&path).map_err(WorkerError::io("read", &path))?;
        for thread in threads.flatten() {
            // A thread that has just ended has no status any more.
            if let Ok(status) = fs::read_to_string(thread.path().join("status")) {
                counts.switches_voluntary += named(&status, "voluntary_ctxt_switches");
                counts.switches_involuntary += named(&status, "nonvoluntary_ctxt_switches");
            }
        }
        Ok(counts)
    }

    /// Fields 10, 12, 14 and 15 of proc_pid_stat(5). The name before them may contain any
    /// character; it ends with the last `)`.
    fn of_stat(stat: &str) -> Self {
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let field = |number: usize| {
            let field = fields.split_ascii_whitespace().nth(number - 3);
            field.and_then(|field| field.parse().ok()).unwrap_or(0)
        };
        Self {
            faults_minor: field(10),
            faults_major: field(12),
            user_ticks: field(14),
            system_ticks: field(15),
            ..Self::default()
        }
    }
}

fn named(status: &str, name: &str) -> u64 {
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(key, _)| *key == name);
    found.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

fn cpu_ns(clock: ClockId, process: u32) -> Result<u64, WorkerError> {
    let now = clock.now().map_err(|error| gone(process, &error))?;
    let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
    Ok(seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec()).unwrap_or(0)))
}

fn gone(process: u32, error: &dyn std::fmt::Display) -> WorkerError {
    WorkerError::Engine(format!("the clock of process {process}: {error}"))
}

/// Linux reports these in hundredths of a second (USER_HZ), whatever the kernel's own tick is.
const TICK_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_another_process_is_measured() {
        let mut child = std::process::Command::new("sh")
            .args([
                "-c",
                "read begin; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read end",
            ])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let meter = ProcessMeter::start(child.id()).unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        let mut said = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        // Its last read blocks, because it gets no answer: sooner or later it yields its processor.
        while Counts::read(child.id()).unwrap().switches_voluntary <= meter.before.switches_voluntary {
            std::thread::yield_now();
        }
        let sample = meter.stop().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(&said, b"done\n");
        assert!(sample.cpu_ns > 100_000, "{sample:?}");
        assert!(sample.elapsed_ns > 0 && sample.switches_voluntary >= 1, "{sample:?}");
        assert!(ProcessMeter::start(u32::MAX).is_err());
    }

    #[test]
    fn fields_are_counted_behind_a_name_of_any_kind() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 70 8 90 10 110 120 13";
        let counts = Counts::of_stat(stat);
        assert_eq!(
            [
                counts.faults_minor,
                counts.faults_major,
                counts.user_ticks,
                counts.system_ticks
            ],
            [70, 90, 110, 120]
        );
        assert_eq!(
            named(
                "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n",
                "nonvoluntary_ctxt_switches"
            ),
            6
        );
    }
}
