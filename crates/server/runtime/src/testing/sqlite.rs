//! SQLite as the tests have it: tables from T-SQL, our functions registered, results as text.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use selenite_types::storage::{Stored, StoredRef};

use selenite_compiler::PlanError;
use selenite_compiler::catalog::Table;
use selenite_compiler::compiled::Compiled;

use super::TestEnvironment;
use crate::execution::{AggregateRun, SingleValue, next_level};
use crate::statement::{Call, RowSink, Store, StoreError};

/// What functions of SQLite share with whoever runs a statement.
struct Shared {
    compiled: Arc<Compiled>,
    error: Option<PlanError>,
    world: TestEnvironment,
    left_out_null: bool,
}

/// SQLite with our functions.
pub(crate) struct Sqlite {
    pub connection: Connection,
    shared: Arc<Mutex<Shared>>,
    pub identities: RefCell<HashMap<String, i128>>,
    pub identity_insert: RefCell<Option<String>>,
}

impl Sqlite {
    pub fn new() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        let shared = Shared {
            compiled: Arc::default(),
            error: None,
            world: TestEnvironment::default(),
            left_out_null: false,
        };
        let shared = Arc::new(Mutex::new(shared));
        for collation in [
            selenite_types::Collation::Latin1General,
            selenite_types::Collation::Latin1GeneralBin2,
        ] {
            let compare = move |a: &str, b: &str| -> Ordering { collation.compare(a.as_bytes(), b.as_bytes()) };
            connection.create_collation(collation.name(), compare).unwrap();
        }
        connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
        register(&connection, &shared);
        let (identities, identity_insert) = (RefCell::default(), RefCell::default());
        Self {
            connection,
            shared,
            identities,
            identity_insert,
        }
    }

    /// Whether NULLs were left out of an aggregate since it was asked last.
    pub fn left_out_null(&self) -> bool {
        std::mem::take(&mut self.shared.lock().unwrap().left_out_null)
    }

    fn failure(&self, error: &rusqlite::Error) -> StoreError {
        if let Some(error) = self.shared.lock().unwrap().error.take() {
            return StoreError::Failed(error);
        }
        if let rusqlite::Error::SqliteFailure(failure, Some(message)) = error
            && failure.code == rusqlite::ErrorCode::ConstraintViolation
        {
            return StoreError::Constraint(message.clone());
        }
        panic!("SQLite: {error}");
    }
}

impl Store for Sqlite {
    fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), StoreError> {
        let mut statement = self
            .connection
            .prepare(call.sql)
            .unwrap_or_else(|error| panic!("{error}\n{}", call.sql));
        let parameters = call.parameters.iter().map(bound);
        let mut rows = statement.query(rusqlite::params_from_iter(parameters)).unwrap();
        loop {
            // The sink of a select may run changes, which call nothing.
            self.shared.lock().unwrap().compiled = Arc::clone(call.compiled);
            let next = rows.next().map_err(|error| self.failure(&error))?;
            let Some(values) = next else { return Ok(()) };
            let count = values.as_ref().column_count();
            let values: Vec<StoredRef<'_>> = (0..count).map(|at| stored_ref(values.get_ref(at).unwrap())).collect();
            if row(&values)?.is_break() {
                return Ok(());
            }
        }
    }

    fn change(&self, call: &Call<'_>) -> Result<u64, StoreError> {
        self.shared.lock().unwrap().compiled = Arc::clone(call.compiled);
        let mut statement = self
            .connection
            .prepare_cached(call.sql)
            .unwrap_or_else(|error| panic!("{error}\n{}", call.sql));
        let parameters = call.parameters.iter().map(bound);
        let changed = statement.execute(rusqlite::params_from_iter(parameters));
        changed
            .map(|count| u64::try_from(count).unwrap())
            .map_err(|error| self.failure(&error))
    }

    fn defer_references(&self) -> Result<(), PlanError> {
        self.connection.execute_batch("PRAGMA defer_foreign_keys = ON").unwrap();
        Ok(())
    }

    fn settle_references(&self) -> Result<bool, PlanError> {
        let mut check = self.connection.prepare("PRAGMA foreign_key_check").unwrap();
        let is_open = check.exists([]).unwrap();
        self.connection
            .execute_batch("PRAGMA defer_foreign_keys = OFF")
            .unwrap();
        Ok(is_open)
    }

    fn next_identity(&self, table: &Table) -> Result<i128, PlanError> {
        let rule = table.columns[table.identity().unwrap()].identity.unwrap();
        let mut identities = self.identities.borrow_mut();
        let next = identities
            .get(&table.name)
            .map_or(rule.seed, |last| last + rule.increment);
        identities.insert(table.name.clone(), next);
        Ok(next)
    }

    fn identity_used(&self, table: &Table, value: i128) -> Result<(), PlanError> {
        let mut identities = self.identities.borrow_mut();
        let last = identities.entry(table.name.clone()).or_insert(value);
        *last = value.max(*last);
        Ok(())
    }

    fn identity_insert(&self, table: &Table) -> bool {
        self.identity_insert.borrow().as_ref() == Some(&table.name)
    }
}

