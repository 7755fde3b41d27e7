//! Indexes.

use super::{Condition, Name, ObjectName, Setting};

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateIndex {
    /// Its name.
    pub name: Name,
    /// On which table or view.
    pub table: ObjectName,
    /// `UNIQUE`.
    pub unique: bool,
    /// CLUSTERED is true, NONCLUSTERED is false, neither is `None`.
    pub clustered: Option<bool>,
    /// The columns; at least one.
    pub columns: Vec<IndexColumn>,
    /// `INCLUDE (..)`; empty without.
    pub include: Vec<Name>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `WITH (..)`; empty without.
    pub options: Vec<Setting>,
    /// `ON filegroup`.
    pub filegroup: Option<Name>,
}

/// A column of an index or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column.
    pub name: Name,
    /// `DESC`.
    pub descending: bool,
}

/// ALTER INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterIndex {
    /// Its name; `None` for ALL.
    pub name: Option<Name>,
    /// On which table or view.
    pub table: ObjectName,
    /// What is done.
    pub action: AlterIndexAction,
}

/// What ALTER INDEX does.
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
}

/// One index of DROP INDEX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropIndex {
    /// Its name.
    pub name: Name,
    /// On which table or view; `t.i` and `i ON t` are the same.
    pub table: ObjectName,
    /// `WITH (..)`; empty without.
    pub options: Vec<Setting>,
}
