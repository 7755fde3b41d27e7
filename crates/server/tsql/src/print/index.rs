//! Indexes.

use core::fmt;

use super::{List, Optional, OptionalList, word};
use crate::ast::{AlterIndex, AlterIndexAction, CreateIndex, DropIndex, IndexColumn};

impl fmt::Display for CreateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clustered = match self.clustered {
            Some(true) => " CLUSTERED",
            Some(false) => " NONCLUSTERED",
            None => "",
        };
        write!(f, "CREATE{}{clustered} INDEX", word(self.unique, " UNIQUE"))?;
        write!(f, " {} ON {} ({})", self.name, self.table, List(&self.columns))?;
        write!(f, "{}", OptionalList("INCLUDE (", &self.include, ")"))?;
        write!(f, "{}", Optional("WHERE ", self.filter.as_ref(), ""))?;
        write!(f, "{}", OptionalList("WITH (", &self.options, ")"))?;
        write!(f, "{}", Optional("ON ", self.filegroup.as_ref(), ""))
    }
}

impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, word(self.descending, " DESC"))
    }
}

impl fmt::Display for AlterIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let AlterIndexAction::UpdateStatistics(names) = &self.action {
            let names = OptionalList("(", names, ")");
            return write!(f, "UPDATE STATISTICS {}{names}", self.table);
        }
        if let (AlterIndexAction::CreateStatistics { columns, no_recompute }, Some(name)) = (&self.action, &self.name) {
            let option = word(*no_recompute, " WITH NORECOMPUTE");
            return write!(
                f,
                "CREATE STATISTICS {name} ON {} ({}){option}",
                self.table,
                List(columns)
            );
        }
        match &self.name {
            Some(name) => write!(f, "ALTER INDEX {name} ON {} {}", self.table, self.action),
            None => write!(f, "ALTER INDEX ALL ON {} {}", self.table, self.action),
        }
    }
}

impl fmt::Display for AlterIndexAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuild(options) => write!(f, "REBUILD{}", OptionalList("WITH (", options, ")")),
            Self::Reorganize(options) => write!(f, "REORGANIZE{}", OptionalList("WITH (", options, ")")),
            Self::Disable => f.write_str("DISABLE"),
            Self::Set(options) => write!(f, "SET ({})", List(options)),
            // Printed with its table.
            Self::UpdateStatistics(_) | Self::CreateStatistics { .. } => Ok(()),
        }
    }
}

impl fmt::Display for DropIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = OptionalList("WITH (", &self.options, ")");
        write!(f, "{} ON {}{options}", self.name, self.table)
    }
}
