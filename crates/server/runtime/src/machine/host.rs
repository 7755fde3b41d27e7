//! What a machine requires of the session around it: to answer the client, and to do all that is not scalar.
//!
//! - `machine-decides-the-order`: the machine decides what ends, the order of what is sent, and
//!   every DONE with its MORE. An implementation of [`Host`] writes tokens as they come, and adds
//!   none but the rows, ENVCHANGEs and messages of what it is called to do.
//! - `sent-before-writing`: before the machine calls anything that may write, it has sent
//!   everything that came before.
//! - `machine-sends-errors`: the machine sends a [`Failure::Error`], if no CATCH takes it: the host
//!   does not send it as well.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{CaughtError, Environment, Session, SqlError};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::{Call, Callee, Done, FrameKind, Message, TableStatement, TextCall};

/// The session around a machine.
pub trait Host {
    /// What expressions read: its [`Environment::session`] is [`Host::session_mut`]'s, its [`Environment::caught`]
    /// the last of [`Host::set_caught`].
    fn environment(&self) -> &dyn Environment;

    /// The counters that the machine keeps: it writes `row_count`, `error`, `transaction_count`, `transaction_state`,
    /// `nest_level`, `procedure_id`, `scope_identity` (only to save and restore it around a procedure) and of `options`
    /// the bits of [`super::Options`].
    fn session_mut(&mut self) -> &mut Session;

    /// The error that the innermost CATCH handles from now on.
    fn set_caught(&mut self, caught: Option<Arc<CaughtError>>);

    /// A new statement begins: GETDATE has a new moment. Called before each statement that reads the environment.
    fn begin_statement(&mut self);

    /// An expression will look up what names and numbers mean now: OBJECT_ID, USER_NAME. Called before each scalar
    /// statement that has one.
    ///
    /// Errors: whatever keeps the host from looking.
    fn look_at_names(&mut self) -> Result<(), SqlError>;

    /// Whether to continue; polled every few thousand steps and before each wait.
    ///
    /// Errors: why not.
    fn poll(&mut self) -> Result<(), Stop>;

    /// A statement or procedure is done.
    ///
    /// Errors: why to stop.
    fn done(&mut self, done: Done) -> Result<(), Stop>;

