//! EXEC.

use super::{Expr, Name, ObjectName, Position, Setting};

/// EXEC of a procedure or of dynamic SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execute {
    /// `EXEC p`, `p` at the beginning of a batch, or `{call p}`.
    Procedure(Call),
    /// `EXEC ('text' + @v)`, with the principal of `AS`.
    Text(Expr, Option<TextPrincipal>),
}

/// As whom a text is executed: `AS LOGIN = 'a'` or `AS USER = 'a'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPrincipal {
    /// Whether it is a login.
    pub is_login: bool,
    /// The name.
    pub name: String,
}

/// A procedure call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The variable that receives the return status, with its `@`.
    pub status: Option<String>,
    /// The called procedure.
    pub procedure: ProcedureName,
    /// `;number`, for procedures that share a name.
    pub number: Option<u32>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// `WITH RECOMPILE`; empty if absent.
    pub options: Vec<Setting>,
}

/// The called procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcedureName {
    /// The name.
    Name(ObjectName),
    /// A variable that contains the name, with its `@`.
    Variable(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// `@name =`, with the `@`.
    pub name: Option<String>,
    /// The value.
    pub value: ArgumentValue,
    /// `OUTPUT`; only valid for a variable.
    pub output: bool,
    /// The position of the node.
    pub position: Position,
}

/// An argument's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentValue {
    /// A constant with an optional sign, a variable or a global; in an ODBC call any expression.
    Value(Expr),
    /// A bare word, which stands for a string constant.
    Word(Name),
    /// `DEFAULT`.
    Default,
}
