//! Rows of a client's table-valued parameters, when the program that receives them begins.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::{Program, StatementId};
use selenite_runtime::machine::{Affected, Failure, FrameKind, Host, PassedTable, TableArgument, TableStatement};
use selenite_tds::TableValue;
use selenite_types::Value;

use super::host::SessionHost;
use crate::execution::passed_tables::RowsInsert;

impl SessionHost<'_> {
    /// Begins a frame with its table-valued parameters.
    ///
    /// # Errors
    /// Any error that keeps it from running, also of a row.
    pub(super) fn enter_with_tables(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure> {
        let passed = self.executor.passed_tables.iter();
        let sent: Vec<PassedTable> = passed.filter(|passed| passed.is_sent()).cloned().collect();
        let entered = self.executor.enter(program, kind);
        // Of a frame that did not begin.
        self.executor.passed_tables.clear();
        entered?;
        for passed in &sent {
            let Some(TableArgument::Rows(rows)) = &passed.from else {
                continue;
            };
            if let Err(failure) = self.insert_rows(passed, rows) {
                self.leave();
                return Err(failure);
            }
            self.executor.protect(&passed.name);
        }
        Ok(())
    }

    fn insert_rows(&mut self, passed: &PassedTable, rows: &TableValue) -> Result<(), Failure> {
        let Some(insert) = RowsInsert::of(passed, rows)? else {
            return Ok(());
        };
        let program = self.program(&insert.text, "").map_err(first)?;
        let id = StatementId(INSERT);
        let statement = program.statement(id);
        let statement = statement.ok_or_else(|| SqlError::internal("the rows of a parameter"))?;
        let statement = TableStatement {
            program: &program,
            id,
            statement,
        };
        self.begin_capture(&statement, false)?;
        let done = self.send_rows(&insert, rows, &statement);
        self.end_capture();
        done.map(drop)
    }

    fn send_rows(
        &mut self,
        insert: &RowsInsert,
        rows: &TableValue,
        statement: &TableStatement<'_>,
    ) -> Result<Affected, Failure> {
        self.columns(&insert.columns)?;
        for row in rows.values.chunks(insert.columns.len()) {
            self.row(row)?;
        }
        let mut slots = vec![Value::Null; statement.program.variables().slot_count()];
        self.statement(statement, &mut slots)
    }
}

fn first(errors: Vec<SqlError>) -> Failure {
    let first = errors.into_iter().next();
    first
        .unwrap_or_else(|| SqlError::internal("the rows of a parameter"))
        .into()
}

/// The second statement of the text, after the declaration.
const INSERT: u32 = 1;
