//! Tests of the crate's public API, in one executable.
#![cfg(test)]

mod keys;
mod known_answers;
mod page;
mod page_cipher;
