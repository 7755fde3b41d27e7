//! Functions of users while a statement runs.
//!
//! - `reads-as-its-statement`: a function's statements run on the statement's connection, in its transaction, and
//!   with its time: GETDATE is the same in all of it.
//! - `one-owner`: a user who may call a function needs no permission on the tables that it reads, as with views.
//! - `tables-by-depth`: a function's table variables are made when it is called first at its depth, emptied when it
//!   ends, and dropped when the statement ends: SQLite drops no table while a statement reads.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use selenite_compiler::catalog::{Catalog, FunctionResult, Relation, Sequence, SystemFunction, Table, UserFunction};
use selenite_compiler::program::{Program, StatementId};
use selenite_compiler::statement::{Binding, Statement};
use selenite_compiler::{NameKey, SourceColumn, SqlError, Variables};
use selenite_runtime::sqlite::{Executor, LateSnapshot, LockTimeout, SharedSnapshot};
use selenite_runtime::statement::{ResultSink, Run};
use selenite_runtime::user_function::{self, FunctionHost, FunctionRunner, RowsText, run_body, slots_of};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use crate::catalog::effective_permissions::Permissions;
use crate::catalog::schema::parsed;
use crate::catalog::table_variables::{self, TableVariable, declared};
use crate::database::database_connection::DatabaseConnection;
use crate::execution::plan_cache::{FunctionPlans, PlanKey};
use crate::execution::session_executor::SessionExecutor;
use crate::execution::snapshot::shared;
use crate::names::row_permissions::{Asked, check_reads};
use crate::names::session_catalog::SessionCatalog;
use crate::names::session_environment::SessionEnvironment;
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;

/// Runs the functions that one statement calls.
pub(crate) struct StatementFunctions {
    database: Rc<DatabaseConnection>,
    state: SessionState,
    /// What names in functions mean.
    catalog: SessionCatalog,
    /// What the server's functions see.
    objects: SessionObjects,
    permissions: Permissions,
    plans: Rc<RefCell<FunctionPlans>>,
    own_plans: RefCell<HashMap<PlanKey, Arc<Statement>>>,
    /// The frames around the statement.
    nest_level: usize,
    /// How many functions are running.
    depth: Cell<usize>,
    tables: RefCell<HashMap<(usize, i32), Arc<table_variables::Variables>>>,
    /// What SQLite's functions see, by depth: a function that is called while one of them runs has its own.
    snapshots: RefCell<Vec<SharedSnapshot>>,
}

impl SessionExecutor<'_> {
    /// The runner of the functions that the next statement calls, in the database in use.
    ///
    /// # Errors
    /// What keeps its definitions from being read.
    fn function_runner(&self, state: &SessionState) -> Result<StatementFunctions, SqlError> {
        let database = Rc::clone(&self.transactions.connected()?.database);
        let of = (database.shared.record.id, database.version()?, self.permissions.clone());
        let mut plans = self.function_plans.borrow_mut();
        if plans.of.as_ref() != Some(&of) || plans.kept.len() > PLAN_COUNT_MAX {
            plans.kept.clear();
            plans.of = Some(of);
        }
        drop(plans);
        let catalog = SessionCatalog {
            is_other_database: false,
            ..self.scope.objects.catalog.clone()
        };
        Ok(StatementFunctions {
            database,
            state: state.clone(),
            catalog,
            objects: self.scope.seen_by_functions().clone(),
            permissions: self.permissions.clone(),
            plans: Rc::clone(&self.function_plans),
            own_plans: RefCell::default(),
            nest_level: usize::try_from(state.session.nest_level).unwrap_or(0),
            depth: Cell::new(0),
            tables: RefCell::default(),
            snapshots: RefCell::default(),
        })
    }
}

impl SessionExecutor<'_> {
    /// Whether a name is that of a function that the user sees.
    pub(crate) fn sees_function(&self, name: &ast::ObjectName) -> bool {
        self.scope.seen_by_functions().catalog.function_of(name).is_some()
    }

    /// Runs something that may call functions.
    ///
    /// # Errors
    /// What keeps functions from being found; SQLite's error of dropping their tables.
    pub(crate) fn with_runner<R>(&self, state: &SessionState, run: impl FnOnce() -> R) -> Result<R, SqlError> {
        let runner = Rc::new(self.function_runner(state)?);
        let called: Rc<dyn FunctionRunner> = runner.clone();
        let done = user_function::with_runner(called, run);
        runner.drop_tables()?;
        Ok(done)
    }
}

impl StatementFunctions {
    /// Drops the table variables, when the statement has ended.
    ///
    /// # Errors
    /// SQLite's error.
    fn drop_tables(&self) -> Result<(), SqlError> {
        let tables = std::mem::take(&mut *self.tables.borrow_mut());
        for variable in tables.values().flat_map(|tables| tables.values()) {
            variable.drop_in(&self.database.connection)?;
            self.database.shared.identities.discard(variable.table.object_id);
        }
        Ok(())
    }

