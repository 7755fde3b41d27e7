//! MERGE.

use core::fmt;

use super::{List, Optional, OptionalList};
use crate::ast::{Merge, MergeAction, MergeClause};

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = Optional("", self.top.as_ref(), "");
        write!(f, "{}MERGE{top} INTO {}", self.with, self.target)?;
        write!(f, "{}", OptionalList("WITH (", &self.hints, ")"))?;
        write!(f, "{}", Optional("AS ", self.alias.as_ref(), ""))?;
        write!(f, " USING {} ON {}", self.source, self.on)?;
        self.clauses.iter().try_for_each(|clause| write!(f, " {clause}"))?;
        self.output.iter().try_for_each(|output| write!(f, " {output}"))?;
        write!(f, "{}", OptionalList("OPTION (", &self.options, ")"))
    }
}

impl fmt::Display for MergeClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = Optional("AND ", self.filter.as_ref(), "");
        write!(f, "{}{filter} THEN {}", self.rows.words(), self.action)
    }
}

impl fmt::Display for MergeAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Update(assignments) => write!(f, " SET {}", List(assignments)),
            Self::Delete => Ok(()),
            Self::Insert { columns, values } => {
                write!(f, "{}", OptionalList("(", columns, ")"))?;
                match values {
                    Some(values) => write!(f, " VALUES ({})", List(values)),
                    None => f.write_str(" DEFAULT VALUES"),
                }
            }
        }
    }
}
