//! Instructions in user mode, where the machine counts them.

use perf_event::events::Hardware;
use perf_event::{Builder, Counter};

/// A counter of this thread, and of those it starts.
pub struct Instructions(Counter);

impl Instructions {
    /// Begins to count; nothing where the machine has no such counter, or does not let us.
    pub fn start() -> Option<Self> {
        let mut builder = Builder::new().kind(Hardware::INSTRUCTIONS);
        builder.inherit(true);
        let mut counter = builder.build().ok()?;
        counter.enable().ok()?;
        Some(Self(counter))
    }

    /// Ends to count.
    pub fn stop(mut self) -> Option<Self> {
        self.0.disable().ok()?;
        Some(self)
    }

    /// How many there were; nothing if the counter had to be shared, and so missed some.
    pub fn count(mut self) -> Option<u64> {
        let read = self.0.read_count_and_time().ok()?;
        (read.time_running == read.time_enabled && read.count > 0).then_some(read.count)
    }
}