    /// An error, or an information: PRINT's have number 0 and severity 0.
    ///
    /// Errors: why to stop.
    fn message(&mut self, message: &Message<'_>) -> Result<(), Stop>;

    /// What has been sent so far is to reach the client now: RAISERROR WITH NOWAIT.
    ///
    /// Errors: why to stop.
    fn flush(&mut self) -> Result<(), Stop>;

    /// Rows of this shape follow: of a SELECT that needs no table.
    ///
    /// Errors: 213 for rows that are captured and do not fit; why to stop.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure>;

    /// A row of the last [`Host::columns`].
    ///
    /// Errors: why to stop.
    fn row(&mut self, values: &[Value]) -> Result<(), Stop>;

    /// What the procedure returned, right before its DONEPROC.
    ///
    /// Errors: why to stop.
    fn return_status(&mut self, status: i32) -> Result<(), Stop>;

    /// The value of an output parameter of the call that the client made, after the status.
    ///
    /// Errors: why to stop.
    fn return_value(&mut self, output: &Output<'_>) -> Result<(), Stop>;

    /// Waits, and polls meanwhile.
    ///
    /// Errors: why to stop.
    fn wait(&mut self, wait: Wait) -> Result<(), Stop>;

    /// Runs what is not scalar, writes its rows, and sets the variables that it assigns.
    ///
    /// `slots` are all variables of the batch or procedure, by [`selenite_compiler::Slot`]. `Ok` says how many rows
    /// it read or changed.
    fn statement(&mut self, statement: &TableStatement<'_>, slots: &mut [Value]) -> Result<Affected, Failure>;

    /// The rows of what is called from now on are kept for this INSERT .. EXECUTE, which is passed to
    /// [`Host::statement`] when the call has ended; the client gets errors and messages only. If `is_own` the
    /// transaction that begins next is not reported to the client.
    ///
    /// Errors: what is wrong with the INSERT.
    fn begin_capture(&mut self, statement: &TableStatement<'_>, is_own: bool) -> Result<(), Failure>;

    /// Rows go to the client again; what was kept is forgotten.
    fn end_capture(&mut self);

    /// Finds a procedure, or is it: see [`Callee`].
    ///
    /// Errors: 2812 if there is no such procedure; what is wrong with it ([`selenite_compiler::Ends::Batch`]) ends
    /// the call, not its caller.
    fn call(&mut self, call: &Call<'_>) -> Result<Callee, Failure>;

    /// Compiles the text of `EXEC (text)`.
    ///
    /// Errors: what is wrong with the text, each sent in order.
    fn text(&mut self, text: &TextCall<'_>) -> Result<Arc<Program>, TextFailure>;

    /// A frame for `program` begins. Table variables and, but for a batch's, temporary tables are its own, and options
    /// that a procedure or text sets are set back when it ends.
    ///
    /// Errors: whatever keeps it from running.
    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure>;

    /// The frame that began last ends, whatever ended it.
    fn leave(&mut self);

    /// A transaction begins or ends. The machine has checked names and counts.
    ///
    /// Errors: that of a COMMIT that did not succeed: the transaction is then rolled back.
    fn transaction(&mut self, step: TransactionStep<'_>) -> Result<(), Failure>;

    /// A SET of an option that the machine does not keep itself ([`super::Options`]); `value` is that of
    /// [`ast::SetValue::Value`].
    ///
    /// Errors: 195 for an unknown option, 40517 for one that is not supported.
    fn set_option(&mut self, option: &ast::SetOption, value: Option<&Value>) -> Result<(), Failure>;

    /// USE: writes ENVCHANGE and message 5701.
    ///
    /// Errors: 911 and related ones.
    fn use_database(&mut self, name: &ast::Name) -> Result<(), Failure>;
}

/// Why a machine stops in the middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The client wants no more of the answer: ATTENTION.
    Attention,
    /// The client is gone, or the session is to end.
    Gone,
}

/// Why the host did not do what it was called for.
#[derive(Clone, PartialEq, Debug)]
pub enum Failure {
    /// An error of the statement.
    Error(SqlError),
    /// The request is to stop.
    Stop(Stop),
}

/// Why a text does not run.
#[derive(Clone, PartialEq, Debug)]
pub enum TextFailure {
    /// What is wrong with it: at least one.
    Errors(Vec<SqlError>),
    /// The request is to stop.
    Stop(Stop),
}

/// What a statement did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affected {
    /// It read or changed so many rows: a DONE with a count.
    Rows(u64),
    /// It is no statement that counts: a DONE without.
    Nothing,
}

/// The value of an output parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Output<'a> {
    /// The argument's place in the call, from 0.
    pub ordinal: usize,
    /// The parameter's name, with its sign.
    pub name: &'a str,
    /// Its type.
    pub data_type: DataType,
    /// Its value.
    pub value: &'a Value,
}

/// What WAITFOR waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// So many milliseconds.
    Delay {
        /// Less than a day.
        milliseconds: u64,
    },
    /// The next time that it is so many milliseconds after midnight.
    Time {
        /// Less than a day.
        milliseconds: u64,
    },
}

/// A step of the session's transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionStep<'a> {
    /// It begins: the client gets an ENVCHANGE.
    Begin {
        /// Its name; may be empty.
        name: &'a str,
    },
    /// It is committed, with ENVCHANGE.
    Commit {
        /// Whether the log may be written later, if that was specified.
        delayed_durability: Option<bool>,
    },
    /// It is rolled back, with ENVCHANGE.
    Rollback,
    /// A savepoint: an earlier one of the same name remains before it.
    Save {
        /// Its name.
        name: &'a str,
    },
    /// Back to the last savepoint of this name, which stays.
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
