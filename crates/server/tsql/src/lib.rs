//! T-SQL: lexer, parser and syntax tree, with SQL Server's errors and line numbers.
//!
//! - `text-in-tree-out`: a text in, a tree or one error out: no I/O, no name resolution, no types.
//! - `bounded-recursion`: no input from a peer causes a panic or unbounded recursion.
//! - `trees-print-as-they-parse`: a tree prints as T-SQL that parses to the same tree, except for
//!   positions.
#![forbid(unsafe_code)]

pub mod ast;
mod batch;
mod error;
mod keyword;
mod lexer;
mod parameterize;
mod parser;
mod print;
mod token;

pub use batch::{Batch, split_batches};
pub use error::SyntaxError;
pub use keyword::is_reserved;
pub use parameterize::{Constant, Parameterized, parameterized};
pub use parser::{Options, UserTypes, parse, parse_typed, parse_while};
pub use print::{stored_condition, stored_expression, stored_filter};

/// 4,096 tokens: about 100 us, and less than 1 MiB of a tree.
pub(crate) const TOKENS_BETWEEN_POLLS: usize = 4096;

/// The maximum depth of a tree: 500, so that a traversal with 2 KiB per level needs half of a 2 MiB stack.
pub const DEPTH_MAX: u32 = 500;
