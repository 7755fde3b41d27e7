//! sp_cursoropen, sp_cursorfetch and related procedures, which drivers call for cursors on the server.
//!
//! - `query-or-statement`: a single query becomes a cursor. With ALLOW_DIRECT anything else is run, and the number of
//!   the cursor is 0.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::definition::bracketed;
use selenite_compiler::program::{Program, StatementId};
use selenite_runtime::machine::{Ended, Failure, Message, Stop};
use selenite_tsql::ast::{CursorStatement, StatementKind};
use selenite_types::storage::declared_name;

use super::super::arguments::{int_of, text_of};
use super::super::cursor_outputs::{CursorOutputs, send_int};
use super::Answering;
use super::prepared::{Statement, unknown_handle};
use crate::compile::ProgramKey;
use crate::cursor::{CursorId, Movement};
use crate::execution::cursor_api::{ApiFetch, ROW_COUNT_DEFAULT};
use crate::execution::cursor_work::{ApiRequest, ROW_OF_CALL};

/// Where the parameters of a call are that opens a cursor.
#[derive(Clone, Copy)]
struct Places {
    cursor: usize,
    scroll: usize,
    concurrency: usize,
    row_count: usize,
    /// The first value of a parameter of the statement.
    first: usize,
}

impl Answering<'_, '_> {
    /// sp_cursoropen: cursor OUTPUT, text, scrollopt, ccopt, rows, declarations, values.
    pub(super) fn cursor_open(&mut self) -> Result<Ended, Vec<SqlError>> {
        let places = Places {
            cursor: 0,
            scroll: 2,
            concurrency: 3,
            row_count: 4,
            first: 6,
        };
        let is_parameterized = self.int(places.scroll) & PARAMETERIZED != 0;
        let key = self.cursor_key("sp_cursoropen", 1, is_parameterized.then_some(5))?;
        let statement = self.cursor_statement(key)?;
        self.run_cursor(&statement, places)
    }

    /// sp_cursorprepare: handle OUTPUT, declarations, text, options, scrollopt, ccopt.
    pub(super) fn cursor_prepare(&mut self) -> Result<Ended, Vec<SqlError>> {
        let key = self.cursor_key("sp_cursorprepare", 2, Some(1))?;
        let statement = self.cursor_statement(key)?;
        let handle = self.keep(statement)?;
        self.host.handle = Some(handle);
        let told = self.send_status(0);
        Ok(self.end(told))
    }

    /// sp_cursorexecute: handle, cursor OUTPUT, scrollopt, ccopt, rows, values.
    pub(super) fn cursor_execute(&mut self) -> Result<Ended, Vec<SqlError>> {
        let number = self.handle()?;
        let statement = self.prepared.find(number);
        let statement = statement.ok_or_else(|| vec![unknown_handle(number)])?;
        let places = Places {
            cursor: 1,
            scroll: 2,
            concurrency: 3,
            row_count: 4,
            first: 5,
        };
        self.run_cursor(&statement, places)
    }

    /// sp_cursorprepexec: handle OUTPUT, cursor OUTPUT, declarations, text, scrollopt, ccopt, rows, values. The
    /// statement of the given handle is released.
    pub(super) fn cursor_prepare_and_execute(&mut self) -> Result<Ended, Vec<SqlError>> {
        self.prepared.remove(self.int(0));
        let key = self.cursor_key("sp_cursorprepexec", 3, Some(2))?;
        let statement = self.cursor_statement(key)?;
        let handle = self.keep(statement.clone())?;
        self.host.handle = Some(handle);
        let places = Places {
            cursor: 1,
            scroll: 4,
            concurrency: 5,
            row_count: 6,
            first: 7,
        };
        self.run_cursor(&statement, places)
    }

    fn cursor_key(
        &self,
        procedure: &str,
        text_at: usize,
        declared_at: Option<usize>,
    ) -> Result<ProgramKey, Vec<SqlError>> {
        let text = text_of(self.call, text_at, procedure).map_err(|error| vec![error])?;
        let declared = match declared_at.filter(|at| self.call.parameters.len() > *at) {
            None => Arc::default(),
            Some(at) => text_of(self.call, at, procedure).map_err(|error| vec![error])?,
        };
        Ok(ProgramKey {
            is_cursor: true,
            ..self.host.program_key(&text, &declared)
        })
    }

