//! Sessions as clients meet them: over loopback, with tokens read by `selenite-tds`, and a server of the test's own.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for tokens of one kind")]

mod batches;
mod bench;
mod calls;
mod client;
mod definitions;
mod ends;
mod group_commit;
mod isolation;
mod misfits;
mod offsets;
mod options;
mod speed;
mod table_variables;
mod tables;
mod transactions;
mod views;
