//! Checks of a machine: its processor, memory, file systems, and the programs that can load the
//! extension.
//!
//! - missing-is-left-out: facts that a machine or a container does not provide are omitted, never
//!   an error.
//! - facts-are-given: a check takes its facts as values, or reads them below a [`Source`], so that
//!   tests cover machines that they do not run on.
//! - nothing-is-changed: a check writes no file; a program that it runs ends within a time limit.
#![forbid(unsafe_code)]

mod check;
pub mod elf;
pub mod extension;
pub mod files;
pub mod host;
pub mod machine;
mod mount;
mod processor;
mod source;

pub use check::{Check, Verdict, worst};
pub use mount::Mount;
pub use processor::{Processor, mean};
pub use source::Source;
