//! The rows of an INSERT .. EXECUTE, kept until what it calls has ended.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::statement::Statement;
use selenite_runtime::change::GivenRow;
use selenite_types::{DataType, Value};

use crate::memory;

/// Takes rows instead of the client.
pub(crate) struct Capture {
    statement: Arc<Statement>,
    /// The types of the rows that come now.
    types: Arc<[DataType]>,
    rows: Vec<GivenRow>,
}

impl Capture {
    /// For a bound INSERT .. EXECUTE.
    pub fn new(statement: Arc<Statement>) -> Self {
        Self {
            statement,
            types: Arc::default(),
            rows: Vec::new(),
        }
    }

    /// Rows of these types follow.
    ///
    /// # Errors
    /// 206, 213 and 257 for those that can't be inserted.
    pub fn columns(&mut self, types: impl Iterator<Item = DataType>) -> Result<(), SqlError> {
        self.types = types.collect();
        match &*self.statement {
            Statement::Insert(insert) => insert.check_types(&self.types),
            Statement::Rows(_)
            | Statement::Assign(_)
            | Statement::Into(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Truncate(_) => Err(SqlError::internal("rows for no INSERT")),
        }
    }

    /// A row.
    ///
    /// # Errors
    /// 701.
    pub fn row(&mut self, values: &[Value]) -> Result<(), SqlError> {
        memory::reserve(0)?;
        self.rows.push(GivenRow {
            values: values.to_vec(),
            types: Arc::clone(&self.types),
        });
        Ok(())
    }

    /// All rows.
    pub fn take(&mut self) -> Vec<GivenRow> {
        std::mem::take(&mut self.rows)
    }
}
