//! Runs INSERT.

use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::{GivenExpr, Insert, InsertLimit, InsertSource};
use selenite_compiler::compiled::Compiled;
use selenite_compiler::statement::InputColumn;
use selenite_compiler::{Expr, ExprKind, Node, SqlError, SqlText};
use selenite_types::storage::{Stored, StoredRef};
use selenite_types::{DataType, Value};

use super::row_writer::{self, Given, Prepared};
use super::{changed_rows, output, row};
use crate::sqlite::ChangeError;
use crate::statement::{Run, call, read_inputs};

/// A row of a procedure's result.
#[derive(Clone, Debug)]
pub struct GivenRow {
    /// Its values.
    pub values: Vec<Value>,
    /// Their types.
    pub types: Arc<[DataType]>,
}

pub(super) fn run(insert: &Insert, run: &mut Run<'_>) -> Result<u64, SqlError> {
    let row_limit = row_limit(insert.limit.as_deref(), run)?;
    match &insert.source {
        InsertSource::Values(rows) => {
            let mut count = 0;
            let mut waiting = Vec::new();
            // A function in a value sees the table as it was before.
            let is_first = rows.len() > 1 && rows.iter().flatten().any(calls_function);
            let mut prepared = Vec::new();
            for row in rows.iter().take(row_limit.of(rows.len())) {
                let given = evaluate(run, row)?;
                if changed_rows::is_instead_of(run, ChangeVerb::Insert) {
                    count += write_or_wait(insert, run, given, &mut waiting)?;
                    continue;
                }
                let next = row_writer::prepare(&insert.writer, run, given, ChangeVerb::Insert)?;
                match is_first {
                    true => prepared.push(next),
                    false => count += store_or_wait(insert, run, next, &mut waiting)?,
                }
            }
            for next in prepared {
                count += store_or_wait(insert, run, next, &mut waiting)?;
            }
            Ok(count - write_waiting(insert, run, &waiting)?)
        }
        InsertSource::Query {
            text,
            compiled,
            inputs,
            values,
            spool,
        } => {
            let query = QueryRows {
                call: (text, compiled),
                inputs,
                values,
                spool: *spool,
            };
            run_query(insert, run, &query, row_limit)
        }
        InsertSource::Execute => Err(SqlError::internal("rows of a procedure")),
        InsertSource::Bulk(_) => Err(SqlError::internal("rows of a bulk load")),
    }
}

pub(super) fn run_given(insert: &Insert, run: &mut Run<'_>, rows: Vec<GivenRow>) -> Result<u64, SqlError> {
    let row_limit = row_limit(insert.limit.as_deref(), run)?.of(rows.len());
    let mut count = 0;
    let mut waiting = Vec::new();
    let mut checked: Option<Arc<[DataType]>> = None;
    for row in rows.into_iter().take(row_limit) {
        if checked.as_ref().is_none_or(|checked| !Arc::ptr_eq(checked, &row.types)) {
            insert.check_types(&row.types)?;
            checked = Some(Arc::clone(&row.types));
        }
        run.environment.begin_row();
        let given = row.values.into_iter().zip(row.types.iter());
        let given = given.map(|(value, data_type)| Given::Value(value, *data_type));
        count += write_or_wait(insert, run, given.collect(), &mut waiting)?;
    }
    Ok(count - write_waiting(insert, run, &waiting)?)
}

/// The query of an INSERT.
struct QueryRows<'a> {
    call: (&'a SqlText, &'a Arc<Compiled>),
    inputs: &'a [InputColumn],
    /// Values that are computed outside SQLite; empty if the columns are the values.
    values: &'a [Expr],
    spool: bool,
}

impl QueryRows<'_> {
    /// The values of a row.
    fn given(&self, run: &Run<'_>, row: &mut Vec<Value>) -> Result<Vec<Given>, SqlError> {
        if self.values.is_empty() {
            let given = |(value, input): (Value, &InputColumn)| Given::Value(value, input.data_type);
            return Ok(row.drain(..).zip(self.inputs).map(given).collect());
        }
        let given = |expr: &Expr| Ok(Given::Value(expr.evaluate(&run.frame(row))?, expr.data_type));
        self.values.iter().map(given).collect()
    }
}

