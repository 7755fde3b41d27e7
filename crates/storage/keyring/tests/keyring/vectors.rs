//! Opens the vectors below `testdata/vectors/` that are about keys: `exported` (FORMAT 13) and `origin` (FORMAT 4.7).

mod exported;
mod origin;
mod vector;
