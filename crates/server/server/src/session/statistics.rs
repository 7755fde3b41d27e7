//! SET STATISTICS TIME.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use selenite_runtime::machine::Stop;
use selenite_tds::{Done, DoneKind};

use crate::reply::Reply;

/// Measures what each statement takes: the processor's time of the session's own thread, and the time that passes.
pub(crate) struct Stopwatch {
    cpu: Duration,
    since: Instant,
}

impl Stopwatch {
    /// From now on.
    pub fn start() -> Self {
        Self {
            cpu: thread_cpu(),
            since: Instant::now(),
        }
    }

    /// Message 3612, before the DONE of a statement; the next one begins.
    pub fn send(&mut self, done: &Done, reply: &mut Reply) -> Result<(), Stop> {
        if done.kind == DoneKind::Procedure {
            return Ok(());
        }
        let (cpu_ms, elapsed_ms) = self.lap();
        let text =
            format!("\n SQL Server Execution Times:\n   CPU time = {cpu_ms} ms,  elapsed time = {elapsed_ms} ms.");
        reply.info(3612, &text, 1)
    }

    /// Message 3613: what it took until the first statement could begin.
    pub fn send_compiled(&mut self, reply: &mut Reply) -> Result<(), Stop> {
        let (cpu_ms, elapsed_ms) = self.lap();
        let text =
            format!("SQL Server parse and compile time: \n   CPU time = {cpu_ms} ms, elapsed time = {elapsed_ms} ms.");
        reply.info(3613, &text, 1)
    }

    /// Milliseconds since the last time.
    fn lap(&mut self) -> (u128, u128) {
        let now = Self::start();
        let cpu = now.cpu.saturating_sub(self.cpu).as_millis();
        let elapsed = now.since.saturating_duration_since(self.since).as_millis();
        *self = now;
        (cpu, elapsed)
    }
}

fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}
