//! Calls of procedures and texts, as a host sees them.

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

/// An EXEC of a procedure.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Its name as it was written; `number` of `;number` was checked to be 1.
    pub procedure: &'a ast::ObjectName,
    /// The arguments in order.
    pub arguments: &'a [CallArgument],
    /// The line of the EXEC.
    pub line: u32,
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct CallArgument {
    /// The parameter's name, with its sign; none where it goes by its place.
    pub name: Option<String>,
    /// The value; `None` is DEFAULT.
    pub value: Option<(Value, DataType)>,
    /// Whether the parameter's value comes back.
    pub is_output: bool,
}

/// What a host says of a procedure.
#[derive(Clone, Debug)]
pub enum Callee {
    /// It is this one: the machine gives it the call's arguments and runs it.
    Program(Arc<Program>),
    /// It is this one with other arguments: sp_executesql, whose first two arguments the text does not see.
    /// `first` is how many of the call's arguments were taken off before.
    ProgramWith {
        /// What runs.
        program: Arc<Program>,
        /// How many of the call's arguments it does not get.
        first: usize,
    },
    /// The host was the procedure, and has written its rows: this is its status, and a value for each argument that is
    /// an output, in order.
    Done {
        /// What it returned.
        status: i32,
        /// A value for each argument with `is_output`.
        outputs: Vec<Value>,
    },
}

/// An EXEC of a text.
#[derive(Clone, Copy, Debug)]
pub struct TextCall<'a> {
    /// The text.
    pub text: &'a str,
    /// The line of the EXEC.
    pub line: u32,
}
