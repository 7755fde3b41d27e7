//! What a session answers: tokens, as they come.

pub(crate) mod capture;

use capture::Capture;
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::change::GivenRow;
use selenite_runtime::machine::{Failure, Message, Output, Stop};
use selenite_tds::{
    Collation, Column, ColumnInfo, Done, DoneKind, EnvChange, Notice, ReturnValue, RowShape, TdsError, TokenWriter,
};
use selenite_types::{DataType, Encoding, Value, Width};

use crate::cursor::CursorRows;
use crate::{Ended, Interrupt, Interrupts, Log, Outlet, memory};

/// Writes the session's answers.
pub(crate) struct Reply {
    tokens: TokenWriter<Outlet>,
    interrupts: Interrupts,
    server: String,
    log: Log,
    rows: Option<RowSet>,
    /// What takes rows instead of the client: INSERT .. EXECUTE.
    capture: Option<Capture>,
    /// What takes rows before anything else: OPEN of a cursor.
    cursor: Option<CursorRows>,
    /// TEXTSIZE: bytes of a value of a type of `max`; none is all.
    text_size: Option<usize>,
    /// Whether the client reads UTF-8: to others char and varchar in it are sent as nvarchar.
    reads_utf8: bool,
    /// Why the client can't be answered.
    ended: Option<Ended>,
}

/// The rows that are being sent.
struct RowSet {
    shape: RowShape,
    /// The columns that TEXTSIZE may cut, their types, and how many bytes it counts for a unit of each.
    long: Vec<(usize, DataType, usize)>,
    row_count: u64,
    /// Whether the executor began them: then the machine does not report their end.
    is_of_executor: bool,
}

/// No rows yet, of these columns.
fn row_set(columns: &[Column], is_of_executor: bool) -> Result<RowSet, SqlError> {
    let shape = RowShape::new(columns).map_err(|error| SqlError::internal(&error.to_string()))?;
    let long = columns.iter().enumerate();
    let long = long
        .filter_map(|(index, column)| Some((index, column.data_type, unit_size(column.data_type)?)))
        .collect();
    Ok(RowSet {
        shape,
        long,
        row_count: 0,
        is_of_executor,
    })
}

impl Reply {
    pub fn new(tokens: TokenWriter<Outlet>, interrupts: Interrupts, server: &str, log: &Log, reads_utf8: bool) -> Self {
        Self {
            tokens,
            interrupts,
            server: server.to_owned(),
            log: log.clone(),
            rows: None,
            capture: None,
            cursor: None,
            text_size: None,
            reads_utf8,
            ended: None,
        }
    }

    /// Rows are kept from now on, and with them everything that is not an error or a message; or they are sent again.
    pub fn set_capture(&mut self, capture: Option<Capture>) {
        self.capture = capture;
        self.rows = None;
    }

    /// Rows are kept in `rows` from now on, or are sent again; returns those that were kept.
    pub fn keep_rows(&mut self, rows: Option<CursorRows>) -> Option<CursorRows> {
        std::mem::replace(&mut self.cursor, rows)
    }

    /// The rows that are kept.
    pub fn kept_rows(&self) -> Option<&CursorRows> {
        self.cursor.as_ref()
    }

    /// SET TEXTSIZE.
    pub fn set_text_size(&mut self, bytes: i32) {
        // 2147483647 is no limit, and so are -1 and related ones.
        self.text_size = usize::try_from(bytes).ok().filter(|_| bytes != i32::MAX);
    }

    /// Whether a request that takes long continues: it is not interrupted, and its session has memory.
    pub fn goes_on(&self) -> bool {
        self.interrupts.poll().is_none() && memory::reserve(0).is_ok()
    }

