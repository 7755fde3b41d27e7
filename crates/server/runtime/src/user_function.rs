//! Functions of users: the interpreter of their bodies, and how a statement reaches it.
//!
//! - `same-connection`: a function runs on the connection of the statement that calls it, within SQLite's call of
//!   one of the registered functions: it sees the rows that the statement sees, uncommitted ones of its transaction
//!   too. SQLite allows that (sqlite.org/c3ref/create_function.html); it forbids only to close the connection or to
//!   finalize the calling statement.
//! - `runner-of-the-thread`: registered functions must be `Send`, which a connection in use is not. A session is one
//!   thread, so the runner of its running statement is the thread's.
//! - `error-ends-all`: an error of a function ends the statement that calls it, as in SQL Server.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use selenite_compiler::catalog::UserFunction;
use selenite_compiler::program::step::{Role, Step};
use selenite_compiler::program::{Program, StatementId, index};
use selenite_compiler::{Environment, Expr, Frame, Predicate, SqlError, size_of, stored};
use selenite_types::{DataType, Value};

/// Runs functions for a statement.
pub trait FunctionRunner {
    /// Runs a function: its value, or its rows as JSON ([`selenite_compiler::UserCall`]).
    ///
    /// # Errors
    /// Any error of its statements; 217 beyond the limit of nesting.
    fn run(&self, function: &Arc<UserFunction>, arguments: Vec<Value>) -> Result<Value, SqlError>;
}

/// Runs `body`, in which [`call`] reaches `runner`.
pub fn with_runner<R>(runner: Rc<dyn FunctionRunner>, body: impl FnOnce() -> R) -> R {
    let before = RUNNER.replace(Some(runner));
    let restored = Restored(before);
    let done = body();
    drop(restored);
    done
}

/// Runs a function by the runner of the thread's statement.
///
/// # Errors
/// As [`FunctionRunner::run`].
pub fn call(function: &Arc<UserFunction>, arguments: Vec<Value>) -> Result<Value, SqlError> {
    let runner = RUNNER.with_borrow(Clone::clone);
    let runner = runner.ok_or_else(|| SqlError::internal("a function outside a statement on tables"))?;
    runner.run(function, arguments)
}

thread_local! {
    static RUNNER: RefCell<Option<Rc<dyn FunctionRunner>>> = const { RefCell::new(None) };
}

/// Restores the runner of the statement around, also after a panic.
struct Restored(Option<Rc<dyn FunctionRunner>>);

impl Drop for Restored {
    fn drop(&mut self) {
        RUNNER.set(self.0.take());
    }
}

/// What a function's body needs around it.
pub trait FunctionHost {
    /// The environment of expressions.
    type Environment<'a>: Environment
    where
        Self: 'a;

    /// The environment of expressions, with `@@ROWCOUNT`.
    fn environment(&self) -> Self::Environment<'_>;

    /// Sets `@@ROWCOUNT`.
    fn set_row_count(&mut self, count: i64);

    /// Runs a statement on tables, and returns the number of rows.
    ///
    /// # Errors
    /// Any error of the statement.
    fn statement(&mut self, id: StatementId, slots: &mut Vec<Value>) -> Result<u64, SqlError>;
}

/// Runs the body of a function with the values of its variables, and returns the value of its RETURN; NULL of a
/// RETURN without one.
///
/// # Errors
/// Any error of its statements; 557 for a statement that no function may run.
pub fn run_body<H: FunctionHost>(program: &Program, slots: &mut Vec<Value>, host: &mut H) -> Result<Value, SqlError> {
    let steps = program.steps();
    let mut at = 0;
    let mut to_poll = STEPS_BETWEEN_POLLS;
    while let Some(step) = steps.get(at) {
        to_poll -= 1;
        if to_poll == 0 {
            to_poll = STEPS_BETWEEN_POLLS;
            host.environment().poll()?;
        }
        at = match step {
            Step::SetInt(set) => {
                if !set.run(slots) {
                    assign(slots, set.general.slot.index(), &set.general.operand.value, host)?;
                }
                host.set_row_count(1);
                at + 1
            }
            Step::Set(set) => {
                assign(slots, set.slot.index(), &set.operand.value, host)?;
                host.set_row_count(1);
                at + 1
            }
            Step::SelectAssign(select) => {
                for (slot, value) in &select.assignments {
                    assign(slots, slot.index(), value, host)?;
                }
                host.set_row_count(1);
                at + 1
            }
            Step::BranchInt(branch) => {
                let truth = match branch.run(slots) {
                    Some(truth) => truth,
                    None => is_true(&branch.general.condition, slots, host)?,
                };
                host.set_row_count(0);
                if truth { at + 1 } else { index(branch.general.otherwise) }
            }
            Step::Branch(branch) => {
                let truth = is_true(&branch.condition, slots, host)?;
                host.set_row_count(0);
                if truth { at + 1 } else { index(branch.otherwise) }
            }
            Step::Jump(target) | Step::Goto { target, .. } => index(*target),
            Step::Return(Some(operand)) => return value_of(&operand.value, slots, host),
            Step::ReturnSlot(slot) => return Ok(slots.get(slot.index()).cloned().unwrap_or(Value::Null)),
            Step::Return(None) | Step::End => return Ok(Value::Null),
            Step::Statement { id, role, .. } => after_statement(at, *id, *role, slots, host)?,
            Step::SelectValues(_)
            | Step::BeginTry
            | Step::EndTry(_)
            | Step::EndCatch { .. }
            | Step::Print(_)
            | Step::RaiseError(_)
            | Step::Throw(_)
            | Step::Rethrow
            | Step::WaitFor { .. }
            | Step::Transaction(_)
            | Step::SetSwitch { .. }
            | Step::SetOption { .. }
            | Step::Use(_)
            | Step::Call(_)
            | Step::Text(..)
            | Step::BeginCapture(_)
            | Step::EndCapture(_) => return Err(SqlError::call_in_function()),
        };
    }
    Ok(Value::Null)
}

