//! The machine's interface to its session: answers to the client, and execution of all that is not scalar.
//!
//! - `machine-decides-the-order`: the machine decides which scope ends, the order of tokens, and
//!   every DONE with its MORE. An implementation of [`Host`] writes tokens immediately, and adds
//!   only the rows, ENVCHANGEs and messages of the called operation.
//! - `sent-before-writing`: before the machine calls an operation that may write, it has sent all
//!   previous tokens.
//! - `machine-sends-errors`: the machine sends a [`Failure::Error`], if no CATCH handles it: the host
//!   does not send it.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{CaughtError, Environment, Session, SqlError};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::{Call, Callee, Done, FrameKind, Message, PassedCursor, PassedTable, TableStatement, TextCall};

/// The session of a machine.
pub trait Host {
    /// The environment of expressions: its [`Environment::session`] is [`Host::session_mut`]'s, its
    /// [`Environment::caught`] the last of [`Host::set_caught`].
    fn environment(&self) -> &dyn Environment;

    /// The counters of the machine: it writes `row_count`, `error`, `transaction_count`, `transaction_state`,
    /// `nest_level`, `procedure_id`, `scope_identity` (only to save and restore it around a procedure) and the bits of
    /// [`super::Options`] in `options`.
    fn session_mut(&mut self) -> &mut Session;

    /// Sets the error that the innermost CATCH handles.
    fn set_caught(&mut self, caught: Option<Arc<CaughtError>>);

    /// Begins a statement: GETDATE has a new value. Called before each statement that reads the environment.
    fn begin_statement(&mut self);

    /// Prepares lookups of names and ids by an expression: OBJECT_ID, USER_NAME. Called before each scalar statement
    /// with such an expression.
    ///
    /// Errors: any error of reading the definitions.
    fn prepare_names(&mut self) -> Result<(), SqlError>;

    /// Polled for cancellation every few thousand steps and before each wait.
    ///
    /// Errors: the reason to stop.
    fn poll(&mut self) -> Result<(), Stop>;

    /// Sends the DONE of a statement or procedure.
    ///
    /// Errors: the reason to stop.
    fn done(&mut self, done: Done) -> Result<(), Stop>;

    /// Sends an error or informational message: PRINT has number 0 and severity 0.
    ///
    /// Errors: the reason to stop.
    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop>;

    /// Sends all buffered tokens to the client: RAISERROR WITH NOWAIT.
    ///
    /// Errors: the reason to stop.
    fn flush(&mut self) -> Result<(), Stop>;

    /// Begins the rows of a SELECT that needs no table.
    ///
    /// Errors: 213 for captured rows that do not fit; the reason to stop.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure>;

    /// Sends a row of the last [`Host::columns`].
    ///
    /// Errors: the reason to stop.
    fn row(&mut self, values: &[Value]) -> Result<(), Stop>;

    /// Sends the return status of the procedure, before its DONEPROC.
    ///
    /// Errors: the reason to stop.
    fn return_status(&mut self, status: i32) -> Result<(), Stop>;

    /// Sends the value of an output parameter of the client's call, after the status.
    ///
    /// Errors: the reason to stop.
    fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop>;

    /// Waits, and polls meanwhile.
    ///
    /// Errors: the reason to stop.
    fn wait(&mut self, wait: Wait) -> Result<(), Stop>;

