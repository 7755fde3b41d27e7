//! Activations of programs: a batch, and the procedures and texts that it called.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{CaughtError, Slot, SqlError};
use selenite_types::{DataType, Decimal, Value};

use super::{Options, PassedCursor, PassedTable};

/// The kind of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameKind {
    /// A batch: its SET options remain when it ends.
    Batch,
    /// A procedure, or a text with parameters.
    Procedure,
    /// Dynamic SQL.
    Text,
    /// A trigger.
    Trigger,
}

/// A running program.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) program: Arc<Program>,
    pub(super) kind: FrameKind,
    pub(super) slots: Vec<Value>,
    /// The current step.
    pub(super) at: usize,
    /// The errors that its CATCH blocks handle, outermost first.
    pub(super) caught: Vec<Arc<Raised>>,
    /// The caller's state, to restore.
    pub(super) saved: Saved,
    /// The destination of its results.
    pub(super) returns: Returns,
    /// The status of a RETURN without a value: 10 less the severity of the last uncaught error.
    pub(super) status: i32,
}

/// The state that is restored when a frame ends.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) options: Options,
    pub(super) scope_identity: Option<Decimal>,
    pub(super) procedure_id: i32,
    pub(super) transaction_count: i32,
}

/// What a frame begins with.
#[derive(Default)]
pub(super) struct Passed {
    pub(super) slots: Vec<Value>,
    pub(super) tables: Vec<PassedTable>,
    pub(super) cursors: Vec<PassedCursor>,
    pub(super) returns: Returns,
}

/// The destination of a frame's results.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Returns {
    /// The caller's variable for the status.
    pub(super) status: Option<(Slot, DataType)>,
    /// The caller's variables for output parameters.
    pub(super) outputs: Vec<OutputSlot>,
}

/// An output parameter and its destination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OutputSlot {
    /// The index of the parameter.
    pub(super) parameter: usize,
    /// The index of the argument.
    pub(super) argument: usize,
    /// The caller's variable; `None` if the caller is the client.
    pub(super) to: Option<(Slot, DataType)>,
    /// The type of the client's argument; `None` without a value.
    pub(super) given: Option<DataType>,
}

/// A raised error.
#[derive(Clone, Debug)]
pub(super) struct Raised {
    pub(super) error: SqlError,
    pub(super) line: u32,
    pub(super) procedure: Option<Arc<str>>,
    pub(super) reach: Reach,
    /// Whether XACT_ABORT applies: not to RAISERROR, nor to 266.
    pub(super) honours_abort: bool,
    /// Whether it is written to the server's log: RAISERROR WITH LOG.
    pub(super) to_log: bool,
}

/// The scope that an uncaught error ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Reach {
    /// Its statement.
    Statement,
    /// The batch, procedure or text: a compilation error. No TRY of the same frame handles it.
    Scope,
    /// As [`Reach::Scope`], of a statement that changes definitions: it is checked when it runs, so that a TRY of the same
    /// frame handles it, and its transaction can't be committed then.
    Definition,
    /// The batch and all frames that it called.
    Batch,
    /// As [`Reach::Batch`], and the transaction is rolled back.
    Transaction,
    /// The connection.
    Connection,
}

impl Raised {
    /// The values of ERROR_NUMBER and related functions.
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
