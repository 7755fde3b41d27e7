//! The frames that run, and what is their own: a batch, and the procedures and texts that it called.
//!
//! R1. Table variables are known to their own frame only.
//! R2. A temporary table goes with the procedure or text that made it; one that a batch made stays until the session ends.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_compiler::program::{Program, StatementId};
use selenite_compiler::{NameKey, PlanError};
use selenite_runtime::machine::{Failure, FrameKind};
use selenite_tsql::ast::{StatementKind, TableElement, VariableType};

use super::identity_insert::IdentityInsert;
use super::session_executor::SessionExecutor;
use super::table_variables::{KeptRows, TableVariable};
use super::temporary_tables;

/// The frames that run, outermost first.
#[derive(Default)]
pub struct Frames(Vec<FrameOwn>);

/// Table variables by their names.
pub type Variables = HashMap<NameKey, Arc<TableVariable>>;

struct FrameOwn {
    kind: FrameKind,
    /// The caller's database, if it is another one.
    before: Option<i32>,
    variables: Arc<Variables>,
    temporary: Vec<String>,
    /// What IDENTITY_INSERT was when it began.
    identity_insert: Option<IdentityInsert>,
}

impl Frames {
    /// The table variables that a statement can name now.
    pub fn variables(&self) -> Arc<Variables> {
        self.0.last().map(|frame| frame.variables.clone()).unwrap_or_default()
    }

    /// Tells bound statements of one depth from those of another; 0 where there is no table variable.
    pub fn mark(&self) -> usize {
        match self.0.last() {
            Some(frame) if !frame.variables.is_empty() => self.0.len(),
            Some(_) | None => 0,
        }
    }

    /// Notes that the running frame has made a temporary table.
    pub fn note_temporary(&mut self, name: &str) {
        if let Some(frame) = self.0.last_mut()
            && frame.kind != FrameKind::Batch
        {
            frame.temporary.push(name.to_owned());
        }
    }

    fn all_variables(&self) -> impl Iterator<Item = &Arc<TableVariable>> {
        self.0.iter().flat_map(|frame| frame.variables.values())
    }
}

impl SessionExecutor<'_> {
    /// A frame begins; `before` is the database to come back to, if that is another one.
    ///
    /// # Errors
    /// What is wrong with its table variables.
    pub(super) fn begin_frame(
        &mut self,
        program: &Arc<Program>,
        kind: FrameKind,
        before: Option<i32>,
    ) -> Result<(), Failure> {
        let declared = declared(program);
        let mut variables = Variables::new();
        if !declared.is_empty() {
            self.used()?;
            let depth = self.frames.0.len() + 1;
            let connection = &self.in_use()?.database.connection;
            for (name, elements, line) in declared {
                match TableVariable::make(connection, (name, elements), depth) {
                    Ok(made) => variables.insert(NameKey::new(name), Arc::new(made)),
                    Err(error) => {
                        for made in variables.values() {
                            made.drop_in(connection)?;
                        }
                        return Err(error.on_line(line).into());
                    }
                };
            }
        }
        self.frames.0.push(FrameOwn {
            kind,
            before,
            variables: Arc::new(variables),
            temporary: Vec::new(),
            identity_insert: self.identity_insert.clone(),
        });
        Ok(())
    }

    /// The frame that began last ends, and tells which database to come back to. Nobody hears of what SQLite says: what stays behind
    /// is empty, or goes with the session.
    pub(super) fn end_frame(&mut self) -> Option<i32> {
        let frame = self.frames.0.pop()?;
        let before = frame.before;
        // As every SET in a procedure or text.
        if frame.kind != FrameKind::Batch {
            self.identity_insert = frame.identity_insert;
        }
        let Ok(used) = self.in_use() else { return before };
        for variable in frame.variables.values() {
            let _ = variable.drop_in(&used.database.connection);
            used.database.shared.identities.discard(variable.table.object_id);
        }
        if frame.temporary.is_empty() {
            return before;
        }
        for name in &frame.temporary {
            let _ = temporary_tables::drop_table(&used.database, name);
        }
        let _ = self.note_definitions();
        before
    }

    /// The rows of all table variables, if a rollback would undo what was done to them.
    pub(super) fn keep_variables(&self) -> Result<Vec<KeptRows>, PlanError> {
        let Ok(used) = self.in_use() else {
            return Ok(Vec::new());
        };
        if !used.transaction.writes() {
            return Ok(Vec::new());
        }
        let connection = &used.database.connection;
        // One that SQLite has undone together with its own transaction has no rows to keep.
        if connection.is_autocommit() {
            return Ok(Vec::new());
        }
        self.frames
            .all_variables()
            .map(|variable| variable.keep(connection))
            .collect()
    }

    /// Puts rows back behind a rollback.
    pub(super) fn put_back(&self, kept: &[KeptRows]) -> Result<(), PlanError> {
        let Ok(used) = self.in_use() else { return Ok(()) };
        kept.iter()
            .try_for_each(|rows| rows.put_back(&used.database.connection))
    }
}

/// The table variables that a program declares.
fn declared(program: &Program) -> Vec<(&str, &[TableElement], u32)> {
    let count = u32::try_from(program.statement_count()).unwrap_or(u32::MAX);
    let statements = (0..count).filter_map(|number| program.statement(StatementId(number)));
    let mut declared = Vec::new();
    for statement in statements {
        let StatementKind::Declare(declarations) = &statement.kind else {
            continue;
        };
        for declaration in declarations {
            if let VariableType::Table(elements) = &declaration.variable_type {
                declared.push((
                    declaration.name.as_str(),
                    elements.as_slice(),
                    declaration.position.line,
                ));
            }
        }
    }
    declared
}