    /// Runs a statement that is not scalar, sends its rows, and assigns its variables.
    ///
    /// `slots` are all variables of the batch or procedure, by [`selenite_compiler::Slot`]. `Ok` is the number of rows
    /// that it read or changed.
    fn statement(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure>;

    /// Sends the columns of the rows that a statement would return, and does not run it: SET FMTONLY ON. `Ok` is
    /// [`Affected::Rows`] if there are any.
    ///
    /// Errors: any error of binding the statement.
    fn describe(&mut self, statement: &TableStatement<'_>) -> Result<Affected, Failure>;

    /// Begins to keep the rows of the following call for this INSERT .. EXECUTE, which is passed to
    /// [`Host::statement`] when the call has ended; the client receives only errors and messages. With `is_own` the
    /// transaction that begins next is not reported to the client.
    ///
    /// Errors: any error of the INSERT.
    fn begin_capture(&mut self, statement: &TableStatement<'_>, is_own: bool) -> Result<(), Failure>;

    /// Sends rows to the client again; the kept rows are discarded.
    fn end_capture(&mut self);

    /// Finds or executes a procedure: see [`Callee`].
    ///
    /// Errors: 2812 for an unknown procedure; a compilation error ([`selenite_compiler::Ends::Batch`]) ends the call,
    /// not its caller.
    fn call(&mut self, call: &Call<'_>) -> Result<Callee, Failure>;

    /// Compiles the text of `EXEC (text)`.
    ///
    /// Errors: all errors of the text, each sent in order.
    fn text(&mut self, text: &TextCall<'_>) -> Result<Arc<Program>, TextFailure>;

    /// The table-valued parameters of the program whose frame begins next.
    fn pass_tables(&mut self, _tables: Vec<PassedTable>) {}

    /// The cursor parameters of the program whose frame begins next.
    fn pass_cursors(&mut self, _cursors: Vec<PassedCursor>) {}

    /// Begins a frame for `program`. It has table variables and, unless it is a batch's, temporary tables of its own,
    /// and the options that a procedure or text sets are restored when it ends.
    ///
    /// Errors: any error that prevents it from running.
    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure>;

    /// Ends the frame that began last, also after an error.
    fn leave(&mut self);

    /// A change is about to run again that has returned [`Affected::NeedsFiring`]: it then returns
    /// [`Affected::Fires`], and stays open until [`Host::end_firing`]. With `is_own` the transaction that begins next is
    /// not reported to the client.
    fn begin_firing(&mut self, _is_own: bool) {}

    /// The next trigger of the change that fires; the frame that begins next is the trigger's.
    ///
    /// Errors: any error of the trigger's text.
    fn next_trigger(&mut self) -> Result<Option<Arc<Program>>, Failure> {
        Ok(None)
    }

    /// Ends the change that fires; unless `is_done`, it is undone.
    fn end_firing(&mut self, _is_done: bool) {}

    /// The transaction of the change has ended, or it had none.
    fn end_own_transaction(&mut self) {}

    /// Begins or ends a transaction. The machine has checked names and counts.
    ///
    /// Errors: that of a failed COMMIT: the transaction is then rolled back.
    fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure>;

    /// Whether the storage has rolled back the open transaction by itself: XACT_STATE is -1 until it is ended.
    fn transaction_is_lost(&self) -> bool;

    /// Sets an option other than the machine's ([`super::Options`]); `value` is the value of
    /// [`ast::SetValue::Value`].
    ///
    /// Errors: 195 for an unknown option, 40517 for one that is not supported.
    fn set_option(&mut self, option: &ast::SetOption, value: Option<&Value>) -> Result<(), Failure>;

    /// USE: writes ENVCHANGE and message 5701.
    ///
    /// Errors: 911 and related ones.
    fn use_database(&mut self, name: &ast::Name) -> Result<(), Failure>;
}

/// The reason to stop a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The client cancelled the request: ATTENTION.
    Attention,
    /// The client is disconnected, or the session is to end.
    Gone,
}

/// The failure of an operation of the host.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// An error of the statement.
    Error(SqlError),
    /// The request is to stop.
    Stop(Stop),
}

/// The failure to compile a text.
#[derive(Clone, PartialEq, Debug)]
pub enum TextFailure {
    /// The errors of the text: at least one.
    Errors(Vec<SqlError>),
    /// The request is to stop.
    Stop(Stop),
}

/// The effect of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affected {
    /// The number of rows that it read or changed: a DONE with a count.
    Rows(u64),
    /// A statement without a count: a DONE without one.
    Nothing,
    /// A change of rows whose triggers fire: it has done nothing, and is to run again after [`Host::begin_firing`].
    NeedsFiring,
    /// The number of rows of a change whose triggers are to run next.
    Fires(u64),
}

/// The value of an output parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Output<'a> {
    /// The argument's index in the call.
    pub ordinal: usize,
    /// The parameter's name with its `@`.
    pub name: &'a str,
    /// Its type.
    pub data_type: DataType,
    /// Its value.
    pub value: &'a Value,
}

/// The wait of a WAITFOR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// DELAY.
    Delay {
        /// The duration, less than a day.
        milliseconds: u64,
    },
    /// TIME.
    Time {
        /// The time of day as the time since midnight.
        milliseconds: u64,
    },
}

/// An operation on the session's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionStep<'a> {
    /// BEGIN: the client receives an ENVCHANGE.
    Begin {
        /// The name, possibly empty.
        name: &'a str,
    },
    /// COMMIT, with ENVCHANGE.
    Commit {
        /// DELAYED_DURABILITY, if it was specified: whether the log may be written later.
        delayed_durability: Option<bool>,
    },
    /// ROLLBACK, with ENVCHANGE.
    Rollback,
    /// SAVE: an earlier savepoint with the same name is kept.
    Save {
        /// Its name.
        name: &'a str,
    },
    /// ROLLBACK to the last savepoint with this name, which is kept.
    RollbackTo {
        /// Its name.
        name: &'a str,
    },
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Error(error)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}
