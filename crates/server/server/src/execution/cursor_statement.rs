//! DECLARE CURSOR, OPEN, FETCH, CLOSE and DEALLOCATE.

use std::sync::Arc;

use selenite_compiler::program::{CursorRule, CursorSensitivity, Program, StatementId};
use selenite_compiler::statement::{CursorRead, NoTable};
use selenite_compiler::{Binder, Ends, Frame, NoQuery, SqlError};
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_runtime::sqlite::LockTimeout;
use selenite_tds::Column;
use selenite_tsql::ast::{
    CursorDefinition, CursorName, CursorStatement, Declaration, Expr, FetchCursor, FetchDirection, VariableType,
};
use selenite_types::{Conversion, DataType, Value, convert};

use crate::cursor::{
    Cursor, CursorId, CursorKind, CursorOperation, CursorPlace, CursorRows, Holder, KeptColumns, Movement, OpenCursor,
    not_changeable,
};
use crate::execution::cursor_fetch::{Fetched, gone_table, query_of};
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
                let objects = &self.scope.objects;
                let is_local = rule.is_local.unwrap_or_else(|| {
                    let options = objects.directory.options(objects.database_id);
                    options.is_local_cursor_default()
                });
                let holder = match is_local {
                    true => Holder::Local(name),
                    false => Holder::Global(name),
                };
                self.new_cursor((rule, holder, name), (statement, slots), execution)?;
                Ok(Affected::Nothing)
            }
            CursorStatement::Set { variable, definition } => {
                self.set_cursor((variable, definition), (statement, slots), execution)
            }
            CursorStatement::Share { variable, cursor } => {
                let id = self.cursors.find(cursor)?;
                self.cursors.set_variable(variable, id);
                Ok(Affected::Nothing)
            }
            CursorStatement::OpenQuery(_) => self.open_query((statement, slots), execution),
            CursorStatement::Open(name) => {
                let id = self.cursors.find(name)?;
                self.open_cursor(id, execution)?;
                Ok(Affected::Nothing)
            }
            CursorStatement::Fetch(fetch) => {
                let done = self.fetch(fetch, (statement.program, slots), execution);
                if done.is_err() {
                    execution.state.session.fetch_status = OUTSIDE.into();
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
        self.new_cursor((rule, Holder::Variable(variable), ""), of, execution)?;
        Ok(Affected::Nothing)
    }

    /// Adds a cursor, whose query is bound to find what is wrong with it.
    pub(crate) fn new_cursor(
        &mut self,
        (rule, holder, name): (CursorRule, Holder<'_>, &str),
        (statement, slots): (&TableStatement<'_>, &[Value]),
        execution: &mut ExecutionContext<'_>,
    ) -> Result<CursorId, Failure> {
        self.cursors.check_new(holder)?;
        // `query-follows-its-cursor` of the compiler.
        let query = StatementId(statement.id.0.saturating_add(1));
        let selected = query_of(statement.program, query)?;
        let (kind, origins) = self.kind_of(&rule, &selected, execution)?;
        if rule.warns && rule.sensitivity != kind.sensitivity() {
            execution.reply.message(&OTHER_TYPE)?;
        }
        let database_id = self.transactions.current;
        let cursor = Cursor::new(
            name,
            (rule, kind, origins),
            (statement.program, query, self.module_of(statement.program)),
            slots,
            (database_id, execution.state.now),
        );
        Ok(self.cursors.add(cursor, holder))
    }

    pub(crate) fn open_cursor(&mut self, id: CursorId, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let current = self.transactions.current;
        let cursor = self.cursors.cursor(id)?;
        if cursor.open.is_some() {
            return Err(SqlError::cursor_is_open().into());
        }
        if cursor.database_id != current {
            return Err(SqlError::unsupported("OPEN of a cursor that was declared in another database").into());
        }
        let open = match cursor.kind {
            CursorKind::Static(_) => self.open_static(id, execution)?,
            CursorKind::Keyset(_) => self.open_keyset(id, execution)?,
            CursorKind::Dynamic(_, up) => self.open_dynamic(id, up, execution)?,
        };
        execution.state.session.cursor_rows = open.row_count();
        let cursor = self.cursors.cursor(id)?;
        cursor.open = Some(open);
        cursor.note(CursorOperation::Open, 0);
        Ok(())
    }

    /// Reads all rows.
    fn open_static(&mut self, id: CursorId, execution: &mut ExecutionContext<'_>) -> Result<OpenCursor, Failure> {
        let cursor = self.cursors.cursor(id)?;
        let (program, query, mut slots) = (Arc::clone(&cursor.program), cursor.query, cursor.slots.clone());
        let module = cursor.module.clone();
        let selected = query_of(&program, query)?;
        self.permit(&selected)?;
        self.cursor_work.module = Some(module);
        let rows = CursorRows::new(self.session.instance.access(), KeptColumns::All);
        let outer = execution.reply.keep_rows(Some(rows));
        let done = self.on_tables(&selected, &mut slots, execution);
        let rows = execution.reply.keep_rows(outer);
        self.cursor_work.module = None;
        done.map_err(gone_table)?;
        let rows = rows.ok_or_else(|| SqlError::internal("a cursor without rows"))?;
        let columns = rows.columns.clone();
        Ok(opened(columns, kept(rows)))
    }

    /// Reads the keys of all rows.
    fn open_keyset(&mut self, id: CursorId, execution: &mut ExecutionContext<'_>) -> Result<OpenCursor, Failure> {
        let visible = self.cursors.cursor(id)?.origins.len();
        let read = (CursorRead::Keys, KeptColumns::Behind(visible));
        let (rows, _) = self.run_read(id, read, Vec::new(), execution)?;
        let columns = rows.columns.iter().take(visible).cloned().collect();
        Ok(opened(columns, kept(rows)))
    }

    /// Reads no row.
    fn open_dynamic(
        &mut self,
        id: CursorId,
        up: CursorRead,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<OpenCursor, Failure> {
        let visible = self.cursors.cursor(id)?.origins.len();
        // From behind the last row.
        let end = if up == CursorRead::Downwards {
            i64::MIN
        } else {
            i64::MAX
        };
        let none = [end, 0, 1].map(Value::BigInt).to_vec();
        let (rows, _) = self.run_read(id, (up, KeptColumns::All), none, execution)?;
        let columns = rows.columns.iter().take(visible).cloned().collect();
        Ok(opened(columns, CursorPlace::Before))
    }

    fn close_cursor(&mut self, name: &CursorName, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
        let id = self.cursors.find(name)?;
        let cursor = self.cursors.cursor(id)?;
        cursor.opened()?;
        cursor.open = None;
        cursor.note(CursorOperation::Close, 0);
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
        if !fetch.into.is_empty() && fetch.into.len() != open.columns.len() {
            return Err(SqlError::fetch_variable_count().into());
        }
        let columns = open.columns.clone();
        let fetched = self.fetch_rows(id, (movement, 1), execution)?.into_iter().next();
        let row = match &fetched {
            Some(Fetched::Row(row)) => Some(row),
            Some(Fetched::Missing) | None => None,
        };
        if fetch.into.is_empty() {
            execution.reply.columns(&columns)?;
            if let Some(row) = row {
                execution.reply.row(row)?;
            }
        } else if let Some(row) = row {
            let types = columns.iter().map(|column| column.data_type);
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
        let status = match &fetched {
            Some(Fetched::Row(_)) => 0,
            Some(Fetched::Missing) => MISSING,
            None => OUTSIDE,
        };
        execution.state.session.fetch_status = status.into();
        let cursor = self.cursors.cursor(id)?;
        cursor.note(CursorOperation::Fetch, usize::from(row.is_some()));
        cursor.activity.fetch_status = status;
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

    /// Finds what is wrong with a cursor's query, and how its rows can be read.
    fn kind_of(
        &mut self,
        rule: &CursorRule,
        query: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(CursorKind, Vec<Option<usize>>), Failure> {
        self.permit(query)?;
        let timeout = LockTimeout::of(execution.state.lock_timeout());
        let of = self.refresh_within(timeout, execution)?;
        let form = match self.bind(query, of).and_then(|()| self.cursor_form(query)) {
            Ok(form) => form,
            // What is wrong in another database is told by OPEN.
            Err(_) if self.scope.objects.catalog.take_other_database().is_some() => {
                return Ok((kind_without_table(rule, NoTable::Source)?, Vec::new()));
            }
            Err(error) => return Err(error.into()),
        };
        let kind = match (rule.sensitivity, form.table) {
            (CursorSensitivity::Static, _) => CursorKind::Static(None),
            (_, Err(why)) => kind_without_table(rule, why)?,
            (CursorSensitivity::Dynamic, Ok(table)) if let Some(up) = form.walk => CursorKind::Dynamic(table, up),
            (_, Ok(table)) if !form.key.is_empty() => CursorKind::Keyset(table),
            (_, Ok(_)) => kind_without_table(rule, NoTable::Computed)?,
        };
        Ok((kind, form.origins))
    }
}

/// A cursor that keeps its rows because they are not those of a table.
///
/// Errors: 16957 and 40510 for FOR UPDATE.
fn kind_without_table(rule: &CursorRule, why: NoTable) -> Result<CursorKind, SqlError> {
    match (rule.for_update.is_some(), why) {
        (true, NoTable::Computed) => Err(SqlError::for_update_of_read_only().with_ends(Ends::Statement)),
        (true, NoTable::Source) => Err(not_changeable()),
        (false, _) => Ok(CursorKind::Static(Some(why))),
    }
}

/// Before rows that are kept.
fn kept(rows: CursorRows) -> CursorPlace {
    CursorPlace::Kept {
        rows: Box::new(rows),
        position: 0,
    }
}

fn opened(columns: Vec<Column>, place: CursorPlace) -> OpenCursor {
    OpenCursor {
        columns,
        place,
        buffer: Vec::new(),
    }
}

/// `@@FETCH_STATUS` before the first row, and behind the last.
const OUTSIDE: i16 = -1;
/// `@@FETCH_STATUS` on a row that is no longer there.
const MISSING: i16 = -2;

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
