//! The planner by its public API.
#![forbid(unsafe_code)]
#![cfg(test)]

mod observe;
