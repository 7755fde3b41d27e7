//! Prepared statements and their handles.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_plan::program::Program;
use selenite_plan::{Ends, PlanError};
use selenite_tsql::ast::ObjectName;

/// A session's prepared statements.
#[derive(Default)]
pub(crate) struct Prepared {
    statements: HashMap<i32, Statement>,
    last: i32,
    /// Bytes of the texts.
    size: usize,
}

/// What a handle stands for.
#[derive(Clone)]
pub(crate) enum Statement {
    /// A text with its parameters.
    Program(Arc<Program>),
    /// A procedure, looked up whenever it is called.
    Procedure(ObjectName),
}

impl Prepared {
    /// A handle for a statement: from 1, and no number twice in a session until all are used up.
    ///
    /// # Errors
    /// 50701 if there are too many, 701 if their texts are too long together.
    pub fn add(&mut self, statement: Statement) -> Result<i32, PlanError> {
        if self.statements.len() >= STATEMENT_COUNT_MAX {
            return Err(too_many());
        }
        if self.size + statement.size() > SIZE_MAX {
            return Err(PlanError::out_of_memory());
        }
        self.size += statement.size();
        loop {
            self.last = self.last.checked_add(1).unwrap_or(1);
            if !self.statements.contains_key(&self.last) {
                self.statements.insert(self.last, statement);
                return Ok(self.last);
            }
        }
    }

    /// What the handle stands for.
    pub fn find(&self, handle: i32) -> Option<Statement> {
        self.statements.get(&handle).cloned()
    }

    /// Lets a handle go. Whether there was one.
    pub fn remove(&mut self, handle: i32) -> bool {
        let removed = self.statements.remove(&handle);
        self.size -= removed.as_ref().map_or(0, Statement::size);
        removed.is_some()
    }

    /// Lets all go. Their numbers do not come again.
    pub fn clear(&mut self) {
        self.statements.clear();
        self.size = 0;
    }
}

impl Statement {
    /// The bytes of its text.
    fn size(&self) -> usize {
        match self {
            Self::Program(program) => program.source().len(),
            Self::Procedure(_) => 0,
        }
    }
}

/// 8179: a handle that is none.
pub(super) fn unknown_handle(handle: i32) -> PlanError {
    let text = format!("Could not find prepared statement with handle {handle}.");
    PlanError::new(8179, Ends::Batch, text).with_state(4)
}

/// 8180: behind what is wrong with a text that was to be prepared.
pub(super) fn not_prepared() -> PlanError {
    PlanError::new(8180, Ends::Batch, "Statement(s) could not be prepared.").on_line(1)
}

fn too_many() -> PlanError {
    let text = format!("A session has at most {STATEMENT_COUNT_MAX} prepared statements.");
    PlanError::new(50_701, Ends::Batch, text)
}

/// 1 MiB of texts: a program takes some forty times as much, which is not counted from one request to the next.
const SIZE_MAX: usize = 1 << 20;
/// 16384: a client that forgets to let them go holds some hundred MiB at most.
const STATEMENT_COUNT_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::procedure_name::{Target, parse};

    fn statement() -> Statement {
        match parse("p") {
            Some(Target::Other(name)) => Statement::Procedure(name),
            _ => panic!("p is a name"),
        }
    }

    #[test]
    fn handles_count_up_and_end_somewhere() {
        let mut prepared = Prepared::default();
        for number in 1..=STATEMENT_COUNT_MAX {
            assert_eq!(prepared.add(statement()), Ok(i32::try_from(number).unwrap()));
        }
        assert_eq!(prepared.add(statement()).unwrap_err().number(), 50_701);
        assert!(prepared.remove(7));
        assert!(!prepared.remove(7));
        assert!(prepared.find(7).is_none());
        assert_eq!(prepared.size, 0);
        assert_eq!(prepared.add(statement()), Ok(16_385));
        prepared.last = i32::MAX;
        prepared.clear();
        assert_eq!(prepared.add(statement()), Ok(1));
    }
}
