//! SET FMTONLY ON: statements are not executed; the columns of their results are sent.
//!
//! - `every-branch-is-described`: conditions are not evaluated, and no jump is taken: all statements of IF and WHILE are
//!   described, once each.
//! - `options-are-set`: SET of options, USE, RETURN and EXEC of a text are executed.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::step::{Role, Step};
use selenite_compiler::program::{Program, StatementId};

use super::done_sender::DoneReport;
use super::raise::{Failed, Halt};
use super::{Affected, Command, Host, Machine, TableStatement};

impl Machine {
    /// Describes a step. False if it is to be executed.
    pub(super) fn describe<H: Host + ?Sized>(
        &mut self,
        program: &Arc<Program>,
        step: &Step,
        host: &mut H,
    ) -> Result<bool, Halt> {
        match step {
            Step::SetSwitch { .. }
            | Step::SetOption { .. }
            | Step::Use(_)
            | Step::Text(..)
            | Step::BeginTry
            | Step::EndTry(_)
            | Step::EndCatch { .. }
            | Step::Return(_)
            | Step::ReturnSlot(_)
            | Step::End => return Ok(false),
            Step::SelectValues(select) => {
                self.done_sender.flush(host)?;
                match host.columns(&select.columns) {
                    Ok(()) => self.complete(Command::SELECT, DoneReport::Rows(0), 0, host)?,
                    Err(failure) => self.failure(failure, Failed::of(Command::SELECT), host)?,
                }
            }
            Step::Statement {
                id,
                role: Role::Plain,
                command,
                ..
            } => self.describe_statement(program, *id, *command, host)?,
            Step::Call(_) | Step::BeginCapture(_) | Step::EndCapture(_) => {
                let error = SqlError::unsupported("EXECUTE of a procedure with SET FMTONLY ON");
                self.fail(error, Failed::of(Command::EXECUTE), host)?;
            }
            Step::Statement { .. }
            | Step::SetInt(_)
            | Step::BranchInt(_)
            | Step::Set(_)
            | Step::Branch(_)
            | Step::Jump(_)
            | Step::Goto { .. }
            | Step::SelectAssign(_)
            | Step::Print(_)
            | Step::RaiseError(_)
            | Step::Throw(_)
            | Step::Rethrow
            | Step::WaitFor { .. }
            | Step::Transaction(_) => self.step_on(),
        }
        Ok(true)
    }

    fn describe_statement<H: Host + ?Sized>(
        &mut self,
        program: &Arc<Program>,
        id: StatementId,
        command: u16,
        host: &mut H,
    ) -> Result<(), Halt> {
        let Some(statement) = program.statement(id) else {
            return self.fail(
                SqlError::internal("a statement that is not there"),
                Failed::of(command),
                host,
            );
        };
        self.done_sender.flush(host)?;
        self.announce(host);
        match host.describe(&TableStatement { program, id, statement }) {
            Ok(Affected::Rows(_)) => self.complete(command, DoneReport::Rows(0), 0, host),
            Ok(Affected::Nothing | Affected::NeedsFiring | Affected::Fires(_)) => {
                self.complete(command, DoneReport::Plain, 0, host)
            }
            Err(failure) => self.failure(failure, Failed::of(command), host),
        }
    }
}
