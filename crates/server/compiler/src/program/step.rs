//! The steps of a program.

use std::sync::Arc;

use selenite_tsql::ast::{self, TextPrincipal};
use selenite_types::{Comparison, DataType, Value};

use super::StatementId;
use crate::binding::ResultColumn;
use crate::{Expr, Predicate, Slot};

/// The number of a step: the target of a jump.
pub type Target = u32;

/// One step of a program. The machine adds DONE and the counters.
#[derive(Debug)]
pub enum Step {
    /// `SET @a = @b + 1` of ints.
    SetInt(Box<SetInt>),
    /// `WHILE @a < 10` and IF of ints.
    BranchInt(Box<BranchInt>),
    /// SET of a variable, or DECLARE with a value.
    Set(Box<Set>),
    /// IF and WHILE.
    Branch(Box<Branch>),
    /// An unconditional jump.
    Jump(Target),
    /// GOTO, BREAK or CONTINUE out of CATCH blocks.
    Goto {
        /// The target.
        target: Target,
        /// The number of CATCH blocks of this frame around the target.
        catch_depth: u32,
    },
    /// SELECT of values without a table.
    SelectValues(Box<SelectValues>),
    /// SELECT of assignments without a table.
    SelectAssign(Box<SelectAssign>),
    /// BEGIN TRY.
    BeginTry,
    /// END TRY: jumps to the end of the CATCH.
    EndTry(Target),
    /// END CATCH.
    EndCatch {
        /// The number of CATCH blocks of this frame around the next step.
        catch_depth: u32,
    },
    /// PRINT.
    Print(Box<Operand>),
    /// RAISERROR.
    RaiseError(Box<RaiseError>),
    /// THROW with arguments.
    Throw(Box<Throw>),
    /// THROW without arguments.
    Rethrow,
    /// WAITFOR.
    WaitFor {
        /// DELAY or TIME.
        kind: ast::WaitKind,
        /// The time.
        value: Box<Operand>,
    },
    /// RETURN, optionally with an int.
    Return(Option<Box<Operand>>),
    /// RETURN of a slot's value, which a statement has computed.
    ReturnSlot(Slot),
    /// BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION.
    Transaction(Box<TransactionStatement>),
    /// SET of an option of the machine.
    SetSwitch {
        /// The option.
        switch: Switch,
        /// ON.
        on: bool,
        /// Whether it is the last of its statement, which has one DONE.
        last: bool,
    },
    /// SET of any other option.
    SetOption {
        /// The statement.
        option: Box<ast::SetOption>,
        /// The value, if it is an expression.
        value: Option<Box<Operand>>,
    },
    /// USE.
    Use(Box<ast::Name>),
    /// EXEC of a procedure.
    Call(Box<CallStatement>),
    /// EXEC of dynamic SQL.
    Text(Box<Operand>, Option<Box<TextPrincipal>>),
    /// Begins INSERT .. EXECUTE: the host keeps the rows of the call, which follows.
    BeginCapture(StatementId),
    /// Ends INSERT .. EXECUTE: the rows of the call are inserted.
    EndCapture(StatementId),
    /// A statement that the host executes.
    Statement {
        /// The statement.
        id: StatementId,
        /// Its purpose.
        role: Role,
        /// The command number of its DONE.
        command: u16,
        /// Its access in a transaction.
        access: Access,
        /// Whether it returns rows to the client.
        rows: bool,
    },
    /// The end of the program: RETURN without a value.
    End,
}

/// The purpose of a statement that the host runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The statement as written.
    Plain,
    /// SET, or DECLARE with a value.
    Assign,
    /// The declaration of a table variable: no DONE, no counters.
    Declare,
    /// The value of RETURN: no DONE.
    Value,
    /// The condition of IF or WHILE: sets the slot to 1 if it is true; otherwise jumps.
    Condition {
        /// The slot.
        slot: Slot,
        /// The target if the condition is not true.
        otherwise: Target,
        /// The step after the whole IF or WHILE: the target after an error.
        end: Target,
    },
}

/// A statement's access in a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// None: USE, DBCC, and statements outside transactions.
    None,
    /// Reads tables: begins a transaction with IMPLICIT_TRANSACTIONS.
    Read,
    /// Changes rows or definitions: refused in a transaction that can't be committed.
    Write,
    /// As [`Access::Write`], for rows: an error is followed by message 3621.
    Change,
}

/// The part of the environment that expressions read and that changes between statements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EnvironmentRead {
    /// Nothing.
    Nothing,
    /// The clock or the session: the machine must announce its state first.
    Session,
    /// Names of objects too: the host must read the definitions first.
    Names,
}

/// An expression of a scalar statement.
#[derive(Debug)]
pub struct Operand {
    /// Its value.
    pub value: Expr,
    /// The part of the environment that it reads.
    pub reads: EnvironmentRead,
}

/// `SET @a = value`.
#[derive(Debug)]
pub struct Set {
    /// The variable.
    pub slot: Slot,
    /// Its value, of the variable's type.
    pub operand: Operand,
}

/// `SET @a = @b + c` of ints: the fast form; any other case, and errors, are left to `general`.
#[derive(Debug)]
pub struct SetInt {
    /// The variable: an int.
    pub slot: usize,
    /// The first operand: an int variable.
    pub source: usize,
    /// The second operand.
    pub addend: Int,
    /// Whether it is subtracted.
    pub is_subtraction: bool,
    /// The general form.
    pub general: Set,
}

/// A branch on a comparison of ints.
#[derive(Debug)]
pub struct BranchInt {
    /// The left side of the comparison: an int variable.
    pub left: usize,
    /// The comparison.
    pub comparison: Comparison,
    /// The right side.
    pub right: Int,
    /// The general form.
    pub general: Branch,
}

