//! What went over a connection.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// Counters of one connection: its thread writes them, any thread reads them.
#[derive(Default)]
pub struct Traffic {
    reads: AtomicU64,
    bytes_read: AtomicU64,
    read_last: AtomicU64,
    packets_written: AtomicU64,
    bytes_written: AtomicU64,
    write_last: AtomicU64,
}

/// The counters at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TrafficCounts {
    /// How often bytes were read from the socket.
    pub reads: u64,
    /// Bytes on the line, TLS and its handshake included.
    pub bytes_read: u64,
    /// When: milliseconds since 1970-01-01 UTC; 0 before the first.
    pub read_last: u64,
    /// Packets of TDS.
    pub packets_written: u64,
    /// Bytes on the line, TLS and its handshake included.
    pub bytes_written: u64,
    /// When: milliseconds since 1970-01-01 UTC; 0 before the first.
    pub write_last: u64,
}

impl Traffic {
    /// Bytes were read.
    pub fn read(&self, size: usize) {
        add(&self.reads, 1);
        add(&self.bytes_read, size);
        self.read_last.store(now_millis(), Ordering::Relaxed);
    }

    /// Counts written bytes, and the packets that contained them.
    pub fn wrote(&self, packets: usize, size: usize) {
        add(&self.packets_written, packets);
        add(&self.bytes_written, size);
        self.write_last.store(now_millis(), Ordering::Relaxed);
    }

    /// All of them.
    pub fn counts(&self) -> TrafficCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TrafficCounts {
            reads: load(&self.reads),
            bytes_read: load(&self.bytes_read),
            read_last: load(&self.read_last),
            packets_written: load(&self.packets_written),
            bytes_written: load(&self.bytes_written),
            write_last: load(&self.write_last),
        }
    }
}

/// One thread writes at a time: no locked instruction is needed.
fn add(counter: &AtomicU64, count: usize) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let sum = counter.load(Ordering::Relaxed).wrapping_add(count);
    counter.store(sum, Ordering::Relaxed);
}

/// To a few milliseconds, for some nanoseconds.
fn now_millis() -> u64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    let millis = now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000);
    u64::try_from(millis).unwrap_or(0)
}
