//! Statements that a machine leaves to its host.

use std::sync::Arc;

use selenite_compiler::program::{Program, StatementId};
use selenite_tsql::ast;

/// A statement that is not scalar.
#[derive(Clone, Copy, Debug)]
pub struct TableStatement<'a> {
    /// Its program: what is bound may be kept by it and `id`, until a schema changes.
    pub program: &'a Arc<Program>,
    /// Its number in the program.
    pub id: StatementId,
    /// What was written, or what [`selenite_compiler::program`] made of it.
    pub statement: &'a ast::Statement,
}

impl TableStatement<'_> {
    /// The line of the batch or procedure on which it begins.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.statement.position.line
    }
}
