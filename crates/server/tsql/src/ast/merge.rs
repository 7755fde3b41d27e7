//! MERGE.

use super::{
    Assignment, ChangeTarget, Condition, Name, Output, Position, Setting, TableSource, Top, ValueOrDefault, With,
};

/// MERGE, the only statement that requires a semicolon after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// `WITH`, if any.
    pub with: With,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The target: a table, view or common table expression.
    pub target: ChangeTarget,
    /// `WITH (HOLDLOCK)`; empty if absent.
    pub hints: Vec<Setting>,
    /// The target's alias.
    pub alias: Option<Name>,
    /// `USING`.
    pub source: TableSource,
    /// `ON`.
    pub on: Condition,
    /// `WHEN`; at least one.
    pub clauses: Vec<MergeClause>,
    /// `OUTPUT`, at most one with INTO and one without; empty if absent.
    pub output: Vec<Output>,
    /// `OPTION (..)`; empty if absent.
    pub options: Vec<Setting>,
}

/// `WHEN .. THEN ..`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeClause {
    /// The rows that it is about.
    pub rows: MergeMatch,
    /// `AND`.
    pub filter: Option<Condition>,
    /// The change of a row.
    pub action: MergeAction,
    /// The position of the node.
    pub position: Position,
}

/// The rows that a clause of MERGE is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMatch {
    /// `WHEN MATCHED`: rows of target and source for which ON is true.
    Matched,
    /// `WHEN NOT MATCHED [BY TARGET]`: rows of the source without one of the target.
    NotMatched,
    /// `WHEN NOT MATCHED BY SOURCE`: rows of the target without one of the source.
    NotMatchedBySource,
}

/// The change of a row by MERGE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeAction {
    /// `UPDATE SET`; at least one assignment.
    Update(Vec<Assignment>),
    /// `DELETE`
    Delete,
    /// `INSERT`
    Insert {
        /// The columns; empty for all columns.
        columns: Vec<Name>,
        /// `VALUES`; `None` is `DEFAULT VALUES`.
        values: Option<Vec<ValueOrDefault>>,
    },
}

impl MergeMatch {
    /// The words before AND, without `BY TARGET`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Matched => "WHEN MATCHED",
            Self::NotMatched => "WHEN NOT MATCHED",
            Self::NotMatchedBySource => "WHEN NOT MATCHED BY SOURCE",
        }
    }
}

impl MergeAction {
    /// The first word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Update(_) => "UPDATE",
            Self::Delete => "DELETE",
            Self::Insert { .. } => "INSERT",
        }
    }
}
