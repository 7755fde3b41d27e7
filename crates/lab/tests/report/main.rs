//! Reports of a study that was never run.
#![forbid(unsafe_code)]

mod fixture;
mod html;