/// An operand of type int that needs no evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Int {
    /// A constant.
    Constant(i32),
    /// A variable.
    Slot(usize),
}

/// A branch: the next step if the condition is true.
#[derive(Debug)]
pub struct Branch {
    /// The condition.
    pub condition: Predicate,
    /// The target if the condition is false or unknown.
    pub otherwise: Target,
    /// The step after the whole IF or WHILE: the target after an error.
    pub end: Target,
    /// As [`Operand::reads`].
    pub reads: EnvironmentRead,
}

/// SELECT of values.
#[derive(Debug)]
pub struct SelectValues {
    /// The columns.
    pub columns: Vec<ResultColumn>,
    /// The value of each column.
    pub values: Vec<Expr>,
    /// As [`Operand::reads`].
    pub reads: EnvironmentRead,
}

/// SELECT of assignments, evaluated from left to right.
#[derive(Debug)]
pub struct SelectAssign {
    /// The assignments: each reads the results of those before it.
    pub assignments: Vec<(Slot, Expr)>,
    /// As [`Operand::reads`].
    pub reads: EnvironmentRead,
}

/// RAISERROR.
#[derive(Debug)]
pub struct RaiseError {
    /// The message text or number.
    pub message: Operand,
    /// The severity, an int.
    pub severity: Operand,
    /// The state, an int.
    pub state: Operand,
    /// The arguments of the message.
    pub arguments: Vec<Operand>,
    /// WITH LOG.
    pub log: bool,
    /// WITH NOWAIT.
    pub no_wait: bool,
    /// WITH SETERROR.
    pub set_error: bool,
}

/// THROW.
#[derive(Debug)]
pub struct Throw {
    /// The number, an int.
    pub number: Operand,
    /// The message, nvarchar(2048).
    pub message: Operand,
    /// The state, an int.
    pub state: Operand,
}

/// A statement on the session's transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionStatement {
    /// BEGIN TRANSACTION.
    Begin(Option<TransactionName>),
    /// COMMIT, whose name is not checked.
    Commit {
        /// DELAYED_DURABILITY.
        delayed_durability: Option<bool>,
    },
    /// ROLLBACK.
    Rollback(Option<TransactionName>),
    /// SAVE TRANSACTION.
    Save(TransactionName),
}

/// The name of a transaction or savepoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionName {
    /// As written.
    Name(String),
    /// A variable's value.
    Slot(Slot),
}

/// An option of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// NOCOUNT.
    NoCount,
    /// XACT_ABORT.
    XactAbort,
    /// IMPLICIT_TRANSACTIONS.
    ImplicitTransactions,
    /// FMTONLY.
    FormatOnly,
}

/// EXEC of a procedure.
#[derive(Debug)]
pub struct CallStatement {
    /// The variable for the return status, and its type.
    pub status: Option<(Slot, DataType)>,
    /// The procedure.
    pub procedure: CalledName,
    /// The arguments.
    pub arguments: Vec<ArgumentStep>,
}

/// The name of a called procedure.
#[derive(Debug)]
pub enum CalledName {
    /// A name.
    Name(Arc<ast::ObjectName>),
    /// A variable with the name.
    Slot(Slot),
}

/// An argument of a call.
#[derive(Debug)]
pub struct ArgumentStep {
    /// The parameter's name.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT.
    pub value: Option<Operand>,
    /// The table variable that is the value.
    pub table: Option<TableSource>,
    /// The variable that receives the output, and its type.
    pub output: Option<(Slot, DataType)>,
    /// The cursor variable that receives a cursor, with its `@`.
    pub cursor: Option<Arc<str>>,
}

/// A table variable as an argument.
#[derive(Clone, PartialEq, Debug)]
pub struct TableSource {
    /// Its name with its `@`.
    pub name: Arc<str>,
    /// Its type, if it is one of a user.
    pub table_type: Option<Arc<ast::TableType>>,
}

/// A TRY with its CATCH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TryRegion {
    /// The first step of the TRY.
    pub start: Target,
    /// The step after its last.
    pub end: Target,
    /// The first step of the CATCH.
    pub handler: Target,
    /// The number of CATCH blocks of the program around the TRY.
    pub catch_depth: u32,
}

impl Int {
    /// The value; `None` for NULL.
    #[inline]
    pub fn read(self, slots: &[Value]) -> Option<i32> {
        match self {
            Self::Constant(value) => Some(value),
            Self::Slot(at) => read_int(slots, at),
        }
    }
}

/// The int in a slot; `None` for NULL.
#[inline]
pub fn read_int(slots: &[Value], at: usize) -> Option<i32> {
    if let Some(Value::Int(value)) = slots.get(at) {
        Some(*value)
    } else {
        None
    }
}

impl SetInt {
    /// Runs the fast form; false if the general form must run.
    #[inline]
    pub fn run(&self, slots: &mut [Value]) -> bool {
        let (Some(source), Some(addend)) = (read_int(slots, self.source), self.addend.read(slots)) else {
            return false;
        };
        let sum = if self.is_subtraction {
            source.checked_sub(addend)
        } else {
            source.checked_add(addend)
        };
        let (Some(sum), Some(slot)) = (sum, slots.get_mut(self.slot)) else {
            return false;
        };
        if let Value::Int(value) = slot {
            *value = sum;
        } else {
            *slot = Value::Int(sum);
        }
        true
    }
}

impl BranchInt {
    /// Whether the condition is true; `None` if the general form must decide.
    #[inline]
    #[must_use]
    pub fn run(&self, slots: &[Value]) -> Option<bool> {
        let left = read_int(slots, self.left)?;
        let right = self.right.read(slots)?;
        Some(match self.comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        })
    }
}
