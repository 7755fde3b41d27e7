//! Control of flow, variables and procedure calls.

use core::fmt;

use super::{List, Optional, OptionalList, Text, statement::Body, word};
use crate::ast::{
    Argument, ArgumentValue, AssignmentOperator, Call, Declaration, Execute, If, ProcedureName, RaiseError,
    RaiseErrorOption, SetVariable, TextPrincipal, Throw, Try, VariableType, WaitFor, WaitKind, While,
};

/// Prints the condition in parentheses, because a statement may begin with one.
impl fmt::Display for If {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IF ({})\n{}", self.condition, self.then)?;
        match &self.otherwise {
            Some(otherwise) => write!(f, ";\nELSE\n{otherwise}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for While {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WHILE ({})\n{}", self.condition, self.body)
    }
}

impl fmt::Display for Try {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (body, handler) = (Body(&self.body), Body(&self.handler));
        write!(f, "BEGIN TRY\n{body}END TRY\nBEGIN CATCH\n{handler}END CATCH")
    }
}

impl fmt::Display for Throw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.number, self.message, self.state)
    }
}

impl fmt::Display for RaiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RAISERROR ({}, {}, {}", self.message, self.severity, self.state)?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, ", {argument}"))?;
        write!(f, "){}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for RaiseErrorOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "LOG",
            Self::NoWait => "NOWAIT",
            Self::SetError => "SETERROR",
        })
    }
}

impl fmt::Display for WaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            WaitKind::Delay => "DELAY",
            WaitKind::Time => "TIME",
        };
        write!(f, "WAITFOR {kind} {}", self.value)
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let initial = Optional("= ", self.initial.as_ref(), "");
        write!(f, "{} {}{initial}", self.name, self.variable_type)
    }
}

impl fmt::Display for VariableType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(type_name) | Self::TableType(type_name, _) => write!(f, "{type_name}"),
            Self::Table(elements) => write!(f, "TABLE ({})", List(elements)),
            Self::Cursor => f.write_str("CURSOR"),
        }
    }
}

impl fmt::Display for SetVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operator {
            AssignmentOperator::Modify => write!(f, "SET {}.modify({})", self.variable, self.value),
            AssignmentOperator::Set
            | AssignmentOperator::Add
            | AssignmentOperator::Subtract
            | AssignmentOperator::Multiply
            | AssignmentOperator::Divide
            | AssignmentOperator::Modulo
            | AssignmentOperator::BitAnd
            | AssignmentOperator::BitXor
            | AssignmentOperator::BitOr => write!(f, "SET {} {} {}", self.variable, self.operator, self.value),
        }
    }
}

impl fmt::Display for Execute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Procedure(call) => write!(f, "EXEC {call}"),
            Self::Text(text, None) => write!(f, "EXEC ({text})"),
            Self::Text(text, Some(TextPrincipal { is_login, name })) => {
                let kind = if *is_login { "LOGIN" } else { "USER" };
                write!(f, "EXEC ({text}) AS {kind} = N{}", Text(name))
            }
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = &self.status {
            write!(f, "{status} = ")?;
        }
        write!(f, "{}", self.procedure)?;
        if let Some(number) = self.number {
            write!(f, ";{number}")?;
        }
        write!(f, "{}", OptionalList("", &self.arguments, ""))?;
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for ProcedureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Variable(variable) => f.write_str(variable),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name} = ")?;
        }
        write!(f, "{}{}", self.value, word(self.output, " OUTPUT"))
    }
}

impl fmt::Display for ArgumentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Word(word) => write!(f, "{word}"),
            Self::Default => f.write_str("DEFAULT"),
        }
    }
}
