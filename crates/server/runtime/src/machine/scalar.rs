//! Executes the steps that need only variables, the fast path of the machine.

use selenite_compiler::program::index;
use selenite_compiler::program::step::{Branch, EnvironmentRead, Set, Step};
use selenite_compiler::{Frame as Values, SqlError, size_of};
use selenite_types::Value;

use super::done_sender::DoneReport;
use super::frame::Frame;
use super::{Command, Host, Machine, Stop};

/// The reason why the fast path ends.
pub(super) enum Pause {
    /// A step that needs the host.
    Event,
    /// An error of the current step.
    Failed(SqlError),
}

impl Machine {
    /// Runs steps until one needs the host.
    pub(super) fn scalar<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<Pause, Stop> {
        if self.options.format_only {
            return Ok(Pause::Event);
        }
        let manner = self.manner();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Pause::Event);
        };
        let Frame {
            program,
            slots,
            at: step_at,
            ..
        } = frame;
        let steps = program.steps();
        let mut at = *step_at;
        let pause = loop {
            self.steps_to_poll -= 1;
            if self.steps_to_poll == 0 {
                self.steps_to_poll = STEPS_BETWEEN_POLLS;
                host.poll()?;
            }
            let (command, rows, next) = match steps.get(at) {
                Some(Step::SetInt(set)) => {
                    if !set.run(slots)
                        && let Err(error) = assign(&set.general, slots, self.row_count, self.error, host)
                    {
                        break Pause::Failed(error);
                    }
                    (Command::SELECT, 1, at + 1)
                }
                Some(Step::BranchInt(branch)) => {
                    let truth = match branch.run(slots) {
                        Some(truth) => truth,
                        None => match is_true(&branch.general, slots, self.row_count, self.error, host) {
                            Ok(truth) => truth,
                            Err(error) => break Pause::Failed(error),
                        },
                    };
                    let next = if truth { at + 1 } else { index(branch.general.otherwise) };
                    (Command::CONDITION, 0, next)
                }
                Some(Step::Jump(target)) => {
                    at = index(*target);
                    continue;
                }
                Some(Step::Set(set)) => {
                    if let Err(error) = assign(set, slots, self.row_count, self.error, host) {
                        break Pause::Failed(error);
                    }
                    self.is_heavy |= slots.get(set.slot.index()).is_some_and(is_heavy);
                    if self.is_heavy {
                        self.steps_to_poll = 1;
                    }
                    (Command::SELECT, 1, at + 1)
                }
                Some(Step::Branch(branch)) => match is_true(branch, slots, self.row_count, self.error, host) {
                    Ok(true) => (Command::CONDITION, 0, at + 1),
                    Ok(false) => (Command::CONDITION, 0, index(branch.otherwise)),
                    Err(error) => break Pause::Failed(error),
                },
                _ => break Pause::Event,
            };
            self.row_count = rows;
            self.error = 0;
            let report = [DoneReport::Plain, DoneReport::Count(1)][usize::from(rows > 0)];
            self.done_sender.send_done(manner, command, report, host)?;
            at = next;
        };
        *step_at = at;
        Ok(pause)
    }
}

/// Assigns a variable.
fn assign<H: Host + ?Sized>(
    set: &Set,
    slots: &mut [Value],
    row_count: i64,
    error: i32,
    host: &mut H,
) -> Result<(), SqlError> {
    announce_for(set.operand.reads, row_count, error, host)?;
    let values = Values {
        slots,
        row: &[],
        local: None,
        environment: host.environment(),
    };
    let value = set.operand.value.evaluate(&values)?;
    if size_of(&value) > LARGE_SIZE {
        values.environment.reserve(0)?;
    }
    if let Some(slot) = slots.get_mut(set.slot.index()) {
        *slot = value;
    }
    Ok(())
}

/// Whether the condition of a branch is true.
fn is_true<H: Host + ?Sized>(
    branch: &Branch,
    slots: &[Value],
    row_count: i64,
    error: i32,
    host: &mut H,
) -> Result<bool, SqlError> {
    announce_for(branch.reads, row_count, error, host)?;
    let values = Values {
        slots,
        row: &[],
        local: None,
        environment: host.environment(),
    };
    Ok(branch.condition.evaluate(&values)? == Some(true))
}

/// Passes the host the state that expressions of the next statement may read.
pub(super) fn announce<H: Host + ?Sized>(row_count: i64, error: i32, host: &mut H) {
    let session = host.session_mut();
    session.row_count = row_count;
    session.error = error;
    host.begin_statement();
}

/// As [`announce`], as far as the expressions read it.
///
/// Errors: those of the host.
pub(super) fn announce_for<H: Host + ?Sized>(
    reads: EnvironmentRead,
    row_count: i64,
    error: i32,
    host: &mut H,
) -> Result<(), SqlError> {
    if reads >= EnvironmentRead::Session {
        announce(row_count, error, host);
    }
    match reads {
        EnvironmentRead::Nothing | EnvironmentRead::Session => Ok(()),
        EnvironmentRead::Names => host.prepare_names(),
    }
}

/// Whether an operation on a value may take as long as thousands of steps.
pub(super) fn is_heavy(value: &Value) -> bool {
    size_of(value) > HEAVY_SIZE
}

/// 4 KiB: the memory of smaller values is limited by the number of variables.
const LARGE_SIZE: usize = 4 << 10;

/// 64 KiB: some 10 us of work.
const HEAVY_SIZE: usize = 64 << 10;

/// A step of the slowest kind takes microseconds, unless a value is large: an ATTENTION is handled within a few
/// milliseconds.
pub(super) const STEPS_BETWEEN_POLLS: u32 = 4096;