/// Runs a statement on tables, and returns the next step.
fn after_statement<H: FunctionHost>(
    at: usize,
    id: StatementId,
    role: Role,
    slots: &mut Vec<Value>,
    host: &mut H,
) -> Result<usize, SqlError> {
    if role == Role::Declare {
        return Ok(at + 1);
    }
    let count = host.statement(id, slots)?;
    Ok(match role {
        Role::Plain => {
            host.set_row_count(i64::try_from(count).unwrap_or(i64::MAX));
            at + 1
        }
        Role::Assign => {
            host.set_row_count(1);
            at + 1
        }
        Role::Declare | Role::Value => at + 1,
        Role::Condition { slot, otherwise, .. } => {
            host.set_row_count(0);
            match slots.get(slot.index()) == Some(&Value::Int(1)) {
                true => at + 1,
                false => index(otherwise),
            }
        }
    })
}

fn assign<H: FunctionHost>(slots: &mut [Value], slot: usize, value: &Expr, host: &H) -> Result<(), SqlError> {
    let value = value_of(value, slots, host)?;
    if size_of(&value) > LARGE_SIZE {
        host.environment().reserve(0)?;
    }
    if let Some(place) = slots.get_mut(slot) {
        *place = value;
    }
    Ok(())
}

fn value_of<H: FunctionHost>(value: &Expr, slots: &[Value], host: &H) -> Result<Value, SqlError> {
    let environment = host.environment();
    value.evaluate(&frame(slots, &environment))
}

fn is_true<H: FunctionHost>(condition: &Predicate, slots: &[Value], host: &H) -> Result<bool, SqlError> {
    let environment = host.environment();
    Ok(condition.evaluate(&frame(slots, &environment))? == Some(true))
}

fn frame<'a>(slots: &'a [Value], environment: &'a dyn Environment) -> Frame<'a> {
    Frame {
        slots,
        row: &[],
        local: None,
        environment,
    }
}

/// The first values of a function's variables: the arguments in the slots of the parameters, NULL elsewhere.
#[must_use]
pub fn slots_of(program: &Program, arguments: Vec<Value>) -> Vec<Value> {
    let mut slots = vec![Value::Null; program.variables().slot_count()];
    for (parameter, value) in program.parameters().iter().zip(arguments) {
        if let Some(slot) = slots.get_mut(parameter.slot.index()) {
            *slot = value;
        }
    }
    slots
}

/// The rows of a function as one JSON array, in the form of [`selenite_compiler::catalog::SystemRows::Json`].
#[derive(Default)]
pub struct RowsText {
    text: String,
    count: u64,
}

impl RowsText {
    /// Adds a row.
    ///
    /// # Errors
    /// 701; 50823 for a value that is not of its type.
    pub fn push(&mut self, row: &[Value], types: &[DataType], environment: &dyn Environment) -> Result<(), SqlError> {
        self.text.push(if self.count == 0 { '[' } else { ',' });
        self.count += 1;
        let mut opened = '[';
        for (value, data_type) in row.iter().zip(types) {
            self.text.push(opened);
            opened = ',';
            json::push(&mut self.text, &stored(value, data_type)?);
        }
        self.text.push(']');
        if self.text.len() > LARGE_SIZE {
            environment.reserve(self.text.len())?;
        }
        Ok(())
    }

    /// The array.
    #[must_use]
    pub fn finish(mut self) -> Value {
        if self.count == 0 {
            self.text.push('[');
        }
        self.text.push(']');
        Value::Text(Arc::from(self.text))
    }
}

mod json;

/// As a batch's: a step of the slowest kind takes microseconds.
const STEPS_BETWEEN_POLLS: u32 = 4096;

/// 4 KiB: smaller values are limited by the number of variables.
const LARGE_SIZE: usize = 4 << 10;
