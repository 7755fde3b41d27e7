//! Encrypted databases on real files, with the linked SQLite.

mod bad_input;
mod expected;
mod fixture;
mod key_changes;
mod lock_byte_page;
mod origin;
mod parameters;
mod pins;
mod replaced;
mod shared_cache;
mod suites;
