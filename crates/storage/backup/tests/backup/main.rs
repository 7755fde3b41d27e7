//! Backups by the public API.
#![cfg(test)]

mod reading;
mod vectors;
