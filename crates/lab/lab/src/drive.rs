//! Worker processes: started, asked, ended.
//!
//! D1. Every process that was started here is killed and waited for, with whatever it started, however this ends.
//! D2. A worker that failed other than by refusing is never asked again.
//! D3. What a worker says is bounded: an answer in bytes, its standard error in lines.

mod administrator;
mod failure;
mod output_reader;
mod sum;
mod worker;
mod worker_group;

pub use administrator::{Administrator, Ended};
pub use failure::{DriveError, Failure};
pub use sum::{count, quantile};
pub use worker::{Worker, WorkerCommand};
pub use worker_group::{GroupSample, WorkerGroup};

#[cfg(test)]
mod tests;
