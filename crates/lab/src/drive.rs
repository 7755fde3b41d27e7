//! Worker processes: started, asked, ended.
//!
//! D1. Every process that was started here is killed and waited for, with whatever it started, however this ends.
//! D2. A worker that failed other than by refusing is never asked again.
//! D3. What a worker says is bounded: an answer in bytes, its standard error in lines.

mod administrator;
mod crew;
mod failure;
mod output_reader;
mod sum;
mod worker;

pub use administrator::{Administrator, Ended};
pub use crew::{Crew, CrewSample};
pub use failure::{DriveError, Failure};
pub use sum::{count, quantile};
pub use worker::{Worker, WorkerCommand};

#[cfg(test)]
mod tests;
