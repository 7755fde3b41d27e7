//! What a machine carries out.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Value};

use super::StatementId;
use crate::binding::ResultColumn;
use crate::{Expr, Predicate, Slot};

/// The number of a step: where a jump goes.
pub type Target = u32;

/// One step of a program. DONE and the counters are left to the machine.
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
    /// Goes on elsewhere.
    Jump(Target),
    /// GOTO, BREAK or CONTINUE that may leave CATCH blocks: so many are left open.
    Goto {
        /// Where to.
        target: Target,
        /// How many CATCH blocks of this frame are around the target.
        catch_depth: u32,
    },
    /// SELECT of values.
    SelectValues(Box<SelectValues>),
    /// SELECT of assignments.
    SelectAssign(Box<SelectAssign>),
    /// BEGIN TRY.
    BeginTry,
    /// END TRY; jumps to the end of the CATCH.
    EndTry(Target),
    /// END CATCH: so many are left open.
    EndCatch {
        /// How many CATCH blocks of this frame are around what follows.
        catch_depth: u32,
    },
    /// PRINT.
    Print(Box<Operand>),
    /// RAISERROR.
    RaiseError(Box<RaiseError>),
    /// THROW with arguments.
    Throw(Box<Throw>),
    /// THROW without.
    Rethrow,
    /// WAITFOR.
    WaitFor {
        /// Which.
        kind: ast::WaitKind,
        /// The time.
        value: Box<Operand>,
    },
    /// RETURN, perhaps with an int.
    Return(Option<Box<Operand>>),
    /// RETURN of what the statement put into the slot.
    ReturnSlot(Slot),
    /// BEGIN TRANSACTION and what ends it.
    Transaction(Box<TransactionStatement>),
    /// SET of options that the machine keeps.
    SetSwitch {
        /// Which.
        switch: Switch,
        /// ON.
        on: bool,
        /// Whether it is its statement's last: one DONE for all.
        last: bool,
    },
    /// SET of any other option.
    SetOption {
        /// The statement.
        option: Box<ast::SetOption>,
        /// Its value, if that is an expression.
        value: Option<Box<Operand>>,
    },
    /// USE.
    Use(Box<ast::Name>),
    /// EXEC of a procedure.
    Call(Box<CallStatement>),
    /// EXEC of a text.
    Text(Box<Operand>),
    /// INSERT .. EXECUTE begins: rows are kept for it. The call follows.
    BeginCapture(StatementId),
    /// What was called has ended: the rows that it gave are inserted.
    EndCapture(StatementId),
    /// What the host does.
    Statement {
        /// Which.
        id: StatementId,
        /// What for.
        role: Role,
        /// The number that its DONE has.
        command: u16,
        /// What it does to a transaction.
        access: Access,
        /// Whether the client gets rows of it.
        rows: bool,
    },
    /// The end: as RETURN without a value.
    End,
}

/// The purpose of a statement that the host runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It is the statement that was written.
    Plain,
    /// It was written as SET or DECLARE with a value.
    Assign,
    /// It declares a table variable: no DONE, no counters.
    Declare,
    /// It computes the value of RETURN: no DONE.
    Value,
    /// It computes a condition of IF or WHILE: 1 if it is true; else the branch is taken.
    Condition {
        /// Where 1 is put.
        slot: Slot,
        /// Where to go if it is not.
        otherwise: Target,
        /// Behind the whole IF or WHILE: where to go if it fails.
        end: Target,
    },
}

/// What a statement does to a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing: USE, DBCC, and what runs outside any.
    None,
    /// It reads tables: with IMPLICIT_TRANSACTIONS it begins one.
    Read,
    /// It changes rows or definitions, which a transaction that can't be committed does not do.
    Write,
    /// As [`Access::Write`], of rows: its error is followed by message 3621.
    Change,
}

/// What expressions read that changes from statement to statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// The clock or the session: the machine must have announced its state.
    Session,
    /// Names, too: the host must have read what is defined.
    Names,
}

/// An expression of a scalar statement.
#[derive(Debug)]
pub struct Operand {
    /// Its value.
    pub value: Expr,
    /// What it reads.
    pub asks: Asks,
}

