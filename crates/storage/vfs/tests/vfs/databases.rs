//! Encrypted databases on real files, by the SQLite that is linked.

mod bad_input;
mod expected;
mod key_changes;
mod lock_place;
mod origin;
mod parameters;
mod pins;
mod replaced;
mod shared_cache;
mod suites;
mod workbench;
