//! Tests of backups through the public API.
#![cfg(test)]

mod reading;
#[cfg(feature = "s3")]
mod store;
mod vectors;
