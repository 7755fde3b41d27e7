//! Compiled procedural code: variables in typed slots, control flow as jumps, scalar statements as steps.
//!
//! - `program-is-immutable`: a program never changes and contains no values of an execution: it is
//!   cached by its text and shared between threads.
//! - `scalar-errors-before-running`: errors in variables and types of scalar statements are found
//!   before anything runs; names of tables are not resolved.
//! - `one-slot-per-variable`: a variable has one slot for the whole batch, and is in scope only after
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
mod cursor_rule;
mod error;
mod plan_form;
pub mod step;

pub use command::Command;
use compiler::{Compiler, Returns, result_type};
pub use cursor_rule::{CursorRule, CursorSensitivity};
pub use plan_form::PlanForm;
use step::{Role, Step, Target, TryRegion};

/// A batch, a procedure's body or dynamic SQL, ready to run.
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
    spans: Vec<StatementSpan>,
    /// Inner regions before the outer ones.
    tries: Vec<TryRegion>,
    /// The type of a scalar function's value.
    returned_type: Option<DataType>,
    /// Whose rights a procedure, function or trigger has.
    execute_as: ast::ModuleContext,
    /// The measured size; 0 until it is set.
    memory_size: u64,
}

/// The origin of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// A batch, or the text of EXEC or sp_executesql.
    Batch,
    /// A procedure.
    Procedure {
        /// The name in messages and ERROR_PROCEDURE.
        name: Arc<str>,
        /// The object id: `@@PROCID`.
        object_id: i32,
    },
}

/// A parameter of a procedure or of sp_executesql.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The name with its `@`.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// The slot of its value.
    pub slot: Slot,
    /// The default: a constant.
    pub default: Option<Expr>,
    /// Whether it is an OUTPUT parameter.
    pub is_output: bool,
    /// The table type of a table-valued parameter: its slot has no value, and its type says nothing.
    pub table: Option<Arc<ast::TableType>>,
    /// Whether it is a cursor: its slot has no value, and its type says nothing.
    pub is_cursor: bool,
}

/// A statement of the text, whether or not it has a step of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementSpan {
    /// Its first step; that of the next statement if it has none.
    pub step: Target,
    /// Its place in the text.
    pub position: ast::Position,
}

/// A statement's number in its program, the key of the host's bound statements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatementId(pub u32);

impl Program {
    /// Whose rights a procedure, function or trigger has.
    #[must_use]
    pub fn execute_as(&self) -> &ast::ModuleContext {
        &self.execute_as
    }

    fn with_context(mut self, execute_as: Option<&ast::ModuleContext>) -> Self {
        self.execute_as = execute_as.cloned().unwrap_or(ast::ModuleContext::Caller);
        self
    }

