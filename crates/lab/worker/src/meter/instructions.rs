//! Instructions in user mode, where the machine can count them.

use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// A counter of this thread, and of the threads that it starts.
pub struct Instructions(Counter);

impl Instructions {
    /// Starts counting; none if the machine has no such counter, or denies access to it.
    pub fn start() -> Option<Self> {
        let mut builder = Builder::new().kind(Hardware::INSTRUCTIONS);
        builder.inherit(true);
        let mut counter = builder.build().ok()?;
        counter.enable().ok()?;
        Some(Self(counter))
    }

    /// Stops counting.
    pub fn stop(mut self) -> Option<Self> {
        self.0.disable().ok()?;
        Some(self)
    }

    /// The number of instructions; none if the counter was shared, and so missed some.
    pub fn count(mut self) -> Option<u64> {
        let read = self.0.read_count_and_time().ok()?;
        (read.time_running == read.time_enabled && read.count > 0).then_some(read.count)
    }
}
