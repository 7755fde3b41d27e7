//! Runs MERGE.
//!
//! - `computed-before-written`: all rows are read and computed before the first is written.
//! - `deletes-then-updates-then-inserts`: so a key that one row gives up is free for another. Foreign keys are checked
//!   when all rows are written.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::{GivenExpr, Merge, MergeAction, MergeClause, MergeRows, RowWriter};
use selenite_types::Value;

use super::row_writer::{self, Given};
use super::update::{self, Pending, RowsToWrite};
use super::{changed_rows, delete, insert, output, row};
use crate::statement::{Run, call, read_inputs};

/// A row for which a clause applies.
struct Found<'m> {
    action: &'m MergeAction,
    /// The row of the target, if there is one.
    row_id: Option<i64>,
    values: Vec<Value>,
}

/// The rows to write.
#[derive(Default)]
struct Work {
    updates: Vec<Pending>,
    deletes: Vec<Pending>,
    inserts: Vec<(Vec<Given>, Vec<Value>)>,
    /// The changes in the order in which they were found, each with its index.
    order: Vec<(ChangeVerb, usize)>,
}

pub(super) fn run(merge: &Merge, run: &mut Run<'_>) -> Result<u64, SqlError> {
    merged(merge, run).map_err(SqlError::in_merge)
}

fn merged(merge: &Merge, run: &mut Run<'_>) -> Result<u64, SqlError> {
    let limit = insert::row_limit(merge.limit.as_deref(), run)?;
    let mut found = Vec::new();
    let mut matched = HashSet::new();
    let mut admit_all = |row_id| {
        matched.insert(row_id);
        true
    };
    find(merge, run, &merge.pairs, &mut admit_all, &mut found)?;
    if let Some(others) = &merge.others {
        find(merge, run, others, &mut |row_id| !matched.contains(&row_id), &mut found)?;
    }
    found.truncate(limit.of(found.len()));
    let found = once_each(found)?;
    let mut work = Work::default();
    for row in found {
        compute(merge, run, row, &mut work)?;
    }
    let is_instead_of = merge.verbs().iter().any(|verb| changed_rows::is_instead_of(run, *verb));
    match is_instead_of {
        true => compute_inserts(merge, run, &mut work)?,
        false => write(merge, run, &mut work)?,
    }
    send(merge, run, &work)?;
    Ok(u64::try_from(work.order.len()).unwrap_or(u64::MAX))
}

