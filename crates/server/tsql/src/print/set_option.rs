//! SET of the session's options.

use core::fmt;

use super::{List, on_or_off};
use crate::ast::{IsolationLevel, SetOption, SetValue};

impl fmt::Display for SetOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch { names, on } => write!(f, "SET {} {}", List(names), on_or_off(*on)),
            Self::Statistics { names, on } => write!(f, "SET STATISTICS {} {}", List(names), on_or_off(*on)),
            Self::IdentityInsert { table, on } => write!(f, "SET IDENTITY_INSERT {table} {}", on_or_off(*on)),
            Self::IsolationLevel(level) => write!(f, "SET TRANSACTION ISOLATION LEVEL {level}"),
            Self::Value { name, value } => write!(f, "SET {name} {value}"),
        }
    }
}

impl fmt::Display for SetValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "{word}"),
            Self::Value(value) => write!(f, "{value}"),
        }
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Snapshot => "SNAPSHOT",
            Self::Serializable => "SERIALIZABLE",
        })
    }
}