fn bound(value: &Stored<'static>) -> SqlValue {
    match value {
        Stored::Null => SqlValue::Null,
        Stored::Integer(value) => SqlValue::Integer(*value),
        Stored::Real(value) => SqlValue::Real(*value),
        Stored::Text(text) => SqlValue::Text(text.to_string()),
        Stored::Blob(bytes) => SqlValue::Blob(bytes.to_vec()),
    }
}

fn stored_ref(value: ValueRef<'_>) -> StoredRef<'_> {
    match value {
        ValueRef::Null => StoredRef::Null,
        ValueRef::Integer(value) => StoredRef::Integer(value),
        ValueRef::Real(value) => StoredRef::Real(value),
        ValueRef::Text(text) => StoredRef::Text(text),
        ValueRef::Blob(bytes) => StoredRef::Blob(bytes),
    }
}

type Answer = rusqlite::Result<ToSqlOutput<'static>>;

/// Gives SQLite a value, or keeps the error for whoever runs the statement.
fn told<T>(shared: &Mutex<Shared>, result: Result<T, PlanError>) -> rusqlite::Result<T> {
    result.map_err(|error| {
        shared.lock().unwrap().error = Some(error);
        rusqlite::Error::UserFunctionError("T-SQL".into())
    })
}

fn answer(value: &Stored<'static>) -> ToSqlOutput<'static> {
    ToSqlOutput::Owned(bound(value))
}

fn register(connection: &Connection, shared: &Arc<Mutex<Shared>>) {
    let going = selenite_compiler::compiled::CHECK_CANCELLED_FUNCTION;
    connection
        .create_scalar_function(going, 0, FunctionFlags::SQLITE_UTF8, |_| Ok(true))
        .unwrap();
    for (name, flags) in [
        (
            "tsql_op",
            FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC,
        ),
        ("tsql_row", FunctionFlags::SQLITE_UTF8),
    ] {
        let shared = Arc::clone(shared);
        let call = move |context: &Context<'_>| -> Answer {
            let number: u32 = context.get(0)?;
            let arguments: Vec<StoredRef<'_>> = (1..context.len()).map(|at| stored_ref(context.get_raw(at))).collect();
            let result = {
                let shared = shared.lock().unwrap();
                shared.compiled.operation(number, &arguments, &shared.world)
            };
            told(&shared, result).map(|value| answer(&value))
        };
        connection.create_scalar_function(name, -1, flags, call).unwrap();
    }
    let level = Arc::clone(shared);
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let call = move |context: &Context<'_>| told(&level, next_level(context.get(0)?, context.get(1)?));
    connection.create_scalar_function("tsql_level", 2, flags, call).unwrap();
    for (name, of_none, arguments) in [
        ("tsql_aggregate", Stored::Null, 2),
        ("tsql_aggregate", Stored::Null, 3),
        ("tsql_count", Stored::Integer(0), 2),
    ] {
        let group = Group {
            shared: Arc::clone(shared),
            of_none,
        };
        connection
            .create_aggregate_function(name, arguments, FunctionFlags::SQLITE_UTF8, group)
            .unwrap();
    }
    for (name, of_none) in [("tsql_window", Stored::Null), ("tsql_window_count", Stored::Integer(0))] {
        let window = Window {
            shared: Arc::clone(shared),
            of_none,
        };
        connection
            .create_window_function(name, 2, FunctionFlags::SQLITE_UTF8, window)
            .unwrap();
    }
    let single = Single {
        shared: Arc::clone(shared),
    };
    connection
        .create_aggregate_function("tsql_single", 1, FunctionFlags::SQLITE_UTF8, single)
        .unwrap();
}

struct Group {
    shared: Arc<Mutex<Shared>>,
    of_none: Stored<'static>,
}

impl Group {
    fn finish(&self, run: Option<AggregateRun>) -> Answer {
        let Some(mut run) = run else {
            return Ok(answer(&self.of_none));
        };
        self.shared.lock().unwrap().left_out_null |= run.left_out_null();
        told(&self.shared, run.value()).map(|value| answer(&value))
    }
}

impl Aggregate<AggregateRun, ToSqlOutput<'static>> for Group {
    fn init(&self, context: &mut Context<'_>) -> rusqlite::Result<AggregateRun> {
        let run = AggregateRun::begin(&self.shared.lock().unwrap().compiled, context.get(0)?);
        told(&self.shared, run)
    }

    fn step(&self, context: &mut Context<'_>, run: &mut AggregateRun) -> rusqlite::Result<()> {
        if context.len() > 2 {
            told(&self.shared, run.separate(stored_ref(context.get_raw(2))))?;
        }
        told(&self.shared, run.step(stored_ref(context.get_raw(1))))
    }

    fn finalize(&self, _: &mut Context<'_>, run: Option<AggregateRun>) -> Answer {
        self.finish(run)
    }
}

