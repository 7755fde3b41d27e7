//! Conditions: what is true, false or unknown.

use super::{Expr, Position, Query};

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is.
    pub kind: ConditionKind,
    /// Where it stands, with the parentheses around it.
    pub position: Position,
}

/// What a condition is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// All of these, at least two; an `And` in it stood in parentheses.
    And(Vec<Condition>),
    /// One of these, at least two; an `Or` in it stood in parentheses.
    Or(Vec<Condition>),
    /// `NOT`.
    Not(Box<Condition>),
    /// `left = right` and related ones.
    Compare {
        /// Which.
        operator: Comparison,
        /// What stands before it.
        left: Box<Expr>,
        /// What stands after it.
        right: Box<Expr>,
    },
    /// `left = ANY (SELECT ..)`.
    Quantified {
        /// Which comparison.
        operator: Comparison,
        /// What is compared.
        left: Box<Expr>,
        /// With all rows or any.
        quantifier: Quantifier,
        /// The rows, of one column.
        query: Box<Query>,
    },
    /// `operand IS [NOT] NULL`.
    IsNull {
        /// What is looked at.
        operand: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `left IS [NOT] DISTINCT FROM right`.
    IsDistinctFrom {
        /// What stands before it.
        left: Box<Expr>,
        /// What stands after it.
        right: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        /// What is compared.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] IN (a, b)`.
    InList {
        /// What is looked for.
        operand: Box<Expr>,
        /// Among these, at least one.
        list: Vec<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] IN (SELECT ..)`.
    InQuery {
        /// What is looked for.
        operand: Box<Expr>,
        /// Among these rows, of one column.
        query: Box<Query>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] LIKE pattern [ESCAPE escape]`.
    Like {
        /// What is matched.
        operand: Box<Expr>,
        /// With what.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// With NOT.
        negated: bool,
    },
    /// `EXISTS (SELECT ..)`.
    Exists(Box<Query>),
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>` or `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=` or `!>`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=` or `!<`
    GreaterOrEqual,
}

/// Which rows a comparison must hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `ALL`.
    All,
    /// `ANY` or `SOME`.
    Any,
}