    fn cursor_statement(&mut self, key: ProgramKey) -> Result<Statement, Vec<SqlError>> {
        Ok(match self.host.program_of(key.clone())? {
            (_, true) => Statement::Typed(key),
            (program, false) => Statement::Program(program),
        })
    }

    fn run_cursor(&mut self, statement: &Statement, places: Places) -> Result<Ended, Vec<SqlError>> {
        let program = match statement {
            Statement::Program(program) => Arc::clone(program),
            Statement::Typed(key) if key.is_cursor => self.host.program_of(key.clone())?.0,
            Statement::Typed(_) | Statement::Procedure(_) => return Err(vec![unknown_handle(self.int(0))]),
        };
        let request = ApiRequest {
            scroll: self.int(places.scroll),
            concurrency: self.int(places.concurrency),
            row_count: self.int(places.row_count),
        };
        let is_query = opens_cursor(&program);
        if !is_query && request.concurrency & ALLOW_DIRECT == 0 {
            return Err(vec![SqlError::no_cursor_for_statement()]);
        }
        if !is_query {
            let told = self.host.reply.message(&NO_CURSOR);
            if let Err(stop) = told {
                return self.failed(stop.into());
            }
        }
        let place = |at: usize| {
            let parameter = self.call.parameters.get(at).filter(|parameter| parameter.is_output)?;
            Some((at, parameter.name.clone()))
        };
        self.host.cursor_outputs = place(places.cursor).map(|cursor| CursorOutputs {
            cursor,
            scroll: place(places.scroll),
            concurrency: place(places.concurrency),
            row_count: place(places.row_count),
        });
        self.host.executor.cursor_work.opened = None;
        self.host.executor.cursor_work.request = is_query.then_some(request);
        let ended = self.run(program, places.first);
        self.host.executor.cursor_work.request = None;
        self.host.cursor_outputs = None;
        Ok(ended)
    }

    /// sp_cursorfetch: cursor, fetchtype, rownum, nrows.
    pub(super) fn cursor_fetch(&mut self) -> Result<Ended, Vec<SqlError>> {
        let id = self.cursor("sp_cursorfetch")?;
        let kind = match self.call.parameters.get(1).and_then(|kind| int_of(&kind.value)) {
            Some(kind) => kind & !SKIP_CONCURRENCY,
            None => FETCH_NEXT,
        };
        if kind == FETCH_INFO {
            return self.cursor_info(id);
        }
        let at = self.int(2);
        let wrong = |parameter| vec![SqlError::cursor_argument("sp_cursorfetch", parameter)];
        let movement = match kind {
            FETCH_FIRST => Movement::First,
            FETCH_NEXT => Movement::Next,
            FETCH_PREVIOUS => Movement::Prior,
            FETCH_PREVIOUS_NO_ADJUST => Movement::Before,
            FETCH_LAST => Movement::Last,
            FETCH_ABSOLUTE => Movement::Absolute(at.into()),
            FETCH_RELATIVE => Movement::Relative(at.into()),
            FETCH_REFRESH => Movement::Relative(0),
            _ => return Err(wrong("fetchtype")),
        };
        let row_count = match self.call.parameters.get(3).and_then(|count| int_of(&count.value)) {
            _ if kind == FETCH_REFRESH => None,
            None => Some(ROW_COUNT_DEFAULT),
            Some(count) => Some(usize::try_from(count).map_err(|_| wrong("nrows"))?),
        };
        if row_count == Some(0) && !matches!(movement, Movement::First | Movement::Last) {
            return Err(wrong("nrows"));
        }
        let fetch = ApiFetch {
            movement,
            row_count,
            is_known: self.call.no_metadata,
        };
        let (executor, mut execution) = self.host.execution();
        let done = executor.fetch_for_client(id, fetch, &mut execution);
        match done {
            Ok(is_closed) => {
                let told = self.host.reply.end_rows();
                let status = if is_closed { CLOSED } else { 0 };
                let told = told.and_then(|()| self.send_status(status));
                Ok(self.end(told))
            }
            Err(failure) => self.failed(failure),
        }
    }

