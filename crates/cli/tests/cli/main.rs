//! The `selenite` command, run as its users run it.

#![expect(clippy::unwrap_used, reason = "a test that can not go on has failed")]

mod bench;
mod convert;
mod exec;
mod help;
mod keys;
mod look;
