//! MS-TDS as bytes: packets, PRELOGIN, LOGIN7, requests, tokens and values.
//!
//! D1. Bytes in, bytes out: no socket, clock or source of randomness.
//! D2. Nothing that a peer sends panics or is held beyond a named limit.
#![forbid(unsafe_code)]
