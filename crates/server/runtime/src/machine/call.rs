//! Calls of procedures and dynamic SQL, as a host receives them.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::program::step::TableSource;
use selenite_tds::TableValue;
use selenite_tsql::ast::{self, TextPrincipal};
use selenite_types::{DataType, Value};

/// An EXEC of a procedure.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The procedure's name as written; `;number` was checked to be 1.
    pub procedure: &'a ast::ObjectName,
    /// The arguments in order.
    pub arguments: &'a [CallArgument],
    /// The line of the EXEC.
    pub line: u32,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct CallArgument {
    /// The parameter's name with its `@`; `None` for a positional argument.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT.
    pub value: Option<(Value, DataType)>,
    /// OUTPUT.
    pub is_output: bool,
    /// The table that is the value.
    pub table: Option<TableArgument>,
    /// The caller's cursor variable that receives a cursor, with its `@`.
    pub cursor: Option<Arc<str>>,
}

/// What a cursor parameter of a program that begins is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedCursor {
    /// The parameter's name with its `@`.
    pub name: Arc<str>,
    /// The caller's variable, which gets its cursor when the program ends.
    pub to: Arc<str>,
}

/// A table as an argument.
#[derive(Clone, PartialEq, Debug)]
pub enum TableArgument {
    /// A table variable of the caller.
    Variable(TableSource),
    /// Rows that the client has sent.
    Rows(Arc<TableValue>),
}

/// What a table-valued parameter of a program that begins is.
#[derive(Clone, PartialEq, Debug)]
pub struct PassedTable {
    /// The parameter's name with its `@`.
    pub name: Arc<str>,
    /// Its type.
    pub table_type: Arc<ast::TableType>,
    /// The table; an empty one if there is no argument.
    pub from: Option<TableArgument>,
}

impl PassedTable {
    /// Whether a client has sent its rows.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        matches!(self.from, Some(TableArgument::Rows(_)))
    }
}

/// The host's answer to a call.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A program: the machine passes it the call's arguments and runs it.
    Program(Arc<Program>),
    /// A program with other arguments: sp_executesql, whose first two arguments are not the text's. `first` is the
    /// number of the call's arguments that were removed.
    ProgramWith {
        /// The program.
        program: Arc<Program>,
        /// The number of the call's arguments that it does not receive.
        first: usize,
    },
    /// The host has executed the procedure, and has written its rows: this is its status, and a value for each OUTPUT
    /// argument, in order.
    Done {
        /// The return status.
        status: i32,
        /// A value for each argument with `is_output`.
        outputs: Vec<Value>,
    },
}

/// An EXEC of dynamic SQL.
#[derive(Clone, Copy, Debug)]
pub struct TextCall<'a> {
    /// The text.
    pub text: &'a str,
    /// The line of the EXEC.
    pub line: u32,
    /// As whom it is executed, if not as the session. The frame that begins next is that of the text.
    pub principal: Option<&'a TextPrincipal>,
}