fn run_query(insert: &Insert, run: &mut Run<'_>, query: &QueryRows<'_>, row_limit: RowLimit) -> Result<u64, SqlError> {
    let (mut found_count, mut count) = (0, 0);
    let (spool, first) = match row_limit {
        RowLimit::Rows(rows) => (query.spool, rows),
        RowLimit::Percent(_) => (true, u64::MAX),
    };
    let (mut rows, mut waiting) = (Vec::new(), Vec::new());
    let mut values = Vec::with_capacity(query.inputs.len());
    let (text, compiled) = query.call;
    let parameters = run.parameters(text)?;
    let executor = run.executor;
    executor.select(&call(text, &parameters, compiled), &mut |found| {
        if found_count >= first {
            return Ok(ControlFlow::Break(()));
        }
        found_count += 1;
        run.environment.begin_row();
        read_inputs(query.inputs, found, &mut values)?;
        let given = query.given(run, &mut values)?;
        if spool {
            rows.push(given);
        } else {
            count += write_or_wait(insert, run, given, &mut waiting)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let cut = row_limit.of(rows.len());
    rows.truncate(cut);
    for given in rows {
        run.environment.begin_row();
        count += write_or_wait(insert, run, given, &mut waiting)?;
    }
    Ok(count - write_waiting(insert, run, &waiting)?)
}

/// The row limit of a statement.
///
/// Errors: any error of its value.
pub(super) fn row_limit(limit: Option<&InsertLimit>, run: &Run<'_>) -> Result<RowLimit, SqlError> {
    let stored = match limit {
        None => return Ok(RowLimit::Rows(u64::MAX)),
        Some(InsertLimit::Count(count) | InsertLimit::Percent(count)) => count.evaluate(&run.frame(&[]))?,
        Some(InsertLimit::Query(text, compiled)) => {
            let mut told = Stored::Null;
            let parameters = run.parameters(text)?;
            run.executor.select(&call(text, &parameters, compiled), &mut |found| {
                told = match found.stored(0) {
                    Some(StoredRef::Integer(count)) => Stored::Integer(count),
                    Some(StoredRef::Real(percent)) => Stored::Real(percent),
                    Some(_) | None => Stored::Null,
                };
                Ok(ControlFlow::Continue(()))
            })?;
            told
        }
    };
    match stored {
        Stored::Integer(count) => Ok(RowLimit::Rows(u64::try_from(count).unwrap_or(0))),
        Stored::Real(percent) => Ok(RowLimit::Percent(percent)),
        Stored::Null | Stored::Text(_) | Stored::Blob(_) => Err(SqlError::invalid_row_count()),
    }
}

/// Whether a value calls a function of a user.
fn calls_function(given: &GivenExpr) -> bool {
    let GivenExpr::Value(expr) = given else {
        return false;
    };
    let mut calls = false;
    expr.visit(&mut |node| calls |= matches!(node, Node::Expr(expr) if matches!(expr.kind, ExprKind::UserCall(_))));
    calls
}

fn evaluate(run: &Run<'_>, row: &[GivenExpr]) -> Result<Vec<Given>, SqlError> {
    run.environment.begin_row();
    let given = row.iter().map(|given| match given {
        GivenExpr::Value(expr) => Ok(Given::Value(expr.evaluate(&run.frame(&[]))?, expr.data_type)),
        GivenExpr::Default => Ok(Given::Default),
    });
    given.collect()
}

/// Writes a row, and returns the number of rows; a row that refers to a later row of its own table waits.
fn write_or_wait(
    insert: &Insert,
    run: &mut Run<'_>,
    given: Vec<Given>,
    waiting: &mut Vec<Prepared>,
) -> Result<u64, SqlError> {
    if changed_rows::is_instead_of(run, ChangeVerb::Insert) {
        let row = row_writer::compute(&insert.writer, run, given)?;
        changed_rows::note(run, ChangeVerb::Insert, None, Some(&row))?;
        send_row(insert, run, &row)?;
        return Ok(1);
    }
    let prepared = row_writer::prepare(&insert.writer, run, given, ChangeVerb::Insert)?;
    store_or_wait(insert, run, prepared, waiting)
}

fn store_or_wait(
    insert: &Insert,
    run: &mut Run<'_>,
    prepared: Prepared,
    waiting: &mut Vec<Prepared>,
) -> Result<u64, SqlError> {
    if is_null_key_left_out(insert, run, &prepared)? {
        return Ok(0);
    }
    match row_writer::store(&insert.writer, run, &prepared) {
        Ok(()) => send_outputs(insert, run, &prepared).map(|()| 1),
        Err(error) if !insert.is_single() && row::may_wait(&insert.writer.rules, &error) => {
            waiting.push(prepared);
            Ok(1)
        }
        Err(error) if row::is_left_out(&insert.writer.rules, &error) => {
            run.executor.functions.note_duplicate();
            Ok(0)
        }
        Err(error) => Err(refusal(insert, run, error, &prepared)),
    }
}

/// Whether a row is left out because of a key with NULL that another row has.
///
/// Errors: 2601, 2627 for a key without IGNORE_DUP_KEY.
pub(super) fn is_null_key_left_out(insert: &Insert, run: &Run<'_>, prepared: &Prepared) -> Result<bool, SqlError> {
    let rules = &insert.writer.rules;
    match row::null_key_taken(rules, run, &prepared.row, 0)? {
        None => Ok(false),
        Some(key) if key.ignores_duplicates => {
            run.executor.functions.note_duplicate();
            Ok(true)
        }
        Some(key) => Err(rules.table.duplicate(key, &prepared.row)),
    }
}

/// Writes the rows that waited, because they may refer to one another, and returns how many were left out.
pub(super) fn write_waiting(insert: &Insert, run: &mut Run<'_>, waiting: &[Prepared]) -> Result<u64, SqlError> {
    if waiting.is_empty() {
        return Ok(0);
    }
    run.executor.defer_references()?;
    let done = write_deferred(insert, run, waiting);
    let is_open = run.executor.settle_references();
    let left_out = done?;
    let rows = waiting.iter().map(|prepared| prepared.row.as_slice());
    if is_open? {
        return Err(row::left_open(&insert.writer.rules, run, rows, ChangeVerb::Insert));
    }
    row::check_untrusted(&insert.writer.rules, run, rows, ChangeVerb::Insert)?;
    Ok(left_out)
}

fn write_deferred(insert: &Insert, run: &mut Run<'_>, waiting: &[Prepared]) -> Result<u64, SqlError> {
    let mut left_out = 0;
    for prepared in waiting {
        match row_writer::store(&insert.writer, run, prepared) {
            Ok(()) => send_outputs(insert, run, prepared)?,
            Err(error) if row::is_left_out(&insert.writer.rules, &error) => {
                run.executor.functions.note_duplicate();
                left_out += 1;
            }
            Err(error) => return Err(refusal(insert, run, error, prepared)),
        }
    }
    Ok(left_out)
}

pub(super) fn refusal(insert: &Insert, run: &Run<'_>, error: ChangeError, prepared: &Prepared) -> SqlError {
    row::refusal(
        &insert.writer.rules,
        run,
        error,
        &prepared.row,
        None,
        ChangeVerb::Insert,
    )
}

fn send_outputs(insert: &Insert, run: &mut Run<'_>, prepared: &Prepared) -> Result<(), SqlError> {
    changed_rows::note(run, ChangeVerb::Insert, None, Some(&prepared.row))?;
    send_row(insert, run, &prepared.row)
}

fn send_row(insert: &Insert, run: &mut Run<'_>, row: &[Value]) -> Result<(), SqlError> {
    for output in &insert.outputs {
        // A client that accepts no more rows does not end the change.
        let _: ControlFlow<()> = output::send(output, run, row)?;
    }
    Ok(())
}

/// The row limit of TOP.
#[derive(Clone, Copy)]
pub(super) enum RowLimit {
    Rows(u64),
    Percent(f64),
}

impl RowLimit {
    /// The limit for a query of `count` rows.
    pub fn of(self, count: usize) -> usize {
        match self {
            Self::Rows(rows) => usize::try_from(rows).unwrap_or(usize::MAX).min(count),
            Self::Percent(percent) => {
                let number = |count| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
                let is_in = |at: &usize| number(*at) * 100.0 < number(count) * percent;
                (0..count).take_while(is_in).count()
            }
        }
    }
}