    fn run_program(
        &self,
        function: &Arc<UserFunction>,
        program: &Arc<Program>,
        arguments: Vec<Value>,
    ) -> Result<Value, SqlError> {
        let variables = self.variables(function, program)?;
        self.copy_tables(function, &arguments, &variables)?;
        let mut body = FunctionFrame {
            runner: self,
            function,
            program,
            catalog: SessionCatalog {
                variables: Arc::clone(&variables),
                default_schema: Arc::from(function.schema.as_str()),
                ..self.catalog.clone()
            },
            state: self.state.clone(),
        };
        let mut slots = slots_of(program, arguments);
        let done = run_body(program, &mut slots, &mut body);
        let done = match (&function.result, done) {
            (FunctionResult::Table { variable, .. }, Ok(_)) => body.rows(variable),
            (_, done) => done,
        };
        for variable in variables.values() {
            variable.clear(&self.database.connection)?;
            self.database.shared.identities.discard(variable.table.object_id);
        }
        done
    }

    /// `tables-by-depth`: the table variables of a function that begins, all empty.
    fn variables(
        &self,
        function: &UserFunction,
        program: &Program,
    ) -> Result<Arc<table_variables::Variables>, SqlError> {
        let key = (self.depth.get(), function.object_id);
        if let Some(made) = self.tables.borrow().get(&key) {
            return Ok(Arc::clone(made));
        }
        let mut declared = declared(program);
        declared.extend(table_variables::parameters(program));
        if declared.is_empty() {
            return Ok(Arc::default());
        }
        let mut variables = table_variables::Variables::new();
        let connection = &self.database.connection;
        let (depth, id) = key;
        for declared in declared {
            let name = declared.name;
            let in_sqlite = format!("@f{depth}.{id}{name}");
            let made = TableVariable::make_as(connection, &declared, in_sqlite);
            let made = made.map_err(|error| error.on_line(declared.line))?;
            variables.insert(NameKey::new(name), Arc::new(made));
        }
        let variables = Arc::new(variables);
        self.tables.borrow_mut().insert(key, Arc::clone(&variables));
        Ok(variables)
    }

    /// Copies the tables that are arguments: `tables-by-depth`, so that bound statements name the function's own.
    fn copy_tables(
        &self,
        function: &UserFunction,
        arguments: &[Value],
        variables: &table_variables::Variables,
    ) -> Result<(), SqlError> {
        let parameters = function.parameters.iter().zip(arguments);
        for (parameter, argument) in parameters.filter(|(parameter, _)| parameter.table.is_some()) {
            let Value::Text(from) = argument else { continue };
            if let Some(own) = variables.get(&NameKey::new(&parameter.name)) {
                own.copy_from(&self.database.connection, from)?;
            }
        }
        Ok(())
    }

    fn snapshot(&self, depth: usize) -> SharedSnapshot {
        let mut snapshots = self.snapshots.borrow_mut();
        while snapshots.len() <= depth {
            snapshots.push(shared(&self.state, &self.objects));
        }
        snapshots
            .get(depth)
            .map_or_else(|| shared(&self.state, &self.objects), Arc::clone)
    }
}

impl FunctionRunner for StatementFunctions {
    fn run(&self, function: &Arc<UserFunction>, arguments: Vec<Value>) -> Result<Value, SqlError> {
        let known = self.catalog.schema.function(&function.schema, &function.name);
        let program = known.and_then(|known| known.program.clone());
        let program = program.ok_or_else(|| SqlError::internal("a function without a body"))?;
        let depth = self.depth.get();
        if self.nest_level + depth >= NEST_LEVEL_MAX {
            return Err(SqlError::nesting_exceeded(NEST_LEVEL_MAX));
        }
        self.depth.set(depth + 1);
        let done = self.run_program(function, &program, arguments);
        self.depth.set(depth);
        done
    }
}

/// A function that runs.
struct FunctionFrame<'a> {
    runner: &'a StatementFunctions,
    function: &'a Arc<UserFunction>,
    program: &'a Arc<Program>,
    catalog: SessionCatalog,
    state: SessionState,
}

