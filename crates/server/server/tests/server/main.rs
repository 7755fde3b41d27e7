//! The server: its connections up to the login, and its sessions.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test asks for tokens of one kind")]

mod session;
mod transport;
