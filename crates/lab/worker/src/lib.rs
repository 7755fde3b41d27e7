//! A worker: a process with one SQLite library that works on one database and measures itself.
//!
//! A process can contain only one SQLite, so every compared engine has an executable of its own,
//! built on this crate. It is driven by one JSON object per line on standard input, and answers
//! each with one line on standard output; see [`protocol`].
//!
//! - two-readings: a measurement is the difference of two readings of the same counters in the
//!   process that did the work; nothing is taken from the engine's own reports.
//! - same-seed-same-work: the same seed makes the same rows and the same operations, whatever the
//!   engine.
#![forbid(unsafe_code)]

pub mod answer;
pub mod contract;
pub mod conversation;
pub mod dataset;
pub mod digest;
pub mod engine;
mod error;
pub mod layout;
pub mod meter;
pub mod protocol;
pub mod stock;
pub mod work;

pub use conversation::serve;
pub use engine::Engine;
pub use error::WorkerError;
