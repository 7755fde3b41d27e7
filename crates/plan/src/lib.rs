//! T-SQL's tree to typed programs and SQLite's SQL.
//!
//! P1. Names are bound through a catalog that the caller gives. No I/O, no SQLite, no clock.
//! P2. An expression has one type, decided before it runs.
//! P3. What is not supported is an error that names it, never a wrong answer.
#![forbid(unsafe_code)]