    /// The size in memory in bytes; 0 if it was not measured.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        self.memory_size
    }

    /// Sets the size in memory.
    #[must_use]
    pub fn with_memory_size(mut self, bytes: u64) -> Self {
        self.memory_size = bytes;
        self
    }

    /// Compiles a batch, or the text of an EXEC; `source` is the text that was parsed.
    ///
    /// Errors: all errors of its variables and scalar statements, in order of the text; at least one.
    pub fn of_batch(source: &str, tree: ast::Tree) -> Result<Self, Vec<SqlError>> {
        Self::of_text(source, tree, &[])
    }

    /// Compiles a text with parameters: that of sp_executesql and related procedures.
    ///
    /// Errors: as [`Program::of_batch`].
    pub fn of_text(source: &str, tree: ast::Tree, parameters: &[ast::Parameter]) -> Result<Self, Vec<SqlError>> {
        let mut compiler = Compiler::new(source, Returns::Nothing);
        compiler.parameters(parameters);
        compiler.is_one_option = matches!(tree.statements.as_slice(), [one] if is_option(one));
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
        let mut compiler = Compiler::new(source, Returns::Status);
        compiler.parameters(&procedure.parameters);
        compiler.statements(procedure.body.clone());
        let name = Arc::from(name);
        let program = compiler.finish(Body::Procedure { name, object_id })?;
        Ok(program.with_context(procedure.execute_as.as_ref()))
    }

    /// Compiles the body of a function; `source` is the batch that creates it.
    ///
    /// Errors: as [`Program::of_batch`]; 443, 444, 455 and 1075 for what a function may not do; 8624 for an inline
    /// function, which has no body.
    pub fn of_function(
        source: &str,
        function: &ast::Function,
        name: &str,
        object_id: i32,
    ) -> Result<Self, Vec<SqlError>> {
        let returns = match &function.body {
            ast::FunctionBody::Scalar { returns, .. } => Returns::Value(result_type(returns)?),
            ast::FunctionBody::Table { .. } => Returns::Rows,
            ast::FunctionBody::Inline(_) => return Err(vec![SqlError::internal("a body of an inline function")]),
        };
        let mut compiler = Compiler::new(source, returns);
        compiler.parameters(&function.parameters);
        compiler.function_body(function);
        let name = Arc::from(name);
        let program = compiler.finish(Body::Procedure { name, object_id })?;
        Ok(program.with_context(function.execute_as.as_ref()))
    }

    /// Compiles a trigger's body; `source` is the batch that creates it.
    ///
    /// Errors: as [`Program::of_batch`].
    pub fn of_trigger(source: &str, trigger: &ast::Trigger, name: &str, object_id: i32) -> Result<Self, Vec<SqlError>> {
        let mut compiler = Compiler::new(source, Returns::Nothing);
        compiler.statements(trigger.body.clone());
        let name = Arc::from(name);
        let program = compiler.finish(Body::Procedure { name, object_id })?;
        Ok(program.with_context(trigger.execute_as.as_ref()))
    }

    /// The parameters of a function, which may have no program.
    ///
    /// Errors: as [`Program::of_batch`].
    pub fn parameters_of(parameters: &[ast::Parameter]) -> Result<Vec<Parameter>, Vec<SqlError>> {
        let mut compiler = Compiler::new("", Returns::Nothing);
        compiler.parameters(parameters);
        compiler.finish(Body::Batch).map(|program| program.parameters)
    }

    /// The type of the value of a scalar function; `None` for any other program.
    #[must_use]
    pub fn returned_type(&self) -> Option<DataType> {
        self.returned_type
    }

    /// The origin of the program.
    #[must_use]
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The source text, to which positions of its statements refer.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The variables, including hidden ones.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Its parameters in order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The number of statements that the host executes: their [`StatementId`]s are below.
    #[must_use]
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }

    /// A statement that the host executes.
    #[must_use]
    pub fn statement(&self, id: StatementId) -> Option<&ast::Statement> {
        self.statements.get(index(id.0))
    }

    /// The steps in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The statements in the order of the text: one is followed by those that it contains.
    #[must_use]
    pub fn spans(&self) -> &[StatementSpan] {
        &self.spans
    }

    /// Whether it is SET SHOWPLAN_ALL, SHOWPLAN_TEXT or SHOWPLAN_XML, which are alone in their batch.
    #[must_use]
    pub fn sets_plans(&self) -> bool {
        matches!(self.steps.first(), Some(Step::SetOption { option, .. }) if PlanForm::is_in(option))
    }

    /// The line of a step; 0 if it has none.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.get(at).copied().unwrap_or(0)
    }

    /// The step at which execution continues after a statement that failed at step `at`.
    pub fn step_after_failure(&self, at: usize) -> usize {
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

    /// The procedure's name; `None` for a batch.
    pub fn procedure_name(&self) -> Option<&Arc<str>> {
        match &self.body {
            Body::Procedure { name, .. } => Some(name),
            Body::Batch => None,
        }
    }
}

fn is_option(statement: &ast::Statement) -> bool {
    matches!(statement.kind, ast::StatementKind::SetOption(_))
}

/// The number of a step or statement as an index.
pub fn index(number: Target) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
