//! The lab by its public API.
#![forbid(unsafe_code)]
#![cfg(test)]

mod empty_pool;
mod report;
