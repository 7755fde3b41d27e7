//! Registers the SQL functions and collations that bound statements call ([`crate::execution`]).

use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{ToSqlOutput, Value as SqliteValue, ValueRef};
use rusqlite::{Connection, Result};
use selenite_compiler::SqlError;
use selenite_compiler::compiled::{ROWS_FUNCTION, VARIANT_COLLATION};
use selenite_types::storage::{Stored, StoredRef, variant_order};

use super::function_context::FunctionContext;
use super::memory::{reserve, size_of};
use crate::execution::{AggregateRun, SingleValue, next_level};

/// Registers the functions on a connection; they read the running statement from `functions`.
///
/// # Errors
/// SQLite's error.
pub fn register(connection: &Connection, functions: &FunctionContext) -> Result<()> {
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, flags) in [(c"tsql_op", pure), (c"tsql_row", FunctionFlags::SQLITE_UTF8)] {
        let functions = functions.clone();
        connection.create_scalar_function(name, -1, flags, move |context| operation(context, &functions))?;
    }
    let level = functions.clone();
    connection.create_scalar_function(c"tsql_level", 2, pure, move |context| {
        next_level(context.get(0)?, context.get(1)?).map_err(|error| level.refuse(error))
    })?;
    let shown = functions.clone();
    connection.create_scalar_function(ROWS_FUNCTION, -1, pure, move |context| {
        let name: String = context.get(0)?;
        let arguments: Vec<StoredRef<'_>> = (1..context.len())
            .map(|index| stored_ref(context.get_raw(index)))
            .collect();
        shown.rows(&name, &arguments)
    })?;
    let plain = FunctionFlags::SQLITE_UTF8;
    // An aggregate over no rows is never begun, and so has no number: its name decides the result.
    for (group, window, none) in [
        (c"tsql_aggregate", c"tsql_window", Stored::Null),
        (c"tsql_count", c"tsql_window_count", Stored::Integer(0)),
    ] {
        let functions = functions.clone();
        let (of_group, of_window) = (functions.clone(), functions);
        let nothing = none.clone();
        connection.create_aggregate_function(group, -1, plain, Group(of_group, nothing))?;
        connection.create_window_function(window, -1, plain, Window(of_window, none))?;
    }
    connection.create_aggregate_function(c"tsql_single", 1, FunctionFlags::SQLITE_UTF8, Single(functions.clone()))?;
    connection.create_collation(VARIANT_COLLATION, |a: &str, b: &str| variant_order(a, b))
}

fn operation(context: &Context<'_>, functions: &FunctionContext) -> Result<ToSqlOutput<'static>> {
    let number = number(context)?;
    let arguments: Vec<StoredRef<'_>> = (1..context.len())
        .map(|index| stored_ref(context.get_raw(index)))
        .collect();
    let answer = functions.evaluate(|compiled, around| compiled.operation(number, &arguments, around))?;
    Ok(output(answer))
}

/// The number of an operation or aggregate: the first argument.
fn number(context: &Context<'_>) -> Result<u32> {
    context.get(0)
}

/// Converts SQLite's value to a storage form.
pub fn stored_ref(value: ValueRef<'_>) -> StoredRef<'_> {
    match value {
        ValueRef::Null => StoredRef::Null,
        ValueRef::Integer(number) => StoredRef::Integer(number),
        ValueRef::Real(number) => StoredRef::Real(number),
        ValueRef::Text(text) => StoredRef::Text(text),
        ValueRef::Blob(bytes) => StoredRef::Blob(bytes),
    }
}

fn output(value: Stored<'static>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(match value {
        Stored::Null => SqliteValue::Null,
        Stored::Integer(number) => SqliteValue::Integer(number),
        Stored::Real(number) => SqliteValue::Real(number),
        Stored::Text(text) => SqliteValue::Text(text.into_owned()),
        Stored::Blob(bytes) => SqliteValue::Blob(bytes.into_owned()),
    })
}

