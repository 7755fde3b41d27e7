//! The engine by its public API, on temporary folders.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod conversion;
mod keys;
mod kill;
mod locks;
mod pausing;
mod support;
mod verify;