    /// INFO: the position, and how many rows there are.
    fn cursor_info(&mut self, id: CursorId) -> Result<Ended, Vec<SqlError>> {
        let info = self.host.executor.fetch_info(id);
        let (position, total) = info.map_err(|error| vec![error])?;
        let told = self.send_status(0).and_then(|()| {
            self.send_int(2, position)?;
            self.send_int(3, total)
        });
        Ok(self.end(told))
    }

    /// sp_cursorclose: cursor.
    pub(super) fn cursor_close(&mut self) -> Result<Ended, Vec<SqlError>> {
        let id = self.cursor("sp_cursorclose")?;
        self.host.executor.cursors.forget_number(id);
        let told = self.send_status(0);
        Ok(self.end(told))
    }

    /// sp_cursoroption: cursor, code, value.
    pub(super) fn cursor_option(&mut self) -> Result<Ended, Vec<SqlError>> {
        let id = self.cursor("sp_cursoroption")?;
        match self.int(1) {
            OPTION_NAME => {
                let name = text_of(self.call, 2, "sp_cursoroption").map_err(|error| vec![error])?;
                let named = self.host.executor.cursors.set_name(id, &name);
                named.map_err(|error| vec![error])?;
                self.host.state.session.cursors = self.host.executor.cursors.facts();
            }
            // Text is data, not a pointer to it.
            OPTION_TEXT_DATA => {}
            OPTION_TEXT_POINTER => return Err(vec![SqlError::unsupported("TEXTPTR_ONLY of sp_cursoroption")]),
            _ => return Err(vec![SqlError::cursor_argument("sp_cursoroption", "code")]),
        }
        let told = self.send_status(0);
        Ok(self.end(told))
    }

    /// sp_cursor: cursor, optype, rownum, table, values, each with the name of its column.
    pub(super) fn cursor_change(&mut self) -> Result<Ended, Vec<SqlError>> {
        let id = self.cursor("sp_cursor")?;
        let (operation, number) = (self.int(1) & !OPERATION_SET_POSITION, self.int(2));
        let cursor = self.host.executor.cursors.cursor(id).map_err(|error| vec![error])?;
        let table = cursor.changeable().map_err(|error| vec![error])?;
        let name = match table.is_temporary() {
            true => bracketed(&table.name),
            false => format!("{}.{}", bracketed(&table.schema), bracketed(&table.name)),
        };
        let row = usize::try_from(number).ok().and_then(|row| row.checked_sub(1));
        let buffered = cursor.open.as_ref().map_or(0, |open| open.buffer.len());
        let row = row.filter(|row| *row < buffered);
        let given = self.call.parameters.get(FIRST_VALUE..).unwrap_or_default();
        let columns: Vec<String> = given
            .iter()
            .map(|value| bracketed(value.name.trim_start_matches('@')))
            .collect();
        let current = format!("WHERE CURRENT OF {ROW_OF_CALL}");
        let text = match operation {
            OPERATION_UPDATE if !columns.is_empty() => {
                let sets = columns
                    .iter()
                    .enumerate()
                    .map(|(at, column)| format!("{column} = @p{at}"));
                format!("UPDATE {name} SET {} {current}", sets.collect::<Vec<_>>().join(", "))
            }
            OPERATION_DELETE => format!("DELETE FROM {name} {current}"),
            OPERATION_INSERT if columns.is_empty() => format!("INSERT INTO {name} DEFAULT VALUES"),
            OPERATION_INSERT => {
                let values: Vec<String> = (0..columns.len()).map(|at| format!("@p{at}")).collect();
                format!(
                    "INSERT INTO {name} ({}) VALUES ({})",
                    columns.join(", "),
                    values.join(", ")
                )
            }
            OPERATION_UPDATE => return Err(vec![SqlError::cursor_argument("sp_cursor", "values")]),
            _ => {
                let what = "An operation of sp_cursor other than UPDATE, DELETE and INSERT";
                return Err(vec![SqlError::unsupported(what)]);
            }
        };
        if operation != OPERATION_INSERT && row.is_none() {
            return Err(vec![SqlError::not_in_buffer()]);
        }
        let declared = given.iter().enumerate();
        let declared = declared.map(|(at, value)| format!("@p{at} {}", declared_name(&value.type_info.data_type)));
        let declared = declared.collect::<Vec<_>>().join(", ");
        let program = self.host.program(&text, &declared)?;
        self.host.executor.cursor_work.row = row.map(|row| (id, row));
        let ended = self.run_unnamed(program, FIRST_VALUE);
        self.host.executor.cursor_work.row = None;
        Ok(ended)
    }

