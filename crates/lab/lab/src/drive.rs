//! Worker processes: started, asked, ended.
//!
//! - processes-are-reaped: every process that was started here is killed and waited for, with
//!   whatever it started, however this ends.
//! - no-retry-after-failure: a worker that failed other than by refusing is never asked again.
//! - bounded-output: what a worker says is bounded: an answer in bytes, its standard error in
//!   lines.

mod administrator;
mod failure;
mod line_printer;
mod output_reader;
mod sum;
mod worker;
mod worker_group;

pub use administrator::{Administrator, Ended};
pub use failure::{DriveError, Failure};
pub use line_printer::{LinePrinter, PrintedLine};
pub use sum::{count, quantile};
pub use worker::{Worker, WorkerCommand};
pub use worker_group::{GroupSample, WorkerGroup};

#[cfg(test)]
mod tests;
