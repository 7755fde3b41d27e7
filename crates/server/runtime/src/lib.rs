//! Executes the compiler's programs and statements.
#![forbid(unsafe_code)]

pub mod change;
mod changed_rows;
pub mod execution;
pub mod machine;
pub mod sqlite;
pub mod statement;
#[cfg(test)]
mod testing;
pub mod user_function;
