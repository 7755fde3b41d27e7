//! Runs DELETE.

use std::collections::HashSet;
use std::ops::ControlFlow;

use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::{Delete, DeleteStrategy, RowRules};
use selenite_compiler::statement::InputColumn;
use selenite_compiler::{SqlError, SqlText};
use selenite_types::Value;
use selenite_types::storage::Stored;

use super::{changed_rows, output, row};
use crate::statement::{Run, call, read_inputs};

pub(super) fn run(delete: &Delete, run: &mut Run<'_>) -> Result<u64, SqlError> {
    match &delete.strategy {
        DeleteStrategy::Whole(text) => {
            let parameters = run.parameters(text)?;
            let deleted = run.executor.change(&call(text, &parameters, &delete.compiled));
            deleted.map_err(|error| row::refusal(&delete.rules, run, error, &[], None, ChangeVerb::Delete))
        }
        DeleteStrategy::Rows(text, inputs, sql) => run_rows(delete, run, text, inputs, sql),
    }
}

fn run_rows(
    delete: &Delete,
    run: &mut Run<'_>,
    text: &SqlText,
    inputs: &[InputColumn],
    sql: &str,
) -> Result<u64, SqlError> {
    let mut rows: Vec<(i64, Vec<Value>)> = Vec::new();
    let mut seen = HashSet::new();
    let parameters = run.parameters(text)?;
    run.executor
        .select(&call(text, &parameters, &delete.compiled), &mut |found| {
            let mut values = Vec::with_capacity(inputs.len());
            read_inputs(inputs, found, &mut values)?;
            let row_id = match values.first() {
                Some(Value::BigInt(row_id)) => row_id,
                // The outer join found no row of the table.
                Some(Value::Null) => return Ok(ControlFlow::Continue(())),
                _ => return Err(SqlError::internal("a row without its rowid")),
            };
            if seen.insert(*row_id) {
                rows.push((*row_id, values));
            }
            Ok(ControlFlow::Continue(()))
        })?;
    if !changed_rows::is_instead_of(run, ChangeVerb::Delete) {
        let ids = rows.iter().map(|(row_id, values)| (*row_id, values.as_slice()));
        delete_all(&delete.rules, run, sql, ids)?;
    }
    for (_, values) in &rows {
        let old = values.get(1..=delete.rules.table.columns.len());
        changed_rows::note(run, ChangeVerb::Delete, old, None)?;
        for output in &delete.outputs {
            let _: ControlFlow<()> = output::send(output, run, values)?;
        }
    }
    Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX))
}

/// Deletes rows in one statement, because rows of one table may refer to one another. Values are rowids and old rows.
///
/// Errors: 547.
pub(super) fn delete_all<'r>(
    rules: &RowRules,
    run: &Run<'_>,
    sql: &str,
    rows: impl Iterator<Item = (i64, &'r [Value])> + Clone,
) -> Result<(), SqlError> {
    let ids: Vec<String> = rows.clone().map(|(row_id, _)| row_id.to_string()).collect();
    let list = Stored::Text(format!("[{}]", ids.join(",")).into());
    let Err(error) = run.change(sql, &[list]) else {
        return Ok(());
    };
    let mut refusal = None;
    for (_, values) in rows {
        let old = values.get(1..).unwrap_or(&[]);
        let refused = row::refusal(rules, run, error.clone(), old, Some(old), ChangeVerb::Delete);
        // A row without references to it did not cause the error.
        if refused.number() != UNNAMED_CONSTRAINT {
            return Err(refused);
        }
        refusal = Some(refused);
    }
    refusal.map_or(Ok(()), Err)
}

/// The number of an error that names no constraint.
const UNNAMED_CONSTRAINT: i32 = 8624;
