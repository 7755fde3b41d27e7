//! The engine by its public API, on temporary folders.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod anchor;
mod conversion;
mod key_changes;
mod keys;
mod kill;
mod locks;
mod other_process;
mod pausing;
mod support;
mod verify;
mod verify_logs;
mod verify_owners;
