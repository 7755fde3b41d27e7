//! The frames that run, and what is their own: a batch, and the procedures and texts that it called.
//!
//! - `table-variables-per-frame`: table variables are visible in their own frame only.
//! - `temporary-tables-end-with-their-frame`: a temporary table is dropped when the procedure or
//!   text that made it ends; one that a batch made stays until the session ends.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{NameKey, SqlError};
use selenite_runtime::machine::FrameKind;

use crate::catalog::running_module::RunningModule;
use crate::catalog::table_variables::{KeptRows, TableVariable, Variables};
use crate::database::transaction::Transaction;

/// The frames that run, outermost first.
#[derive(Default)]
pub struct Frames(Vec<Frame>);

/// What belongs to one frame.
pub struct Frame {
    /// A batch, procedure or text.
    pub kind: FrameKind,
    /// What it runs.
    pub program: Arc<Program>,
    /// The procedure or trigger of that (`module-of-its-frame`).
    pub module: RunningModule,
    /// The caller's database, if it is another one.
    pub before: Option<i32>,
    /// The database in use when it began.
    pub database: i32,
    /// Its table variables.
    pub variables: Arc<Variables>,
    /// Temporary tables that it made.
    pub temporary: Vec<String>,
    /// What IDENTITY_INSERT was when it began.
    pub identity_insert: Option<IdentityInsert>,
    /// The number of the trigger.
    pub trigger: Option<i32>,
    /// How many security contexts there were before it, and once it had begun.
    pub contexts: (usize, usize),
}

/// The table for which numbers may be given explicitly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdentityInsert {
    /// Its database; `None` for a temporary table, which belongs to the session in any database.
    pub database_id: Option<i32>,
    /// Its number.
    pub object_id: i32,
    /// As messages show it.
    pub name: String,
}

impl Frames {
    /// The table variables that a statement can name now.
    pub fn variables(&self) -> Arc<Variables> {
        self.0.last().map(|frame| frame.variables.clone()).unwrap_or_default()
    }

    /// The module that runs: in its schema it looks for others.
    pub fn module(&self) -> RunningModule {
        self.0.last().map(|frame| frame.module.clone()).unwrap_or_default()
    }

    /// The module of a program that runs.
    pub fn module_of(&self, program: &Arc<Program>) -> RunningModule {
        let mut running = self.0.iter().rev();
        let found = running.find(|frame| Arc::ptr_eq(&frame.program, program));
        found.map(|frame| frame.module.clone()).unwrap_or_default()
    }

    /// The database in use when the running frame began, if it is in use again when that ends: what USE does in a text
    /// ends with the text.
    pub fn begun_in(&self) -> Option<i32> {
        let frame = self.0.last().filter(|frame| frame.kind != FrameKind::Batch);
        frame.map(|frame| frame.database)
    }

    /// Distinguishes bound statements of one depth from those of another; 0 where there is no table variable.
    pub fn mark(&self) -> usize {
        match self.0.last() {
            Some(frame) if !frame.variables.is_empty() => self.0.len(),
            Some(_) | None => 0,
        }
    }

    /// Protects a table-valued parameter of the running frame, whose rows are there.
    pub fn protect(&mut self, name: &NameKey) {
        if let Some(frame) = self.0.last_mut()
            && let Some(variable) = Arc::make_mut(&mut frame.variables).get_mut(name)
        {
            *variable = Arc::new(variable.protected());
        }
    }

    /// The number of the innermost trigger that runs.
    pub fn trigger(&self) -> Option<i32> {
        self.0.iter().rev().find_map(|frame| frame.trigger)
    }

    /// Whether the running frame is a trigger's.
    pub fn is_trigger(&self) -> bool {
        self.0.last().is_some_and(|frame| frame.kind == FrameKind::Trigger)
    }

    /// Whether the running frame is a batch.
    pub fn is_batch(&self) -> bool {
        self.0.last().is_none_or(|frame| frame.kind == FrameKind::Batch)
    }

    /// How many security contexts there were when the running frame had begun; those of a batch stay for the next one.
    pub fn contexts(&self) -> usize {
        let frame = self.0.last().filter(|frame| frame.kind != FrameKind::Batch);
        frame.map_or(0, |frame| frame.contexts.1)
    }

    /// How many there were before the innermost procedure, function or trigger; for a batch, and texts in it, those that
    /// there are: `None`, as for a text of EXECUTE (..) AS, whose caller may do more than it.
    pub fn contexts_of_caller(&self) -> Option<usize> {
        let is_border = |frame: &&Frame| match frame.kind {
            FrameKind::Procedure | FrameKind::Trigger => true,
            FrameKind::Text => frame.contexts.0 < frame.contexts.1,
            FrameKind::Batch => false,
        };
        let border = self.0.iter().rev().find(is_border)?;
        (border.kind != FrameKind::Text).then_some(border.contexts.0)
    }

    /// The number of frames.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// A frame begins.
    pub fn begin(&mut self, frame: Frame) {
        self.0.push(frame);
    }

    /// The frame that began last ends.
    pub fn end(&mut self) -> Option<Frame> {
        self.0.pop()
    }

    /// Notes that the running frame has made a temporary table.
    pub fn note_temporary(&mut self, name: &str) {
        if let Some(frame) = self.0.last_mut()
            && frame.kind != FrameKind::Batch
        {
            frame.temporary.push(name.to_owned());
        }
    }

    /// The rows of all table variables, if a rollback would undo what was done to them.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn keep_variables(&self, used: &Transaction) -> Result<Vec<KeptRows>, SqlError> {
        let connection = &used.database.connection;
        // A table variable that SQLite has undone together with its own transaction has no rows to keep.
        if !used.writes() || connection.is_autocommit() {
            return Ok(Vec::new());
        }
        self.all_variables().map(|variable| variable.keep(connection)).collect()
    }

    fn all_variables(&self) -> impl Iterator<Item = &Arc<TableVariable>> {
        let variables = self.0.iter().flat_map(|frame| frame.variables.values());
        variables.filter(|variable| !variable.is_passed)
    }
}
