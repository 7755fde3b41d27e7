//! Indexes.

use super::{Condition, Name, ObjectName, Setting};

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateIndex {
    /// The index's name.
    pub name: Name,
    /// The indexed table or view.
    pub table: ObjectName,
    /// `UNIQUE`.
    pub unique: bool,
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; at least one.
    pub columns: Vec<IndexColumn>,
    /// `INCLUDE (..)`; empty if absent.
    pub include: Vec<Name>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WITH (..)`; empty if absent.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// A column of an index or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column's name.
    pub name: Name,
    /// `DESC`.
    pub descending: bool,
}

/// ALTER INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterIndex {
    /// The index's name; `None` for ALL.
    pub name: Option<Name>,
    /// The indexed table or view.
    pub table: ObjectName,
    /// The action.
    pub action: AlterIndexAction,
}

/// The action of ALTER INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterIndexAction {
    /// `REBUILD [WITH (..)]`
    Rebuild(Vec<Setting>),
    /// `REORGANIZE [WITH (..)]`
    Reorganize(Vec<Setting>),
    /// `DISABLE`
    Disable,
    /// `SET (..)`
    Set(Vec<Setting>),
    /// `CREATE STATISTICS s ON t (a, b)`, whose name is the index's.
    CreateStatistics {
        /// The columns; at least one.
        columns: Vec<Name>,
        /// `WITH NORECOMPUTE`; other options say how statistics are gathered.
        no_recompute: bool,
    },
    /// `UPDATE STATISTICS t (a, b)`, without its options: the statistics, which are indexes'; empty for all.
    UpdateStatistics(Vec<Name>),
}

/// One index of DROP INDEX: `t.i` or `i ON t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIndex {
    /// The index's name.
    pub name: Name,
    /// The indexed table or view.
    pub table: ObjectName,
    /// `WITH (..)`; empty if absent.
    pub options: Vec<Setting>,
}
