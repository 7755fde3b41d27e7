//! Prepared statements and their handles.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::ObjectName;

use crate::compile::ProgramKey;

/// A session's prepared statements.
pub(crate) struct Prepared {
    statements: HashMap<i32, Statement>,
    last: i32,
    /// Bytes of memory that they take.
    size: u64,
    size_max: u64,
}

/// The statement of a handle.
#[derive(Clone)]
pub(crate) enum Statement {
    /// A text with its parameters.
    Program(Arc<Program>),
    /// A text that names types of users, compiled whenever it is run: they may be other ones then.
    Typed(ProgramKey),
    /// A procedure, looked up whenever it is called.
    Procedure(ObjectName),
}

impl Prepared {
    /// No statements, and room for so many bytes of memory.
    pub fn new(size_max: u64) -> Self {
        Self {
            statements: HashMap::new(),
            last: 0,
            size: 0,
            size_max,
        }
    }

    /// How many bytes of memory they take.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A handle for a statement: from 1, and no number twice in a session until all are used up.
    ///
    /// # Errors
    /// 50701 if there are too many, 701 if they take too much memory together.
    pub fn add(&mut self, statement: Statement) -> Result<i32, SqlError> {
        if self.statements.len() >= STATEMENT_COUNT_MAX {
            return Err(too_many());
        }
        if self.size.saturating_add(statement.size()) > self.size_max {
            return Err(SqlError::out_of_memory());
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

    /// The statement of the handle.
    pub fn find(&self, handle: i32) -> Option<Statement> {
        self.statements.get(&handle).cloned()
    }

    /// Lets a handle go. Whether there was one.
    pub fn remove(&mut self, handle: i32) -> bool {
        let removed = self.statements.remove(&handle);
        self.size -= removed.as_ref().map_or(0, Statement::size);
        removed.is_some()
    }

    /// Releases all. Their numbers are not used again.
    pub fn clear(&mut self) {
        self.statements.clear();
        self.size = 0;
    }
}

impl Statement {
    /// The bytes of memory that it takes.
    fn size(&self) -> u64 {
        match self {
            Self::Program(program) => program.memory_size(),
            Self::Typed(key) => {
                let size = size_of::<ProgramKey>() + key.text.len() + key.parameters.len();
                u64::try_from(size).unwrap_or(u64::MAX)
            }
            Self::Procedure(name) => {
                let parts = [&name.server, &name.database, &name.schema];
                let texts: usize = parts.into_iter().flatten().map(|part| part.text.len()).sum();
                u64::try_from(size_of::<ObjectName>() + texts + name.name.text.len()).unwrap_or(u64::MAX)
            }
        }
    }
}

/// 8179: an unknown handle.
pub(super) fn unknown_handle(handle: i32) -> SqlError {
    let text = format!("Could not find prepared statement with handle {handle}.");
    SqlError::new(8179, Ends::Batch, text).with_state(4)
}

/// 8180: sent after the errors of a text that was to be prepared.
pub(super) fn not_prepared() -> SqlError {
    SqlError::new(8180, Ends::Batch, "Statement(s) could not be prepared.").on_line(1)
}

/// 50701: more prepared statements than the limit.
fn too_many() -> SqlError {
    let text = format!("A session has at most {STATEMENT_COUNT_MAX} prepared statements.");
    SqlError::new(50_701, Ends::Batch, text)
}

/// 16,384: a client with more of them has forgotten to release them.
const STATEMENT_COUNT_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::procedure_name::{Target, parse};

    fn statement() -> Statement {
        match parse("p") {
            Some(Target::Other(name)) => Statement::Procedure(name),
            _ => panic!("p is a name"),
        }
    }

    #[test]
    fn handles_count_up_and_end_somewhere() {
        let mut prepared = Prepared::new(u64::MAX);
        for number in 1..=STATEMENT_COUNT_MAX {
            assert_eq!(prepared.add(statement()), Ok(i32::try_from(number).unwrap()));
        }
        assert_eq!(prepared.add(statement()).unwrap_err().number(), 50_701);
        let size = prepared.size;
        assert!(prepared.remove(7));
        assert!(!prepared.remove(7));
        assert!(prepared.find(7).is_none());
        assert_eq!(prepared.size, size / 16_384 * 16_383);
        assert_eq!(prepared.add(statement()), Ok(16_385));
        prepared.last = i32::MAX;
        prepared.clear();
        assert_eq!((prepared.size, prepared.add(statement())), (0, Ok(1)));
        prepared.size_max = prepared.size * 2;
        assert_eq!(prepared.add(statement()), Ok(2));
        assert_eq!(prepared.add(statement()).unwrap_err().number(), 701);
    }
}
