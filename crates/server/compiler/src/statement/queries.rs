//! The SQL by which a statement finds its rows: that of which SQLite makes a plan.

use super::Statement;
use crate::change::{DeleteStrategy, InsertSource, UpdateStrategy};

impl Statement {
    /// The queries of the statement, or the one change of it: what SQLite runs once. What it runs for each row that is
    /// written is not among them.
    #[must_use]
    pub fn queries(&self) -> Vec<&str> {
        match self {
            Self::Rows(rows) => vec![&rows.text.sql],
            Self::Assign(assign) => vec![&assign.text.sql],
            Self::Into(into) => vec![&into.text.sql],
            Self::Insert(insert) => match &insert.source {
                InsertSource::Query { text, .. } => vec![&text.sql],
                InsertSource::Values(_) | InsertSource::Execute | InsertSource::Bulk(_) => Vec::new(),
            },
            Self::Update(update) => match &update.strategy {
                UpdateStrategy::Whole(text) => vec![&text.sql],
                UpdateStrategy::Rows(rows) => vec![&rows.text.sql],
            },
            Self::Delete(delete) => match &delete.strategy {
                DeleteStrategy::Whole(text) | DeleteStrategy::Rows(text, ..) => vec![&text.sql],
            },
            Self::Merge(merge) => {
                let others = merge.others.iter().map(|others| others.text.sql.as_str());
                std::iter::once(merge.pairs.text.sql.as_str()).chain(others).collect()
            }
            Self::Truncate(truncate) => vec![&truncate.sql],
        }
    }
}
