//! Procedural code, compiled: variables in typed slots, control flow as jumps, scalar statements as steps.
//!
//! - `program-is-immutable`: a program never changes and holds no value that a run computes: it is
//!   cached by its text and shared between threads.
//! - `scalar-errors-before-running`: errors in variables and types of scalar statements are found
//!   before anything runs; names of tables are not looked up.
//! - `one-slot-per-variable`: a variable has one slot for the whole batch, and is known only after
//!   its DECLARE in the text.
//! - `subquery-makes-a-table-statement`: a subquery in a scalar statement makes it a statement on
//!   tables: `SET @a = (SELECT ..)` becomes `SELECT @a = (SELECT ..)`, and `IF EXISTS (..)` tests a
//!   variable that no batch can name.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::DataType;

use crate::{Expr, Slot, SqlError, Variables};

mod command;
mod compiler;
mod error;
pub mod step;

pub use command::Command;
use compiler::Compiler;
use step::{Role, Step, Target, TryRegion};

/// A batch, a procedure's body or a text of EXEC, ready to run.
#[derive(Debug)]
pub struct Program {
    body: Body,
    source: Arc<str>,
    variables: Variables,
    parameters: Vec<Parameter>,
    statements: Vec<ast::Statement>,
    steps: Vec<Step>,
    /// The line of each step.
    lines: Vec<u32>,
    /// Inner ones before those around them.
    tries: Vec<TryRegion>,
    /// What its maker has measured; 0 until then.
    memory_size: u64,
}

/// What a program was made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A batch, or a text of EXEC or sp_executesql.
    Batch,
    /// A procedure.
    Procedure {
        /// Its name as messages and ERROR_PROCEDURE show it.
        name: Arc<str>,
        /// Its number: `@@PROCID`.
        object_id: i32,
    },
}

/// A parameter of a procedure or of sp_executesql.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name, with its sign.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Where its value is.
    pub slot: Slot,
    /// What it is if it is not given: a constant.
    pub default: Option<Expr>,
    /// Whether its value may come back.
    pub is_output: bool,
}

/// A statement's number in its program, by which a host keeps what it bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatementId(pub u32);

impl Program {
    /// How many bytes of memory it takes, as far as that was measured.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        self.memory_size
    }

    /// The same program, which takes so many bytes of memory.
    #[must_use]
    pub fn with_memory_size(mut self, bytes: u64) -> Self {
        self.memory_size = bytes;
        self
    }

    /// Compiles a batch, or the text of an EXEC; `source` is the text that was parsed.
    ///
    /// Errors: all that is wrong with its variables and scalar statements, in order of the text; at least one.
    pub fn of_batch(source: &str, tree: ast::Tree) -> Result<Self, Vec<SqlError>> {
        Self::of_text(source, tree, &[])
    }

    /// Compiles a text that has parameters: that of sp_executesql and related ones.
    ///
    /// Errors: as [`Program::of_batch`].
    pub fn of_text(source: &str, tree: ast::Tree, parameters: &[ast::Parameter]) -> Result<Self, Vec<SqlError>> {
        let mut compiler = Compiler::new(source, false);
        compiler.parameters(parameters);
        compiler.statements(tree.statements);
        compiler.finish(Body::Batch)
    }

    /// Compiles a procedure's body; `source` is the batch that creates it.
    ///
    /// Errors: as [`Program::of_batch`].
    pub fn of_procedure(
        source: &str,
        procedure: &ast::Procedure,
        name: &str,
        object_id: i32,
    ) -> Result<Self, Vec<SqlError>> {
        let mut compiler = Compiler::new(source, true);
        compiler.parameters(&procedure.parameters);
        compiler.statements(procedure.body.clone());
        let name = Arc::from(name);
        compiler.finish(Body::Procedure { name, object_id })
    }

    /// What it was made of.
    #[must_use]
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The text that positions of its statements are in.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its variables, hidden ones included.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Its parameters in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// How many statements it leaves to the host: their [`StatementId`]s are below.
    #[must_use]
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }

    /// A statement that is left to the host.
    #[must_use]
    pub fn statement(&self, id: StatementId) -> Option<&ast::Statement> {
        self.statements.get(index(id.0))
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The line of a step; 0 if it has none.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.get(at).copied().unwrap_or(0)
    }

    /// Where to continue after a statement that failed at a step.
    pub fn behind(&self, at: usize) -> usize {
        let end = match self.steps.get(at) {
            Some(Step::Branch(branch)) => branch.end,
            Some(Step::BranchInt(branch)) => branch.general.end,
            Some(Step::Statement {
                role: Role::Condition { end, .. },
                ..
            }) => *end,
            _ => return at + 1,
        };
        index(end)
    }

    /// The innermost TRY around a step.
    pub fn try_around(&self, at: usize) -> Option<&TryRegion> {
        self.tries
            .iter()
            .find(|region| (index(region.start)..index(region.end)).contains(&at))
    }

    /// The procedure's name; none of a batch.
    pub fn procedure_name(&self) -> Option<&Arc<str>> {
        match &self.body {
            Body::Procedure { name, .. } => Some(name),
            Body::Batch => None,
        }
    }
}

/// The number of a step or statement as an index.
pub fn index(number: Target) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
