//! T-SQL: lexer, parser and syntax tree, with SQL Server's errors and line numbers.
//!
//! - `text-in-tree-out`: a text in, a tree or one error out: no I/O, no names looked up, no types.
//! - `bounded-recursion`: nothing that a peer sends causes a panic or unbounded recursion.
//! - `trees-print-as-they-parse`: a tree prints as T-SQL that parses to the same tree, positions
//!   aside.
#![forbid(unsafe_code)]

pub mod ast;
mod batch;
mod error;
mod keyword;
mod lexer;
mod parser;
mod print;
mod token;

pub use batch::{Batch, split_batches};
pub use error::SyntaxError;
pub use keyword::is_reserved;
pub use parser::{Options, parse, parse_while};

/// 4,096 tokens: some 100 us, and less than a MiB of a tree.
pub(crate) const TOKENS_BETWEEN_LOOKS: usize = 4096;

/// The most levels that a tree has: 500, so that a walk that takes 2 KiB for a level needs half of a stack of 2 MiB.
pub const DEPTH_MAX: u32 = 500;