impl FunctionFrame<'_> {
    /// The rows of the variable that the function returns.
    fn rows(&mut self, variable: &str) -> Result<Value, SqlError> {
        let bound = match self.kept(ROWS) {
            Some(bound) => bound,
            None => {
                let tree = parsed(&format!("SELECT * FROM {variable}"))?;
                let statement = tree.statements.first();
                let statement = statement.ok_or_else(|| SqlError::internal("the rows of a function"))?;
                self.bind(ROWS, statement, &Variables::default())?
            }
        };
        let types: Vec<DataType> = bound.columns().iter().map(|column| column.data_type).collect();
        let mut text = RowsText::default();
        let environment = SessionEnvironment {
            state: &self.runner.state,
            objects: &self.runner.objects,
            sequences: None,
        };
        let mut slots = Vec::new();
        self.run(&bound, &mut slots, &mut |row| {
            text.push(row, &types, &environment)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(text.finish())
    }

    /// Where bound statements are kept. Those that may name table variables are kept for the calling statement alone:
    /// they name their tables.
    fn plans(&self) -> RefMut<'_, HashMap<PlanKey, Arc<Statement>>> {
        match self.catalog.variables.is_empty() {
            true => RefMut::map(self.runner.plans.borrow_mut(), |plans| &mut plans.kept),
            false => self.runner.own_plans.borrow_mut(),
        }
    }

    fn key(&self, id: StatementId) -> PlanKey {
        let depth = match self.catalog.variables.is_empty() {
            true => 0,
            false => self.runner.depth.get(),
        };
        (self.function.object_id, id, depth)
    }

    fn kept(&self, id: StatementId) -> Option<Arc<Statement>> {
        self.plans().get(&self.key(id)).cloned()
    }

    fn bind(&self, id: StatementId, tree: &ast::Statement, variables: &Variables) -> Result<Arc<Statement>, SqlError> {
        let asked = Asked::of(&self.catalog, None);
        asked.enter_view((&self.function.database, &self.function.schema));
        let catalog = InFunction(&asked);
        let binding = Binding {
            catalog: &catalog,
            variables,
        };
        let bound = Arc::new(binding.statement(tree)?);
        let who = (&self.runner.permissions, self.catalog.database.as_ref());
        check_reads(&asked.uses().0, who)?;
        self.plans().insert(self.key(id), Arc::clone(&bound));
        Ok(bound)
    }

    fn run(&self, bound: &Statement, slots: &mut Vec<Value>, rows: &mut ResultSink<'_>) -> Result<u64, SqlError> {
        let database = &self.runner.database;
        let last_identity = Cell::new(None);
        let depth = self.runner.depth.get();
        let take = || self.runner.snapshot(depth);
        let executor = Executor {
            connection: &database.connection,
            functions: &database.functions,
            session: LateSnapshot::new(&take),
            identity_insert: None,
            identities: &database.shared.identities,
            identity_journal: &database.identity_journal,
            timeout: LockTimeout::of(self.state.lock_timeout()),
            cancellation: &database.cancellation,
            last_identity: &last_identity,
        };
        let environment = SessionEnvironment {
            state: &self.state,
            objects: &self.runner.objects,
            sequences: None,
        };
        let mut run = Run {
            executor: &executor,
            slots,
            environment: &environment,
            rows,
            changed: None,
        };
        match bound {
            Statement::Rows(rows) => run.rows(rows),
            Statement::Assign(assign) => run.assign(assign),
            Statement::Insert(insert) => run.insert(insert),
            Statement::Update(update) => run.update(update),
            Statement::Delete(delete) => run.delete(delete),
            Statement::Merge(merge) => run.merge(merge),
            Statement::Into(_) | Statement::Truncate(_) => Err(SqlError::call_in_function()),
        }
    }
}

impl FunctionHost for FunctionFrame<'_> {
    type Environment<'a>
        = SessionEnvironment<'a>
    where
        Self: 'a;

    fn environment(&self) -> SessionEnvironment<'_> {
        SessionEnvironment {
            state: &self.state,
            objects: &self.runner.objects,
            sequences: None,
        }
    }

    fn set_row_count(&mut self, count: i64) {
        self.state.session.row_count = count;
    }

    fn statement(&mut self, id: StatementId, slots: &mut Vec<Value>) -> Result<u64, SqlError> {
        let bound = match self.kept(id) {
            Some(bound) => bound,
            None => {
                let tree = self.program.statement(id);
                let tree = tree.ok_or_else(|| SqlError::internal("a statement that is not there"))?;
                self.bind(id, tree, self.program.variables())?
            }
        };
        let mut none = |_: &[Value]| Err(SqlError::call_in_function());
        self.run(&bound, slots, &mut none)
    }
}

/// What names in a function's text mean: no temporary tables.
struct InFunction<'a>(&'a Asked<'a>);

impl Catalog for InFunction<'_> {
    fn relation(&self, name: &ast::ObjectName) -> Result<Option<Relation>, SqlError> {
        match name.name.text.starts_with('#') {
            true => Err(SqlError::temporary_in_function()),
            false => self.0.relation(name),
        }
    }

    fn function(&self, name: &ast::ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        self.0.function(name)
    }

    fn sequence(&self, _name: &ast::ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        Err(SqlError::next_value_not_here())
    }

    fn user_function(&self, name: &ast::ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        self.0.user_function(name)
    }

    fn enter_view(&self, home: (&str, &str)) {
        self.0.enter_view(home);
    }

    fn leave_view(&self) {
        self.0.leave_view();
    }

    fn note_source(&self, relation: &Relation, columns: &[SourceColumn]) -> Option<usize> {
        self.0.note_source(relation, columns)
    }

    fn note_column(&self, source: usize, column: usize) {
        self.0.note_column(source, column);
    }

    fn poll(&self) -> Result<(), SqlError> {
        self.0.poll()
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        self.0.table_variable(name)
    }
}

/// SQL Server's limit.
const NEST_LEVEL_MAX: usize = 32;

/// The number of the statement that reads the rows that a function returns, which is no statement of its text.
const ROWS: StatementId = StatementId(u32::MAX);

/// Statements of a session's functions: some MiB.
const PLAN_COUNT_MAX: usize = 256;