/// `tsql_aggregate(N, a)` over a group.
struct Group(FunctionContext, Stored<'static>);

impl Aggregate<Option<AggregateRun>, ToSqlOutput<'static>> for Group {
    fn init(&self, _context: &mut Context<'_>) -> Result<Option<AggregateRun>> {
        Ok(None)
    }

    fn step(&self, context: &mut Context<'_>, run: &mut Option<AggregateRun>) -> Result<()> {
        let run = aggregate_run(&self.0, context, run)?;
        check(&self.0, context)?;
        if context.len() > 2 {
            run.separate(stored_ref(context.get_raw(2)))
                .map_err(|error| self.0.refuse(error))?;
        }
        run.step(argument(context)).map_err(|error| self.0.refuse(error))
    }

    fn finalize(&self, _: &mut Context<'_>, run: Option<Option<AggregateRun>>) -> Result<ToSqlOutput<'static>> {
        finish((&self.0, &self.1), run.flatten().as_mut())
    }
}

/// `tsql_window(N, a)` over a moving window frame.
struct Window(FunctionContext, Stored<'static>);

impl Aggregate<Option<AggregateRun>, ToSqlOutput<'static>> for Window {
    fn init(&self, _context: &mut Context<'_>) -> Result<Option<AggregateRun>> {
        Ok(None)
    }

    fn step(&self, context: &mut Context<'_>, run: &mut Option<AggregateRun>) -> Result<()> {
        let run = aggregate_run(&self.0, context, run)?;
        check(&self.0, context)?;
        run.enter(argument(context)).map_err(|error| self.0.refuse(error))
    }

    fn finalize(&self, _: &mut Context<'_>, run: Option<Option<AggregateRun>>) -> Result<ToSqlOutput<'static>> {
        finish((&self.0, &self.1), run.flatten().as_mut())
    }
}

impl WindowAggregate<Option<AggregateRun>, ToSqlOutput<'static>> for Window {
    fn value(&self, run: Option<&mut Option<AggregateRun>>) -> Result<ToSqlOutput<'static>> {
        finish((&self.0, &self.1), run.and_then(Option::as_mut))
    }

    fn inverse(&self, _context: &mut Context<'_>, run: &mut Option<AggregateRun>) -> Result<()> {
        if let Some(run) = run {
            run.leave();
        }
        Ok(())
    }
}

/// An aggregate keeps its arguments, and there may be one for each group. SQLite steps through some hundred rows
/// between two polls, which takes long if values are large.
fn check(functions: &FunctionContext, context: &Context<'_>) -> Result<()> {
    reserve(0).map_err(|error| functions.refuse(error))?;
    if size_of(&argument(context)) > LARGE_SIZE {
        functions.evaluate(|_, around| around.poll())?;
    }
    Ok(())
}

/// 64 KiB: comparing two takes some microseconds.
const LARGE_SIZE: usize = 64 << 10;

fn aggregate_run<'a>(
    functions: &FunctionContext,
    context: &Context<'_>,
    run: &'a mut Option<AggregateRun>,
) -> Result<&'a mut AggregateRun> {
    if run.is_none() {
        let number = number(context)?;
        *run = Some(functions.evaluate(|compiled, _| AggregateRun::begin(compiled, number))?);
    }
    run.as_mut()
        .ok_or_else(|| functions.refuse(SqlError::internal("an aggregate that did not begin")))
}

/// The value of the entering row; COUNT(*) has none.
fn argument<'a>(context: &'a Context<'_>) -> StoredRef<'a> {
    if context.len() > 1 {
        stored_ref(context.get_raw(1))
    } else {
        StoredRef::Integer(1)
    }
}

fn finish(
    (functions, none): (&FunctionContext, &Stored<'static>),
    run: Option<&mut AggregateRun>,
) -> Result<ToSqlOutput<'static>> {
    let Some(run) = run else {
        return Ok(output(none.clone()));
    };
    if run.left_out_null() {
        functions.note_null();
    }
    run.value().map(output).map_err(|error| functions.refuse(error))
}

/// `tsql_single(a)`: a scalar subquery.
struct Single(FunctionContext);

impl Aggregate<SingleValue, ToSqlOutput<'static>> for Single {
    fn init(&self, _context: &mut Context<'_>) -> Result<SingleValue> {
        Ok(SingleValue::default())
    }

    fn step(&self, context: &mut Context<'_>, value: &mut SingleValue) -> Result<()> {
        value
            .step(&stored_ref(context.get_raw(0)))
            .map_err(|error| self.0.refuse(error))
    }

    fn finalize(&self, _: &mut Context<'_>, value: Option<SingleValue>) -> Result<ToSqlOutput<'static>> {
        Ok(output(value.unwrap_or_default().finish()))
    }
}
