//! SELECT.

use super::{AssignmentOperator, Condition, Expr, Name, ObjectName, Position, Setting, TableSource};

/// SELECT as a statement, and as the body of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectStatement {
    /// `WITH a AS (..)`; empty without.
    pub with: Vec<CommonTable>,
    /// The query.
    pub query: Query,
    /// `OPTION (..)`; empty without.
    pub options: Vec<Setting>,
}

/// A common table expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonTable {
    /// Its name.
    pub name: Name,
    /// Its columns' names; empty if the query names them.
    pub columns: Vec<Name>,
    /// Its rows; may name the table itself (then it is recursive).
    pub query: Query,
    /// Where it stands.
    pub position: Position,
}

/// Rows: SELECTs combined, ordered and cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The rows.
    pub body: QueryBody,
    /// `ORDER BY`; empty without.
    pub order_by: Vec<OrderItem>,
    /// `OFFSET .. FETCH ..`; only with ORDER BY.
    pub offset: Option<Offset>,
    /// Where it stands, with the parentheses around it.
    pub position: Position,
}

/// One SELECT, or several combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryBody {
    /// One.
    Select(Box<Select>),
    /// Several.
    Combined(Box<Combination>),
    /// A query in parentheses of its own, with an ORDER BY that says which rows its TOP or OFFSET takes.
    Nested(Box<Query>),
}

/// SELECTs combined from left to right; INTERSECTs, which bind more, are a combination of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The first.
    pub first: QueryBody,
    /// What is combined with it, in order; at least one.
    pub rest: Vec<SetTerm>,
    /// Where it stands.
    pub position: Position,
}

/// One link of a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTerm {
    /// How it is combined with all before it.
    pub operator: SetOperator,
    /// The rows.
    pub body: QueryBody,
}

/// How rows are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`
    Union,
    /// `UNION ALL`
    UnionAll,
    /// `EXCEPT`
    Except,
    /// `INTERSECT`
    Intersect,
}

/// One SELECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// `DISTINCT`.
    pub distinct: bool,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The columns; at least one.
    pub items: Vec<SelectItem>,
    /// `INTO`.
    pub into: Option<ObjectName>,
    /// `FROM a, b`; empty without.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `GROUP BY`; empty without.
    pub group_by: Vec<Expr>,
    /// `HAVING`.
    pub having: Option<Condition>,
    /// Where it stands.
    pub position: Position,
}

/// `TOP (count) [PERCENT] [WITH TIES]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top {
    /// How many.
    pub count: Expr,
    /// `PERCENT`.
    pub percent: bool,
    /// `WITH TIES`.
    pub with_ties: bool,
}

/// One item of the list after SELECT or OUTPUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectItem {
    /// `*` or `t.*`.
    Star {
        /// The table.
        table: Option<ObjectName>,
        /// Where it stands.
        position: Position,
    },
    /// An expression, perhaps with a name: `a AS b`, `a b` and `b = a` are the same.
    Value {
        /// The expression.
        value: Expr,
        /// Its name.
        alias: Option<Name>,
    },
    /// `@a = value`.
    Assign {
        /// The variable, with its sign.
        variable: String,
        /// `=` or a compound one.
        operator: AssignmentOperator,
        /// What it is set to.
        value: Expr,
        /// Where it stands.
        position: Position,
    },
}

/// One item of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// By what; an integer constant is a column's number; COLLATE is part of it.
    pub value: Expr,
    /// `DESC`.
    pub descending: bool,
}

/// `OFFSET skip ROWS [FETCH NEXT fetch ROWS ONLY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offset {
    /// How many rows are left out.
    pub skip: Expr,
    /// How many are taken; all without.
    pub fetch: Option<Expr>,
}
