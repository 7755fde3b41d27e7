//! What one login can take. A process of its own: its limits are the process's.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for tokens of one kind")]
#![cfg(target_os = "linux")]

#[path = "../session/bench.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod bench;
#[path = "../session/client.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod client;
mod descriptors;
