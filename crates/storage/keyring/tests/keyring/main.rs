//! Tests of keys through the public API.
#![cfg(test)]

mod life_of_a_database;
mod vectors;
