//! UPDATE and DELETE of the row that a cursor is on.

use std::sync::Arc;

use selenite_compiler::catalog::Table;
use selenite_compiler::statement::Statement;
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Affected, Failure, TableStatement};
use selenite_tsql::ast::{AssignmentTarget, CursorName, NameOrVariable, StatementKind};
use selenite_types::Value;

use crate::cursor::{BufferRow, CursorId, CursorOperation, row_version};
use crate::execution::cursor_work::{CurrentChange, ROW_OF_CALL};
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;

impl SessionExecutor<'_> {
    /// Runs an UPDATE or DELETE with WHERE CURRENT OF.
    pub(crate) fn change_current(
        &mut self,
        cursor: &CursorName,
        of: (&TableStatement<'_>, &mut [Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        // Statements of the change's triggers name other cursors.
        let is_of_call = matches!(&cursor.name, NameOrVariable::Name(name) if name.text == ROW_OF_CALL);
        let (id, index) = match self.cursor_work.row.filter(|_| is_of_call) {
            Some(row) => row,
            None => (self.cursors.find(cursor)?, 0),
        };
        self.change_row(id, index, of, execution)
    }

    /// Runs an UPDATE or DELETE of a row of a cursor's buffer.
    pub(crate) fn change_row(
        &mut self,
        id: CursorId,
        index: usize,
        (statement, slots): (&TableStatement<'_>, &mut [Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let current = self.transactions.current;
        let cursor = self.cursors.cursor(id)?;
        let (database_id, columns) = (cursor.database_id, cursor.rule.for_update.clone());
        let buffer = &cursor.opened()?.buffer;
        let row = buffer.get(index).copied();
        let table = Arc::clone(cursor.changeable()?);
        if database_id != current {
            return Err(SqlError::not_of_cursor().into());
        }
        check_columns(&statement.statement.kind, &columns.unwrap_or_default())?;
        let (row_id, version) = match row {
            Some(BufferRow::Stored { row_id, version }) => (row_id, version),
            Some(BufferRow::Missing) => return Err(SqlError::current_row_gone().into()),
            Some(BufferRow::Kept) | None => return Err(SqlError::no_current_row().into()),
        };
        self.cursor_work.change = Some(CurrentChange {
            table,
            row_id,
            version,
            outcome: None,
        });
        // The hidden slot of the rowid.
        let mut with_row = slots.to_vec();
        with_row.push(Value::BigInt(row_id));
        let done = self.on_tables(statement, &mut with_row, execution);
        let change = self.cursor_work.change.take();
        with_row.pop();
        slots.clone_from_slice(&with_row);
        if let Some(outcome) = change.and_then(|change| change.outcome)
            && let Ok(open) = self.cursors.cursor(id)?.opened()
            && let Some(row) = open.buffer.get_mut(index)
        {
            *row = match outcome {
                Some(version) => BufferRow::Stored { row_id, version },
                None => BufferRow::Missing,
            };
            let operation = match outcome {
                Some(_) => CursorOperation::Update,
                None => CursorOperation::Delete,
            };
            self.cursors.cursor(id)?.note(operation, 1);
        }
        done
    }

    /// `changed-as-fetched`: checks the row that is about to be changed, where no other session changes it any more.
    pub(crate) fn check_current(&mut self, bound: &Statement) -> Result<(), SqlError> {
        let Some(change) = &self.cursor_work.change else {
            return Ok(());
        };
        let table = &change.table;
        let written = bound.written();
        let is_its = |written: &&&Arc<Table>| {
            written.object_id == table.object_id && written.sqlite.schema == table.sqlite.schema
        };
        let Some(now) = written.first().filter(is_its) else {
            return Err(SqlError::not_of_cursor());
        };
        let is_there = |name: &str| now.columns.iter().any(|column| same_name(&column.name, name));
        if !table.columns.iter().all(|column| is_there(&column.name)) {
            return Err(SqlError::cursor_schema_changed());
        }
        let used = self.transactions.connected()?;
        match row_version(&used.database.connection, table, change.row_id)? {
            None => Err(SqlError::current_row_gone()),
            Some(version) if version == change.version => Ok(()),
            Some(_) => Err(SqlError::row_changed()),
        }
    }

    /// After a statement: notes what the rows are that a cursor has fetched, or changed.
    pub(crate) fn note_versions(
        &mut self,
        done: Result<Affected, Failure>,
        execution: &ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if done.is_err() || self.cursor_work.reading.is_none() && self.cursor_work.change.is_none() {
            return done;
        }
        let connection = &self.transactions.connected()?.database.connection;
        if let Some(change) = &mut self.cursor_work.change {
            change.outcome = Some(row_version(connection, &change.table, change.row_id)?);
        }
        if let (Some(reading), Some(rows)) = (&mut self.cursor_work.reading, execution.reply.kept_rows())
            && reading.notes_versions
        {
            for position in 1..=i64::try_from(rows.count()).unwrap_or(i64::MAX) {
                let row = rows.row(position)?.unwrap_or_default();
                let Some(Value::BigInt(row_id)) = row.last() else {
                    return Err(SqlError::internal("a row of a cursor without its rowid").into());
                };
                let version = row_version(connection, &reading.table, *row_id)?;
                reading.versions.push(version.unwrap_or_default());
            }
        }
        done
    }
}

/// Checks that only columns of FOR UPDATE OF are assigned.
///
/// Errors: 16932.
fn check_columns(kind: &StatementKind, columns: &[String]) -> Result<(), SqlError> {
    let StatementKind::Update(update) = kind else {
        return Ok(());
    };
    for assignment in &update.assignments {
        let (AssignmentTarget::Column(name) | AssignmentTarget::VariableAndColumn(_, name)) = &assignment.target else {
            continue;
        };
        if !columns.is_empty() && !columns.iter().any(|column| same_name(column, &name.name.text)) {
            return Err(SqlError::not_for_update());
        }
    }
    Ok(())
}
