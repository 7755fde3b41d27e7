//! Sequences and synonyms.

use core::fmt;

use super::Optional;
use crate::ast::{CreateSynonym, NextValue, SequenceDefinition, SequenceOption};

impl fmt::Display for SequenceDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.alter { "ALTER" } else { "CREATE" };
        write!(f, "{verb} SEQUENCE {}", self.name)?;
        self.options.iter().try_for_each(|option| write!(f, " {option}"))
    }
}

impl fmt::Display for SequenceOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::As(type_name) => write!(f, "AS {type_name}"),
            Self::Start(value) => write!(f, "START WITH {value}"),
            Self::Restart(value) => write!(f, "RESTART{}", Optional("WITH ", value.as_ref(), "")),
            Self::Increment(value) => write!(f, "INCREMENT BY {value}"),
            Self::Minimum(Some(value)) => write!(f, "MINVALUE {value}"),
            Self::Minimum(None) => f.write_str("NO MINVALUE"),
            Self::Maximum(Some(value)) => write!(f, "MAXVALUE {value}"),
            Self::Maximum(None) => f.write_str("NO MAXVALUE"),
            Self::Cycle(true) => f.write_str("CYCLE"),
            Self::Cycle(false) => f.write_str("NO CYCLE"),
            Self::Cache(size) => write!(f, "CACHE{}", Optional("", size.as_ref(), "")),
            Self::NoCache => f.write_str("NO CACHE"),
        }
    }
}

impl fmt::Display for CreateSynonym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE SYNONYM {} FOR {}", self.name, self.object)
    }
}

impl fmt::Display for NextValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NEXT VALUE FOR {}", self.sequence)?;
        match &self.over {
            Some(window) => write!(f, " OVER ({window})"),
            None => Ok(()),
        }
    }
}
