//! The SQL functions and collations that bound statements call (`selenite_runtime::execution`).

use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{ToSqlOutput, Value as SqliteValue, ValueRef};
use rusqlite::{Connection, Result};
use selenite_compiler::PlanError;
use selenite_compiler::compiled::ROWS_FUNCTION;
use selenite_runtime::execution::{AggregateRun, SingleValue, next_level};
use selenite_types::storage::{Stored, StoredRef};

use crate::database::running::Running;
use crate::database::sqlite_store::size_of;
use crate::memory;

/// Gives a connection the functions; they see what runs through `running`.
///
/// # Errors
/// What SQLite says.
pub fn register(connection: &Connection, running: &Running) -> Result<()> {
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, flags) in [(c"tsql_op", pure), (c"tsql_row", FunctionFlags::SQLITE_UTF8)] {
        let running = running.clone();
        connection.create_scalar_function(name, -1, flags, move |context| operation(context, &running))?;
    }
    let level = running.clone();
    connection.create_scalar_function(c"tsql_level", 2, pure, move |context| {
        next_level(context.get(0)?, context.get(1)?).map_err(|error| level.refuse(error))
    })?;
    let shown = running.clone();
    connection.create_scalar_function(ROWS_FUNCTION, -1, pure, move |context| {
        let name: String = context.get(0)?;
        let arguments: Vec<StoredRef<'_>> = (1..context.len())
            .map(|index| stored_ref(context.get_raw(index)))
            .collect();
        shown.rows(&name, &arguments)
    })?;
    let plain = FunctionFlags::SQLITE_UTF8;
    // Of no rows an aggregate is never begun, and so has no number: its name says what it is then.
    for (group, window, none) in [
        (c"tsql_aggregate", c"tsql_window", Stored::Null),
        (c"tsql_count", c"tsql_window_count", Stored::Integer(0)),
    ] {
        let running = running.clone();
        let (of_group, of_window) = (running.clone(), running);
        let nothing = none.clone();
        connection.create_aggregate_function(group, -1, plain, Group(of_group, nothing))?;
        connection.create_window_function(window, -1, plain, Window(of_window, none))?;
    }
    connection.create_aggregate_function(c"tsql_single", 1, FunctionFlags::SQLITE_UTF8, Single(running.clone()))?;
    connection.create_collation(c"Latin1_General_BIN2", |a: &str, b: &str| a.cmp(b))
}

fn operation(context: &Context<'_>, running: &Running) -> Result<ToSqlOutput<'static>> {
    let number = number(context)?;
    let arguments: Vec<StoredRef<'_>> = (1..context.len())
        .map(|index| stored_ref(context.get_raw(index)))
        .collect();
    let answer = running.evaluate(|compiled, around| compiled.operation(number, &arguments, around))?;
    Ok(output(answer))
}

/// The number of an operation or aggregate: the first argument.
fn number(context: &Context<'_>) -> Result<u32> {
    context.get(0)
}

/// As SQLite gives it.
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
struct Group(Running, Stored<'static>);

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

/// `tsql_window(N, a)` over a window that moves.
struct Window(Running, Stored<'static>);

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

/// An aggregate keeps what it is given, and there may be one for each group. SQLite takes some hundred rows between two looks, which takes
/// long where the values are large.
fn check(running: &Running, context: &Context<'_>) -> Result<()> {
    memory::reserve(0).map_err(|error| running.refuse(error))?;
    if size_of(&argument(context)) > LARGE_SIZE {
        running.evaluate(|_, around| around.poll())?;
    }
    Ok(())
}

/// 64 KiB: comparing two takes some microseconds.
const LARGE_SIZE: usize = 64 << 10;

fn aggregate_run<'a>(
    running: &Running,
    context: &Context<'_>,
    run: &'a mut Option<AggregateRun>,
) -> Result<&'a mut AggregateRun> {
    if run.is_none() {
        let number = number(context)?;
        *run = Some(running.evaluate(|compiled, _| AggregateRun::begin(compiled, number))?);
    }
    run.as_mut()
        .ok_or_else(|| running.refuse(PlanError::internal("an aggregate that did not begin")))
}

/// The value that comes in; that of COUNT(*) has none.
fn argument<'a>(context: &'a Context<'_>) -> StoredRef<'a> {
    if context.len() > 1 {
        stored_ref(context.get_raw(1))
    } else {
        StoredRef::Integer(1)
    }
}

fn finish(
    (running, none): (&Running, &Stored<'static>),
    run: Option<&mut AggregateRun>,
) -> Result<ToSqlOutput<'static>> {
    let Some(run) = run else {
        return Ok(output(none.clone()));
    };
    if run.left_out_null() {
        running.note_null();
    }
    run.value().map(output).map_err(|error| running.refuse(error))
}

/// `tsql_single(a)`: a subquery that stands for one value.
struct Single(Running);

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
