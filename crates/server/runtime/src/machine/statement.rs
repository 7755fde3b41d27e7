//! Statements that the host executes.

use std::sync::Arc;

use selenite_compiler::program::{Program, StatementId};
use selenite_tsql::ast;

/// A statement that is not scalar.
#[derive(Clone, Copy, Debug)]
pub struct TableStatement<'a> {
    /// The program: a host may cache the bound statement by it and `id`, until a schema changes.
    pub program: &'a Arc<Program>,
    /// The number in the program.
    pub id: StatementId,
    /// The statement as written, or as [`selenite_compiler::program`] rewrote it.
    pub statement: &'a ast::Statement,
}

impl TableStatement<'_> {
    /// The line of the batch or procedure on which it begins.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.statement.position.line
    }
}
