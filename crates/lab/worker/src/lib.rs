//! A worker: a process that has one SQLite library in it, works on one database, and measures itself.
//!
//! One process can hold one SQLite, so every engine that is compared has an executable of its own around this crate. It
//! is driven by one JSON object per line on standard input, and answers each with one line on standard output; see
//! [`protocol`].
//!
//! - two-readings: what is measured lies between two readings of the same counters in the process
//!   that did it; nothing is read from the engine's own claims.
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
