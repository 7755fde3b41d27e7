//! Predicts the cost of encryption for a system before any of it is encrypted.
//!
//! A [`Calibration`] has the cost of each [`Operation`] on one machine; an [`Observation`] has how often a production
//! system does each of them. [`predict()`] multiplies the two, and says how sure it is.
//!
//! - `no-clock-no-file`: this crate does not measure and reads no files: callers pass texts and
//!   values.
//! - `monotone`: more operations never take less CPU time in an encrypted system, and no operations take none.
//! - `refuses-beyond-range`: a prediction is refused if the machine, the page size or the load is
//!   outside of the calibration.
//! - `reproducible`: the same inputs give the same prediction, to the last digit: random draws have a fixed seed.
#![forbid(unsafe_code)]

mod bounds;
pub mod calibration;
pub mod error;
pub mod json_file;
pub mod league;
pub mod observation;
pub mod observe;
pub mod operation;
pub mod predict;
pub mod queue;
pub mod replay;

pub use calibration::{Calibration, Cipher};
pub use error::PlanError;
pub use observation::Observation;
pub use operation::{Load, Operation};
pub use predict::{Prediction, Question, predict};