/// Finds the rows of a query to which a clause applies; of the target's rows those that `admit` admits.
fn find<'m>(
    merge: &Merge,
    run: &mut Run<'_>,
    rows: &'m MergeRows,
    admit: &mut dyn FnMut(i64) -> bool,
    found: &mut Vec<Found<'m>>,
) -> Result<(), SqlError> {
    let count = merge.table.columns.len();
    let parameters = run.parameters(&rows.text)?;
    let executor = run.executor;
    executor.select(&call(&rows.text, &parameters, &rows.compiled), &mut |read| {
        let mut values = Vec::with_capacity(rows.inputs.len() + count + 1);
        read_inputs(&rows.inputs, read, &mut values)?;
        let row_id = match values.first() {
            Some(Value::BigInt(row_id)) => Some(*row_id),
            Some(Value::Null) => None,
            _ => return Err(SqlError::internal("a row without its rowid")),
        };
        if row_id.is_some_and(|row_id| !admit(row_id)) {
            return Ok(ControlFlow::Continue(()));
        }
        let extra = values.split_off((1 + count).min(values.len()));
        if row_id.is_none() {
            values.fill(Value::Null);
        }
        values.resize(2 + 2 * count, Value::Null);
        values.extend(extra);
        run.environment.begin_row();
        let clauses = if row_id.is_some() { &rows.present } else { &rows.absent };
        if let Some(clause) = applying(run, clauses, &values)? {
            found.push(Found {
                action: &clause.action,
                row_id,
                values,
            });
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// The first clause whose condition is true.
fn applying<'m>(
    run: &Run<'_>,
    clauses: &'m [MergeClause],
    values: &[Value],
) -> Result<Option<&'m MergeClause>, SqlError> {
    for clause in clauses {
        let applies = match &clause.filter {
            Some(filter) => filter.evaluate(&run.frame(values))? == Some(true),
            None => true,
        };
        if applies {
            return Ok(Some(clause));
        }
    }
    Ok(None)
}

/// Each row of the target once: one that is deleted several times is deleted.
///
/// Errors: 8672 for one that is updated, and updated or deleted again.
fn once_each(found: Vec<Found<'_>>) -> Result<Vec<Found<'_>>, SqlError> {
    let mut seen: HashMap<i64, bool> = HashMap::new();
    let mut once = Vec::with_capacity(found.len());
    for row in found {
        let updates = matches!(row.action, MergeAction::Update(_));
        match row.row_id.and_then(|row_id| seen.insert(row_id, updates)) {
            None => once.push(row),
            Some(false) if !updates => {}
            Some(_) => return Err(SqlError::merge_twice()),
        }
    }
    Ok(once)
}

/// Computes the change of a row.
fn compute(merge: &Merge, run: &mut Run<'_>, row: Found<'_>, work: &mut Work) -> Result<(), SqlError> {
    let Found {
        action,
        row_id,
        mut values,
    } = row;
    let count = merge.table.columns.len();
    run.environment.begin_row();
    match (action, row_id, &merge.update) {
        (MergeAction::Update(sets), Some(row_id), Some((rules, _))) => {
            let new = update::assigned(rules, run, sets, &values)?;
            mark(&mut values, count, ChangeVerb::Update);
            for (place, value) in values.iter_mut().skip(1 + count).zip(new) {
                *place = value;
            }
            work.order.push((ChangeVerb::Update, work.updates.len()));
            work.updates.push(Pending { row_id, values });
        }
        (MergeAction::Delete, Some(row_id), _) => {
            mark(&mut values, count, ChangeVerb::Delete);
            work.order.push((ChangeVerb::Delete, work.deletes.len()));
            work.deletes.push(Pending { row_id, values });
        }
        (MergeAction::Insert(given), None, _) => {
            let given: Result<Vec<Given>, SqlError> = given
                .iter()
                .map(|given| match given {
                    GivenExpr::Value(expr) => Ok(Given::Value(expr.evaluate(&run.frame(&values))?, expr.data_type)),
                    GivenExpr::Default => Ok(Given::Default),
                })
                .collect();
            mark(&mut values, count, ChangeVerb::Insert);
            work.order.push((ChangeVerb::Insert, work.inserts.len()));
            work.inserts.push((given?, values));
        }
        (MergeAction::Update(_) | MergeAction::Delete | MergeAction::Insert(_), _, _) => {
            return Err(SqlError::internal("an action for no such row"));
        }
    }
    Ok(())
}

/// Sets the word of the action.
fn mark(values: &mut [Value], count: usize, verb: ChangeVerb) {
    if let Some(place) = values.get_mut(1 + 2 * count) {
        *place = Value::Text(verb.word().into());
    }
}

fn write(merge: &Merge, run: &mut Run<'_>, work: &mut Work) -> Result<(), SqlError> {
    let rules = [
        merge.update.as_ref().map(|(rules, _)| rules),
        merge.delete.as_ref().map(|(rules, _)| rules),
        merge.insert.as_ref().map(|writer| &writer.rules),
    ];
    if rules.iter().flatten().all(|rules| rules.references.is_empty()) {
        return write_all(merge, run, work);
    }
    run.executor.defer_references()?;
    let done = write_all(merge, run, work);
    let is_open = run.executor.settle_references();
    done?;
    match is_open? {
        true => Err(left_open(merge, run, work)),
        false => check_untrusted(merge, run, work),
    }
}

fn check_untrusted(merge: &Merge, run: &Run<'_>, work: &Work) -> Result<(), SqlError> {
    let count = merge.table.columns.len();
    if let Some(writer) = &merge.insert {
        let rows = work.inserts.iter();
        let rows = rows.filter_map(|(_, values)| values.get(1 + count..1 + 2 * count));
        row::check_untrusted(&writer.rules, run, rows, ChangeVerb::Insert)?;
    }
    if let Some((rules, _)) = &merge.update {
        let rows = work.updates.iter().map(|row| update::new_row(rules, row));
        row::check_untrusted(rules, run, rows, ChangeVerb::Update)?;
    }
    Ok(())
}

fn write_all(merge: &Merge, run: &mut Run<'_>, work: &mut Work) -> Result<(), SqlError> {
    if let Some((rules, sql)) = &merge.delete
        && !work.deletes.is_empty()
    {
        let rows = work.deletes.iter().map(|row| (row.row_id, row.values.as_slice()));
        delete::delete_all(rules, run, sql, rows)?;
    }
    if let Some((rules, write)) = &merge.update {
        let rows = RowsToWrite { rules, write };
        rows.all_deferred(run, &work.updates)?;
        rows.check_written(run, &work.updates)?;
    }
    let Some(writer) = &merge.insert else { return Ok(()) };
    let count = merge.table.columns.len();
    for (given, values) in &mut work.inserts {
        run.environment.begin_row();
        let row = row_writer::write_given(writer, run, std::mem::take(given), ChangeVerb::Insert)?;
        place(values, count, row);
    }
    Ok(())
}

/// The rows that INSTEAD OF triggers get.
fn compute_inserts(merge: &Merge, run: &mut Run<'_>, work: &mut Work) -> Result<(), SqlError> {
    let Some(writer) = &merge.insert else { return Ok(()) };
    let count = merge.table.columns.len();
    for (given, values) in &mut work.inserts {
        run.environment.begin_row();
        let row = row_writer::compute(writer, run, std::mem::take(given))?;
        place(values, count, row);
    }
    Ok(())
}

/// Sets the new row.
fn place(values: &mut [Value], count: usize, row: Vec<Value>) {
    for (place, value) in values.iter_mut().skip(1 + count).zip(row) {
        *place = value;
    }
}

/// The error of the violation that remains after all rows are written.
fn left_open(merge: &Merge, run: &Run<'_>, work: &Work) -> SqlError {
    let count = merge.table.columns.len();
    let new = |values: &[Value]| values.get(1 + count..1 + 2 * count).map(<[Value]>::to_vec);
    let inserted: Vec<Vec<Value>> = work.inserts.iter().filter_map(|(_, values)| new(values)).collect();
    let updated: Vec<Vec<Value>> = work.updates.iter().filter_map(|row| new(&row.values)).collect();
    let sides = [
        (merge.insert.as_ref().map(writer_rules), inserted, ChangeVerb::Insert),
        (
            merge.update.as_ref().map(|(rules, _)| rules),
            updated,
            ChangeVerb::Update,
        ),
        (
            merge.delete.as_ref().map(|(rules, _)| rules),
            Vec::new(),
            ChangeVerb::Delete,
        ),
    ];
    let mut error = SqlError::internal("a foreign key that no action breaks");
    for (rules, rows, verb) in &sides {
        let Some(rules) = rules else { continue };
        error = row::left_open(rules, run, rows.iter().map(Vec::as_slice), *verb);
        if error.number() != UNNAMED_CONSTRAINT {
            break;
        }
    }
    error
}

fn writer_rules(writer: &RowWriter) -> &selenite_compiler::change::RowRules {
    &writer.rules
}

/// Keeps rows for triggers, and sends OUTPUT.
fn send(merge: &Merge, run: &mut Run<'_>, work: &Work) -> Result<(), SqlError> {
    let count = merge.table.columns.len();
    for (verb, at) in &work.order {
        let values = match verb {
            ChangeVerb::Insert => work.inserts.get(*at).map(|(_, values)| values),
            ChangeVerb::Update => work.updates.get(*at).map(|row| &row.values),
            ChangeVerb::Delete => work.deletes.get(*at).map(|row| &row.values),
        };
        let Some(values) = values else { continue };
        let old = values.get(1..=count).filter(|_| *verb != ChangeVerb::Insert);
        let new = values
            .get(1 + count..1 + 2 * count)
            .filter(|_| *verb != ChangeVerb::Delete);
        changed_rows::note(run, *verb, old, new)?;
        for output in &merge.outputs {
            // A client that accepts no more rows does not end the change.
            let _: ControlFlow<()> = output::send(output, run, values)?;
        }
    }
    Ok(())
}

/// The number of an error that names no constraint.
const UNNAMED_CONSTRAINT: i32 = 8624;
