//! Selenite: secrets, suites, key derivation, page and slot sealing.
#![forbid(unsafe_code)]
