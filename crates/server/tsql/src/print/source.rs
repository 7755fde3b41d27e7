//! The table sources of FROM.

use core::fmt;

use super::rowset::Schema;
use super::{List, Optional, OptionalList, Text};
use crate::ast::{DerivedAlias, Join, JoinHint, JoinKind, TableSource, TableSourceKind};

impl fmt::Display for TableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TableSourceKind::Table { name, alias, hints } => {
                let hints = OptionalList("WITH (", hints, ")");
                write!(f, "{name}{}{hints}", Optional("AS ", alias.as_ref(), ""))
            }
            TableSourceKind::Variable { name, alias, hints } => {
                let hints = OptionalList("WITH (", hints, ")");
                write!(f, "{name}{}{hints}", Optional("AS ", alias.as_ref(), ""))
            }
            TableSourceKind::Function { call, schema, alias } => {
                write!(f, "{call}{}{}", Schema(schema), Optional("AS ", alias.as_ref(), ""))
            }
            TableSourceKind::BulkFile { path, contents, alias } => {
                let alias = Optional("AS ", alias.as_ref(), "");
                write!(f, "OPENROWSET (BULK N{}, {}){alias}", Text(path), contents.word())
            }
            TableSourceKind::Derived { query, alias } => write!(f, "({query}) AS {alias}"),
            TableSourceKind::Values { rows, alias } => {
                f.write_str("(VALUES ")?;
                for (index, row) in rows.iter().enumerate() {
                    write!(f, "{}({})", if index > 0 { ", " } else { "" }, List(row))?;
                }
                write!(f, ") AS {alias}")
            }
            TableSourceKind::Join(join) => write!(f, "{join}"),
            TableSourceKind::Pivot(pivot) => write!(f, "{pivot}"),
            TableSourceKind::Unpivot(unpivot) => write!(f, "{unpivot}"),
        }
    }
}

impl fmt::Display for DerivedAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, OptionalList("(", &self.columns, ")"))
    }
}

impl fmt::Display for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            JoinKind::Inner => "INNER",
            JoinKind::Left => "LEFT",
            JoinKind::Right => "RIGHT",
            JoinKind::Full => "FULL",
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::CrossApply => "CROSS APPLY",
            JoinKind::OuterApply => "OUTER APPLY",
        };
        write!(f, "{} {kind}", self.left)?;
        match self.kind {
            JoinKind::Inner | JoinKind::Left | JoinKind::Right | JoinKind::Full => {
                write!(f, "{} JOIN", Optional("", self.hint.as_ref(), ""))?;
            }
            JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply => {}
        }
        match self.right.kind {
            TableSourceKind::Join(_) => write!(f, " ({})", self.right)?,
            TableSourceKind::Table { .. }
            | TableSourceKind::Variable { .. }
            | TableSourceKind::Function { .. }
            | TableSourceKind::BulkFile { .. }
            | TableSourceKind::Derived { .. }
            | TableSourceKind::Values { .. }
            | TableSourceKind::Pivot(_)
            | TableSourceKind::Unpivot(_) => write!(f, " {}", self.right)?,
        }
        write!(f, "{}", Optional("ON ", self.on.as_ref(), ""))
    }
}

impl fmt::Display for JoinHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loop => "LOOP",
            Self::Hash => "HASH",
            Self::Merge => "MERGE",
            Self::Remote => "REMOTE",
        })
    }
}
