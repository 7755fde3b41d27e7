//! Reports of a study, for people and for programs: views of a [`Summary`](crate::summary::Summary).
//!
//! - views-compute-nothing: a view computes no figures: they are in the summary, so that all views
//!   agree.
//! - no-verdict-without-basis: a study that cannot support a verdict shows none, and states the
//!   reason before anything else.
//! - ratio-with-both-sides: a ratio is always (encrypted - plain) / plain, and both are shown.

mod control;
pub mod csv;
pub mod html;
pub mod json;
pub mod markdown;
pub(crate) mod number;
pub mod observatory;
mod phases;
pub mod plan;
mod published;
mod resources;
mod scale;
mod sentence;
mod svg;
pub mod terminal;
pub mod transit;

pub(crate) use number::{bytes, interval, minutes, share};
pub use number::{estimate, percent};
pub(crate) use sentence::ending;
pub use sentence::metric;
