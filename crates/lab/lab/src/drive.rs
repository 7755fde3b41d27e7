//! Worker processes: start, requests, end.
//!
//! - processes-are-reaped: every process started here is killed and waited for, with its
//!   descendants, on every path of execution.
//! - no-retry-after-failure: a worker that failed other than by refusing gets no further requests.
//! - bounded-output: a worker's output is bounded: an answer in bytes, its standard error in lines.

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
