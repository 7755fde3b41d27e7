//! The machine a study runs on: what it is, and what it was doing.
//!
//! - missing-is-left-out: what a machine or a container does not tell is left out, never an error:
//!   all is read from files that may be missing, by parsers that take their text.

mod counters;
mod device;
mod facts;
mod processor;
mod sampler;
mod source;

pub use facts::facts;
pub use processor::Processor;
pub use sampler::{HostSampler, HostWindow};
pub use source::Source;

pub(crate) use counters::CpuTimes;
pub(crate) use facts::{LOAD_MAX, governors, load, perf_counters};
