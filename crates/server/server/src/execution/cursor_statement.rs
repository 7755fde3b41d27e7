//! DECLARE CURSOR, OPEN, FETCH, CLOSE and DEALLOCATE.

use std::sync::Arc;

use selenite_compiler::program::{CursorRule, CursorSensitivity, Program, StatementId};
use selenite_compiler::{Binder, Frame, NoQuery, SqlError};
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_runtime::sqlite::LockTimeout;
use selenite_tsql::ast::{
    CursorDefinition, CursorName, CursorStatement, Declaration, Expr, FetchCursor, FetchDirection, VariableType,
};
use selenite_types::{Conversion, DataType, Value, convert};

use crate::cursor::{Cursor, CursorRows, Holder, Movement, OpenCursor, moved};
use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::names::session_environment::SessionEnvironment;

impl SessionExecutor<'_> {
    /// Runs a statement on a cursor.
    pub(crate) fn on_cursor(
        &mut self,
        cursor: &CursorStatement,
        (statement, slots): (&TableStatement<'_>, &mut [Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let done = match cursor {
            CursorStatement::Declare(declare) => {
                let rule = CursorRule::new(&declare.standard, &declare.definition)?;
                let name = declare.name.text.as_str();
                // CURSOR_DEFAULT is GLOBAL in every database.
                let holder = match rule.is_local {
                    Some(true) => Holder::Local(name),
                    Some(false) | None => Holder::Global(name),
                };
                self.new_cursor((rule, holder, name), (statement, slots), execution)
            }
            CursorStatement::Set { variable, definition } => {
                self.set_cursor((variable, definition), (statement, slots), execution)
            }
            CursorStatement::Share { variable, cursor } => {
                let id = self.cursors.find(cursor)?;
                self.cursors.set_variable(variable, id);
                Ok(Affected::Nothing)
            }
            CursorStatement::Open(name) => self.open_cursor(name, execution),
            CursorStatement::Fetch(fetch) => {
                let done = self.fetch(fetch, (statement.program, slots), execution);
                if done.is_err() {
                    execution.state.session.fetch_status = OUTSIDE;
                }
                done
            }
            CursorStatement::Close(name) => self.close_cursor(name, execution),
            CursorStatement::Deallocate(name) => {
                self.cursors.deallocate(name)?;
                Ok(Affected::Nothing)
            }
        };
        execution.state.session.cursors = self.cursors.facts();
        done
    }

    /// DECLARE of cursor variables. A table variable was made when its frame began.
    pub(crate) fn declare_cursors(&mut self, declared: &[Declaration], execution: &mut ExecutionContext<'_>) {
        for variable in declared {
            if variable.variable_type == VariableType::Cursor {
                self.cursors.declare_variable(&variable.name);
            }
        }
        execution.state.session.cursors = self.cursors.facts();
    }

    /// SET of a variable: the cursor is its alone.
    fn set_cursor(
        &mut self,
        (variable, definition): (&str, &CursorDefinition),
        of: (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let rule = CursorRule::new(&[], definition)?;
        self.new_cursor((rule, Holder::Variable(variable), ""), of, execution)
    }

    /// Adds a cursor, whose query is bound to find what is wrong with it.
    fn new_cursor(
        &mut self,
        (rule, holder, name): (CursorRule, Holder<'_>, &str),
        (statement, slots): (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        self.cursors.check_new(holder)?;
        // `query-follows-its-cursor` of the compiler.
        let query = StatementId(statement.id.0.saturating_add(1));
        let selected = query_of(statement.program, query)?;
        self.check_query(&selected, execution)?;
        if rule.warns && rule.sensitivity != CursorSensitivity::Static {
            execution.reply.message(&OTHER_TYPE)?;
        }
        let database_id = self.transactions.current;
        let cursor = Cursor::new(name, rule, (statement.program, query), slots, database_id);
        self.cursors.add(cursor, holder);
        Ok(Affected::Nothing)
    }

    fn open_cursor(&mut self, name: &CursorName, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
        let id = self.cursors.find(name)?;
        let current = self.transactions.current;
        let cursor = self.cursors.cursor(id)?;
        if cursor.open.is_some() {
            return Err(SqlError::cursor_is_open().into());
        }
        if cursor.database_id != current {
            return Err(SqlError::unsupported("OPEN of a cursor that was declared in another database").into());
        }
        let (program, query, mut slots) = (Arc::clone(&cursor.program), cursor.query, cursor.slots.clone());
        let selected = query_of(&program, query)?;
        self.permit(&selected)?;
        let rows = CursorRows::new(self.session.instance.access());
        execution.reply.keep_rows(Some(rows));
        let done = self.on_tables(&selected, &mut slots, execution);
        let rows = execution.reply.keep_rows(None);
        done.map_err(|failure| match failure {
            // A table variable of a frame that has ended.
            Failure::Error(error) if error.number() == 1087 => SqlError::cursor_tables_gone().into(),
            failure @ (Failure::Error(_) | Failure::Stop(_)) => failure,
        })?;
        let rows = rows.ok_or_else(|| SqlError::internal("a cursor without rows"))?;
        execution.state.session.cursor_rows = i32::try_from(rows.count()).unwrap_or(i32::MAX);
        self.cursors.cursor(id)?.open = Some(OpenCursor { rows, position: 0 });
        Ok(Affected::Nothing)
    }

    fn close_cursor(&mut self, name: &CursorName, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
        let id = self.cursors.find(name)?;
        let cursor = self.cursors.cursor(id)?;
        cursor.opened()?;
        cursor.open = None;
        execution.state.session.cursor_rows = 0;
        Ok(Affected::Nothing)
    }

    fn fetch(
        &mut self,
        fetch: &FetchCursor,
        (program, slots): (&Program, &mut [Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let id = self.cursors.find(&fetch.cursor)?;
        let movement = self.movement(&fetch.direction, (program, slots), execution)?;
        let cursor = self.cursors.cursor(id)?;
        let scrolls = cursor.rule.scrolls;
        let open = cursor.opened().map_err(|error| error.with_state(2))?;
        if !scrolls && movement != Movement::Next {
            return Err(SqlError::fetch_forward_only("fetch", movement.name()).into());
        }
        if !fetch.into.is_empty() && fetch.into.len() != open.rows.columns.len() {
            return Err(SqlError::fetch_variable_count().into());
        }
        let count = i64::try_from(open.rows.count()).unwrap_or(i64::MAX);
        open.position = moved(open.position, count, movement);
        let row = open.rows.row(open.position)?;
        if fetch.into.is_empty() {
            execution.reply.columns(&open.rows.columns)?;
            if let Some(row) = &row {
                execution.reply.row(row)?;
            }
        } else if let Some(row) = &row {
            let types = open.rows.columns.iter().map(|column| column.data_type);
            let typed = row.iter().zip(types);
            let format = execution.state.session.date_format;
            let mut assigned = Vec::with_capacity(row.len());
            for (name, (value, from)) in fetch.into.iter().zip(typed) {
                let variable = program.variables().find(name)?;
                let to = variable.data_type;
                if Conversion::check_implicit(&from, &to).is_err() {
                    return Err(SqlError::fetch_conversion(from.bare_name(), to.bare_name()).into());
                }
                let value = convert(value, &from, &to, None, format).map_err(SqlError::from)?;
                assigned.push((variable.slot.index(), value));
            }
            for (index, value) in assigned {
                if let Some(slot) = slots.get_mut(index) {
                    *slot = value;
                }
            }
        }
        execution.state.session.fetch_status = if row.is_some() { 0 } else { OUTSIDE };
        Ok(Affected::Rows(u64::from(row.is_some())))
    }

    fn movement(
        &self,
        direction: &FetchDirection,
        of: (&Program, &[Value]),
        execution: &ExecutionContext<'_>,
    ) -> Result<Movement, SqlError> {
        Ok(match direction {
            FetchDirection::Next => Movement::Next,
            FetchDirection::Prior => Movement::Prior,
            FetchDirection::First => Movement::First,
            FetchDirection::Last => Movement::Last,
            FetchDirection::Absolute(number) => Movement::Absolute(self.fetch_number(number, of, execution)?),
            FetchDirection::Relative(number) => Movement::Relative(self.fetch_number(number, of, execution)?),
        })
    }

    /// The number of ABSOLUTE and RELATIVE; NULL is 0.
    fn fetch_number(
        &self,
        number: &Expr,
        (program, slots): (&Program, &[Value]),
        execution: &ExecutionContext<'_>,
    ) -> Result<i64, SqlError> {
        let bound = Binder::new(program.variables(), &mut NoQuery).expr_as(number, &DataType::BigInt)?;
        let environment = SessionEnvironment {
            state: execution.state,
            objects: self.objects(),
            sequences: None,
        };
        let value = bound.evaluate(&Frame {
            slots,
            row: &[],
            local: None,
            environment: &environment,
        })?;
        if let Value::BigInt(number) = value {
            return Ok(number);
        }
        Ok(0)
    }

    /// Finds what is wrong with a cursor's query.
    fn check_query(&mut self, query: &TableStatement<'_>, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        self.permit(query)?;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        let of = self.refresh_within(timeout, execution)?;
        match self.bind(query, of) {
            Ok(()) => Ok(()),
            // What is wrong in another database is told by OPEN.
            Err(_) if self.scope.objects.catalog.take_other_database().is_some() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn query_of(program: &Arc<Program>, id: StatementId) -> Result<TableStatement<'_>, SqlError> {
    let statement = program.statement(id);
    let statement = statement.ok_or_else(|| SqlError::internal("a cursor without a query"))?;
    Ok(TableStatement { program, id, statement })
}

/// `@@FETCH_STATUS` before the first row, and behind the last.
const OUTSIDE: i32 = -1;

/// TYPE_WARNING.
const OTHER_TYPE: Message<'static> = Message {
    number: 16956,
    severity: 10,
    state: 1,
    line: 0,
    procedure: "",
    text: "The created cursor is not of the requested type.",
    to_log: false,
};
