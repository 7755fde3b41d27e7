//! The bytes of a backup archive outside its sealed parts (FORMAT 12).

mod begun;
mod facts;
mod log;
mod reader;

pub use begun::{Begun, RECIPIENT_COUNT_MAX};
pub use facts::{Base, Facts, LogPosition};
pub use log::{LogEnd, LogFacts};

#[cfg(test)]
mod tests;
