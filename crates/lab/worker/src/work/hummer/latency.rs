//! Latencies of one kind of operation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::WorkerError;
use crate::meter::monotonic_ns;

/// A histogram of nanoseconds with three significant digits.
pub struct Latency(Histogram<u64>);

impl Latency {
    /// An empty histogram, with all of its memory allocated.
    ///
    /// # Errors
    /// None is known.
    pub fn new() -> Result<Self, WorkerError> {
        Histogram::new_with_bounds(1, HIGHEST_NS, 3)
            .map(Self)
            .map_err(|error| WorkerError::Engine(error.to_string()))
    }

    /// Measures the latency of an operation; a failed one is not recorded.
    ///
    /// # Errors
    /// The operation's.
    pub fn time<T>(&mut self, operation: impl FnOnce() -> Result<T, WorkerError>) -> Result<T, WorkerError> {
        let began = monotonic_ns();
        let done = operation()?;
        self.0.saturating_record(monotonic_ns().saturating_sub(began));
        Ok(done)
    }

    /// Encodes the histogram as V2-deflate in Base64.
    ///
    /// # Errors
    /// None is known.
    pub fn encode(&self) -> Result<String, WorkerError> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(|error| WorkerError::Engine(error.to_string()))?;
        Ok(STANDARD.encode(bytes))
    }
}

/// Ten minutes: longer than a block.
const HIGHEST_NS: u64 = 600_000_000_000;
