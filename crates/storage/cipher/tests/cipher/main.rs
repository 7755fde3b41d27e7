//! What the crate promises, by its public types: one executable for all.
#![cfg(test)]

mod keys;
mod known_answers;
mod page;
mod page_cipher;
