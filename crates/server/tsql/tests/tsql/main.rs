//! The parser against texts of every kind: one executable for all.
#![cfg(test)]

mod definitions;
mod errors;
mod limits;
mod random;
mod round_trip;
mod sources;
mod statements;
mod trees;
mod unsupported;