    /// Whether the request is to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupts.poll().is_some()
    }

    /// Why the client can't be answered; `None` if it can.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// A DONE of the machine's.
    #[inline]
    pub fn done(&mut self, done: Done) -> Result<(), Stop> {
        if self.capture.is_some() && done.status & Done::ERROR == 0 {
            return Ok(());
        }
        let written = self.tokens.done(done);
        self.written(written)
    }

    /// Whether rows are kept for an INSERT .. EXECUTE.
    pub fn is_captured(&self) -> bool {
        self.capture.is_some()
    }

    /// A DONE that says nothing but its status.
    pub fn bare_done(&mut self, kind: DoneKind, status: u16) -> Result<(), Stop> {
        let written = self.tokens.done(Done {
            kind,
            status,
            command: 0,
            row_count: 0,
        });
        self.written(written)
    }

    pub fn result_columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure> {
        let columns: Vec<Column> = columns
            .iter()
            .map(|column| Column {
                name: column.name.clone(),
                data_type: column.data_type,
                is_nullable: column.nullable,
                is_identity: false,
                is_computed: true,
                collation: Collation::of(column.collation.named),
            })
            .collect();
        match self.begin_rows(&columns, false) {
            Err(failure) if self.capture.is_none() => Err(self.fatal(failure).into()),
            done => done,
        }
    }

    pub fn result_row(&mut self, values: &[Value]) -> Result<(), Stop> {
        self.row(values).map_err(|failure| self.fatal(failure))
    }

    pub fn env_change(&mut self, change: &EnvChange<'_>) -> Result<(), Stop> {
        let written = self.tokens.env_change(change);
        self.written(written)
    }

    /// An informational message of the session's own, of state 1 and severity 0.
    pub fn info(&mut self, number: i32, text: &str, line: u32) -> Result<(), Stop> {
        self.message(&Message {
            number,
            severity: 0,
            state: 1,
            line,
            procedure: "",
            text,
            to_log: false,
        })
    }

    pub fn return_status(&mut self, status: i32) -> Result<(), Stop> {
        if self.capture.is_some() {
            return Ok(());
        }
        let written = self.tokens.return_status(status);
        self.written(written)
    }

    pub fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop> {
        let written = self.tokens.return_value(&ReturnValue {
            ordinal: u16::try_from(output.ordinal).unwrap_or(u16::MAX),
            name: output.name,
            data_type: output.data_type,
            value: output.value,
        });
        self.written(written)
    }

    /// A request begins: its time counts from here on.
    pub fn begin_request(&self) {
        self.interrupts.begin_request();
    }

    /// Sends to the client what has been written so far.
    pub fn flush(&mut self) -> Result<(), Stop> {
        let written = self.tokens.packets_mut().flush();
        self.written(written)
    }

    /// The answer is complete.
    pub fn finish(&mut self) -> Result<(), Stop> {
        self.rows = None;
        let written = self.tokens.packets_mut().finish();
        self.written(written)
    }

    /// Rows of a cursor follow, whose columns `is_known` by the client or not; the parts of its table's name, and what
    /// each column comes from.
    ///
    /// # Errors
    /// 1056 for too many columns; the client is gone.
    pub fn cursor_columns(
        &mut self,
        columns: &[Column],
        (table, info): (Option<&[&str]>, &[ColumnInfo]),
        is_known: bool,
    ) -> Result<(), Failure> {
        self.end_rows()?;
        if is_known {
            self.rows = Some(row_set(columns, true)?);
            let written = self.tokens.known_columns();
            return Ok(self.written(written)?);
        }
        self.begin_rows(columns, true)?;
        let mut written = Ok(());
        if let Some(parts) = table {
            written = self.tokens.table_names(&[parts]);
        }
        let written = written.and_then(|()| self.tokens.column_info(info));
        Ok(self.written(written)?)
    }

    /// The rows of a procedure that the host implements end: the machine does not know of them.
    pub fn end_rows(&mut self) -> Result<(), Stop> {
        let Some(rows) = self.rows.take().filter(|rows| rows.is_of_executor) else {
            return Ok(());
        };
        if self.capture.is_some() {
            return Ok(());
        }
        let written = self.tokens.done(Done {
            kind: DoneKind::InProcedure,
            status: Done::MORE | Done::COUNT,
            command: Done::SELECT,
            row_count: rows.row_count,
        });
        self.written(written)
    }

    fn begin_rows(&mut self, columns: &[Column], is_of_executor: bool) -> Result<(), Failure> {
        if columns.len() > COLUMN_COUNT_MAX {
            return Err(too_many_columns().into());
        }
        if let Some(cursor) = &mut self.cursor {
            cursor.begin(columns);
            return Ok(());
        }
        if let Some(capture) = &mut self.capture {
            return Ok(capture.columns(columns.iter().map(|column| column.data_type))?);
        }
        let readable: Vec<Column>;
        let is_utf8 = |column: &Column| column.data_type.encoding() == Encoding::Utf8;
        let columns = match !self.reads_utf8 && columns.iter().any(is_utf8) {
            false => columns,
            true => {
                readable = columns.iter().cloned().map(in_utf16).collect();
                &readable
            }
        };
        let rows = row_set(columns, is_of_executor)?;
        let written = self.tokens.columns(&rows.shape);
        self.rows = Some(rows);
        Ok(self.written(written)?)
    }

    /// Forgets the rows that are being sent: a DONE of the machine's ends them.
    pub fn forget_rows(&mut self) {
        self.rows = None;
    }

    fn written(&mut self, written: Result<(), TdsError>) -> Result<(), Stop> {
        let Err(error) = written else {
            return Ok(());
        };
        if self.ended.is_none() {
            // A cancelled connection looks like a peer that left.
            self.ended = Some(match self.interrupts.poll() {
                Some(Interrupt::Killed | Interrupt::Stopping) => Ended::Terminated,
                Some(Interrupt::Attention | Interrupt::TimedOut | Interrupt::Gone) | None => Ended::Broken,
            });
            if !matches!(error, TdsError::Sink(_)) {
                self.log.line(&format!("an answer could not be sent: {error}"));
            }
        }
        Err(Stop::Gone)
    }

    /// A failure that the machine does not know: the session ends.
    fn fatal(&mut self, failure: Failure) -> Stop {
        let error = match failure {
            Failure::Stop(stop) => return stop,
            Failure::Error(error) => error,
        };
        let told = self.message(&Message {
            number: error.number(),
            severity: error.severity(),
            state: error.state(),
            line: error.line(),
            procedure: "",
            text: error.text(),
            to_log: false,
        });
        let told = told.and_then(|()| self.bare_done(DoneKind::Statement, Done::ERROR));
        if told.and_then(|()| self.finish()).is_ok() {
            self.ended = Some(Ended::Refused);
        }
        Stop::Gone
    }
}

