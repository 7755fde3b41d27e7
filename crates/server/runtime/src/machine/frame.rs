//! What runs: a batch, and the procedures and texts that it called.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{CaughtError, Slot, SqlError};
use selenite_types::{DataType, Decimal, Value};

use super::Options;

/// What a frame is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameKind {
    /// A batch: what it sets stays when it ends.
    Batch,
    /// A procedure, or a text with parameters.
    Procedure,
    /// A text of EXEC.
    Text,
}

/// A running program.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) program: Arc<Program>,
    pub(super) kind: FrameKind,
    pub(super) slots: Vec<Value>,
    /// The step that runs.
    pub(super) at: usize,
    /// The errors that its CATCH blocks handle, outermost first.
    pub(super) caught: Vec<Arc<Raised>>,
    /// What was before it.
    pub(super) saved: Saved,
    /// Where its results go.
    pub(super) returns: Returns,
    /// The status of a RETURN without a value: 10 less the severity of the last uncaught error.
    pub(super) status: i32,
}

/// What is set back when a frame ends.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) options: Options,
    pub(super) scope_identity: Option<Decimal>,
    pub(super) procedure_id: i32,
    pub(super) transaction_count: i32,
}

/// Where a frame's results go.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Returns {
    /// The caller's variable for the status.
    pub(super) status: Option<(Slot, DataType)>,
    /// The caller's variables for output parameters.
    pub(super) outputs: Vec<OutputSlot>,
}

/// An output parameter and where its value goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OutputSlot {
    /// Which parameter, from 0.
    pub(super) parameter: usize,
    /// Which argument, from 0.
    pub(super) argument: usize,
    /// The caller's variable; none if it is the client's.
    pub(super) to: Option<(Slot, DataType)>,
    /// The type that the client gave its argument; none where it gave no value.
    pub(super) given: Option<DataType>,
}

/// An error on its way.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    pub(super) error: SqlError,
    pub(super) line: u32,
    pub(super) procedure: Option<Arc<str>>,
    pub(super) reach: Reach,
    /// Whether XACT_ABORT makes more of it: not of RAISERROR's, nor of 266.
    pub(super) honours_abort: bool,
    /// Whether it goes to the server's log: RAISERROR WITH LOG.
    pub(super) to_log: bool,
}

/// How far an uncaught error goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Reach {
    /// Its statement.
    Statement,
    /// Its batch, procedure or text: what did not compile. No TRY of the same frame sees it.
    Scope,
    /// The batch and all that it called.
    Batch,
    /// As [`Reach::Batch`], and the transaction is rolled back.
    Transaction,
    /// The connection.
    Connection,
}

impl Raised {
    /// What ERROR_NUMBER and related functions return.
    pub(super) fn caught(&self) -> CaughtError {
        CaughtError {
            number: self.error.number(),
            severity: i32::from(self.error.severity()),
            state: i32::from(self.error.state()),
            procedure: self.procedure.clone(),
            line: i32::try_from(self.line).unwrap_or(i32::MAX),
            text: Arc::from(self.error.text()),
        }
    }
}
