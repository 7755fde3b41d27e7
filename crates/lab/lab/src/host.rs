//! The machine that a study runs on: its properties, and its load.
//!
//! - missing-is-left-out: facts that a machine or a container does not provide are omitted, never
//!   an error: all are read from files that may be missing, by parsers that take their text.

mod counters;
mod facts;
mod sampler;

pub use facts::facts;
pub use sampler::{HostSampler, HostWindow};
pub use selenite_doctor::{Processor, Source};

pub(crate) use counters::CpuTimes;
pub(crate) use facts::{LOAD_MAX, governors, load, perf_counters};
