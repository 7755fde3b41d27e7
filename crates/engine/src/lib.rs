//! Selenite: create, encrypt, decrypt, keys, verify, status.
#![forbid(unsafe_code)]
