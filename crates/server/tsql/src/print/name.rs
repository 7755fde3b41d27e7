//! Names, types and constants.

use core::fmt;

use super::{List, Text};
use crate::ast::{ColumnName, Literal, Name, NameOrVariable, ObjectName, TypeArgument, TypeName};

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quoted {
            true => write!(f, "[{}]", self.text.replace(']', "]]")),
            false => f.write_str(&self.text),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = [&self.server, &self.database, &self.schema];
        // An omitted part between others keeps its point.
        for part in before.iter().skip_while(|part| part.is_none()) {
            match part {
                Some(name) => write!(f, "{name}.")?,
                None => f.write_str(".")?,
            }
        }
        write!(f, "{}", self.name)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.table {
            write!(f, "{table}.")?;
        }
        write!(f, "{}", self.name)
    }
}

impl fmt::Display for NameOrVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.arguments.as_slice() {
            [] => Ok(()),
            arguments => write!(f, "({})", List(arguments)),
        }
    }
}

impl fmt::Display for TypeArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(text) | Self::Decimal(text) | Self::Float(text) | Self::Money(text) => f.write_str(text),
            Self::String(text) => write!(f, "{}", Text(text)),
            Self::National(text) => write!(f, "N{}", Text(text)),
            Self::Binary(digits) => write!(f, "0x{digits}"),
        }
    }
}
