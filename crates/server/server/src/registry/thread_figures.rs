//! What the system says of a thread.

use std::fs;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

/// What a thread has cost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Figures {
    /// How often it was switched, of its own will or not.
    pub switches: u64,
    /// How long it had a processor. Of another thread that runs, this is some milliseconds old.
    pub cpu: Duration,
}

/// Keeps a thread's figures when the thread drops it: at its end.
pub struct OwnThread(pub Arc<ThreadFigures>);

/// The figures of one thread, also when it has ended.
pub struct ThreadFigures {
    id: i32,
    last: OnceLock<Figures>,
}

impl Figures {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            switches: self.switches + other.switches,
            cpu: self.cpu + other.cpu,
        }
    }
}

impl ThreadFigures {
    /// Those of the thread that calls it.
    pub fn of_this_thread() -> Arc<Self> {
        Arc::new(Self {
            id: gettid().as_raw_nonzero().get(),
            last: OnceLock::new(),
        })
    }

    /// The system's number of the thread.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// What it has cost up to now.
    pub fn load(&self) -> Figures {
        match self.last.get() {
            Some(last) => *last,
            // Where the system has no figures, or the thread has ended without leaving them: nothing.
            None => Figures {
                switches: switches(self.id).unwrap_or(0),
                cpu: cpu(self.id).unwrap_or_default(),
            },
        }
    }

    /// Keeps the figures of the thread, which is about to end and calls this itself.
    pub fn finish(&self) {
        let figures = Figures {
            switches: switches(self.id).unwrap_or(0),
            cpu: cpu_of_this_thread(),
        };
        // A second time changes nothing.
        let _ = self.last.set(figures);
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// How long the thread that calls it had a processor.
pub fn cpu_of_this_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// proc(5), /proc/PID/status: voluntary_ctxt_switches and nonvoluntary_ctxt_switches.
fn switches(id: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/self/task/{id}/status")).ok()?;
    let counts = status.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.ends_with("voluntary_ctxt_switches")
            .then(|| value.trim().parse::<u64>().ok())?
    });
    Some(counts.sum())
}

/// The first figure of schedstat: nanoseconds on a processor (Documentation/scheduler/sched-stats.rst).
fn cpu(id: i32) -> Option<Duration> {
    let schedstat = fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok()?;
    let nanos = schedstat.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}
