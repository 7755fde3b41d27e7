//! Control of flow, variables and messages.

use super::{AssignmentOperator, Condition, Expr, Position, Statement, TableElement, TypeName};

/// IF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// What is asked.
    pub condition: Condition,
    /// What then runs.
    pub then: Statement,
    /// `ELSE`.
    pub otherwise: Option<Statement>,
}

/// WHILE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct While {
    /// What is asked before each turn.
    pub condition: Condition,
    /// What runs.
    pub body: Statement,
}

/// `BEGIN TRY .. END TRY BEGIN CATCH .. END CATCH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Try {
    /// What runs; at least one.
    pub body: Vec<Statement>,
    /// What runs after an error; may be empty.
    pub handler: Vec<Statement>,
}

/// `THROW number, message, state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throw {
    /// A constant or variable.
    pub number: Expr,
    /// A constant or variable.
    pub message: Expr,
    /// A constant or variable.
    pub state: Expr,
}

/// `RAISERROR (message, severity, state, arguments..) WITH options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseError {
    /// A number, text or variable.
    pub message: Expr,
    /// The severity.
    pub severity: Expr,
    /// The state.
    pub state: Expr,
    /// What the message's placeholders take.
    pub arguments: Vec<Expr>,
    /// `WITH ..`; empty without.
    pub options: Vec<RaiseErrorOption>,
}

/// An option of RAISERROR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaiseErrorOption {
    /// `LOG`
    Log,
    /// `NOWAIT`
    NoWait,
    /// `SETERROR`
    SetError,
}

/// `WAITFOR DELAY '..'` or `WAITFOR TIME '..'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitFor {
    /// A span or a time of day.
    pub kind: WaitKind,
    /// A constant or variable.
    pub value: Expr,
}

/// What WAITFOR waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A span of time.
    Delay,
    /// A time of day.
    Time,
}

/// One variable of a DECLARE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// Its name, with its sign.
    pub name: String,
    /// Its type.
    pub variable_type: VariableType,
    /// `= value`; never for a table.
    pub initial: Option<Expr>,
    /// Where it stands.
    pub position: Position,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableType {
    /// A value.
    Scalar(TypeName),
    /// A table: `TABLE (..)`.
    Table(Vec<TableElement>),
}

/// `SET @v = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetVariable {
    /// The variable, with its sign.
    pub variable: String,
    /// `=` or a compound one.
    pub operator: AssignmentOperator,
    /// To what.
    pub value: Expr,
}
