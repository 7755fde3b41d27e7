//! EXEC.

use super::{Expr, Name, ObjectName, Position, Setting};

/// EXEC of a procedure or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execute {
    /// `EXEC p`, `p` at the batch's beginning, or `{call p}`.
    Procedure(Call),
    /// `EXEC ('text' + @v)`.
    Text(Expr),
}

/// A procedure's call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The variable that takes the return status, with its sign.
    pub status: Option<String>,
    /// Which procedure.
    pub procedure: ProcedureName,
    /// `;number`, of procedures that share a name.
    pub number: Option<u32>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// `WITH RECOMPILE`; empty without.
    pub options: Vec<Setting>,
}

/// Which procedure is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcedureName {
    /// By its name.
    Name(ObjectName),
    /// By the name that a variable holds, which has its sign here.
    Variable(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// `@name =`, with its sign.
    pub name: Option<String>,
    /// The value.
    pub value: ArgumentValue,
    /// `OUTPUT`; only with a variable.
    pub output: bool,
    /// Its position.
    pub position: Position,
}

/// An argument's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentValue {
    /// A constant, perhaps with a sign, a variable or a global; of an ODBC call any expression.
    Value(Expr),
    /// A bare word, which means the string of its letters.
    Word(Name),
    /// `DEFAULT`.
    Default,
}
