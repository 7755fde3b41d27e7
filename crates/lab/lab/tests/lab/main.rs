//! Tests of the lab's public API.
#![forbid(unsafe_code)]
#![cfg(test)]

mod empty_pool;
mod report;
