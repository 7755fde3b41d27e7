//! Opens the vectors below `testdata/vectors/` that are about keys: `exported` (FORMAT 13) and `origin` (FORMAT 4.7).
#![cfg(test)]

mod exported;
mod origin;
mod vector;
