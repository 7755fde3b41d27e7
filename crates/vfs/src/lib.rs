//! Selenite: the SQLite VFS that seals what it writes.
#![deny(unsafe_code)]

pub mod ffi;
