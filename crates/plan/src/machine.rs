//! Runs programs: scalar steps by itself, all else through its [`Host`]; and keeps what a session remembers between batches.
//!
//! R1. One DONE for each statement but DECLARE without a value, BEGIN and END, labels, GOTO, BREAK, CONTINUE and RETURN
//!     (MS-TDS 2.2.7.6); the tests of IF and WHILE count each time they are asked. BEGIN TRY and its END have one each.
//! R2. In a batch they are DONE, in what it calls DONEINPROC, and DONEPROC ends the call. NOCOUNT takes away the counts, and
//!     each DONEINPROC that ends neither rows nor an error.
//! R3. A DONE is told when the next thing is known, so that the last one of an answer is without MORE.
//! R4. An error goes to the innermost TRY around it, in whichever frame; else it is told, and what it [`crate::Ends`] ends.
//! R5. Whatever a program does, a frame that was entered is left.

use std::sync::Arc;

use crate::{PlanError, program::Program};

mod call;
mod done;
mod host;
mod message;
mod options;
mod statement;

pub use call::{Call, CallArgument, Callee, TextCall};
pub use done::{Command, Done, DoneKind};
pub use host::{Affected, Failure, Host, Output, ResultColumn, Stop, TextFailure, TransactionStep, Wait};
pub use message::Message;
pub use options::Options;
pub use statement::TableStatement;

/// What runs a session's programs: one for each session, from its login to its end.
#[derive(Debug, Default)]
pub struct Machine {
    options: Options,
}

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is to run.
    pub program: Arc<Program>,
    /// Values for its parameters.
    pub arguments: Vec<CallArgument>,
    /// How it is answered.
    pub entry: Entry,
}

/// How a request is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// As a batch: DONE for each statement, the last without MORE.
    Batch,
    /// As a call: DONEINPROC for each statement, then status, outputs and DONEPROC.
    Call {
        /// The place of the first argument in the client's call: 2 for sp_executesql.
        first_ordinal: usize,
        /// Whether the same message has another call behind it: the last DONEPROC then has MORE.
        more: bool,
    },
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The answer is complete.
    Finished,
    /// It was broken off by ATTENTION: DONE with the bit for it is still to be written.
    Attention,
    /// There is nobody to answer.
    Gone,
    /// By an error of severity 20 or more: the answer is complete, and the connection is to be closed.
    Connection,
}

impl Machine {
    /// A session's machine, right after the login.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a request to its end.
    pub fn run<H: Host + ?Sized>(&mut self, request: Request, host: &mut H) -> Ended {
        let _ = (request.program.steps(), host);
        Ended::Finished
    }

    /// Tells what is wrong with a request that could not be compiled or found.
    pub fn refuse<H: Host + ?Sized>(&mut self, errors: &[PlanError], entry: Entry, host: &mut H) -> Ended {
        let _ = (errors, entry, host);
        Ended::Finished
    }

    /// A transaction request of the client's: BEGIN, COMMIT, ROLLBACK or SAVE without a text.
    ///
    /// Errors: as the statements': told already, with their DONE.
    pub fn transact<H: Host + ?Sized>(&mut self, step: TransactionStep<'_>, host: &mut H) -> Ended {
        let _ = (step, host);
        Ended::Finished
    }

    /// The session begins anew, as RESETCONNECTION asks: a transaction is rolled back, and options are as after a login.
    ///
    /// Errors: why not to go on.
    pub fn reset<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Failure> {
        let _ = host;
        self.options = Options::default();
        Ok(())
    }

    /// The options that the machine keeps.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}