    /// The cursor of the first parameter.
    fn cursor(&self, procedure: &str) -> Result<CursorId, Vec<SqlError>> {
        let number = self.int(0);
        let id = self.host.executor.cursors.numbered(number);
        id.ok_or_else(|| vec![SqlError::unknown_cursor_number(procedure, number)])
    }

    /// The number in a place; 0 without one.
    fn int(&self, at: usize) -> i32 {
        let parameter = self.call.parameters.get(at);
        parameter
            .and_then(|parameter| int_of(&parameter.value))
            .unwrap_or_default()
    }

    fn send_int(&mut self, at: usize, value: i32) -> Result<(), Stop> {
        match self.call.parameters.get(at).filter(|parameter| parameter.is_output) {
            Some(parameter) => send_int(&mut self.host.reply, (at, &parameter.name), value),
            None => Ok(()),
        }
    }

    fn failed(&mut self, failure: Failure) -> Result<Ended, Vec<SqlError>> {
        match failure {
            Failure::Error(error) => Err(vec![error]),
            Failure::Stop(Stop::Attention) => Ok(Ended::Attention),
            Failure::Stop(Stop::Gone) => Ok(Ended::Gone),
        }
    }
}

/// Whether a program is the query of sp_cursoropen.
pub(super) fn opens_cursor(program: &Program) -> bool {
    let first = program.statement(StatementId(0)).map(|statement| &statement.kind);
    matches!(first, Some(StatementKind::Cursor(cursor)) if matches!(**cursor, CursorStatement::OpenQuery(_)))
}

/// `query-or-statement`: drivers tell by it that rows follow at once.
const NO_CURSOR: Message<'static> = Message {
    number: 16954,
    severity: 10,
    state: 1,
    line: 1,
    procedure: "",
    text: "Executing SQL directly; no cursor.",
    to_log: false,
};
/// sp_cursoropen, scrollopt: there are declarations.
const PARAMETERIZED: i32 = 0x1000;
/// sp_cursoropen, ccopt: `query-or-statement`.
const ALLOW_DIRECT: i32 = 0x2000;
/// sp_cursorfetch, fetchtype.
const FETCH_FIRST: i32 = 0x1;
const FETCH_NEXT: i32 = 0x2;
const FETCH_PREVIOUS: i32 = 0x4;
const FETCH_LAST: i32 = 0x8;
const FETCH_ABSOLUTE: i32 = 0x10;
const FETCH_RELATIVE: i32 = 0x20;
const FETCH_REFRESH: i32 = 0x80;
const FETCH_INFO: i32 = 0x100;
const FETCH_PREVIOUS_NO_ADJUST: i32 = 0x200;
const SKIP_CONCURRENCY: i32 = 0x400;
/// The status of a cursor that was closed with its last row.
const CLOSED: i32 = 16;
/// sp_cursoroption, code.
const OPTION_TEXT_POINTER: i32 = 1;
const OPTION_NAME: i32 = 2;
const OPTION_TEXT_DATA: i32 = 3;
/// sp_cursor, optype.
const OPERATION_UPDATE: i32 = 1;
const OPERATION_DELETE: i32 = 2;
const OPERATION_INSERT: i32 = 4;
const OPERATION_SET_POSITION: i32 = 0x20;
/// Where the values of sp_cursor begin.
const FIRST_VALUE: usize = 4;
