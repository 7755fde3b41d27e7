//! What stands after FROM.

use super::{Condition, Expr, FunctionCall, Name, ObjectName, Position, Query, Setting};

/// A table, or tables joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSource {
    /// What it is.
    pub kind: TableSourceKind,
    /// Where it stands.
    pub position: Position,
}

/// What a table source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSourceKind {
    /// A table or view, or a common table expression.
    Table {
        /// Its name.
        name: ObjectName,
        /// Its other name.
        alias: Option<Name>,
        /// `WITH (NOLOCK)`; empty without.
        hints: Vec<Setting>,
    },
    /// A table variable.
    Variable {
        /// Its name, with its sign.
        name: String,
        /// Its other name.
        alias: Option<Name>,
        /// `WITH (..)`; empty without.
        hints: Vec<Setting>,
    },
    /// A function that gives a table.
    Function {
        /// The function.
        call: Box<FunctionCall>,
        /// Its name and its columns' names.
        alias: Option<DerivedAlias>,
    },
    /// `(SELECT ..) AS a`.
    Derived {
        /// The rows.
        query: Box<Query>,
        /// Its name and its columns' names.
        alias: DerivedAlias,
    },
    /// `(VALUES (1), (2)) AS a(x)`.
    Values {
        /// The rows; at least one, all of equally many values.
        rows: Vec<Vec<Expr>>,
        /// Its name and its columns' names.
        alias: DerivedAlias,
    },
    /// Two sources joined.
    Join(Box<Join>),
}

/// `AS name(columns)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedAlias {
    /// The name.
    pub name: Name,
    /// The columns' names; empty if they keep their own.
    pub columns: Vec<Name>,
}

/// Two sources joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// How.
    pub kind: JoinKind,
    /// With which algorithm.
    pub hint: Option<JoinHint>,
    /// What stands before it.
    pub left: TableSource,
    /// What stands after it.
    pub right: TableSource,
    /// `ON`: always with inner, left, right and full, never with the rest.
    pub on: Option<Condition>,
}

/// How two sources are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// `CROSS APPLY`: the right side sees the left's columns.
    CrossApply,
    /// `OUTER APPLY`
    OuterApply,
}

/// A join's algorithm, as advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinHint {
    /// `LOOP`
    Loop,
    /// `HASH`
    Hash,
    /// `MERGE`
    Merge,
    /// `REMOTE`
    Remote,
}