struct Window {
    shared: Arc<Mutex<Shared>>,
    of_none: Stored<'static>,
}

impl Aggregate<AggregateRun, ToSqlOutput<'static>> for Window {
    fn init(&self, context: &mut Context<'_>) -> rusqlite::Result<AggregateRun> {
        let run = AggregateRun::begin(&self.shared.lock().unwrap().compiled, context.get(0)?);
        told(&self.shared, run)
    }

    fn step(&self, context: &mut Context<'_>, run: &mut AggregateRun) -> rusqlite::Result<()> {
        told(&self.shared, run.enter(stored_ref(context.get_raw(1))))
    }

    fn finalize(&self, _: &mut Context<'_>, run: Option<AggregateRun>) -> Answer {
        let Some(mut run) = run else {
            return Ok(answer(&self.of_none));
        };
        told(&self.shared, run.value()).map(|value| answer(&value))
    }
}

impl WindowAggregate<AggregateRun, ToSqlOutput<'static>> for Window {
    fn value(&self, run: Option<&mut AggregateRun>) -> Answer {
        let Some(run) = run else {
            return Ok(answer(&self.of_none));
        };
        told(&self.shared, run.value()).map(|value| answer(&value))
    }

    fn inverse(&self, _: &mut Context<'_>, run: &mut AggregateRun) -> rusqlite::Result<()> {
        run.leave();
        Ok(())
    }
}

struct Single {
    shared: Arc<Mutex<Shared>>,
}

impl Aggregate<SingleValue, ToSqlOutput<'static>> for Single {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<SingleValue> {
        Ok(SingleValue::default())
    }

    fn step(&self, context: &mut Context<'_>, single: &mut SingleValue) -> rusqlite::Result<()> {
        told(&self.shared, single.step(&stored_ref(context.get_raw(0))))
    }

    fn finalize(&self, _: &mut Context<'_>, single: Option<SingleValue>) -> Answer {
        Ok(answer(&single.map_or(Stored::Null, SingleValue::finish)))
    }
}