/// `SET @a = value`.
#[derive(Debug)]
pub struct Set {
    /// The variable.
    pub slot: Slot,
    /// Its value, of the variable's type.
    pub operand: Operand,
}

/// `SET @a = @b + c` of ints: whatever the fast way can't do is the operand's to do, or to refuse.
#[derive(Debug)]
pub struct SetInt {
    /// The variable: an int.
    pub slot: usize,
    /// What is added to: an int variable.
    pub source: usize,
    /// What is added.
    pub addend: Int,
    /// Whether it is taken away instead.
    pub is_subtraction: bool,
    /// The general way.
    pub general: Set,
}

/// A comparison of ints that decides where to continue.
#[derive(Debug)]
pub struct BranchInt {
    /// The left side of the comparison: an int variable.
    pub left: usize,
    /// The comparison.
    pub comparison: Comparison,
    /// The right side.
    pub right: Int,
    /// The general way.
    pub general: Branch,
}

/// An int that is available without evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Int {
    /// A constant.
    Constant(i32),
    /// A variable's.
    Slot(usize),
}

/// A condition that decides where to continue: at the next step if it is true.
#[derive(Debug)]
pub struct Branch {
    /// The condition.
    pub condition: Predicate,
    /// Where to go if it is false or unknown.
    pub otherwise: Target,
    /// Behind the whole IF or WHILE: where to go if it fails.
    pub end: Target,
    /// As [`Operand::asks`].
    pub asks: Asks,
}

/// SELECT of values.
#[derive(Debug)]
pub struct SelectValues {
    /// The columns.
    pub columns: Vec<ResultColumn>,
    /// A value for each.
    pub values: Vec<Expr>,
    /// As [`Operand::asks`].
    pub asks: Asks,
}

/// SELECT of assignments, from left to right.
#[derive(Debug)]
pub struct SelectAssign {
    /// The assignments: each sees those before it.
    pub assignments: Vec<(Slot, Expr)>,
    /// As [`Operand::asks`].
    pub asks: Asks,
}

/// RAISERROR.
#[derive(Debug)]
pub struct RaiseError {
    /// The message or its number.
    pub message: Operand,
    /// The severity, an int.
    pub severity: Operand,
    /// The state, an int.
    pub state: Operand,
    /// What the message's places take.
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

/// An option that the machine keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// NOCOUNT.
    NoCount,
    /// XACT_ABORT.
    XactAbort,
    /// IMPLICIT_TRANSACTIONS.
    ImplicitTransactions,
}

/// EXEC of a procedure.
#[derive(Debug)]
pub struct CallStatement {
    /// The variable that takes the status, and its type.
    pub status: Option<(Slot, DataType)>,
    /// Which procedure.
    pub procedure: CalledName,
    /// The arguments.
    pub arguments: Vec<ArgumentStep>,
}

/// Which procedure is called.
#[derive(Debug)]
pub enum CalledName {
    /// By its name.
    Name(Arc<ast::ObjectName>),
    /// By the name that a variable holds.
    Slot(Slot),
}

/// An argument of a call.
#[derive(Debug)]
pub struct ArgumentStep {
    /// The parameter's name.
    pub name: Option<String>,
    /// Its value; none is DEFAULT.
    pub value: Option<Operand>,
    /// The variable that takes the parameter's value back, and its type.
    pub output: Option<(Slot, DataType)>,
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
    /// How many CATCH blocks of the program are around the TRY.
    pub catch_depth: u32,
}

impl Int {
    /// Its value; none if it is NULL.
    #[inline]
    pub fn read(self, slots: &[Value]) -> Option<i32> {
        match self {
            Self::Constant(value) => Some(value),
            Self::Slot(at) => read_int(slots, at),
        }
    }
}

/// The int in a slot; none if it is NULL.
#[inline]
pub fn read_int(slots: &[Value], at: usize) -> Option<i32> {
    if let Some(Value::Int(value)) = slots.get(at) {
        Some(*value)
    } else {
        None
    }
}

impl SetInt {
    /// Whether the fast way did it.
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
    /// Whether the condition is true, if the fast path can decide it.
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