impl Reply {
    /// Rows of this shape follow.
    ///
    /// # Errors
    /// 1056 for too many columns; the client is gone.
    pub fn columns(&mut self, columns: &[Column]) -> Result<(), Failure> {
        // A procedure of the system's may have several results.
        if self.cursor.is_none() {
            self.end_rows()?;
        }
        self.begin_rows(columns, true)
    }

    /// A row of the last columns, each value of its column's type.
    ///
    /// # Errors
    /// 8624 for a value of another type; the client is gone.
    pub fn row(&mut self, values: &[Value]) -> Result<(), Failure> {
        if let Some(cursor) = &mut self.cursor {
            return Ok(cursor.push(values)?);
        }
        if let Some(capture) = &mut self.capture {
            capture.row(values)?;
            return Ok(());
        }
        let Some(rows) = &mut self.rows else {
            return Err(SqlError::internal("a row without columns").into());
        };
        rows.row_count += 1;
        let written = match self.text_size {
            Some(size) if !rows.long.is_empty() => {
                let mut values = values.to_vec();
                for (index, data_type, unit_size) in &rows.long {
                    if let Some(value) = values.get_mut(*index) {
                        cut(value, data_type, size / unit_size);
                    }
                }
                self.tokens.row(&rows.shape, &values)
            }
            _ => self.tokens.row(&rows.shape, values),
        };
        match written {
            Err(error @ TdsError::Misfit { .. }) => Err(SqlError::internal(&error.to_string()).into()),
            written => Ok(self.written(written)?),
        }
    }

    /// The rows that were kept for the INSERT .. EXECUTE that runs now.
    pub fn take_captured(&mut self) -> Vec<GivenRow> {
        self.capture.as_mut().map(Capture::take).unwrap_or_default()
    }

    /// A message or an error, such as 8153 or the output of DBCC.
    ///
    /// # Errors
    /// The client is gone.
    pub fn message(&mut self, message: &Message<'_>) -> Result<(), Stop> {
        if message.to_log {
            let Message {
                number,
                severity,
                state,
                text,
                ..
            } = message;
            self.log
                .line(&format!("error {number}, severity {severity}, state {state}: {text}"));
        }
        let notice = Notice {
            number: message.number,
            state: message.state,
            // RAISERROR's documentation: 10 is sent as 0.
            severity: if message.severity == 10 { 0 } else { message.severity },
            text: message.text,
            server: &self.server,
            procedure: message.procedure,
            line: message.line,
        };
        let written = match message.is_error() {
            true => self.tokens.error(&notice),
            false => self.tokens.info(&notice),
        };
        self.written(written)
    }

    /// Whether to continue: called at least every 50 milliseconds.
    ///
    /// # Errors
    /// Why not.
    pub fn poll(&mut self) -> Result<(), Stop> {
        let ended = match self.interrupts.poll() {
            None => return Ok(()),
            Some(Interrupt::Attention | Interrupt::TimedOut) => return Err(Stop::Attention),
            Some(Interrupt::Killed | Interrupt::Stopping) => Ended::Terminated,
            Some(Interrupt::Gone) => Ended::Broken,
        };
        self.ended.get_or_insert(ended);
        Err(Stop::Gone)
    }
}

/// The column for a client that does not read UTF-8.
fn in_utf16(mut column: Column) -> Column {
    if column.data_type.encoding() == Encoding::Utf8 {
        let width = column.data_type.width().unwrap_or(Width::Max);
        let limited = Encoding::Utf16.varying(width);
        column.data_type = match limited.width() == Some(width) {
            true => limited,
            false => DataType::NVarChar(Width::Max),
        };
    }
    column
}

/// How many bytes TEXTSIZE counts for a unit of a type that it cuts.
fn unit_size(data_type: DataType) -> Option<usize> {
    if matches!(
        data_type,
        DataType::VarChar(Width::Max) | DataType::Utf8VarChar(Width::Max) | DataType::VarBinary(Width::Max)
    ) {
        return Some(1);
    }
    (data_type == DataType::NVarChar(Width::Max)).then_some(2)
}

/// A value of a type of `max`, cut to so many units.
fn cut(value: &mut Value, data_type: &DataType, unit_count: usize) {
    if let Value::Text(text) = value {
        *value = Value::Text(data_type.text_prefix(text, unit_count).into());
    } else if let Value::Binary(bytes) = value {
        *value = Value::Binary(bytes.get(..unit_count).unwrap_or(bytes).into());
    }
}

fn too_many_columns() -> SqlError {
    let text = "The number of elements in the select list exceeds the maximum allowed number of 4096 elements.";
    SqlError::new(1056, Ends::Batch, text).with_severity(15)
}

/// Of a SELECT.
const COLUMN_COUNT_MAX: usize = 4096;
