//! The bytes of a backup archive outside its sealed parts (FORMAT 12).

mod archive_header;
mod facts;
mod log;
mod reader;

pub use archive_header::{ArchiveHeader, RECIPIENT_COUNT_MAX};
pub use facts::{Base, Facts, LogPosition};
pub use log::{LogEnd, LogFacts};

#[cfg(test)]
mod tests;
