//! T-SQL: lexer, parser and syntax tree, with SQL Server's errors and line numbers.
//!
//! Q1. A text in, a tree or one error out: no I/O, no names looked up, no types.
//! Q2. Nothing that a peer sends panics or recurses without bound.
#![forbid(unsafe_code)]
