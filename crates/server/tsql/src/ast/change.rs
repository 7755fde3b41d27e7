//! INSERT, UPDATE, DELETE.

use super::{
    AssignmentOperator, ColumnName, CommonTable, Condition, Execute, Expr, Name, ObjectName, Position, Query,
    SelectItem, Setting, TableSource, Top,
};

/// INSERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// `WITH a AS (..)`; empty without.
    pub with: Vec<CommonTable>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// Into what.
    pub target: ChangeTarget,
    /// `WITH (TABLOCK)`; empty without.
    pub hints: Vec<Setting>,
    /// The columns; empty if all.
    pub columns: Vec<Name>,
    /// `OUTPUT`, at most one with INTO and one without; empty without.
    pub output: Vec<Output>,
    /// What is inserted.
    pub source: InsertSource,
    /// `OPTION (..)`; empty without.
    pub options: Vec<Setting>,
}

/// The rows of an INSERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertSource {
    /// `VALUES (1, DEFAULT), (2, 3)`: at least one row, all of equally many values.
    Values(Vec<Vec<ValueOrDefault>>),
    /// `SELECT ..`.
    Query(Box<Query>),
    /// `EXEC ..`.
    Execute(Box<Execute>),
    /// `DEFAULT VALUES`.
    DefaultValues,
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// `WITH a AS (..)`; empty without.
    pub with: Vec<CommonTable>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// What is changed: a table, view, common table expression or an alias of FROM.
    pub target: ChangeTarget,
    /// `WITH (ROWLOCK)`; empty without.
    pub hints: Vec<Setting>,
    /// `SET`; at least one.
    pub assignments: Vec<Assignment>,
    /// `OUTPUT`, at most one with INTO and one without; empty without.
    pub output: Vec<Output>,
    /// `FROM`; empty without.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `OPTION (..)`; empty without.
    pub options: Vec<Setting>,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delete {
    /// `WITH a AS (..)`; empty without.
    pub with: Vec<CommonTable>,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// What is deleted from: a table, view, common table expression or an alias of FROM.
    pub target: ChangeTarget,
    /// `WITH (ROWLOCK)`; empty without.
    pub hints: Vec<Setting>,
    /// `OUTPUT`, at most one with INTO and one without; empty without.
    pub output: Vec<Output>,
    /// The second `FROM`; empty without.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `OPTION (..)`; empty without.
    pub options: Vec<Setting>,
}

/// What rows are written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeTarget {
    /// A table or something in the place of one.
    Table(ObjectName),
    /// A table variable, with its sign.
    Variable {
        /// Its name, with its sign.
        name: String,
        /// Its position.
        position: Position,
    },
}

/// A value, or the column's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrDefault {
    /// A value.
    Value(Expr),
    /// `DEFAULT`.
    Default(Position),
}

/// One assignment of UPDATE's SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What is set.
    pub target: AssignmentTarget,
    /// `=` or a compound one.
    pub operator: AssignmentOperator,
    /// To what.
    pub value: ValueOrDefault,
    /// Its position.
    pub position: Position,
}

/// What UPDATE sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignmentTarget {
    /// `a = 1`
    Column(ColumnName),
    /// `@v = 1`: the variable with its sign.
    Variable(String),
    /// `@v = a = 1`: the column, and the variable to the column's new value. The operator is the second one.
    VariableAndColumn(String, ColumnName),
}

/// `OUTPUT items [INTO target (columns)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The columns, of `inserted` and `deleted`; at least one.
    pub items: Vec<SelectItem>,
    /// Where they go; to the client without.
    pub into: Option<OutputInto>,
}

/// Where OUTPUT's rows go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputInto {
    /// The table.
    pub target: ChangeTarget,
    /// Its columns; empty if all.
    pub columns: Vec<Name>,
}
