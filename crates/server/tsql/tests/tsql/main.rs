//! Tests of the parser, as one executable.
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
